import { NebulaError, type RunDocument } from '@nebula/core';
import { withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import { linkedDocument, linksOf } from '../links.ts';
import { ShownRun } from '../live/shown-run.ts';
import { locationText } from '../location.ts';
import { commandWriter, writeLines } from '../report-runs.ts';
import { definitionOfRun, runNamed, runsOf, timelineOf } from '../runs.ts';
import type { ApiSession, CommandOptions, Context, Project } from '../services.ts';
import { type EndedNode, endedLines, endedNodes } from '../views/ended-iterations.ts';
import { jsonDocument } from '../views/json.ts';
import { linkLines } from '../views/links.ts';
import { outlineOf } from '../views/outline.ts';
import { summaryLines } from '../views/summary.ts';
import { treeLines } from '../views/tree.ts';
import { graphOf } from '../views/workflow-graph.ts';
import { registeredWorkflows } from '../workflow-folder.ts';

/** Graphs with more nodes are folded unless `--all` is given. */
const MAX_ROWS = 200;

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withApi(context, options, 'look', async (session, project) => {
    const executionId = args[0] ?? (await newestRun(context, session, project, options));
    const document = await runNamed(session, project, executionId);
    if (options.json === true) {
      const ended = options.all === true && { ended: Object.fromEntries(await endedIn(session, document)) };
      io.out.write(jsonDocument({ ...(await linkedDocument(session.api, document)), ...ended }));
      return 0;
    }
    const run = await shownRun(session, document);
    const view = { colors: io.out.colors, width: io.out.columns() };
    const height = options.all === true ? {} : { height: MAX_ROWS };
    writeLines(io.out, treeLines(run, { ...view, ...height, now: io.now(), frame: -1 }));
    if (options.all !== true && run.nodes.length > MAX_ROWS)
      writeLines(io.out, [view.colors.dim('--all shows every node')]);
    if (options.all === true) {
      const ended = endedLines(await endedIn(session, document), view);
      if (ended.length > 0) writeLines(io.out, ['', ...ended]);
    }
    const links = linkLines(await linksOf(session.api, document), view);
    if (links.length > 0) writeLines(io.out, ['', ...links]);
    if (document.finishedAt === null) return 0;
    const command = commandWriter(context, project, executionId);
    writeLines(io.out, [
      '',
      ...summaryLines(document, { ...view, command, isUnderTree: true, full: options.full === true }),
    ]);
    return 0;
  });
}

async function endedIn({ api }: ApiSession, document: RunDocument): Promise<Map<string, EndedNode>> {
  return endedNodes(document, await timelineOf(api, document.executionId));
}

async function newestRun(
  { program }: Context,
  { api }: ApiSession,
  project: Project,
  options: CommandOptions,
): Promise<string> {
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
  const title = `${definition?.name ?? workflowId} v${version}`;
  const find = await registeredWorkflows(session, definition);
  const outline = definition === undefined ? [] : outlineOf(graphOf(definition, find));
  return new ShownRun(executionId, title, outline, document);
}
