import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readDefinition } from '@nebula/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyChange,
  type Change,
  copyText,
  EMPTY_GRAPH,
  type Graph,
  type GraphEdge,
  GraphHistory,
  type GraphNode,
  graphOf,
  graphOfDefinition,
  pasteChange,
  pathThrough,
  refusalOf,
} from '../src/model/index.ts';

const node = (id: string, more: Partial<GraphNode> = {}): GraphNode => ({ id, kind: 'action', label: id, ...more });
const edge = (from: string, to: string): GraphEdge => ({ id: `${from}→${to}`, from, to, kind: 'success' });

/** a → b → c, and a group with two nodes after b. */
const SAMPLE = graphOf(
  [
    node('a'),
    node('b'),
    node('c'),
    node('g', { isGroup: true, kind: 'loop' }),
    node('g/x', { parent: 'g' }),
    node('g/y', { parent: 'g' }),
  ],
  [edge('a', 'b'), edge('b', 'c'), edge('b', 'g'), edge('g/x', 'g/y')],
);

function graphOfYaml(text: string): Graph {
  const { definition, problems } = readDefinition(text);
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  return graphOfDefinition(definition);
}

const edgesOf = ({ edges }: Graph) => [...edges.values()].map(({ id: _, ...rest }) => rest);
const contentOf = ({ nodes, edges }: Graph) => ({ nodes: new Set(nodes.values()), edges: new Set(edges.values()) });

describe('the graph of a definition', () => {
  it('[CNV-10] has needs, cases and edges, each once', () => {
    const graph = graphOfYaml(`
id: sample
nodes:
  fetch: { action: http.request@1, with: { url: 'https://example.org' } }
  decide:
    needs: [fetch]
    branch: { on: '{{ $nodes.fetch.output.status }}', cases: { ready: items, late: [note, items] }, default: stop }
  items:
    needs: [decide]
    forEach: { in: '{{ $nodes.fetch.output.items }}' }
    do:
      nodes:
        pick: { action: core.set@1, with: { value: 1 } }
        pack: { needs: [pick], action: core.set@1, with: { value: 1 } }
  note: { action: core.log@1, with: { message: x } }
  stop: { terminate: failed }
  clean: { action: core.log@1, with: { message: x } }
edges:
  - { from: fetch, to: clean, on: error, match: { code: TIMEOUT } }
`);
    expect([...graph.nodes.values()].map(({ id, kind, detail, parent }) => [id, kind, detail, parent])).toEqual([
      ['fetch', 'action', 'http.request@1', undefined],
      ['decide', 'branch', '$nodes.fetch.output.status', undefined],
      ['items', 'loop', 'for each of $nodes.fetch.output.items', undefined],
      ['items/pick', 'action', 'core.set@1', 'items'],
      ['items/pack', 'action', 'core.set@1', 'items'],
      ['note', 'action', 'core.log@1', undefined],
      ['stop', 'terminate', 'failed', undefined],
      ['clean', 'action', 'core.log@1', undefined],
    ]);
    expect(graph.nodes.get('decide')?.ports).toEqual([
      { id: 'ready', label: 'ready' },
      { id: 'late', label: 'late' },
      { id: 'default', label: 'otherwise' },
    ]);
    expect(edgesOf(graph)).toEqual([
      { from: 'items/pick', to: 'items/pack', kind: 'success' },
      { from: 'decide', to: 'items', kind: 'case', port: 'ready' },
      { from: 'decide', to: 'note', kind: 'case', port: 'late' },
      { from: 'decide', to: 'items', kind: 'case', port: 'late' },
      { from: 'decide', to: 'stop', kind: 'case', port: 'default' },
      { from: 'fetch', to: 'decide', kind: 'success' },
      { from: 'fetch', to: 'clean', kind: 'error', label: 'code: TIMEOUT' },
    ]);
  });

  const examples = path.join(import.meta.dirname, '../../../examples');
  const files = globSync('{*,patterns/*}.yaml', { cwd: examples }).filter((file) => !file.endsWith('.test.yaml'));
  it.for(files)('[CNV-10] exists for %s', (file) => {
    const { definition } = readDefinition(readFileSync(path.join(examples, file), 'utf8'));
    const graph = graphOfDefinition(definition!);
    expect(graph.nodes.size).toBeGreaterThanOrEqual(Object.keys(definition!.nodes ?? {}).length);
    for (const { from, to } of graph.edges.values()) expect(graph.nodes.has(from) && graph.nodes.has(to)).toBe(true);
  });
});

