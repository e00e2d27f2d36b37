/** Test runs: parts of a workflow, and pinned nodes. */
import { describe, expect, it } from 'vitest';
import { definitionPathOf, definitionPaths, type TestOptions, testPlanOf, withTest } from '../../src/index.ts';
import { explainNode, nodeAt, type Stimulus } from '../../src/run.ts';
import { planOf as planOfYaml } from '../plan/compiling.ts';
import { EVERY_KIND } from '../plan/every-kind.ts';
import { type DriveOptions, drive, planOf, type Short } from './drive.ts';

const CHAIN: Short = {
  nodes: {
    a: {},
    b: { needs: ['a'], with: { n: '{{ $a.n }}' } },
    c: { needs: ['b'] },
    side: { needs: ['a'] },
    last: { needs: ['c', 'side'], join: 'any' },
  },
  output: '{{ $last.n }}',
};

const run = (short: Short, test: TestOptions, options: DriveOptions = {}) => drive(short, { ...options, test });
const output = (value: string | number | object) => ({ output: value }) as { output: never };

function problems(short: Short, test: TestOptions, workflows: DriveOptions['workflows'] = {}): string[] {
  const made = testPlanOf(planOf(short, {}, workflows), test);
  if ('test' in made) return [];
  return made.problems.map(({ pointer, message, hint }) => `${pointer} ${message}${hint ? ` (${hint})` : ''}`);
}

describe('until a node', () => {
  it('[PLN-130] runs what leads to it, skips the rest, and has its output', () => {
    const tested = run(CHAIN, { until: 'c' }).complete('a', { n: 1 }).complete('b', 2).complete('c', { done: true });
    expect(tested.status).toBe('completed');
    expect(tested.statuses()).toEqual({
      a: 'completed',
      b: 'completed',
      c: 'completed',
      side: 'skipped',
      last: 'skipped',
    });
    expect(tested.document.nodes.side?.skipped).toBe('test');
    expect(tested.output).toEqual({ done: true });
  });

  it('[PLN-130] a target that is skipped leaves the output null', () => {
    const short: Short = { nodes: { a: {}, b: { needs: ['a'], when: '$a.ok' }, c: { needs: ['b'] } }, output: 'x' };
    const tested = run(short, { until: 'b' }).complete('a', { ok: false });
    expect([tested.status, tested.output, tested.document.nodes.b?.skipped]).toEqual(['completed', null, 'when']);
  });

  it('[PLN-130] in the body of a loop, the part of each iteration', () => {
    const short: Short = {
      nodes: {
        list: {},
        other: {},
        items: {
          needs: ['list'],
          forEach: { in: '$list' },
          do: { nodes: { x: {}, y: { needs: ['x'] }, z: { needs: ['y'] } }, output: '{{ $z }}' } as never,
        },
        after: { needs: ['items'] },
      },
    };
    const tested = run(short, { until: 'items/y' }).complete('list', [1, 2]);
    expect(tested.running()).toEqual(['items/0/x']);
    tested.complete('items/0/x').complete('items/0/y', 'first').complete('items/1/x').complete('items/1/y', 'second');
    expect(tested.statuses()).toMatchObject({
      list: 'completed',
      other: 'skipped',
      items: 'completed',
      after: 'skipped',
    });
    expect(tested.output).toEqual(['first', 'second']);
  });

  it('[PLN-130] in groups and inlined workflows', () => {
    const sub: Short = { nodes: { p: {}, q: { needs: ['p'] }, r: {} }, output: '{{ $r }}' };
    const short: Short = {
      nodes: { g: { group: { nodes: { s: { workflow: { id: 'sub' } }, t: {} } } as never }, h: {} },
    };
    const tested = run(short, { until: 'g/s/p' }, { workflows: { sub } }).complete('g/s/p', 7);
    expect([tested.status, tested.output]).toEqual(['completed', 7]);
    expect(tested.statuses()).toMatchObject({ g: 'completed', h: 'skipped' });
  });

  it('[PLN-130] the failure node takes no part', () => {
    const short: Short = { config: { failureNode: 'tell' }, nodes: { a: {}, b: { needs: ['a'] }, tell: {} } };
    const tested = run(short, { until: 'b' }).fail('a');
    expect([tested.status, tested.document.nodes.tell?.skipped]).toEqual(['failed', 'test']);
  });

  it('[PLN-137] a failure whose handler takes no part ends the run as failed', () => {
    const short: Short = {
      nodes: { a: {}, b: { needs: ['a'] }, mend: {} },
      edges: [{ from: 'a', to: 'mend', on: 'error' }],
    };
    expect(run(short, { until: 'b' }).fail('a').status).toBe('failed');
    const whole = run(short, {}).fail('a').complete('mend');
    expect(whole.status).toBe('completed');
    const handler = run(short, { until: 'mend' }).fail('a').complete('mend', 1);
    expect([handler.status, handler.output, handler.document.nodes.b?.status]).toEqual(['completed', 1, 'skipped']);
  });

  it('[PLN-130] compensations run as in any run', () => {
    const undo = { compensate: { action: 'look@1', with: { of: '{{ $self.output }}' } } };
    const short: Short = { nodes: { a: undo, b: { needs: ['a'] }, c: { needs: ['b'] } } };
    const tested = run(short, { until: 'b' }).complete('a', 1).fail('b');
    expect(tested.running()).toEqual(['~undo/a']);
    expect(tested.complete('~undo/a').status).toBe('failed');
  });
});

