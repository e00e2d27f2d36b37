import type { RunDocument } from '@nebula/core';
import { commandWriter, writeLines } from '../conclude.ts';
import { documentOf, withDesk } from '../desk.ts';
import { RunProgress } from '../live/progress.ts';
import { factsOf, type RunFacts } from '../run-facts.ts';
import type { CommandOptions, Context, DeskSession } from '../services.ts';
import type { Colors } from '../terminal/io.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonDocument } from '../views/json.ts';
import { outlineOf } from '../views/outline.ts';
import { summaryLines } from '../views/summary.ts';
import { runGlyph, runPaint } from '../views/theme.ts';
import { treeLines } from '../views/tree.ts';
import { plural } from '../views/words.ts';
import { graphOf } from '../views/workflow-graph.ts';
import { registeredWorkflows } from '../workflow-folder.ts';

/** Graphs with more nodes are folded unless `--all` is given. */
const MAX_ROWS = 200;
/** Children that are looked up and listed. */
const MAX_CHILDREN = 20;

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const executionId = args[0] as string;
  return withDesk(context, options, async (session, project) => {
    const document = await documentOf(session, project, executionId);
    const facts = factsOf(await session.desk.journal(executionId));
    if (options.json === true) {
      io.out.write(jsonDocument(await linkedDocument(session, document, facts)));
      return 0;
    }
    const run = await progressOf(session, document);
    const view = { colors: io.out.colors, width: io.out.columns() };
    const height = options.all === true ? {} : { height: MAX_ROWS };
    writeLines(io.out, treeLines(run, { ...view, ...height, now: io.now(), frame: -1 }));
    if (options.all !== true && run.nodes.length > MAX_ROWS)
      writeLines(io.out, [view.colors.dim('--all shows every node')]);
    writeLines(io.out, await linkLines(session, facts, view.colors));
    if (document.finishedAt === null) return 0;
    const command = commandWriter(context, project, executionId);
    writeLines(io.out, ['', ...summaryLines(document, { ...view, command, isUnderTree: true })]);
    return 0;
  });
}

async function progressOf(session: DeskSession, document: RunDocument): Promise<RunProgress> {
  const { executionId, workflowId, version } = document;
  const definition = await session.definition(workflowId, version);
  const title = `${definition?.name ?? workflowId} v${version}`;
  const find = await registeredWorkflows(session, definition);
  const run = new RunProgress(executionId, title, definition === undefined ? [] : outlineOf(graphOf(definition, find)));
  run.sync(document);
  run.recall(await session.desk.timeline(executionId));
  return run;
}

/** The document, with the executions that it belongs to and that belong to it. */
async function linkedDocument(session: DeskSession, document: RunDocument, facts: RunFacts): Promise<unknown> {
  const children = [];
  for (const child of facts.children) {
    children.push({ ...child, status: (await session.desk.document(child.executionId))?.status ?? null });
  }
  return {
    ...document,
    ...(facts.parent !== null && { parent: facts.parent }),
    ...(children.length > 0 && { children }),
  };
}

async function linkLines({ desk }: DeskSession, { parent, children }: RunFacts, colors: Colors): Promise<string[]> {
  const lines: string[] = [];
  if (parent !== null) lines.push(`${colors.dim('for')}   ${parent.node} of ${parent.executionId}`);
  for (const { node, executionId, workflowId } of children.slice(0, MAX_CHILDREN)) {
    const status = (await desk.document(executionId))?.status;
    const sign =
      status === undefined ? colors.dim('deleted') : runPaint(status, colors)(`${runGlyph(status)} ${status}`);
    const label = lines.some((line) => line.includes('runs')) ? '     ' : colors.dim('runs ');
    lines.push(`${label} ${node} → ${printableLine(workflowId)} ${executionId}  ${sign}`);
  }
  if (children.length > MAX_CHILDREN)
    lines.push(colors.dim(`      … ${plural(children.length - MAX_CHILDREN, 'more execution')}`));
  return lines.length === 0 ? [] : ['', ...lines];
}
