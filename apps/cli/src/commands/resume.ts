import { NebulaError } from '@nebula/core';
import type { ExecutionStatus } from '@nebula/ports';
import {
  commandWriter,
  concludeInterrupted,
  concludeRun,
  concludeRuns,
  settledExitCode,
  writeLines,
} from '../conclude.ts';
import { textOption, unknownExecution } from '../desk.ts';
import { EXIT } from '../exit-code.ts';
import { type WatchedRun, watch } from '../live/watch.ts';
import type { CommandOptions, Context, EngineSession, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

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

/** Also what `executions retry` ends in. */
export async function resumeOne(
  context: Context,
  project: Project,
  session: EngineSession,
  executionId: string,
  options: CommandOptions,
): Promise<number> {
  const view = { json: options.json === true, quiet: options.quiet === true };
  const { json } = view;
  const run = await watchedRun(session, executionId);
  if (run === undefined) return unknownExecution(project, executionId);
  const resumeCommand = commandWriter(context, project, executionId)('resume');
  const watching = { ...view, resumeCommand };
  const ended = await watch(context, session, [run], watching, () => session.engine.open({ only: [executionId] }));
  if (ended.interrupted) return concludeInterrupted(context, project, session, [executionId], json);
  const [settled] = ended.settled;
  if (settled === undefined) throw new NebulaError('INTERNAL', 'the run was not waited for');
  return concludeRun(context, project, settled, view);
}

async function resumeAll(
  context: Context,
  project: Project,
  session: EngineSession,
  options: CommandOptions,
): Promise<number> {
  const view = { json: options.json === true, quiet: options.quiet === true };
  const { json } = view;
  const runs = await unfinishedRuns(session);
  if (runs.length === 0) {
    if (json) context.io.out.write(jsonDocument({ executions: [] }));
    else writeLines(context.io.out, ['nothing to continue: every run here has ended']);
    return EXIT.completed;
  }
  const resumeCommand = commandWriter(context, project, undefined)('resume');
  const ended = await watch(context, session, runs, { ...view, resumeCommand }, () => session.engine.open());
  const executionIds = runs.map((run) => run.executionId);
  if (ended.interrupted) return concludeInterrupted(context, project, session, executionIds, json);
  const [only] = ended.settled;
  if (ended.settled.length === 1 && only !== undefined && !json) return concludeRun(context, project, only, view);
  if (ended.settled.length === 1 && only !== undefined) {
    context.io.out.write(jsonDocument({ executions: [only.document] }));
    return settledExitCode(only);
  }
  return concludeRuns(context, project, ended.settled, json);
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
  return { executionId, definition, title, document };
}
