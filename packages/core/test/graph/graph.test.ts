import { describe, expect, it } from 'vitest';
import {
  buildGraph,
  checkGraph,
  criticalPathRanks,
  edgePath,
  edgesAt,
  endNodes,
  entryNodes,
  findCycles,
  type Graph,
  type GraphDefinition,
  nodeLevels,
  topologicalOrder,
} from '../../src/graph/index.ts';

/** `{ b: 'a', c: 'a b' }`: nodes with their needs. */
function needs(nodes: Record<string, string>): NonNullable<GraphDefinition['nodes']> {
  return Object.fromEntries(
    Object.entries(nodes).map(([id, list]) => [id, { needs: list.split(' ').filter(Boolean) }]),
  );
}

function graphOf(nodes: Record<string, string>, edges: GraphDefinition['edges'] = []): Graph {
  return buildGraph({ nodes: needs(nodes), edges }).graph;
}

function show(graph: Graph): string[] {
  return Array.from(
    graph.edgeFrom,
    (from, edge) => `${graph.ids[from]}>${graph.ids[graph.edgeTo[edge] as number]} ${edgePath(graph, edge).join('.')}`,
  );
}

const names = (graph: Graph, nodes: Iterable<number>): string => Array.from(nodes, (node) => graph.ids[node]).join(' ');

describe('building', () => {
  it('[GRA-1] needs and edges become one list; the same edge counts once', () => {
    const graph = graphOf({ a: '', b: 'a', c: 'a b' }, [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c', on: 'success' },
      { from: 'a', to: 'c', on: 'error' },
    ]);
    expect(show(graph)).toEqual(['a>b nodes.b.needs.0', 'a>c nodes.c.needs.0', 'b>c nodes.c.needs.1', 'a>c edges.2']);
    expect([...edgesAt(graph.outgoing, 0)]).toEqual([0, 1, 3]);
    expect([...edgesAt(graph.incoming, 2)]).toEqual([1, 2, 3]);
    expect([...edgesAt(graph.incoming, 0)]).toEqual([]);
  });

  it('[GRA-1] an edge of needs repeated in edges is no problem', () => {
    expect(buildGraph({ nodes: needs({ a: '', b: 'a' }), edges: [{ from: 'a', to: 'b' }] }).problems).toEqual([]);
  });

  it('[GRA-2] exact repetitions are warnings, other edges between the same nodes are not', () => {
    const edges = [
      { from: 'a', to: 'b', on: 'error' as const, match: { code: 'X', kind: 'USER' } },
      { from: 'a', to: 'b', on: 'error' as const, match: { kind: 'USER', code: 'X' } },
      { from: 'a', to: 'b', on: 'error' as const },
      { from: 'a', to: 'b', when: 'x' },
      { from: 'a', to: 'b' },
      { from: 'a', to: 'b', on: 'success' as const },
    ];
    const { graph, problems } = buildGraph({ nodes: needs({ a: '', b: 'a a' }), edges });
    expect(problems.map(({ severity, code, path }) => `${severity} ${code} ${path.join('.')}`)).toEqual([
      'warning DUPLICATE_EDGE nodes.b.needs.1',
      'warning DUPLICATE_EDGE edges.1',
      'warning DUPLICATE_EDGE edges.5',
    ]);
    expect(graph.edgeFrom.length).toBe(4);
  });

  it('[GRA-3] unknown nodes are errors with a suggestion', () => {
    const { problems, graph } = buildGraph({
      nodes: needs({ fetch: 'zzz', b: 'fetsh' }),
      edges: [{ from: 'x', to: 'bb' }],
    });
    expect(problems.map(({ code, path, hint }) => `${code} ${path.join('.')}: ${hint}`)).toEqual([
      'UNKNOWN_NODE nodes.fetch.needs.0: the nodes are fetch, b',
      "UNKNOWN_NODE nodes.b.needs.0: did you mean 'fetch'?",
      "UNKNOWN_NODE edges.0.from: did you mean 'b'?",
      "UNKNOWN_NODE edges.0.to: did you mean 'b'?",
    ]);
    expect(graph.edgeFrom.length).toBe(0);
  });

  it('[GRA-4] a node cannot need itself', () => {
    const { problems } = buildGraph({ nodes: needs({ a: 'a' }), edges: [{ from: 'a', to: 'a', on: 'error' }] });
    expect(problems.map(({ code, path }) => `${code} ${path.join('.')}`)).toEqual([
      'SELF_LOOP nodes.a.needs.0',
      'SELF_LOOP edges.0',
    ]);
  });
});

