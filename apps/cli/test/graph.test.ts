import type { WorkflowDefinition } from '@nebula/core';
import fc from 'fast-check';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { visibleWidth } from '../src/terminal/width.ts';
import { dotLines, mermaidLines } from '../src/views/graph-formats.ts';
import { pictureLines } from '../src/views/graph-picture.ts';
import { outlineOf } from '../src/views/outline.ts';
import { graphOf } from '../src/views/workflow-graph.ts';
import { ORDER } from './support/runs.ts';

const colors = picocolors.createColors(false);
const outline = (definition: WorkflowDefinition): string[] =>
  outlineOf(graphOf(definition)).map((row) => row.prefix + row.name);

/** `{a: [], b: ['a']}` as a workflow. */
function workflow(needs: Record<string, string[]>): WorkflowDefinition {
  const nodes = Object.entries(needs).map(([id, list]) => [id, { action: 'core.noop@1', needs: list }]);
  return { id: 'w', nodes: Object.fromEntries(nodes) };
}

/** Random graphs without cycles. */
const graphs = fc
  .array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 1, maxLength: 25 })
  .map((rows) =>
    workflow(
      Object.fromEntries(
        rows.map((row, at) => [`n${at}`, at === 0 ? [] : [...new Set(row.map((pick) => `n${pick % at}`))]]),
      ),
    ),
  );

describe('outline', () => {
  test('[CLI-50] branches are indented under their fork, joins come back', () => {
    expect(outline(ORDER)).toEqual(['fetch', 'validate', '├─ charge', '│  tell', '├─ reserve', 'ship', 'invoice']);
  });

  test('[CLI-50] a chain stays in its column, and a fork without a join closes its line', () => {
    expect(outline(workflow({ a: [], b: ['a'], c: ['b'] }))).toEqual(['a', 'b', 'c']);
    expect(outline(workflow({ a: [], b: ['a'], c: ['a'], d: ['c'] }))).toEqual(['a', '├─ b', '└─ c', '   d']);
    expect(outline(workflow({ a: [], b: [], c: ['a', 'b'] }))).toEqual(['a', 'b', 'c']);
  });

  test('[CLI-50] is a topological order of every node', () => {
    fc.assert(
      fc.property(graphs, (definition) => {
        const rows = outlineOf(graphOf(definition)).map((row) => row.id);
        expect([...rows].sort()).toEqual(Object.keys(definition.nodes ?? {}).sort());
        for (const [id, node] of Object.entries(definition.nodes ?? {})) {
          for (const need of node.needs ?? []) expect(rows.indexOf(need)).toBeLessThan(rows.indexOf(id));
        }
      }),
    );
  });
});

describe('picture', () => {
  test('[CLI-81] boxes, lines and conditions', () => {
    expect(`\n${pictureLines(graphOf(ORDER), { colors, width: 80 }).join('\n')}\n`).toMatchInlineSnapshot(`
      "
                     ╭────────────────╮
                     │ fetch          │
                     │ http.request@1 │
                     ╰────────┬───────╯
                              │
                              ▼
                      ╭───────────────╮
                      │ validate      │
                      │ core.assert@1 │
                      ╰───────┬───────╯
                 ╭────────────┴───────────╮
                 ▼                        ▼
      ╭────────────────────╮   ╭─────────────────────╮
      │ charge             │   │ reserve             │
      │ payment.charge@2.1 │   │ warehouse.reserve@1 │
      ╰──────────┬─────────╯   ╰──────────┬──────────╯
              ╭──┴─────────────────┬──────╯
              ▼ error              ▼
      ╭──────────────╮   ╭──────────────────╮
      │ tell         │   │ ship             │
      │ email.send@1 │   │ warehouse.ship@1 │
      ╰──────────────╯   ╰─────────┬────────╯
                                   │
                                   ▼
                            ╭─────────────╮
                            │ invoice     │
                            │ core.noop@1 │
                            ╰─────────────╯

      charge         when $nodes.fetch.output.total > 0
      charge → tell  error CARD_DECLINED
      "
    `);
  });

  test('[CLI-81] names only when actions do not fit, a list when boxes do not', () => {
    const narrow = pictureLines(graphOf(ORDER), { colors, width: 32 });
    expect(narrow.join('\n')).not.toContain('core.assert');
    expect(narrow.join('\n')).toContain('│ fetch │');
    const list = pictureLines(graphOf(ORDER), { colors, width: 12 });
    expect(list).toContain('├─ reserve  warehouse.reserve@1');
    expect(list).toContain('ship  warehouse.ship@1  ← charge, reserve');
  });

  test('[CLI-81] fits the width, and every box has its arrows', () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 20, max: 200 }), (definition, width) => {
        const graph = graphOf(definition);
        const lines = pictureLines(graph, { colors, width });
        const isDrawn = lines.some((line) => line.includes('╭'));
        if (!isDrawn) return;
        for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
        const text = lines.join('\n');
        const targets = graph.incoming.filter((edges) => edges.length > 0).length;
        expect(text.match(/▼/g)?.length ?? 0).toBe(targets);
        for (const node of graph.nodes) expect(text).toContain(`│ ${node.name} `);
      }),
      { numRuns: 60 },
    );
  });

  test('an empty workflow and one with a cycle are no reason to fail', () => {
    expect(pictureLines(graphOf({ id: 'w' }), { colors, width: 80 })).toEqual(['the workflow has no nodes']);
    expect(pictureLines(graphOf(workflow({ a: ['b'], b: ['a'] })), { colors, width: 80 }).join('\n')).toContain('│ a ');
  });
});