describe('changes', () => {
  const changes: readonly Change[] = [
    { type: 'add', nodes: [node('d')], edges: [edge('c', 'd')] },
    { type: 'remove', nodes: ['b'], edges: [] },
    { type: 'remove', nodes: ['g'], edges: ['a→b'] },
    { type: 'replace-node', node: node('a', { label: 'first' }) },
    { type: 'replace-edge', edge: { ...edge('a', 'b'), label: 'if true' } },
    {
      type: 'all',
      changes: [
        { type: 'remove', nodes: ['c'], edges: [] },
        { type: 'add', nodes: [node('c')], edges: [edge('a', 'c')] },
      ],
    },
  ];

  it.for(changes)('[CNV-11] $type is taken back by its inverse', (change) => {
    const applied = applyChange(SAMPLE, change);
    expect(contentOf(applied.graph)).not.toEqual(contentOf(SAMPLE));
    expect(contentOf(applyChange(applied.graph, applied.inverse).graph)).toEqual(contentOf(SAMPLE));
  });

  it('[CNV-11] removing a node removes its edges and its contents', () => {
    const { graph } = applyChange(SAMPLE, { type: 'remove', nodes: ['g'], edges: [] });
    expect([...graph.nodes.keys()]).toEqual(['a', 'b', 'c']);
    expect([...graph.edges.keys()]).toEqual(['a→b', 'b→c']);
  });

  it('[CNV-11] a change of something unknown, or a second node with one id, is an error', () => {
    expect(() => applyChange(SAMPLE, { type: 'remove', nodes: ['zzz'], edges: [] })).toThrow("There is no node 'zzz'.");
    expect(() => applyChange(SAMPLE, { type: 'add', nodes: [node('a')], edges: [] })).toThrow(
      "There is a node 'a' already.",
    );
  });

  it('[CNV-12] undo and redo go through all changes', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1, 2, 3, 4, 5), { maxLength: 8 }), (picks) => {
        const history = new GraphHistory(SAMPLE);
        const seen = [contentOf(history.graph)];
        for (const pick of picks) {
          try {
            history.apply(changes[pick]!);
            seen.push(contentOf(history.graph));
          } catch {
            // The change does not fit after those before it.
          }
        }
        for (const past of seen.toReversed().slice(1)) expect(contentOf(history.undo())).toEqual(past);
        expect(history.canUndo).toBe(false);
        for (const next of seen.slice(1)) expect(contentOf(history.redo())).toEqual(next);
        expect(history.canRedo).toBe(false);
      }),
    );
    const history = new GraphHistory(SAMPLE);
    history.apply(changes[0]!);
    history.undo();
    history.apply(changes[3]!);
    expect(history.canRedo).toBe(false);
  });
});

describe('connections', () => {
  it.for([
    ['a', 'a', 'itself'],
    ['a', 'g/x', 'other-scope'],
    ['a', 'b', 'exists'],
    ['c', 'a', 'cycle'],
    ['a', 'c', undefined],
    ['g/y', 'g/x', 'cycle'],
  ] as const)('[CNV-13] from %s to %s: %s', ([from, to, reason]) => {
    expect(refusalOf(SAMPLE, { from, to, kind: 'success' })).toBe(reason);
  });

  it('[CNV-15] the path through a node', () => {
    const { nodes, edges } = pathThrough(SAMPLE, 'c');
    expect([...nodes].toSorted()).toEqual(['a', 'b', 'c']);
    expect([...edges].toSorted()).toEqual(['a→b', 'b→c']);
  });
});

describe('the clipboard', () => {
  it('[CNV-14] pastes nodes with new ids and the edges between them', () => {
    const change = pasteChange(SAMPLE, copyText(SAMPLE, ['b', 'g']))!;
    expect(change.nodes.map(({ id, parent }) => [id, parent])).toEqual([
      ['b-2', undefined],
      ['g-2', undefined],
      ['g-2/x', 'g-2'],
      ['g-2/y', 'g-2'],
    ]);
    expect(change.edges.map(({ id }) => id)).toEqual(['b-2→g-2', 'g-2/x→g-2/y']);
    expect(applyChange(SAMPLE, change).graph.nodes.size).toBe(10);
  });

  it('[CNV-14] pastes into a group', () => {
    const change = pasteChange(SAMPLE, copyText(SAMPLE, ['a']), 'g')!;
    expect(change.nodes).toEqual([{ ...node('a'), id: 'g/a', parent: 'g' }]);
  });

  it.for(['', 'hello', '{}', '{"format":"nebula-graph-1","nodes":[{}],"edges":[]}', '[1]', 'null'])(
    '[CNV-14] pastes nothing of %j',
    (text) => {
      expect(pasteChange(EMPTY_GRAPH, text)).toBeUndefined();
    },
  );
});
