import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layout } from '../src/layout/layout.ts';
import {
  applyChange,
  type DrawnStatus,
  diffGraphs,
  type GraphNode,
  graphOf,
  graphOfDefinition,
  iterationAt,
  iterationCount,
  LiveRun,
  locate,
  NODE_STATUSES,
  nextIteration,
  pathInRun,
  statusCode,
  statusCounts,
  stripOf,
} from '../src/model/index.ts';

const loop = (id: string, parent?: string): GraphNode => ({
  id,
  kind: 'loop',
  label: id,
  isGroup: true,
  ...(parent === undefined ? {} : { parent }),
});
const action = (id: string, parent?: string): GraphNode => ({
  id,
  kind: 'action',
  label: id,
  ...(parent === undefined ? {} : { parent }),
});

const NESTED = graphOf(
  [loop('orders'), loop('orders/items', 'orders'), action('orders/items/pack', 'orders/items'), action('end')],
  [],
);

describe('paths in a run', () => {
  it('[CNV-40] have an iteration for each loop around a node', () => {
    expect(pathInRun(NESTED, 'orders/items/pack', { orders: 2, 'orders/items': 7 })).toBe('orders/2/items/7/pack');
    expect(pathInRun(NESTED, 'orders/items', { orders: 2, 'orders/items': 7 })).toBe('orders/2/items');
    expect(pathInRun(NESTED, 'end', { orders: 2 })).toBe('end');
    expect(pathInRun(NESTED, 'orders/items/pack', {})).toBe('orders/items/pack');
  });

  it('[CNV-40] lead back to the node and its iterations', () => {
    expect(locate(NESTED, 'orders/2/items/7/pack')).toEqual({
      node: 'orders/items/pack',
      iterations: [
        ['orders', 2],
        ['orders/items', 7],
      ],
    });
    expect(locate(NESTED, 'orders/2/other')).toBeUndefined();
    // A node may be named like a number where no loop is.
    const plain = graphOf([{ ...action('g'), kind: 'group', isGroup: true }, action('g/1', 'g')], []);
    expect(locate(plain, 'g/1')).toEqual({ node: 'g/1', iterations: [] });
  });
});

describe('strips', () => {
  const codes = (...statuses: DrawnStatus[]): Uint8Array => Uint8Array.from(statuses, statusCode);

  it('[CNV-41] never hide a failure', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3_000 }),
        fc.integer({ min: 1, max: 400 }),
        fc.nat(),
        (count, most, seed) => {
          const all = new Uint8Array(count).fill(statusCode('completed'));
          const failed = seed % count;
          all[failed] = statusCode('failed');
          const strip = stripOf(all, most);
          expect(strip.length).toBeLessThanOrEqual(Math.max(most, 1));
          const column = strip.indexOf(statusCode('failed'));
          expect(column).toBeGreaterThanOrEqual(0);
          // The place of the column means that iteration.
          expect(iterationAt(all, (column + 0.5) / strip.length, most)).toBe(failed);
        },
      ),
    );
  });

  it('[CNV-41] are made of counts, too', () => {
    const cells = new Uint32Array(2 * NODE_STATUSES.length);
    cells[statusCode('completed')] = 90;
    cells[statusCode('failed')] = 1;
    cells[NODE_STATUSES.length + statusCode('running')] = 9;
    expect(stripOf(cells, 100)).toEqual(codes('failed', 'running'));
    expect(iterationCount(cells)).toBe(100);
    expect(statusCounts(cells)[statusCode('completed')]).toBe(90);
    expect(iterationAt(cells, 0.75, 100)).toBe(91);
  });

  it('[CNV-50] the next iteration, and the next failed one', () => {
    const all = codes('completed', 'failed', 'completed', 'failed');
    expect(nextIteration(all, 0, 1)).toBe(1);
    expect(nextIteration(all, 1, 1, 'failed')).toBe(3);
    expect(nextIteration(all, 1, -1, 'failed')).toBeUndefined();
    expect(nextIteration(all, 3, 1)).toBeUndefined();
    expect(nextIteration(undefined, 4, -1)).toBe(3);
    expect(nextIteration(undefined, 0, -1)).toBeUndefined();
  });
});

