import { describe, expect, it } from 'vitest';
import { readDefinitionObject } from '../../src/definition/check.ts';
import { DEFINITION_LIMITS } from '../../src/limits.ts';
import { codes, find, positions, underlined, yaml } from './reading.ts';

/** A workflow whose node `n` is this one. */
const node = (keys: string): string => `id: x\nnodes:\n  n: { ${keys} }\n  a: { action: y }\n  b: { action: y }\n`;
const BODY = 'do: { nodes: { s: { action: y } } }';

describe('keys and kinds', () => {
  it.each([
    [`action: y, ${BODY}`, 'do', 'a body belongs to forEach, while, retryUntil'],
    [`forEach: { in: [1] }, ${BODY}, with: { a: 1 }`, 'with', 'parameters belong to an action'],
    ['dynamic: { action: y }, with: { a: 1 }', 'with', 'put it into dynamic: { action, with }'],
    ['workflow: { id: w }, with: { a: 1 }', 'with', "use 'input' of workflow: { id, input }"],
    ['wait: { for: 1s }, effect: pure', 'effect', 'put it on the node that runs the action'],
    ['set: { a: 1 }, cache: {}', 'cache', 'put it on the node that runs the action'],
    ['merge: {}, timeout: 1s', 'timeout', "use 'timeout' of merge: { wait, timeout }"],
    ['terminate: failed, concurrency: { key: k }', 'concurrency', 'remove it: the node takes no time'],
    [
      `forEach: { in: [1] }, ${BODY}, compensate: { action: y }`,
      'compensate',
      'put it on the nodes that have something to undo',
    ],
    [
      'workflow: { id: w, mode: child, isolation: shared }',
      'isolation',
      'remove it: a separate run has its own variables',
    ],
  ])('[DEF-72] %s', (keys, key, hint) => {
    const result = yaml(node(keys));
    const problem = find(result, 'MISPLACED_KEY');
    expect(codes(result)).toEqual(['MISPLACED_KEY']);
    expect(underlined(result, problem)).toBe(key);
    expect(problem.hint).toBe(hint);
  });

  it.each([
    `forEach: { in: $input.l }, ${BODY}, timeout: 1h, concurrency: { key: k }`,
    'workflow: { id: w, mode: child }, retry: { attempts: 2 }, compensate: { action: y }',
    'dynamic: { action: y }, retry: { attempts: 2 }, effect: pure, cache: {}, rateLimit: { key: k, limit: 1, per: 1s }',
    'wait: { for: 1s }, timeout: { total: 1s }, when: true, onError: ignore, priority: 3, enabled: false',
    `forEach: { in: [1] }, ${BODY}, retry: { attempts: 2 }, timeout: 1s`,
    `group: { nodes: { s: { action: y } } }, retry: [{ attempts: 2 }], timeout: 1s, compensate: { action: y }`,
    'workflow: { id: w }, retry: { attempts: 2 }',
    'wait: { for: 1s }, retry: { attempts: 2 }',
    'set: { a: 1 }, timeout: 1s',
  ])('[DEF-72] %s is fine', (keys) => {
    expect(codes(yaml(node(keys)))).toEqual([]);
  });

  it.each(['forEach: { in: [1] }', 'while: { condition: true }', 'retryUntil: { attempts: 2 }'])(
    '[DEF-73] %s must have a body',
    (keys) => {
      expect(codes(yaml(node(keys)))).toEqual(['MISSING_BODY']);
      expect(codes(yaml(node(`${keys}, body: {}`)))).toEqual(['UNKNOWN_KEY']);
      expect(codes(yaml(node(`${keys}, do: {}`)))).toEqual(['MISSING_KEY']);
      expect(codes(yaml(node(`${keys}, do: { nodes: {} }`)))).toEqual(['NO_NODES']);
    },
  );

  it.each([
    ['terminate: completed, with: { error: x }', 'error'],
    ['terminate: failed, with: { output: x }', 'output'],
    ['terminate: failed, with: { err: x }', 'err'],
  ])('[DEF-74] %s', (keys, key) => {
    const result = yaml(node(keys));
    expect(underlined(result, find(result, 'MISPLACED_KEY'))).toBe(key);
  });

  it.each([
    ['branch: { on: $input.a, cases: {} }', 'NO_CASES'],
    ['branch: { cases: [] }', 'NO_CASES'],
    ['branch: { on: $input.a }', 'MISSING_KEY'],
    ['branch: { cases: { x: a } }', 'MISSING_ON'],
    ['branch: { on: $input.a, cases: { x: a }, many: true }', 'MISPLACED_KEY'],
    ['branch: { cases: [{ to: a }] }', 'MISSING_TEST'],
    ['branch: { cases: [{ when: true, match: 1, to: a }] }', 'SEVERAL_TESTS'],
    ['branch: { cases: [{ when: true }] }', 'MISSING_KEY'],
    ['branch: { cases: [{ error: { cod: X }, to: a }] }', 'UNKNOWN_KEY'],
    ['branch: { on: $input.a, cases: { x: "a, b" } }', 'BAD_ID'],
    ['branch: { on: $input.a, cases: { x: 5 } }', 'WRONG_TYPE'],
  ])('[DEF-75] %s', (keys, code) => {
    expect(codes(yaml(node(keys)))).toContain(code);
  });

  it.each([
    ['for: soon', 'BAD_DURATION', 'soon'],
    ['for: $input.d', 'BAD_DURATION', '$input.d'],
    ['until: 2030-13-01', 'BAD_MOMENT', '2030-13-01'],
    ['until: 10s', 'BAD_MOMENT', '10s'],
    ['for: 1s, deadline: 0s', 'BAD_DURATION', '0s'],
    ['for: 1s, signal: x', 'SEVERAL_WAITS', 'signal'],
    ['for: 1s, key: x', 'MISPLACED_KEY', 'key'],
    ['signal: "x {{ $input.a }}"', 'BAD_SIGNAL', '"x {{ $input.a }}"'],
    ['callback: false', 'MISSING_WAIT', 'false'],
    ['any: []', 'MISSING_WAIT', '[]'],
    ['deadline: 1s', 'MISSING_WAIT', 'wait'],
    ['any: [{ for: 1s, until: 2030-01-01 }]', 'SEVERAL_WAITS', 'until'],
    ['any: [{ any: [] }]', 'UNKNOWN_KEY', 'any'],
  ])('[DEF-76] wait: { %s }', (keys, code, marked) => {
    const result = yaml(node(`wait: { ${keys} }`));
    expect(underlined(result, find(result, code))).toBe(marked);
  });

  it.each([
    'for: "{{ $input.d }}"',
    'until: $input.at',
    'until: "{{ $input.at }}"',
    'signal: s, deadline: 2030-01-01T00:00:00Z',
  ])('[DEF-76] wait: { %s } is fine', (keys) => {
    expect(codes(yaml(node(`wait: { ${keys} }`)))).toEqual([]);
  });

  it.each(['101%', '-1%', '80 %', '80', 'all'])('[DEF-77] minSuccess: "%s" is no share', (share) => {
    expect(codes(yaml(node(`forEach: { in: $input.l, minSuccess: "${share}" }, ${BODY}`)))).toEqual(['BAD_PERCENT']);
  });

  it('[DEF-77] minSuccess cannot be more than the items that are written out', () => {
    expect(codes(yaml(node(`forEach: { in: [1, 2], minSuccess: 3 }, ${BODY}`)))).toEqual(['TOO_FEW_ITEMS']);
    expect(codes(yaml(node(`forEach: { in: [1, 2], minSuccess: 100% }, ${BODY}`)))).toEqual([]);
  });

  it('[DEF-78] maxConcurrency in a loop that is not parallel is a warning', () => {
    const result = yaml(node(`forEach: { in: [1], maxConcurrency: 3 }, ${BODY}`));
    expect(codes(result)).toEqual(['UNUSED_KEY']);
    expect(result.definition).toBeDefined();
  });

  it('[DEF-79] the failure node exists and has no edges', () => {
    const config = (id: string): string =>
      `id: x\nconfig: { failureNode: ${id} }\nnodes: { a: { action: y }, b: { action: y, needs: a }, tell: { action: y } }\n`;
    expect(positions(yaml(config('tel')))).toEqual(['UNKNOWN_NODE 2:24']);
    expect(positions(yaml(config('b')))).toEqual(['LINKED_FAILURE_NODE 2:24']);
    expect(codes(yaml(config('tell')))).toEqual([]);
  });

  it('[DEF-84] debounce needs a window, and nothing else has one', () => {
    const start = (keys: string): string =>
      `id: x\nconfig: { start: { key: $input.id, ${keys} } }\nnodes: { a: { action: y } }\n`;
    expect(codes(yaml(start('policy: debounce')))).toEqual(['MISSING_WINDOW']);
    expect(codes(yaml(start('window: 1s')))).toEqual(['MISPLACED_KEY']);
  });
});

