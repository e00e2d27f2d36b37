import { didYouMean, idsInOrder, NebulaError } from '@nebula/core';
import type { Explanation } from '@nebula/engine';
import { found, withApi } from '../api.ts';
import { type Links, linksOf, present } from '../links.ts';
import { localCommand, writeLines } from '../report-runs.ts';
import { runNamed } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { explanationLines } from '../views/explanation.ts';
import { jsonDocument } from '../views/json.ts';
import { linkLines } from '../views/links.ts';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const { out } = io;
  const [executionId = '', node] = args;
  return withApi(context, options, 'look', async (session, project) => {
    const { api } = session;
    const document = await runNamed(session, project, executionId);
    const query = node === undefined ? {} : { node };
    const explained = await found(api.call('explainExecution', { params: { executionId }, query }));
    if (explained === undefined) return unknownNode(node ?? '', idsInOrder(document));
    const explanation = explained as Explanation;
    const next = explanation.next.map((step) => localCommand(context, project, step));
    const links = linksFor(await linksOf(api, document), node);
    if (options.json === true) {
      out.write(jsonDocument({ executionId, ...explanation, next, ...present(links) }));
      return 0;
    }
    const view = { colors: out.colors, width: out.columns() };
    writeLines(out, explanationLines({ ...explanation, next }, view));
    const linked = linkLines(links, view);
    if (linked.length > 0) writeLines(out, ['', ...linked]);
    return 0;
  });
}

/** For a single node, only the child execution that runs for it. */
function linksFor({ parent, children }: Links, node: string | undefined): Links {
  if (node === undefined) return { parent, children };
  return { parent: null, children: children.filter((child) => child.node === node) };
}

export function unknownNode(node: string, nodes: readonly string[]): never {
  const guess = didYouMean(node, nodes);
  throw new NebulaError('UNKNOWN_NODE', `the run has no node ${node}`, {
    hint: guess === undefined ? `its nodes are ${nodes.slice(0, 10).join(', ')}` : `did you mean ${guess}?`,
  });
}