describe('checking', () => {
  const check = (nodes: Record<string, string>, edges?: GraphDefinition['edges']) =>
    checkGraph(graphOf(nodes, edges), {});

  it('[GRA-5] a cycle is shown as a path, at one of its edges', () => {
    expect(check({ a: 'c', b: 'a', c: 'b', d: 'c' })).toMatchObject([
      {
        severity: 'error',
        code: 'CYCLE',
        message: 'the nodes wait for each other: a → b → c → a',
        path: ['nodes', 'a', 'needs', 0],
      },
      { code: 'UNREACHABLE' },
    ]);
  });

  it('[GRA-5] one shortest cycle per group, whatever else is in it', () => {
    // Two groups: {a b c d} with the short cycle a → d → a, and {x y}.
    const problems = check({ start: '', a: 'start c d', b: 'a', c: 'b', d: 'a', x: 'y', y: 'x' });
    expect(problems.filter(({ code }) => code === 'CYCLE').map(({ message }) => message)).toEqual([
      'the nodes wait for each other: a → d → a',
      'the nodes wait for each other: x → y → x',
    ]);
  });

  it('[GRA-5] error edges close cycles too, and a long cycle is cut', () => {
    expect(check({ a: '', b: 'a' }, [{ from: 'b', to: 'a', on: 'error' }])[0]?.message).toContain('a → b → a');
    const ring = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`n${n}`, `n${(n + 29) % 30}`]));
    expect(check(ring)[0]?.message).toBe(
      'the nodes wait for each other: n0 → n1 → n2 → n3 → n4 → … (20 more) → n25 → n26 → n27 → n28 → n29 → n0',
    );
  });

  it('[GRA-6] nodes that only a cycle leads to are named once', () => {
    const problems = check({ a: 'b', b: 'a', c: 'b', d: 'c', e: '', f: 'e c' });
    expect(problems.find(({ code }) => code === 'UNREACHABLE')).toMatchObject({
      severity: 'warning',
      message: 'reachable only through a cycle: c, d',
      path: ['nodes', 'c'],
    });
    expect(check({ a: 'b', b: 'a' }).map(({ code }) => code)).toEqual(['CYCLE']);
  });

  it('[GRA-11] several edges from one node count once', () => {
    const { graph } = buildGraph({
      nodes: { a: {}, b: {}, c: {} },
      edges: [
        { from: 'a', to: 'c' },
        { from: 'a', to: 'c', on: 'error' },
        { from: 'b', to: 'c' },
      ],
    });
    expect(checkGraph(graph, { c: { join: 2 } })).toEqual([]);
    expect(checkGraph(graph, { c: { join: 3 } })).toMatchObject([
      { code: 'JOIN_TOO_HIGH', message: "the node 'c' waits for 3 nodes but has edges from 2 nodes" },
    ]);
  });

  it('[GRA-11] a join cannot ask for more nodes than lead to it', () => {
    const graph = graphOf({ a: '', b: '', c: 'a b' });
    expect(checkGraph(graph, { c: { join: 2 } })).toEqual([]);
    expect(checkGraph(graph, { c: { join: 'all' }, a: { join: 'any' } })).toEqual([]);
    expect(checkGraph(graph, { a: { join: 1 }, c: { join: 3 } })).toMatchObject([
      {
        code: 'JOIN_TOO_HIGH',
        message: "the node 'a' waits for 1 nodes but has edges from 0 nodes",
        path: ['nodes', 'a', 'join'],
      },
      { code: 'JOIN_TOO_HIGH', hint: 'use a join of at most 2, or all' },
    ]);
  });
});