describe('a run from its events', () => {
  it('[CNV-42] has statuses, attempts and durations', () => {
    const live = new LiveRun();
    const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    expect(live.apply({ at: at(0), type: 'WorkflowStarted', node: null })).toBeUndefined();
    expect(live.apply({ at: at(0), type: 'NodeScheduled', node: 'pay', details: {} })).toEqual({
      path: 'pay',
      state: { status: 'queued' },
    });
    live.apply({ at: at(1), type: 'NodeStarted', node: 'pay', details: { attempt: 1, worker: 'w' } });
    live.apply({ at: at(2), type: 'NodeRetried', node: 'pay', details: {} });
    live.apply({ at: at(3), type: 'NodeStarted', node: 'pay', details: { attempt: 2, worker: 'w' } });
    expect(live.apply({ at: at(5), type: 'NodeCompleted', node: 'pay', details: {} })).toEqual({
      path: 'pay',
      state: { status: 'completed', attempts: 2, durationMs: 4_000 },
    });
  });

  it('[CNV-42] has the iterations of a loop', () => {
    const live = new LiveRun();
    const say = (type: string, node: string, details: object = {}) => live.apply({ at: 0, type, node, details });
    say('NodeOpened', 'items', { items: 100 });
    say('RoundStarted', 'items/0');
    say('RoundStarted', 'items/1');
    say('RoundCompleted', 'items/0');
    const change = say('RoundFailed', 'items/1');
    expect(change?.state.iterations).toEqual({ total: 100, open: 0, succeeded: 1, failed: 1 });
    const { iterations } = change as { iterations: Uint8Array };
    expect(iterations).toHaveLength(100);
    expect([...iterations.subarray(0, 3)]).toEqual([
      statusCode('completed'),
      statusCode('failed'),
      statusCode('pending'),
    ]);
  });
});

describe('differences of graphs', () => {
  it('[CNV-43] are marks on a common graph', () => {
    const edge = (from: string, to: string) => ({ id: `${from}→${to}`, from, to, kind: 'success' as const });
    const before = graphOf([action('a'), action('b'), action('c')], [edge('a', 'b'), edge('b', 'c')]);
    const after = graphOf(
      [action('a'), { ...action('b'), detail: 'new' }, action('d')],
      [edge('a', 'b'), edge('b', 'd')],
    );
    const { graph, marks } = diffGraphs(before, after);
    expect([...graph.nodes.keys()]).toEqual(['a', 'b', 'd', 'c']);
    expect(Object.fromEntries(marks)).toEqual({
      b: { change: 'changed' },
      c: { change: 'removed' },
      d: { change: 'added' },
      'b→d': { change: 'added' },
      'b→c': { change: 'removed' },
    });
    expect(diffGraphs(before, before).marks.size).toBe(0);
    expect(diffGraphs(before, before, (id) => id === 'a').marks).toEqual(new Map([['a', { change: 'changed' }]]));
  });
});

describe('edits', () => {
  it('[CNV-44] moving nodes has an inverse', () => {
    const graph = graphOf([action('a')], []);
    const moved = applyChange(graph, { type: 'move', positions: { a: { x: 1, y: 2 } } });
    expect(moved.graph.positions).toEqual(new Map([['a', { x: 1, y: 2 }]]));
    expect(applyChange(moved.graph, moved.inverse).graph.positions).toEqual(new Map());
  });

  it('[CNV-45] a called workflow is a group if its definition is given', () => {
    const definition = { id: 'outer', nodes: { call: { workflow: { id: 'inner' } } } };
    const inner = {
      id: 'inner',
      nodes: { one: { action: 'core.log@1' }, two: { needs: ['one'], action: 'core.log@1' } },
    };
    expect([...graphOfDefinition(definition).nodes.keys()]).toEqual(['call']);
    const graph = graphOfDefinition(definition, { call: inner });
    expect([...graph.nodes.keys()]).toEqual(['call', 'call/one', 'call/two']);
    expect(graph.nodes.get('call')?.isGroup).toBe(true);
    expect([...graph.edges.keys()]).toEqual(['call/one→call/two']);
  });

  it('[CNV-46] layers leave room for labels', () => {
    const input = {
      direction: 'right' as const,
      parent: Int32Array.of(-1, -1, -1),
      width: Float64Array.of(100, 100, 100),
      height: Float64Array.of(40, 40, 40),
      edgeFrom: Int32Array.of(0, 1),
      edgeTo: Int32Array.of(1, 2),
    };
    const { x } = layout({ ...input, edgeSpace: Float64Array.of(0, 190) });
    expect(x[2]! - x[1]! - 100).toBe(190);
    expect(x[1]! - x[0]! - 100).toBe(layout(input).x[1]! - layout(input).x[0]! - 100);
  });
});
