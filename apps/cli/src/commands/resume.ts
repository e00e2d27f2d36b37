import type { ExecutionStatus } from '@nebula/ports';
import { writeLines } from '../conclude.ts';
import { documentOf, inProject, placeOf } from '../desk.ts';
import { EXIT } from '../exit-code.ts';
import { continueRuns, resumeSome, watchedRun } from '../go-on.ts';
import type { WatchedRun } from '../live/watch.ts';
import type { CommandOptions, Context, EngineSession, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

const UNFINISHED: readonly ExecutionStatus[] = ['pending', 'running', 'paused', 'compensating'];
const PAGE = 500;

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const project = await context.services.openProject(placeOf(options));
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
  const runs = await unfinishedRuns(session, options);
  if (runs.length > 0) {
    return await continueRuns(context, project, session, runs, options, () => session.engine.open(), true);
  }
  if (options.json === true) context.io.out.write(jsonDocument({ executions: [] }));
  else writeLines(context.io.out, ['nothing to continue: every run here has ended']);
  return EXIT.completed;
}

async function unfinishedRuns(session: EngineSession, options: CommandOptions): Promise<WatchedRun[]> {
  const runs: WatchedRun[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<EngineSession['desk']['list']>> = await session.desk.list({
      status: UNFINISHED,
      limit: PAGE,
      ...inProject(options),
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
