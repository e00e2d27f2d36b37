import { describe, expect, it } from 'vitest';
import { type Action, compilePlan, createCatalog, type Problem, readDefinition } from '../../src/index.ts';

const actions: readonly Action[] = [
  {
    id: 'mail.send',
    version: '1.0',
    input: {
      type: 'object',
      required: ['to'],
      properties: { to: { type: 'string' }, subject: { type: 'string' }, copies: { type: 'integer', minimum: 0 } },
      additionalProperties: false,
    },
    output: { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false },
    run: () => null,
  },
  { id: 'mail.send', version: '2.1', run: () => null },
  { id: 'core.noop', version: '1', run: () => null },
];
const catalog = createCatalog(actions, { patient: () => 1 });

function compile(yaml: string): { problems: readonly Problem[]; shown: string[] } {
  const { definition, source, problems: found } = readDefinition(yaml);
  if (definition === undefined) throw new Error(found.map((problem) => problem.message).join('\n'));
  const { problems } = compilePlan(definition, catalog, { source });
  const shown = problems.map(
    ({ code, range, hint }) => `${range?.line}:${range?.column} ${code}${hint === undefined ? '' : ` (${hint})`}`,
  );
  return { problems, shown };
}

describe('plan', () => {
  it('[PLN-1] reports unknown actions and versions, with the known ones', () => {
    const { problems } = compile(
      `id: x
nodes:
  a: { action: mail.sent@1, with: { to: me } }
  b: { action: mail.send@3 }
  c: { action: nothing.like.it }`,
    );
    expect(problems.map(({ code, hint, path }) => [code, hint, path.join('.')])).toEqual([
      ['UNKNOWN_ACTION', "did you mean 'mail.send'?", 'nodes.a.action'],
      ['UNKNOWN_ACTION_VERSION', 'available versions: 2.1, 1.0', 'nodes.b.action'],
      ['UNKNOWN_ACTION', expect.stringContaining('nebula actions'), 'nodes.c.action'],
    ]);
  });

  it('[PLN-1] takes the newest version that fits', () => {
    expect(catalog.action('mail.send')?.version).toBe('2.1');
    expect(catalog.action('mail.send@1')?.version).toBe('1.0');
    expect(catalog.action('mail.send@2')?.version).toBe('2.1');
    expect(catalog.action('mail.send@2.2')).toBeUndefined();
    expect(() => createCatalog([...actions, actions[2] as Action])).toThrow(/defined twice/);
  });

  it('[PLN-2] points at references that do not exist or are not upstream', () => {
    const { shown } = compile(
      `id: x
variables: { region: eu }
nodes:
  fetch: { action: core.noop }
  other: { action: core.noop }
  use:
    needs: [fetch]
    action: core.noop
    when: $nodes.other.success
    with:
      a: "text {{ $fetsh.x }} and {{ $nodes.use.output }}"
      b: "{{ $vars.regoin }} {{ $item }}"
edges:
  - { from: fetch, to: other, when: "$fetch.ok && $use" }`,
    );
    expect(shown).toEqual([
      "9:11 NOT_UPSTREAM (add 'other' to the needs of 'use')",
      "11:19 UNKNOWN_REFERENCE (did you mean 'fetch'?)",
      '11:38 NOT_UPSTREAM (read the output of an earlier node)',
      "12:14 UNKNOWN_VARIABLE (did you mean 'region'?)",
      '12:33 NOT_IN_A_LOOP (use $input or a node instead)',
      "14:51 NOT_UPSTREAM (add 'use' to the needs of 'fetch')",
    ]);
  });

  it('[PLN-2] an output may read every node, an edge its source', () => {
    const { problems } = compile(
      `id: x
nodes: { a: { action: core.noop }, b: { action: core.noop } }
edges: [{ from: a, to: b, when: $a.x }]
output: "{{ [$a, $b] }}"`,
    );
    expect(problems).toEqual([]);
  });

  it('[PLN-3] checks literal parameters against the schema, and leaves expressions to the run', () => {
    const { problems } = compile(
      `id: x
nodes:
  a: { action: mail.send@1, with: { too: me, copies: -1, subject: 7 } }
  b: { action: mail.send@1, with: { to: "{{ $input.to }}", copies: "{{ $input.n }}" } }
  c: { action: mail.send@1 }`,
    );
    expect(problems.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
      "nodes.a.with.to: 'to' of mail.send is missing",
      "nodes.a.with.too: 'too' of mail.send is not known (known: to, subject, copies)",
      "nodes.a.with.copies: 'copies' of mail.send must be at least 0",
      "nodes.a.with.subject: 'subject' of mail.send must be a string",
      "nodes.c.with.to: 'to' of mail.send is missing",
    ]);
    expect(problems[1]?.hint).toBe("did you mean 'to'?");
  });

  it('[PLN-4] reports all problems at once', () => {
    const { problems } = compile(
      `id: x
nodes:
  a: { action: nope, when: "1 +", retry: { policy: patiant } }
  b: { action: mail.send@1, with: { to: "{{ $c }}" } }
  c: { needs: [b], action: core.noop }
output: "{{ $nowhere }}"`,
    );
    expect(problems.map(({ code }) => code)).toEqual([
      'UNKNOWN_ACTION',
      'EXPRESSION_SYNTAX',
      'UNKNOWN_RETRY_POLICY',
      'NOT_UPSTREAM',
      'UNKNOWN_REFERENCE',
    ]);
  });

  it('[PLN-5] expression problems point at their place inside the string', () => {
    const { problems } = compile(
      `id: x
nodes:
  a:
    action: core.noop
    with:
      deep: [1, { text: "total: {{ $input.a + }} eur" }]`,
    );
    expect(problems).toMatchObject([
      { code: 'EXPRESSION_SYNTAX', path: ['nodes', 'a', 'with', 'deep', 1, 'text'], range: { line: 6 } },
    ]);
    const line = '      deep: [1, { text: "total: {{ $input.a + }} eur" }]';
    expect(line.slice((problems[0]?.range?.column ?? 0) - 1)).toMatch(/^(\+ )?}}/);
  });

  it('[PLN-6] ranks nodes by the longest way to the end', () => {
    const { definition } = readDefinition(`id: x
nodes:
  a: { action: core.noop, estimate: 1s }
  b: { action: core.noop, needs: [a], estimate: 5s }
  c: { action: core.noop, needs: [a], estimate: 2s }
  d: { action: core.noop, needs: [c], estimate: 4s }`);
    const { plan } = compilePlan(definition as NonNullable<typeof definition>, catalog);
    expect(plan?.root.nodes.map(({ rank, level }) => [rank, level])).toEqual([
      [7_000, 0],
      [5_000, 1],
      [6_000, 1],
      [4_000, 2],
    ]);
  });

  it('[PLN-7] checks inputs, by their schema', () => {
    const { definition } = readDefinition(`id: x
input: { type: object, required: [order], properties: { order: { type: object, properties: { n: { type: integer } } } } }`);
    const { plan } = compilePlan(definition as NonNullable<typeof definition>, catalog);
    expect(plan?.acceptInput({ order: { n: 1 } })).toEqual({ input: { order: { n: 1 } }, problems: [] });
    expect(plan?.acceptInput({ order: { n: 'x' } })).toMatchObject({ problems: ['order.n must be an integer'] });
    expect(plan?.acceptInput(7)).toMatchObject({ problems: ['the input must be an object'] });
  });

  it('[PLN-7] refuses an input that nests without end', () => {
    const { plan } = compilePlan({ id: 'x' }, catalog);
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    expect(plan?.acceptInput(deep)).toMatchObject({ problems: ['the input nests deeper than 200 levels'] });
    expect(plan?.acceptInput({ a: [[1]] })).toMatchObject({ problems: [] });
  });

  it('[PLN-7] refuses numbers that JSON does not have', () => {
    const { plan } = compilePlan({ id: 'x' }, catalog);
    const given = JSON.parse('{"a":[1,{"b":1e999}]}');
    expect(plan?.acceptInput(given)).toMatchObject({ problems: ['a[1].b is a number that is too large'] });
  });

  it('[PLN-7] fills in the defaults of the schema, in a copy', () => {
    const { definition } = readDefinition(`id: x
input: { type: object, required: [name], properties: { name: { type: string, default: World }, n: { default: 3 } } }`);
    const { plan } = compilePlan(definition as NonNullable<typeof definition>, catalog);
    const given = { n: 5 };
    expect(plan?.acceptInput(given)).toEqual({ input: { name: 'World', n: 5 }, problems: [] });
    expect(given).toEqual({ n: 5 });
  });

  it('[PLN-7] reports an input schema that is none', () => {
    expect(compile('id: x\ninput: { type: 5 }').problems).toMatchObject([{ code: 'BAD_SCHEMA', path: ['input'] }]);
  });

  it('[PLN-8] names the retry policies that exist', () => {
    const { shown } = compile('id: x\nnodes:\n  a: { action: core.noop, retry: { policy: patience } }');
    expect(shown).toEqual(["3:44 UNKNOWN_RETRY_POLICY (did you mean 'patient'?)"]);
  });

  it('[PLN-9] finds fields that the schemas rule out', () => {
    const { shown } = compile(
      `id: x
input: { type: object, properties: { order: { type: object, properties: { total: { type: number } } } } }
nodes:
  a: { action: mail.send@1, with: { to: x } }
  b:
    needs: [a]
    action: core.noop
    with: { id: "{{ $a.idd }}", t: "{{ $input.order.totl }}", u: "{{ $input.order.total.x }}", ok: "{{ $a?.idd }}" }`,
    );
    expect(shown).toEqual([
      "8:21 UNKNOWN_FIELD (did you mean 'id'?)",
      "8:40 UNDECLARED_FIELD (did you mean 'total'?)",
      '8:70 UNKNOWN_FIELD (it has no members)',
    ]);
  });
});
