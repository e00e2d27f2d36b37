import { NebulaError, type RunDocument } from '@nebula/core';
import { commandWriter, writeLines } from '../conclude.ts';
import { documentOf, inProject, placeText, withDesk } from '../desk.ts';
import { linkedDocument, linksOf } from '../links.ts';
import { ShownRun } from '../live/shown-run.ts';
import type { CommandOptions, Context, DeskSession, Project } from '../services.ts';
import { type EndedNode, endedLines, endedNodes } from '../views/ended-rounds.ts';
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
  return withDesk(context, options, async (session, project) => {
    const executionId = args[0] ?? (await newestRun(context, session, project, options));
    const document = await documentOf(session, project, executionId);
    if (options.json === true) {
      const ended = options.all === true && { ended: Object.fromEntries(await endedIn(session, document)) };
      io.out.write(jsonDocument({ ...(await linkedDocument(session.desk, document)), ...ended }));
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
    const links = linkLines(await linksOf(session.desk, document), view);
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

async function endedIn({ desk }: DeskSession, document: RunDocument): Promise<Map<string, EndedNode>> {
  return endedNodes(document, await desk.timeline(document.executionId));
}

async function newestRun(
  { program }: Context,
  { desk }: DeskSession,
  project: Project,
  options: CommandOptions,
): Promise<string> {
  const [newest] = (await desk.list({ limit: 1, ...inProject(options) })).rows;
  if (newest !== undefined) return newest.executionId;
  throw new NebulaError('NO_RUNS', `there are no runs in ${placeText(project)} yet`, {
    hint: `${program} run FILE makes one`,
  });
}

async function shownRun(session: DeskSession, document: RunDocument): Promise<ShownRun> {
  const { executionId, workflowId, version } = document;
  const definition = await session.definition(workflowId, version);
  const title = `${definition?.name ?? workflowId} v${version}`;
  const find = await registeredWorkflows(session, definition);
  const outline = definition === undefined ? [] : outlineOf(graphOf(definition, find));
  return new ShownRun(executionId, title, outline, document);
}