describe('pins', () => {
  it('[PLN-131] complete a node without an attempt', () => {
    const tested = run(CHAIN, { pins: { a: output({ n: 5 }) } });
    expect(tested.running().sort()).toEqual(['b', 'side']);
    expect(tested.document.nodes.a).toMatchObject({ status: 'completed', attempts: 0, output: { n: 5 } });
    expect(tested.attempts.get('b')?.input).toEqual({ n: 5 });
  });

  it('[PLN-131] are taken literally, also where they look like expressions', () => {
    const tested = run(CHAIN, { only: 'b', pins: { a: output({ n: '{{ $input.secret }}' }) } });
    expect(tested.attempts.get('b')?.input).toEqual({ n: '{{ $input.secret }}' });
  });

  it('[PLN-131] fail a node: error edges are tried, retries are not', () => {
    const short: Short = {
      nodes: { a: { retry: { attempts: 5 } }, ok: { needs: ['a'] }, mend: {}, other: {} },
      edges: [
        { from: 'a', to: 'mend', on: 'error', match: { code: 'NO_STOCK' } },
        { from: 'a', to: 'other', on: 'error', match: { code: 'X' } },
      ],
    };
    const error = { code: 'NO_STOCK', message: 'sold out', details: { left: 0 } };
    const tested = run(short, { pins: { a: { error } } });
    expect(tested.running()).toEqual(['mend']);
    expect(tested.document.nodes.a?.error).toMatchObject({ ...error, kind: 'USER', node: 'a' });
    expect(tested.complete('mend').status).toBe('completed');
  });

  it('[PLN-131] skip a node, and obey its condition', () => {
    const tested = run(CHAIN, { pins: { b: { skipped: true } } }).complete('a', { n: 1 });
    expect(tested.document.nodes).toMatchObject({
      b: { status: 'skipped', skipped: 'test' },
      c: { status: 'skipped' },
    });
    const short: Short = { nodes: { a: {}, b: { needs: ['a'], when: '$a.ok' }, c: { needs: ['b'] } } };
    const conditional = run(short, { pins: { a: output({ ok: false }), b: output(1) } });
    expect(conditional.document.nodes.b?.skipped).toBe('when');
  });

  it('[PLN-131] replace waits, loops, children, dynamic nodes and their gates', () => {
    const short: Short = {
      nodes: {
        w: { wait: { signal: 'go' } },
        l: { forEach: { in: '[1, 2]' }, do: { nodes: { x: {} } } as never },
        k: { workflow: { id: 'other', mode: 'child' } },
        d: { dynamic: { action: 'do@1' } },
        g: { concurrency: { key: 'k' }, rateLimit: { key: 'r', limit: 1, per: '1m' }, cache: {} },
        end: { needs: ['w', 'l', 'k', 'd', 'g'], with: { all: '{{ [$w, $l, $k, $d, $g] }}' } },
      },
    };
    const pins = Object.fromEntries(['w', 'l', 'k', 'd', 'g'].map((id) => [id, output({ of: id })]));
    const tested = run(short, { pins });
    expect(tested.running()).toEqual(['end']);
    expect([tested.gateRequests, tested.children]).toEqual([[], []]);
    expect(tested.attempts.get('end')?.input).toEqual({ all: ['w', 'l', 'k', 'd', 'g'].map((of) => ({ of })) });
  });

  it('[PLN-131] have no compensation', () => {
    const undo = { compensate: { action: 'look@1', with: { of: '{{ $self.output }}' } } };
    const short: Short = { nodes: { a: undo, b: { needs: ['a'] } } };
    const tested = run(short, { pins: { a: output(1) } }).fail('b');
    expect([tested.status, tested.entries.some(({ type }) => type === 'scope.compensating')]).toEqual([
      'failed',
      false,
    ]);
  });

  it('[PLN-131] in a loop hold for every iteration; break and emit apply', () => {
    const loop = (y: object): Short => ({
      nodes: {
        each: {
          forEach: { in: '[1, 2]' },
          do: { nodes: { x: {}, y: { needs: ['x'], ...y } }, output: '{{ [$item, $y.n] }}' } as never,
        },
      },
      output: '{{ $each }}',
    });
    const pins = { 'each/x': output(1), 'each/y': output({ n: 7, more: [] }) };
    expect(run(loop({}), { pins }).output).toEqual([
      [1, 7],
      [2, 7],
    ]);
    expect(run(loop({ break: true }), { pins }).output).toEqual([[1, 7]]);
    const adding = run(loop({ emit: '$item < 3 ? [$item + 2] : []' }), { pins });
    expect(adding.output).toEqual([
      [1, 7],
      [2, 7],
      [3, 7],
      [4, 7],
    ]);
  });

  it('[PLN-131] hold again when a node is replayed', () => {
    const tested = run(CHAIN, { pins: { a: output({ n: 1 }) }, until: 'b' }).complete('b', 2);
    tested.step({ type: 'replay', node: 'a' } as Stimulus);
    expect(tested.running()).toEqual(['b']);
    expect(tested.complete('b', 3).output).toBe(3);
  });

  it('[PLN-132] of a branch choose its edges', () => {
    const short: Short = {
      nodes: {
        route: { branch: { on: '$input.x', cases: { a: 'one', b: ['two', 'three'] } } },
        one: {},
        two: {},
        three: {},
        always: { needs: ['route'] },
      },
    };
    const tested = run(short, { pins: { route: output({ taken: ['three'] }) } }, { input: { x: 'a' } });
    expect(tested.running().sort()).toEqual(['always', 'three']);
  });

  it('[PLN-132] of a set assign its variables', () => {
    const short: Short = {
      variables: { k: 0, other: 1 },
      nodes: {
        s: { set: { k: 5, other: 6 } },
        end: { needs: ['s'], with: { k: '{{ $vars.k }}', o: '{{ $vars.other }}' } },
      },
    };
    const tested = run(short, { pins: { s: output({ k: 9, stranger: 1 }) } });
    expect(tested.attempts.get('end')?.input).toEqual({ k: 9, o: 1 });
  });
});