describe('bodies', () => {
  it('[DEF-85] are checked like the workflow itself', () => {
    const result = yaml(`id: x
nodes:
  loop:
    forEach: { in: [1] }
    do:
      nodes:
        a: { action: y, needs: [c], retires: 1 }
        b: { action: y, needs: [aa], onError: branch }
        c: { action: y, join: 3 }
      edges:
        - a -> b -> c
        - a -> b
        - { from: a, to: nobody }
`);
    expect(positions(result)).toEqual([
      'CYCLE 7:33',
      'UNKNOWN_KEY 7:37',
      'UNKNOWN_NODE 8:33',
      'BRANCH_WITHOUT_EDGE 8:47',
      'JOIN_TOO_HIGH 9:31',
      'DUPLICATE_EDGE 12:11',
      'UNKNOWN_NODE 13:26',
    ]);
    expect(find(result, 'DUPLICATE_EDGE').path.join('.')).toBe('nodes.loop.do.edges.1');
  });

  it('[DEF-45] short edges in bodies have their places', () => {
    const result = yaml(`id: x
nodes:
  loop:
    forEach: { in: [1] }
    do:
      nodes: { a: { action: y }, b: { action: y } }
      edges: [a -> b, "b -> nobody"]
edges: [loop -> loop]
`);
    const problem = find(result, 'UNKNOWN_NODE');
    expect(underlined(result, problem)).toBe('nobody');
    expect(problem.path.join('.')).toBe('nodes.loop.do.edges.1');
    expect(result.source.rangeOf(['nodes', 'loop', 'do', 'edges', 0, 'to'])).toMatchObject({ line: 7, column: 20 });
    expect(find(result, 'SELF_LOOP').path).toEqual(['edges', 0]);
  });

  const nested = (depth: number): object => {
    let body: object = { nodes: { a: { action: 'y' } } };
    for (let at = 0; at < depth; at++) body = { nodes: { l: { while: { condition: true }, do: body } } };
    return { id: 'x', ...body };
  };

  it('[DEF-86] nest up to a limit', () => {
    expect(codes(readDefinitionObject(nested(DEFINITION_LIMITS.maxBodyDepth)))).toEqual([]);
    expect(codes(readDefinitionObject(nested(DEFINITION_LIMITS.maxBodyDepth + 1)))).toEqual(['TOO_DEEP']);
  });

  it('[DEF-68] nodes of bodies count', { timeout: 60_000 }, () => {
    const nodes = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, { action: 'y' }]));
    const half = DEFINITION_LIMITS.maxNodes / 2;
    const loop = { while: { condition: true }, do: { nodes: nodes(half) } };
    expect(codes(readDefinitionObject({ id: 'x', nodes: { ...nodes(half), loop } }))).toEqual(['TOO_MANY_NODES']);
  });

  it('[DEF-119] a workflow node has an id or a launch plan, which is a run of its own', () => {
    const node = (workflow: string, more = '') => codes(yaml(`id: x\nnodes: { a: { workflow: ${workflow}${more} } }`));
    expect(node('{ plan: nightly, input: { a: 1 } }', ', retry: { attempts: 2 }')).toEqual([]);
    expect(node('{ plan: nightly, mode: child }')).toEqual([]);
    expect(node('{ input: {} }')).toEqual(['MISSING_KEY']);
    for (const wrong of ['id: w', 'version: 2', 'mode: inline', 'isolation: shared']) {
      expect([wrong, node(`{ plan: nightly, ${wrong} }`)]).toEqual([wrong, ['MISPLACED_KEY']]);
    }
  });
});
