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
import { z } from 'zod';
import {
  actionsNamed,
  at,
  expr,
  maybe,
  or,
  text,
  typed,
  type Workflow,
  type WorkflowGraph,
  workflow,
  workflowsNamed,
} from '../src/index.ts';
import { allActions, fetchUser, pack, sendMail } from './workflow-actions.ts';
import { everything, ship } from './workflow-everything.ts';

const catalog = createCatalog(allActions);

/** Compiles the workflow and returns its problems. */
function problemsOf({ definition, uses }: Workflow<unknown, unknown>): string[] {
  const workflows = (id: string) => uses.find((one) => one.id === id);
  const { problems } = compilePlan(definition, catalog, { workflows });
  return problems.map(({ code, message }) => `${code} ${message}`);
}

/** The definition of a YAML file. */
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

describe('workflow', () => {
  test('[DEF-105] ids that look like integers keep the order in which they are written', () => {
    const made = workflow('numbers', {}, (w) => {
      w.set('20', { a: 1 });
      w.set('3', { b: 2 });
    });
    expect(made.definition.order).toEqual(['20', '3']);
  });

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

describe('split and merge', () => {
  test('[SDK-19] it is the data that a YAML file would be', () => {
    const built = workflow('w', {}, (w) => {
      const user = w.node('user', fetchUser, { id: '1' });
      const other = w.node('other', fetchUser, { id: '2' });
      const orders = w.split('orders', user.output.orders, (s, order, index, orders) => {
        const kind = s.branch('kind', order.gift);
        const wrap = s.node('wrap', pack, { sku: order.sku, for: other.output.name }, { needs: [kind.case('yes')] });
        s.edge(kind.otherwise, s.node('plain', pack, {}));
        const inner = s.split('inner', [order.sku, 'x'], (t, sku, j) => t.node('deep', pack, { sku, j, index, order }));
        const parts = s.merge('parts', inner, { wait: 'any' });
        s.node('aside', pack, { of: orders.length });
        return { wrap, parts };
      });
      const all = w.merge('all', orders, { timeout: '1m', when: other.success });
      w.edge(orders, w.node('sorry', sendMail, { to: text`${orders.error.code}` }), { on: 'error' });
      w.node('state', sendMail, { to: orders.status });
      return at(all.output.aggregated, 0).parts.aggregated;
    });
    expect(json(built.definition)).toBe(
      json(
        fromYaml(`
id: w
nodes:
  user: { action: user.fetch@1, with: { id: "1" } }
  other: { action: user.fetch@1, with: { id: "2" } }
  orders: { needs: [user, other], split: { in: $nodes.user.output.orders } }
  kind: { needs: [orders], branch: { on: $item?.gift, cases: { "yes": wrap }, default: plain } }
  wrap: { action: warehouse.pack@1, with: { sku: "{{ $item.sku }}", for: "{{ $nodes.other.output.name }}" } }
  plain: { action: warehouse.pack@1, with: {} }
  inner: { needs: [orders], split: { in: ["{{ $item.sku }}", x] } }
  deep:
    needs: [inner]
    action: warehouse.pack@1
    with: { sku: "{{ $item }}", j: "{{ $index }}", index: "{{ $parent.index }}", order: "{{ $parent.item }}" }
  parts: { needs: [deep], merge: { wait: any } }
  aside: { needs: [orders], action: warehouse.pack@1, with: { of: "{{ $items.length }}" } }
  all: { needs: [wrap, parts], when: $nodes.other.success, merge: { timeout: 1m } }
  sorry: { action: mail.send@2.1, with: { to: '{{ $nodes.orders.error?.code }}{{ "" }}' } }
  state: { needs: [all], action: mail.send@2.1, with: { to: "{{ $nodes.orders.status }}" } }
edges: [{ from: orders, to: sorry, on: error }]
output: "{{ $nodes.all.output.aggregated?.[0]?.parts?.aggregated }}"
`),
      ),
    );
    expect(problemsOf(built)).toEqual([]);
  });

  test('[SDK-32] the timeout of a merge and a priority are expressions; the split comes after the nodes that the timeout reads', () => {
    const built = workflow('w', {}, (w) => {
      const user = w.node('user', fetchUser, { id: '1' });
      const each = w.split('each', ['a'], (s) =>
        s.node('pack', pack, {}, { priority: expr<number>`${user.output.orders}.length` }),
      );
      return w.merge('all', each, { timeout: text`${user.output.orders}s` }).output;
    });
    expect(nodesOf(built).all).toEqual({ needs: ['pack'], merge: { timeout: '{{ $nodes.user.output.orders }}s' } });
    expect(nodesOf(built).each).toMatchObject({ needs: ['user'] });
    expect(nodesOf(built).pack).toMatchObject({ priority: '{{ $nodes.user.output.orders.length }}' });
    expect(problemsOf(built)).toEqual([]);
  });

  test('[SDK-19] invalid splits and merges are refused', () => {
    const split = (build: (w: WorkflowGraph<Json, Readonly<Record<never, never>>>) => unknown) =>
      refusal(() => workflow('w', {}, build));
    expect(split((w) => void w.split('s', [1], () => undefined))).toContain("no merge follows the split 's'");
    expect(
      split((w) => {
        const s = w.split('s', [1], () => undefined);
        w.merge('a', s);
        w.merge('b', s);
      }),
    ).toContain("'s' has two merges");
    expect(split((w) => void w.merge('m', w.node('a', pack, {}) as never))).toContain("'a' is not a split");
    expect(
      split((w) => {
        const s = w.split('s', [1], () => undefined);
        w.node('a', pack, {}, { needs: [s as never] });
      }),
    ).toContain("'a' comes after the split 's'");
    const ends = (end: (a: never) => unknown) =>
      split((w) =>
        w.merge(
          'm',
          w.split('s', [1], (s) => end(s.node('a', pack, {}) as never) as undefined),
        ),
      );
    for (const given of [ends(() => ({ b: 1 })), ends((a) => ({ a })), ends((a) => ({ a, b: a })), ends(() => 'a')])
      expect(given).toContain('the last nodes of an iteration');
    expect(split((w) => void w.split('s', [1], (s) => s.node('s', pack, {})))).toContain("two nodes 's'");
    expect(
      split((w) => {
        let inside: { readonly output: unknown } | undefined;
        w.merge(
          'm',
          w.split('s', [1], (s) => {
            const a = s.node('a', pack, {});
            inside = a;
            return a;
          }),
        );
        return inside?.output;
      }),
    ).toContain("'a' is in the body of a loop");
  });
});

describe('needs', () => {
  test('[SDK-14] nodes that are read come before, also from inside a body', () => {
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
    expect(refusal(() => build(false))).toContain("'ship' runs conditionally and reads 'stock'");
    expect(problemsOf(build(true))).toEqual([]);
  });
});

test('[SDK-21] a case that nothing comes after is written down', () => {
  const built = workflow('w', {}, (w) => {
    const tests = w.branch('tests', { none: { when: true }, some: { when: false } });
    w.node('a', pack, {}, { needs: [tests.case('some')] });
  });
  expect(nodesOf(built).tests).toEqual({
    branch: {
      cases: [
        { when: true, to: [] },
        { when: false, to: 'a' },
      ],
    },
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

describe('errors while a workflow is written', () => {
  const inside = (build: Parameters<typeof workflow<undefined, Record<never, never>, unknown>>[2]) =>
    refusal(() => workflow('w', {}, build));

  test('[SDK-17] references where they have no value', () => {
    expect(inside((w) => `${w.trigger}`)).toContain('cannot be used as a value');
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
    ).toContain("'a' is read in a body that has a node with the same id");
  });

  test('[SDK-17] values that are none', () => {
    expect(inside((w) => w.node('a', pack, { a: new Date() as never }))).toContain('a.with.a is object');
    expect(inside((w) => ({ a: w.node('a', pack, {}) }))).toContain('write a.output');
    expect(inside((w) => w.node('a', {} as never, {}))).toContain('not an action');
    expect(inside((w) => w.node('a', pack, {}, { when: 'x' as never }))).toContain('a.when is not an expression');
    expect(inside((w) => w.wait('a', {} as never))).toContain('not a wait');
    expect(inside(async () => undefined)).toContain('asynchronous');
  });

  test('[SDK-17] errors of the language, with their hints', () => {
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
    expect(refused(z.object({ n: z.string().transform(Number) }))).toContain('converts its values');
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

describe('groups, and numbers that are expressions', () => {
  test('[SDK-31] a group sees the items of the loop around it and gives its output', () => {
    const flow = workflow('w', {}, (w) => {
      const each = w.forEach('each', ['a', 'b'], (b, item) => {
        const whole = b.group('whole', (g) => g.node('in', pack, { sku: item }), { retry: { attempts: 2 } });
        return whole.output.parcel;
      });
      return each.output;
    });
    const whole = flow.definition.nodes?.each?.do?.nodes?.whole;
    expect(whole).toMatchObject({ retry: { attempts: 2 }, group: { nodes: { in: { with: { sku: '{{ $item }}' } } } } });
  });

  test('[SDK-32] options take expressions where numbers and durations stand', () => {
    const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
    const flow = workflow('w', { input }, (w) => {
      const first = w.node('first', pack, {});
      w.node(
        'second',
        pack,
        {},
        {
          retry: [{ on: ['X'], attempts: w.input.n, delay: text`${w.input.n}s` }],
          timeout: { total: text`${w.input.n}m` },
          concurrency: { key: 'k', limit: first.output.grams },
        },
      );
      w.forEach('each', [1, 2], (b) => b.node('x', pack, {}), { parallel: true, maxConcurrency: w.input.n });
    });
    expect(flow.definition.nodes).toMatchObject({
      second: {
        needs: ['first'],
        retry: [{ on: ['X'], attempts: '{{ $input.n }}', delay: '{{ $input.n }}s' }],
        timeout: { total: '{{ $input.n }}m' },
        concurrency: { key: 'k', limit: '{{ $nodes.first.output?.grams }}' },
      },
      each: { forEach: { maxConcurrency: '{{ $input.n }}' } },
    });
  });
});

test('[SDK-38] triggers are listed in the options, or added where they read the received data', () => {
  const { definition } = workflow('daily', { triggers: [{ schedule: { cron: '0 7 * * *' } }] }, (w) => {
    w.startsOn({ webhook: { path: '/now', input: { id: w.input } } });
  });
  expect(definition.triggers).toEqual([
    { schedule: { cron: '0 7 * * *' } },
    { webhook: { path: '/now', input: { id: '{{ $input }}' } } },
  ]);
  expect(() => workflow('odd', { triggers: [{ schedul: {} } as never] }, () => undefined)).toThrow(/schedul/);
});