describe('only one node', () => {
  it('[PLN-133] runs with pins alone', () => {
    const tested = run(CHAIN, { only: 'c', pins: { a: output({ n: 1 }), b: output(2) } });
    expect(tested.running()).toEqual(['c']);
    expect(tested.complete('c', 3).output).toBe(3);
  });

  it('[PLN-133] names the nodes that lack a pin', () => {
    expect(problems(CHAIN, { only: 'last', pins: { a: output(1) } })).toEqual([
      "/only 'last' alone needs the outputs of 'c', 'side', 'b' (Pin them, or take them `from` a finished run.)",
    ]);
    expect(problems(CHAIN, { only: 'a', pins: { a: output(1) } })).toEqual(["/only 'a' is to run, but it is pinned"]);
    const pure: Short = {
      nodes: {
        route: { branch: { on: '$input.x', cases: { a: 'one' } } },
        one: { set: { k: 1 } },
        off: { enabled: false },
        end: { needs: ['one', 'off'] },
      },
      variables: { k: 0 },
    };
    expect(problems(pure, { only: 'end' })).toEqual([]);
    const body: Short = { nodes: { x: {}, y: { needs: ['x'] } } };
    const nested: Short = { nodes: { a: {}, l: { needs: ['a'], forEach: { in: '$a' }, do: body as never } } };
    expect(problems(nested, { only: 'l/y', pins: { a: output([1]) } })[0]).toContain("needs the outputs of 'l/x' (");
  });
});

