import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { dotLines, mermaidLines } from '../views/graph-formats.ts';
import { pictureLines } from '../views/graph-picture.ts';
import { jsonDocument } from '../views/json.ts';
import { graphOf, type WorkflowGraph } from '../views/workflow-graph.ts';
import { readFile, validDefinition } from '../workflow-file.ts';
import { findOthers } from '../workflow-folder.ts';

/** Draws the file without checking that its actions exist. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const file = args[0] as string;
  const definition = validDefinition(io, await readFile(io, file));
  const graph = graphOf(definition, (await findOthers(context, file, definition)).find);
  if (options.json === true) io.out.write(jsonDocument(graphDocument(graph)));
  else if (options.format === 'mermaid') writeLines(io.out, mermaidLines(graph));
  else if (options.format === 'dot') writeLines(io.out, dotLines(graph));
  else writeLines(io.out, pictureLines(graph, { colors: io.out.colors, width: io.out.columns() }));
  return 0;
}

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