const EVERYTHING: WorkflowDefinition = {
  id: 'all',
  config: { failureNode: 'tell' },
  nodes: {
    pick: { branch: { on: '$input.kind', cases: { a: 'one', b: ['two'] }, default: 'three' } },
    one: { action: 'pay.charge@1', compensate: { action: 'pay.refund@1' } },
    two: { workflow: { id: 'inner' } },
    three: { workflow: { id: 'other', mode: 'child' } },
    loop: {
      needs: ['one', 'two', 'three'],
      forEach: { in: '{{ $input.items }}', parallel: true, maxConcurrency: 3 },
      do: {
        nodes: {
          pack: { action: 'box.pack@1' },
          twice: { needs: ['pack'], while: { condition: '$index < 2' }, do: { nodes: { tick: { action: 'tick@1' } } } },
        },
      },
    },
    poll: {
      needs: ['loop'],
      retryUntil: { until: '$self.output.ok', attempts: 3 },
      do: { nodes: { ask: { action: 'ask@1' } } },
    },
    made: { needs: ['poll'], dynamic: { action: 'plan@1' } },
    ok: { needs: ['made'], wait: { any: [{ signal: 'go' }, { approval: { who: 'ann' } }], deadline: '1d' } },
    keep: { needs: ['ok'], set: { n: 1, m: 2 } },
    parts: { needs: ['keep'], split: { in: [1, 2] } },
    joined: { needs: ['parts'], merge: { wait: 'any' } },
    stop: { needs: ['joined'], terminate: 'completed' },
    tell: { action: 'mail.send@1' },
  },
};
const INNER: WorkflowDefinition = { id: 'inner', nodes: { seat: { action: 'seat@1' } } };
const everything = graphOf(EVERYTHING, (id) => (id === 'inner' ? INNER : undefined));

describe('every kind of node', () => {
  test('[CLI-100] says what it does, with its body inside', () => {
    const text = pictureLines(everything, { colors, width: 120 }).join('\n');
    for (const words of [
      '◇ $input.kind',
      '↺ pay.refund@1',
      '▣ workflow inner',
      '▣ workflow other, a run of its own',
      '↻ for each of $input.items, 3 at once',
      '↻ while $index < 2',
      '↻ until $self.output.ok, at most 3×',
      '▣ graph of plan@1',
      '⧖ wait for signal go or for an approval',
      '≔ n, m',
      '↻ for each of [1,2]',
      'the first of them',
      '■ end the run: completed',
      'after a failure',
      '▼ otherwise',
    ]) {
      expect(text).toContain(words);
    }
    expect(text).toMatch(/│ +│ +│ tick +│ +│ +│/);
    expect(text).toMatch(/pick → one {2,}a\n/);
  });

  test('[CLI-100] bodies inside, below, or indented, as there is room', () => {
    const wide = graphOf({
      id: 'w',
      nodes: Object.fromEntries(
        ['first', 'second', 'third'].map((id) => [
          id,
          { forEach: { in: '$input' }, do: { nodes: { [`inside-of-${id}`]: { action: 'core.noop@1' } } } },
        ]),
      ),
    });
    expect(pictureLines(wide, { colors, width: 90 }).join('\n')).toMatch(/│ │ inside-of-first │/);
    const below = pictureLines(wide, { colors, width: 45 });
    expect(below).toContain('second ↻ for each of $input');
    for (const line of below) expect(visibleWidth(line)).toBeLessThanOrEqual(45);
    expect(pictureLines(wide, { colors, width: 10 })).toContain('    inside-of-second  core.noop@1');
  });

  test('[CLI-101] subgraphs in Mermaid and DOT', () => {
    const mermaid = mermaidLines(everything);
    expect(mermaid).toContain('  n0{"pick<br/><small>◇ $input.kind</small>"}');
    expect(mermaid).toContain('  subgraph n4["loop<br/><small>↻ for each of $input.items, 3 at once</small>"]');
    expect(mermaid).toContain('    n4_0 --> n4_1');
    expect(mermaid).toContain('      n4_1_0["tick<br/><small>tick@1</small>"]');
    expect(mermaid).toContain('  n0 -->|"otherwise"| n3');
    const dot = dotLines(everything);
    expect(dot).toContain('  subgraph "cluster loop" {');
    expect(dot).toContain('    "loop/pack" -> "loop/twice" [lhead="cluster loop/twice"];');
    expect(dot).toContain('  "pick" -> "one" [label="a"];');
    expect(dot.filter((line) => line.trim().endsWith('{'))).toHaveLength(
      dot.filter((line) => line.trim() === '}').length,
    );
  });
});

describe('other formats', () => {
  const hostile: WorkflowDefinition = {
    id: 'w"x',
    nodes: { a: { action: 'core.noop@1', name: 'Say "hi" <b>\\' }, b: { action: 'core.noop@1', enabled: false } },
    edges: [{ from: 'a', to: 'b', on: 'error', when: '$x > "1"' }],
  };

  test('[CLI-82] Mermaid', () => {
    expect(mermaidLines(graphOf(hostile))).toEqual([
      'flowchart TD',
      '  n0["Say &quot;hi&quot; &lt;b&gt;\\<br/><small>core.noop@1</small>"]',
      '  n1["b<br/><small>core.noop@1</small>"]',
      '  n0 -.->|"error: $x &gt; &quot;1&quot;"| n1',
      '  classDef disabled opacity:0.4',
      '  class n1 disabled',
    ]);
  });

  test('[CLI-82] DOT', () => {
    expect(dotLines(graphOf(hostile))).toEqual([
      'digraph "w\\"x" {',
      '  node [shape=box, style=rounded];',
      '  "a" [label="Say \\"hi\\" <b>\\\\\\ncore.noop@1"];',
      '  "b" [label="b\\ncore.noop@1", style="rounded,dashed"];',
      '  "a" -> "b" [label="error: $x > \\"1\\"", color=red, style=dashed];',
      '}',
    ]);
  });
});
