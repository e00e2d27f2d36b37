import {
  canonicalJson,
  compileCondition,
  compilePlan,
  compileValue,
  createBudget,
  createCatalog,
  EXPRESSION_LIMITS,
  type Json,
  NebulaError,
  readDefinition,
  readDefinitionObject,
  type Scope,
  type WorkflowDefinition,
} from '@nebula/core';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import {
  actionsNamed,
  at,
  call,
  expr,
  maybe,
  or,
  text,
  typed,
  type Workflow,
  wait,
  workflow,
  workflowsNamed,
} from '../src/index.ts';
import { allActions, fetchUser, pack, plan, recallMail, sendMail } from './workflow-actions.ts';

const catalog = createCatalog(allActions);

/** Compiles, and says what is wrong with it. */
function problemsOf({ definition, uses }: Workflow<unknown, unknown>): string[] {
  const workflows = (id: string) => uses.find((one) => one.id === id);
  const { problems } = compilePlan(definition, catalog, { workflows });
  return problems.map(({ code, message }) => `${code} ${message}`);
}

/** As a YAML file would say it. */
function fromYaml(source: string): WorkflowDefinition {
  const { definition, problems } = readDefinition(source);
  if (definition === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return definition;
}

const json = (definition: WorkflowDefinition) => canonicalJson(definition as unknown as Json);
const nodesOf = (one: Workflow<unknown, unknown>) => one.definition.nodes as Record<string, Record<string, unknown>>;

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof NebulaError) return `${error.code}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

const ship = workflow('ship', { input: z.object({ sku: z.string(), fast: z.boolean().default(false) }) }, (w) => {
  const packed = w.node('pack', pack, { sku: w.input.sku, fast: w.input.fast });
  return { parcel: packed.output.parcel };
});

/** Every kind and every key that the builder has. */
const everything = workflow(
  'everything',
  {
    name: 'All of it',
    tags: ['a'],
    input: z.object({ id: z.string(), note: z.string().optional() }),
    variables: { round: 0, names: [] as readonly string[] },
    config: { mode: 'parallel', timeout: '1h', retry: { attempts: 2 } },
  },
  (w) => {
    w.startsBy(w.input.id, { policy: 'debounce', window: '10s' });
    const user = w.node(
      'user',
      fetchUser,
      { id: w.input.id },
      {
        retry: { attempts: 3 },
        timeout: { attempt: '10s' },
        cache: { ttl: '1h' },
        concurrency: { key: text`user-${w.input.id}`, limit: 2 },
        rateLimit: { key: 'crm', limit: 3, per: '1s' },
        credentials: { api: 'crm-key' },
      },
    );
    const mail = w.node(
      'first-mail',
      sendMail,
      { to: user.output.email, subject: text`Hello ${or(user.output.nick, user.output.name)}!`, copies: 1 },
      { compensate: (sent) => call(recallMail, { id: sent.id }, { retry: { attempts: 2 } }) },
    );
    const route = w.branch('route', user.output.plan, { needs: [mail] });
    const packed = w.forEach(
      'items',
      user.output.orders,
      (b, item, index) => {
        const one = b.node('pack', pack, { sku: item.sku, gift: item.gift, to: user.output.name, index });
        const again = b.while(
          'again',
          (c, round) => c.node('inner', pack, { sku: item.sku, round, weight: one.output.grams }, { break: true }),
          { condition: (last, round) => expr<boolean>`${round} < 3 && ${last.grams} != ${item.quantity}` },
        );
        b.node('more', pack, { again: again.output }, { emit: (output) => [{ sku: output.parcel, quantity: 1 }] });
        return { parcel: one.output.parcel, again: again.output.grams };
      },
      { parallel: true, maxConcurrency: 3, minSuccess: '80%', needs: [route.case('paid')], timeout: { total: '1h' } },
    );
    const tests = w.branch(
      'tests',
      {
        failed: { error: { code: ['TIMEOUT', 'GONE'] } },
        big: { when: expr<boolean>`${at(packed.output, 0).parcel} != null` },
        fits: { match: { length: { gt: 3 } } },
      },
      { many: true },
    );
    w.edge(packed, tests, { on: 'always' });
    const poll = w.retryUntil('poll', (b) => b.node('ask', fetchUser, { id: 'x' }), {
      attempts: 5,
      until: (last) => expr<boolean>`${last.plan} == 'paid'`,
      backoff: { delay: '5s' },
      needs: [tests.case('big'), tests.case('fits')],
    });
    const inline = w.workflow(
      'inline',
      ship,
      { sku: 'x' },
      { isolation: 'transactional', output: (out) => out.parcel },
    );
    w.edge(tests.otherwise, inline);
    w.workflow('child', ship, { sku: inline.output, fast: true }, { mode: 'child', retry: { attempts: 2 } });
    w.dynamic('dynamic', plan, { goal: poll.output.name });
    const paid = w.wait(
      'paid',
      [
        wait.signal('paid', { key: w.input.id, schema: z.object({ sum: z.number() }) }),
        wait.for('1d'),
        wait.until(w.execution.startedAt),
        wait.callback(),
        wait.approval({
          title: text`Pay ${user.output.name}?`,
          who: ['ann', user.output.email],
          form: z.object({ ok: z.boolean() }),
        }),
      ],
      { deadline: '7d', needs: [user] },
    );
    w.set('count', { round: expr<number>`${w.vars.round} + 1`, names: [user.output.name] });
    w.edge(user, w.terminate('stop', 'failed', { error: { code: 'NO', message: text`no ${w.input.note}` } }), {
      on: 'result',
      match: { plan: { in: ['free'] }, orders: { exists: true } },
      when: expr<boolean>`${user.attempts} > 1`,
    });
    const done = w.terminate('done', 'completed', { output: { sum: paid.output.payload } }, { when: user.success });
    w.onFailure(w.node('tell', sendMail, { to: 'ops', subject: text`${w.execution.error.message} ${done.status}` }));
    return { parcels: packed.output, nick: user.output.nick, plain: 'a {{ b', list: [1, null, true] };
  },
);

describe('workflow', () => {
  test('[SDK-10] the result is the data that a YAML file would be', () => {
    const built = workflow('greet', { input: z.object({ id: z.string() }), variables: { tries: 1 } }, (w) => {
      const user = w.node('user', fetchUser, { id: w.input.id }, { timeout: '5s' });
      const mail = w.node('the-mail', sendMail, { to: user.output.email, subject: text`Hello ${user.output.name}` });
      w.node(
        'log',
        pack,
        { mail: mail.output.id, nick: user.output.nick },
        { when: expr<boolean>`${w.vars.tries} > ${0}` },
      );
      return { id: mail.output.id };
    });
    expect(json(built.definition)).toBe(
      json(
        fromYaml(`
