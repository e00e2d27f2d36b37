import type { ExecutionStatus } from '@nebula/ports';
import { anyCommandWriter, concludeInterrupted, concludeRun, concludeRuns, writeLines } from '../conclude.ts';
import { documentOf, textOption, unknownExecution } from '../desk.ts';
import { EXIT } from '../exit-code.ts';
import { type WatchedRun, watch } from '../live/watch.ts';
import { familyOf } from '../run-facts.ts';
import type { CommandOptions, Context, EngineSession, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { registeredWorkflows } from '../workflow-folder.ts';

const UNFINISHED: readonly ExecutionStatus[] = ['pending', 'running', 'paused', 'compensating'];
const PAGE = 500;

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const dataDir = textOption(options, 'dataDir');
  const project = await context.services.openProject(dataDir === undefined ? {} : { dataDir });
  // An engine would make the folder; where there is nothing, there is nothing to resume.
  await (await context.services.openDesk(project)).close();
  const session = await context.services.openEngine(project);
  try {
    return args[0] === undefined
      ? await resumeAll(context, project, session, options)
      : await resumeOne(context, project, session, args[0], options);
  } finally {
    await session.close();
  }
}

/** Also what `executions retry` and `executions replay` end in: continues these runs, and all that runs for them. */
export async function resumeSome(
  context: Context,
  project: Project,
  session: EngineSession,
  executionIds: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const runs: WatchedRun[] = [];
  const only: string[] = [];
  for (const executionId of executionIds) {
    const run = await watchedRun(session, executionId);
    if (run === undefined) return unknownExecution(project, executionId);
    runs.push(run);
    only.push(...(await familyOf(session.desk, executionId)));
  }
  return await continueRuns(context, project, session, runs, options, () => session.engine.open({ only }));
}

async function resumeOne(
  context: Context,
  project: Project,
  session: EngineSession,
  executionId: string,
  options: CommandOptions,
): Promise<number> {
  const document = await documentOf(session, project, executionId);
  // Whoever names it wants it to go on.
  if (document.status === 'paused') await session.desk.requestResume(executionId);
  return await resumeSome(context, project, session, [executionId], options);
}

async function resumeAll(
  context: Context,
  project: Project,
  session: EngineSession,
  options: CommandOptions,
): Promise<number> {
  const runs = await unfinishedRuns(session);
  if (runs.length > 0) {
    return await continueRuns(context, project, session, runs, options, () => session.engine.open(), true);
  }
  if (options.json === true) context.io.out.write(jsonDocument({ executions: [] }));
  else writeLines(context.io.out, ['nothing to continue: every run here has ended']);
  return EXIT.completed;
}

async function continueRuns(
  context: Context,
  project: Project,
  session: EngineSession,
  runs: readonly WatchedRun[],
  options: CommandOptions,
  open: () => Promise<void>,
  isList = runs.length > 1,
): Promise<number> {
  const view = { json: options.json === true, quiet: options.quiet === true };
  const { json } = view;
  const watching = { ...view, command: anyCommandWriter(context, project) };
  const ended = await watch(context, session, runs, watching, open);
  const executionIds = runs.map((run) => run.executionId);
  if (ended.interrupted) return concludeInterrupted(context, project, session, executionIds, json);
  const concluding = { context, project, desk: session.desk };
  const [only] = ended.rests;
  if (ended.rests.length > 1 || only === undefined || (isList && json)) {
    return await concludeRuns(concluding, ended.rests, json);
  }
  return await concludeRun(concluding, only, view);
}

async function unfinishedRuns(session: EngineSession): Promise<WatchedRun[]> {
  const runs: WatchedRun[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<EngineSession['desk']['list']>> = await session.desk.list({
      status: UNFINISHED,
      limit: PAGE,
      ...(cursor !== null && { cursor }),
    });
    for (const row of page.rows) {
      const run = await watchedRun(session, row.executionId);
      if (run !== undefined) runs.push(run);
    }
    cursor = page.next;
  } while (cursor !== null);
  return runs;
}

async function watchedRun(session: EngineSession, executionId: string): Promise<WatchedRun | undefined> {
  const document = await session.desk.document(executionId);
  if (document === undefined) return undefined;
  const definition = await session.definition(document.workflowId, document.version);
  const title = `${definition?.name ?? document.workflowId} v${document.version}`;
  const find = await registeredWorkflows(session, definition);
  return { executionId, definition, find, title, document, timeline: await session.desk.timeline(executionId) };
}
