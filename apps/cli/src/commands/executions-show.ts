import { NebulaError, type RunDocument } from '@nebula/core';
import { withApi } from '../api.ts';
import { attemptsOf } from '../attempts.ts';
import { inProject } from '../command-options.ts';
import { linkedDocument, linkLines, linksOf } from '../links.ts';
import { ShownRun } from '../live/shown-run.ts';
import { locationText } from '../location.ts';
import { print, writeLines } from '../print.ts';
import { causeOf, commandWriter } from '../report-runs.ts';
import { retryCommands } from '../retry-commands.ts';
import { definitionOfRun, runNamed, runsOf, timelineOf } from '../runs.ts';
import type { ApiSession, Command, OpenCall } from '../services.ts';
import { type EndedNode, endedLines, endedNodes } from '../views/ended-iterations.ts';
import { jsonDocument } from '../views/json.ts';
import { nodeDetailLines } from '../views/node-details.ts';
import { outlineOf } from '../views/outline.ts';
import { summaryLines } from '../views/summary.ts';
import { treeLines } from '../views/tree.ts';
import { versionWord } from '../views/words.ts';
import { graphOf } from '../views/workflow-graph.ts';
import { registeredWorkflows } from '../workflow-folder.ts';
import { unknownNode } from './executions-read.ts';

/** Graphs with more nodes are folded unless `--all` is given. */
const MAX_ROWS = 200;

export const execute: Command = (call, args) =>
  withApi(call, 'read', async (open) => {
    const { io, options } = call;
    const executionId = args[0] ?? (await newestRun(open));
    const document = await runNamed(open, executionId, args[1]);
    if (args[1] !== undefined) return showNode(open, document, args[1]);
    const isAll = options.all === true;
    const ended = isAll ? endedNodes(document, await timelineOf(open.api, executionId)) : new Map<string, EndedNode>();
    if (options.json === true) {
      const nodes = isAll && { ended: Object.fromEntries(ended) };
      io.out.write(jsonDocument({ ...(await linkedDocument(open.api, document)), ...nodes }));
      return 0;
    }
    const run = await shownRun(open.session, document);
    const view = { colors: io.out.colors, width: io.out.columns() };
    const height = isAll ? {} : { height: MAX_ROWS };
    writeLines(io.out, treeLines(run, { ...view, ...height, now: io.now(), frame: -1 }));
    if (!isAll && run.nodes.length > MAX_ROWS) writeLines(io.out, [view.colors.dim('--all shows every node')]);
    const links = linkLines(await linksOf(open.api, document), view);
    for (const block of [isAll ? endedLines(ended, view) : [], links]) {
      if (block.length > 0) writeLines(io.out, ['', ...block]);
    }
    if (document.finishedAt === null) return 0;
    const how = { ...view, command: commandWriter(open, executionId), isUnderTree: true, full: options.full === true };
    const cause = await causeOf(open, document, how);
    writeLines(io.out, ['', ...summaryLines(document, { ...how, cause, retry: await retryCommands(open, document) })]);
    return 0;
  });

/** In a very long journal, a node of an ended iteration is known by its attempts alone. */
async function showNode(open: OpenCall, { executionId, nodes }: RunDocument, path: string): Promise<number> {
  const { io, options } = open;
  const attempts = await attemptsOf(open.api, executionId, path);
  const node = Object.hasOwn(nodes, path) ? nodes[path] : undefined;
  if (attempts === undefined || (node === undefined && attempts.length === 0)) {
    return unknownNode(path, Object.keys(nodes));
  }
  const full = options.full === true;
  const error = node?.error ?? null;
  const cause = await causeOf(open, { executionId, error: error && { ...error, node: error.node ?? path } }, { full });
  const command = commandWriter(open, executionId);
  const view = { colors: io.out.colors, width: io.out.columns(), full, cause, command };
  return print(open, { executionId, path, node: node ?? null, attempts }, () =>
    nodeDetailLines(path, node, attempts, view),
  );
}

async function newestRun({ program, api, project, options }: OpenCall): Promise<string> {
  const { rows } = await runsOf(api, inProject(options), { limit: 1 });
  const [newest] = rows;
  if (newest !== undefined) return newest.executionId;
  throw new NebulaError('NO_RUNS', `no runs in ${locationText(project)} yet`, {
    hint: `start one with ${program} run FILE`,
  });
}

async function shownRun(session: ApiSession, document: RunDocument): Promise<ShownRun> {
  const { executionId, workflowId, version } = document;
  const definition = await definitionOfRun(session.api, executionId);
  const title = `${definition?.name ?? workflowId} ${versionWord(version)}`;
  const find = await registeredWorkflows(session, definition);
  const outline = definition === undefined ? [] : outlineOf(graphOf(definition, find));
  return new ShownRun(executionId, title, outline, document);
}