describe('measuring', () => {
  const graph = graphOf({ d: 'b c', a: '', b: 'a', c: 'a', e: 'c', alone: '' });

  it('[GRA-7] order: every node after its predecessors, else as defined', () => {
    expect(names(graph, topologicalOrder(graph))).toBe('a alone b c d e');
    const cyclic = graphOf({ a: 'b', b: 'a', c: '', d: 'b' });
    expect(names(cyclic, topologicalOrder(cyclic))).toBe('c');
  });

  it('[GRA-8] levels are longest distances', () => {
    const longer = graphOf({ a: '', b: 'a', c: 'a b', d: 'a c' });
    expect([...nodeLevels(longer, topologicalOrder(longer))]).toEqual([0, 1, 2, 3]);
    expect([...nodeLevels(graph, topologicalOrder(graph))]).toEqual([2, 0, 1, 1, 2, 0]);
  });

  it('[GRA-9] entry and end nodes, as defined', () => {
    expect(names(graph, entryNodes(graph))).toBe('a alone');
    expect(names(graph, endNodes(graph))).toBe('d e alone');
  });

  it('[GRA-12] ranks are the heaviest ways to an end', () => {
    // d:1  a:2  b:10  c:3  e:20  alone:5
    const ranks = criticalPathRanks(graph, topologicalOrder(graph), [1, 2, 10, 3, 20, 5]);
    expect([...ranks]).toEqual([1, 25, 11, 23, 20, 5]);
  });

  it('[GRA-5] no cycles, no findings', () => {
    expect(findCycles(graph).cycles).toEqual([]);
  });
});

describe('branches', () => {
  const nodes = {
    r: { branch: { on: 'x', cases: { paid: 'a', open: ['b', 'a'] }, default: 'c' } },
    s: {
      branch: {
        cases: [
          { when: true, to: 'b' },
          { when: true, to: ['c', 'r'] },
        ],
      },
      needs: ['r'],
    },
    a: { needs: ['r'] },
    b: {},
    c: {},
  };

  it('[GRA-14] cases are edges, and the same edge from needs or edges counts once', () => {
    const { graph, problems } = buildGraph({
      nodes,
      edges: [
        { from: 'r', to: 'b' },
        { from: 'r', to: 'c', on: 'error' },
      ],
    });
    expect(problems).toEqual([]);
    expect(show(graph)).toEqual([
      'r>s nodes.s.needs.0',
      'r>a nodes.a.needs.0',
      'r>b nodes.r.branch.cases.open.0',
      'r>c nodes.r.branch.default',
      's>b nodes.s.branch.cases.0.to',
      's>c nodes.s.branch.cases.1.to.0',
      's>r nodes.s.branch.cases.1.to.1',
      'r>c edges.1',
    ]);
  });

  it('[GRA-14] they count for cycles', () => {
    const { graph } = buildGraph({ nodes });
    expect(checkGraph(graph, {})).toMatchObject([
      { code: 'CYCLE', path: ['nodes', 's', 'branch', 'cases', 1, 'to', 1] },
      { code: 'UNREACHABLE' },
    ]);
  });

  it('[GRA-14] unknown targets and the branch itself are reported where they stand', () => {
    const found = buildGraph({
      nodes: { r: { branch: { cases: { x: 'r', y: 'aa' }, default: [5, 'bb'] } }, a: {} },
    }).problems.map(({ code, path }) => `${code} ${path.join('.')}`);
    expect(found).toEqual([
      'SELF_LOOP nodes.r.branch.cases.x',
      'UNKNOWN_NODE nodes.r.branch.cases.y',
      'UNKNOWN_NODE nodes.r.branch.default.1',
    ]);
  });
});