id: greet
input:
  type: object
  properties: { id: { type: string } }
  required: [id]
variables: { tries: 1 }
nodes:
  user: { action: user.fetch@1, with: { id: "{{ $input.id }}" }, timeout: 5s }
  the-mail:
    needs: [user]
    action: mail.send@2.1
    with: { to: "{{ $nodes.user.output.email }}", subject: "Hello {{ $nodes.user.output.name }}" }
  log:
    needs: [the-mail]
    when: $vars.tries > 0
    action: warehouse.pack@1
    with: { mail: "{{ $nodes['the-mail'].output.id }}", nick: "{{ $nodes.user.output?.nick }}" }
output: { id: "{{ $nodes['the-mail'].output.id }}" }
`),
      ),
    );
    expect(problemsOf(built)).toEqual([]);
  });

  test('[SDK-10] every kind compiles', () => {
    expect(problemsOf(everything)).toEqual([]);
    const kinds = Object.values(nodesOf(everything)).flatMap((node) => Object.keys(node));
    for (const kind of ['action', 'branch', 'forEach', 'retryUntil', 'workflow', 'dynamic', 'wait', 'set', 'terminate'])
      expect(kinds).toContain(kind);
  });

  test('[SDK-10] TypeScript to JSON to YAML and back is the same plan', () => {
    for (const { definition, uses } of [everything, ship]) {
      const viaJson = readDefinition(JSON.stringify(definition), { file: 'a.json' });
      const viaYaml = readDefinition(stringify(JSON.parse(JSON.stringify(definition))), { file: 'a.yaml' });
      for (const read of [viaJson, viaYaml]) {
        expect(read.problems).toEqual([]);
        expect(json(read.definition as WorkflowDefinition)).toBe(json(definition));
        const workflows = (id: string) => uses.find((one) => one.id === id);
        expect(compilePlan(read.definition as WorkflowDefinition, catalog, { workflows }).plan).toBeDefined();
      }
    }
  });

  test('[SDK-13] it says which other workflows it runs', () => {
    expect(everything.uses).toEqual([ship.definition]);
    const outer = workflow('outer', {}, (w) => {
      w.workflow('a', everything, { id: 'x' }, { mode: 'child' });
      w.workflow(
        'b',
        workflowsNamed<{ other: { input: { n: number }; output: string } }>()('other'),
        { n: 1 },
        { mode: 'child' },
      );
    });
    expect(outer.uses.map(({ id }) => id)).toEqual(['ship', 'everything']);
    expect(nodesOf(outer).b).toEqual({ workflow: { id: 'other', mode: 'child', input: { n: 1 } } });
    const twin = workflow('ship', {}, (w) => w.node('a', pack, {}));
    expect(
      refusal(() =>
        workflow('both', {}, (w) => {
          w.workflow('a', ship, { sku: 'x' });
          w.workflow('b', twin, {});
        }),
      ),
    ).toContain("two workflows 'ship'");
  });

  test('[SDK-18] actions by their name', () => {
    const action = actionsNamed<{ 'http.request@1': { input: { url: string }; output: { status: number } } }>();
    const built = workflow('named', {}, (w) => {
      const got = w.node('get', action('http.request@1'), { url: 'https://example.com' });
      // @ts-expect-error there is no such action
      expect(action('http.get@1')).toBeDefined();
      // @ts-expect-error it has no such parameter
      w.node('bad', action('http.request@1'), { uri: 'x' });
      return got.output.status;
    });
    expect(nodesOf(built).get).toEqual({ action: 'http.request@1', with: { url: 'https://example.com' } });
    expect(built.definition.output).toBe('{{ $nodes.get.output?.status }}');
  });
});

describe('needs', () => {
  test('[SDK-14] what is read comes before, also from inside a body', () => {
    const built = workflow('w', {}, (w) => {
      const a = w.node('a', fetchUser, { id: '1' });
      const b = w.node('b', fetchUser, { id: a.output.name });
      w.node('c', pack, { a: a.output.name, b: b.output.name });
      w.forEach('loop', [1, 2], (body) => {
        const inner = body.node('inner', pack, { b: b.output.name });
        body.forEach('deep', ['x'], (d, item) =>
          d.node('deepest', pack, { item, a: a.output.name, inner: inner.output }),
        );
      });
    });
    expect(nodesOf(built).b).toMatchObject({ needs: ['a'] });
    expect(nodesOf(built).c, 'a is before b already').toMatchObject({ needs: ['b'] });
    expect(nodesOf(built).loop).toMatchObject({ needs: ['b'] });
    expect(built.definition.nodes?.loop?.do?.nodes?.deep).toMatchObject({ needs: ['inner'] });
    expect(problemsOf(built)).toEqual([]);
  });

  test('[SDK-14] no second edge past a branch or an error edge', () => {
    const built = workflow('w', {}, (w) => {
      const user = w.node('user', fetchUser, { id: '1' });
      const paid = w.node('paid', sendMail, { to: user.output.email });
      const free = w.node('free', sendMail, { to: user.output.email });
      const sorry = w.node('sorry', sendMail, { to: 'ops', subject: text`${user.error.message}` });
      w.edge(user, sorry, { on: 'error', match: { code: 'GONE' } });
      const route = w.branch('route', user.output.plan);
      w.edge(route.case('paid'), paid);
      w.edge(route.case('paid'), w.node('gift', pack, { name: user.output.name }));
      w.edge(route.otherwise, free);
      w.node('after', pack, { paid: maybe(paid.output).id, free: maybe(free.output).id, user: user.output.name });
    });
    const nodes = nodesOf(built);
    expect(nodes.route).toEqual({
      needs: ['user'],
      branch: { on: '$nodes.user.output.plan', cases: { paid: ['paid', 'gift'] }, default: 'free' },
    });
    for (const id of ['paid', 'free', 'gift', 'sorry']) expect(nodes[id]).not.toHaveProperty('needs');
    expect(nodes.after).toMatchObject({ needs: ['paid', 'free'] });
    expect(nodes.after?.with).toMatchObject({ paid: '{{ $nodes.paid.output?.id }}' });
    expect(problemsOf(built)).toEqual([]);
  });

  test('[SDK-14] where reading would let a node run without its case, the author decides', () => {
    const build = (decide: boolean) =>
      workflow('w', {}, (w) => {
        const user = w.node('user', fetchUser, { id: '1' });
        const stock = w.node('stock', pack, {});
        const route = w.branch('route', user.output.plan, decide ? { needs: [stock] } : {});
        w.node('ship', pack, { stock: stock.output.parcel }, { needs: [route.case('paid')] });
      });
    expect(refusal(() => build(false))).toContain("'ship' is reached under a condition and reads 'stock'");
    expect(problemsOf(build(true))).toEqual([]);
  });
});

describe('references', () => {
  test('[SDK-12] a question mark where a schema does not promise the member', () => {
    const built = workflow(
      'w',
      { input: { type: 'object', properties: { n: { type: 'number', default: 3 }, m: { type: 'number' } } } as const },
      (w) => {
        const user = w.node('user', fetchUser, { id: '1' });
        const bare = w.node('bare', pack, {});
        const lenient = w.node('lenient', fetchUser, { id: '2' }, { onError: 'ignore' });
        const loop = w.forEach('loop', user.output.orders, (b, item) => ({
          sku: item.sku,
          gift: item.gift,
          one: b.node('x', pack, {}).output,
        }));
        return {
          n: w.input.n,
          m: w.input.m,
          name: user.output.name,
          nick: user.output.nick,
          city: user.output.address.city,
          code: user.output.address['post-code'],
          bare: bare.output.grams,
          lenient: lenient.output.name,
          first: at(loop.output, 0).sku,
          last: at(loop.output, expr<number>`${loop.output.length} - 1`).one.parcel,
          length: loop.output.length,
          dashed: at(typed<Record<string, string>>(w.trigger), "it's"),
          index: at(typed<readonly string[]>(w.trigger), -1),
          or: or(user.output.nick, 'none'),
          member: or(user.output.address, { city: 'x', 'post-code': 'y' }).city,
          facts: w.execution.id,
        };
      },
    );
    expect(built.definition.output).toEqual({
      n: '{{ $input.n }}',
      m: '{{ $input?.m }}',
      name: '{{ $nodes.user.output.name }}',
      nick: '{{ $nodes.user.output?.nick }}',
      city: '{{ $nodes.user.output.address?.city }}',
      code: "{{ $nodes.user.output.address?.['post-code'] }}",
      bare: '{{ $nodes.bare.output?.grams }}',
      lenient: '{{ $nodes.lenient.output?.name }}',
      first: '{{ $nodes.loop.output?.[0]?.sku }}',
      last: '{{ $nodes.loop.output?.[($nodes.loop.output.length - 1)]?.one?.parcel }}',
      length: '{{ $nodes.loop.output.length }}',
      dashed: "{{ $trigger?.['it\\'s'] }}",
      index: '{{ $trigger?.[(-1)] }}',
      or: '{{ $nodes.user.output?.nick ?? "none" }}',
      member: '{{ ($nodes.user.output.address ?? { "city": "x", "post-code": "y" })?.city }}',
      facts: '{{ $execution.id }}',
    });
    expect(problemsOf(built)).toEqual([]);
  });

  test('[SDK-15] items of outer loops are their parents’', () => {
    const built = workflow('w', {}, (w) => {
      w.forEach('a', ['x'], (a, x, i) => {
        a.retryUntil('b', (b, round) => b.forEach('c', [x], (c, y) => c.node('d', pack, { x, i, round, y })), {
          attempts: 2,
          until: (last, round) => expr<boolean>`${last.length} > ${round} && ${x} != ${i}`,
        });
      });
    });
    const b = built.definition.nodes?.a?.do?.nodes?.b;
    expect(b?.retryUntil).toEqual({
      until: '$self.output.length > $index && $parent.item != $parent.index',
      attempts: 2,
    });
    expect(b?.do?.nodes?.c?.forEach).toEqual({ in: ['{{ $parent.item }}'] });
    expect(b?.do?.nodes?.c?.do?.nodes?.d?.with).toEqual({
      x: '{{ $parent.parent.item }}',
      i: '{{ $parent.parent.index }}',
      round: '{{ $parent.index }}',
      y: '{{ $item }}',
    });
    expect(problemsOf(built)).toEqual([]);
  });

  test('[SDK-16] literals stay literals, in values, texts and expressions', () => {
    const awkward = ['{{ $input }}', '\\{{', '{', '{{{', '\\', 'a}}b', '"', "'", '\n', '{{', 'ü', '{}{{}}', '\\\\{{{'];
    const scope = { input: { x: 7 }, node: () => undefined } as unknown as Scope;
    const evaluate = (raw: Json, compile = compileValue) =>
      compile(raw, { report: (error) => expect.fail(`${JSON.stringify(raw)}: ${error.message}`) }).evaluate(
        scope,
        createBudget(EXPRESSION_LIMITS),
      );
    for (const a of awkward) {
      for (const b of awkward) {
        const { definition } = workflow(
          'w',
          { input: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } as const },
          (w) => {
            w.node('n', pack, {}, { when: expr<boolean>`${a} == ${b}` });
            const parts = Object.assign([a, b], { raw: [a, b] }) as unknown as TemplateStringsArray;
            return {
              a,
              [b]: [a + b],
              text: text(parts, w.input.x),
              alone: text`${w.input.x}`,
              code: expr`[${{ [a]: b, c: [a, null, -1.5, true] }}]`,
            };
          },
        );
        expect(evaluate(definition.output as Json)).toEqual({
          a,
          [b]: [a + b],
          text: `${a}7${b}`,
          alone: '7',
          code: [{ [a]: b, c: [a, null, -1.5, true] }],
        });
        expect(evaluate(definition.nodes?.n?.when as Json, compileCondition)).toBe(a === b);
      }
    }
  });
});

describe('what is refused while it is written', () => {
  const inside = (build: Parameters<typeof workflow<undefined, Record<never, never>, unknown>>[2]) =>
    refusal(() => workflow('w', {}, build));

  test('[SDK-17] references where they have no value', () => {
    expect(inside((w) => `${w.trigger}`)).toContain('has no value while the workflow is written');
    expect(inside((w) => Object.assign(w.trigger, { a: 1 }))).toContain('cannot be changed');
    let leaked: unknown;
    let item: unknown;
    expect(
      inside((w) => {
        w.forEach('loop', [1], (b, one) => {
          item = one;
          leaked = b.node('x', pack, {}).output;
        });
        return leaked;
      }),
    ).toContain("'x' is in the body of a loop");
    expect(inside((w) => [w.node('a', pack, {}), item].slice(1))).toContain('$item of a loop is read outside of it');
    expect(inside(() => leaked)).toContain("'x' is a node of another workflow");
    let foreign: unknown;
    workflow('other', {}, (w) => {
      foreign = w.execution.id;
      w.node('a', pack, {});
    });
    expect(inside(() => foreign)).toContain('of another workflow');
    expect(
      inside((w) => {
        const a = w.node('a', pack, {});
        w.forEach('loop', [1], (b) => {
          b.node('a', pack, { outer: a.output });
        });
      }),
    ).toContain("'a' is read in a body that has a node of this id");
  });

  test('[SDK-17] values that are none', () => {
    expect(inside((w) => w.node('a', pack, { a: new Date() as never }))).toContain('a.with.a is object');
    expect(inside((w) => ({ a: w.node('a', pack, {}) }))).toContain('write a.output');
    expect(inside((w) => w.node('a', {} as never, {}))).toContain('no action');
    expect(inside((w) => w.node('a', pack, {}, { when: 'x' as never }))).toContain('a.when is no expression');
    expect(inside((w) => w.wait('a', {} as never))).toContain('no wait');
    expect(inside(async () => undefined)).toContain('asynchronous');
  });

  test('[SDK-17] what the language refuses, with its hints', () => {
    expect(inside((w) => [w.node('a', pack, {}), w.node('a', pack, {})])).toContain("two nodes 'a'");
    expect(inside((w) => w.node('a b', pack, {}))).toContain("'a b' is not an id");
    expect(inside((w) => w.node('a', pack, {}, { retrys: 1 } as never))).toContain("did you mean 'retry'?");
    expect(
      inside((w) => {
        const a = w.node('a', pack, {});
        const b = w.node('b', pack, {}, { needs: [a] });
        w.edge(b, a);
      }),
    ).toContain('the nodes wait for each other: a → b → a');
    expect(inside((w) => void w.branch('route', expr<string>`1`))).toContain('no cases');
  });

  test('[SDK-17] schemas that are more than data', () => {
    const refused = (input: z.ZodType) => refusal(() => workflow('w', { input }, (w) => w.node('a', pack, {})));
    expect(refused(z.object({ n: z.string().transform(Number) }))).toContain('changes what it is given');
    expect(refused(z.object({ at: z.date() }))).toContain('has no JSON Schema');
    const opaque = { '~standard': { version: 1 as const, vendor: 'x', validate: (value: unknown) => ({ value }) } };
    expect(refusal(() => workflow('w', { input: opaque }, (w) => w.node('a', pack, {})))).toContain(
      'has no JSON Schema',
    );
    expect(refusal(() => workflow('w', { input: 3 as never }, (w) => w.node('a', pack, {})))).toContain('not a schema');
    const fine = z.object({
      n: z.number().default(1),
      o: z.object({ p: z.string() }).default({ p: 'x' }),
      r: z.record(z.string(), z.number()),
    });
    expect(
      readDefinitionObject(workflow('w', { input: fine }, (w) => w.node('a', pack, { n: w.input.o.p })).definition)
        .problems,
    ).toEqual([]);
  });
});
