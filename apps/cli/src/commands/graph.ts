import { print } from '../print.ts';
import type { Command } from '../services.ts';
import { dotLines, mermaidLines } from '../views/graph-formats.ts';
import { pictureLines } from '../views/graph-picture.ts';
import { graphOf, type WorkflowGraph } from '../views/workflow-graph.ts';
import { readFile, validDefinition } from '../workflow-file.ts';
import { findOthers } from '../workflow-folder.ts';

/** Draws the file without checking that its actions exist. */
export const execute: Command = async (call, [file = '']) => {
  const { io, options } = call;
  const definition = validDefinition(io, await readFile(io, file));
  const graph = graphOf(definition, (await findOthers(call, file, definition)).find);
  return print(call, graphDocument(graph), () => {
    if (options.format === 'mermaid') return mermaidLines(graph);
    if (options.format === 'dot') return dotLines(graph);
    return pictureLines(graph, { colors: io.out.colors, width: io.out.columns() });
  });
};

function graphDocument({ id, name, nodes, edges, level }: WorkflowGraph): unknown {
  return {
    id,
    name,
    nodes: nodes.map((node, index) => ({
      id: node.id,
      name: node.name,
      kind: node.kind,
      action: node.action,
      does: node.does,
      undo: node.undo,
      level: level[index],
      ...(node.body !== undefined && { body: graphDocument(node.body) }),
    })),
    edges: edges.map(({ from, to, on, condition }) => ({ from: nodes[from]?.id, to: nodes[to]?.id, on, condition })),
  };
}
