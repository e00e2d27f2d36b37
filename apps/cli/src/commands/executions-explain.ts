import { didYouMean, NebulaError } from '@nebula/core';
import { localCommand, writeLines } from '../conclude.ts';
import { documentOf, withDesk } from '../desk.ts';
import type { CommandOptions, Context } from '../services.ts';
import { explanationLines } from '../views/explanation.ts';
import { jsonDocument } from '../views/json.ts';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const [executionId = '', node] = args;
  return withDesk(context, options, async (session, project) => {
    const document = await documentOf(session, project, executionId);
    if (node !== undefined && !Object.hasOwn(document.nodes, node)) unknownNode(node, Object.keys(document.nodes));
    const explanation = await session.desk.explain(executionId, node);
    if (explanation === undefined) return unknownNode(node ?? '', Object.keys(document.nodes));
    const next = explanation.next.map((step) => localCommand(context, project, step));
    if (options.json === true) out.write(jsonDocument({ executionId, ...explanation, next }));
    else writeLines(out, explanationLines({ ...explanation, next }, { colors: out.colors, width: out.columns() }));
    return 0;
  });
}

export function unknownNode(node: string, nodes: readonly string[]): never {
  const guess = didYouMean(node, nodes);
  throw new NebulaError('UNKNOWN_NODE', `the run has no node ${node}`, {
    hint: guess === undefined ? `its nodes are ${nodes.slice(0, 10).join(', ')}` : `did you mean ${guess}?`,
  });
}