describe('problems of a test', () => {
  const short: Short = {
    config: { failureNode: 'tell' },
    nodes: {
      charge: {},
      items: { forEach: { in: '[1]' }, do: { nodes: { pack: {} } } as never },
      sub: { workflow: { id: 'other', mode: 'child' } },
      dyn: { dynamic: { action: 'do@1' } },
      route: { branch: { on: '$input.x', cases: { a: 'yes', b: 'no' } } },
      yes: { terminate: 'completed' },
      no: {},
      tell: {},
    },
  };

  it.each<[TestOptions, string]>([
    [{ pins: { chrage: output(1) } }, "/pins/chrage there is no node 'chrage' (Did you mean 'charge'?)"],
    [{ until: 'items/pakc' }, "/until there is no node 'items/pakc' (Did you mean 'items/pack'?)"],
    [
      { pins: { 'items/0/pack': output(1) } },
      "/pins/items~10~1pack there is no node 'items/0/pack' (Write it without the number of the iteration: 'items/pack'.)",
    ],
    [{ only: 'sub/x' }, "/only there is no node 'sub/x' ('sub' runs as an execution of its own: name 'sub' itself.)"],
    [
      { until: 'dyn/x' },
      "/until there is no node 'dyn/x' ('dyn' runs a graph that is known only once it runs: name 'dyn' itself.)",
    ],
    [{ pins: { yes: output(1) } }, "/pins/yes 'yes' ends the run and cannot be pinned"],
    [
      { pins: { route: output(1) } },
      `/pins/route 'route' is a branch, and this is not its output (Pin { "taken": [ids of the nodes that it leads to] }.)`,
    ],
    [
      { pins: { route: output({ taken: ['yse'] }) } },
      "/pins/route the branch 'route' does not lead to 'yse' (Did you mean 'yes'?)",
    ],
    [{ until: 'tell' }, "/until 'tell' runs only after a failure (Pin the error of another node, and run all of it.)"],
    [{ until: 'no', only: 'no' }, "/only 'until' and 'only' do not go together (Leave one out.)"],
    [{ until: '' }, "/until there is no node ''"],
  ])('[PLN-134] %j', (test, problem) => {
    expect(problems(short, test)).toContain(problem);
  });
});

describe('every kind of node', () => {
  const sub = planOfYaml('{ id: sub, nodes: { one: { action: do } } }').definition;
  const plan = planOfYaml(EVERY_KIND, { workflows: () => sub });

  it('[PLN-136] can be tested until it, with the part that leads to it', () => {
    const paths = definitionPaths(plan).filter((path) => path !== 'tell');
    expect(paths).toContain('items/inner/x');
    expect(paths).toContain('sp/sp2/sc');
    expect(paths).toContain('sub/one');
    for (const until of paths) {
      const made = testPlanOf(plan, { until });
      if (!('test' in made)) throw new Error(`${until}: ${made.problems[0]?.message}`);
      for (const [around, { ids, target }] of made.test.parts) {
        expect(ids.has(target), `${until} in '${around}'`).toBe(true);
        expect(`${until}/`.startsWith(around === '' ? `${target}/` : `${around}/${target}/`)).toBe(true);
      }
    }
  });

  it('[PLN-135] has no start policy, no triggers and a day of retention', () => {
    const made = testPlanOf(plan, {});
    if (!('test' in made)) throw new Error('no test');
    const tested = withTest(plan, made.test);
    expect(plan.start).toBeDefined();
    expect([tested.start, tested.triggers, tested.retentionMs]).toEqual([undefined, [], 24 * 3_600_000]);
    expect(withTest({ ...plan, retentionMs: 1_000 }, made.test).retentionMs).toBe(1_000);
    expect(withTest({ ...plan, retentionMs: null }, made.test).retentionMs).toBe(24 * 3_600_000);
  });

  it('[PLN-139] has a path in the definition', () => {
    expect(definitionPathOf(plan, 'items/3/inner/0/x')).toBe('items/inner/x');
    expect(definitionPathOf(plan, 'items')).toBe('items');
    expect(definitionPathOf(plan, 'sub/one')).toBe('sub/one');
    expect(definitionPathOf(plan, 'dyn/x')).toBeUndefined();
    expect(definitionPathOf(plan, '~undo/fetch')).toBeUndefined();
    expect(definitionPathOf(plan, 'ghost')).toBeUndefined();
  });
});

describe('why', () => {
  it('[PLN-138] a node is pinned or takes no part', () => {
    const tested = run(CHAIN, {
      until: 'c',
      pins: { a: output({ n: 1 }), b: { error: { code: 'X', message: 'no' } } },
    });
    const codes = (path: string) => {
      if (nodeAt(tested.state, path) === undefined) throw new Error(path);
      return explainNode(tested.state, path, tested.now)?.causes.map(({ code, message }) => `${code} ${message}`)[0];
    };
    expect(codes('a')).toBe('pinned It is pinned: this test run was given its result, and did not run it.');
    expect(codes('b')).toContain('pinned');
    expect(codes('side')).toBe('skipped Skipped: it takes no part in this test run.');
  });
});
