import { withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import { continueRuns, resumeSome, watchedRun } from '../continue-runs.ts';
import { EXIT } from '../exit-code.ts';
import type { WatchedRun } from '../live/watch.ts';
import { writeLines } from '../report-runs.ts';
import { runNamed, runsOf } from '../runs.ts';
import type { ApiSession, CommandOptions, Context, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

const UNFINISHED = 'pending,running,paused,compensating';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const [executionId] = args;
  return withApi(context, options, 'work', (session, project) =>
    executionId === undefined
      ? resumeAll(context, project, session, options)
      : resumeOne(context, project, session, executionId, options),
  );
}

async function resumeOne(
  context: Context,
  project: Project,
  session: ApiSession,
  executionId: string,
  options: CommandOptions,
): Promise<number> {
  const { status } = await runNamed(session, project, executionId);
  // A paused run that is named explicitly is resumed first.
  if (status === 'paused') await session.api.call('resumeExecution', { params: { executionId }, body: {} });
  return await resumeSome(context, project, session, [executionId], options);
}

async function resumeAll(
  context: Context,
  project: Project,
  session: ApiSession,
  options: CommandOptions,
): Promise<number> {
  const runs = await unfinishedRuns(session, options);
  if (runs.length > 0) {
    return await continueRuns(context, project, session, runs, options, () => session.work(), true);
  }
  if (options.json === true) context.io.out.write(jsonDocument({ items: [] }));
  else writeLines(context.io.out, ['nothing to continue: all runs have ended']);
  return EXIT.completed;
}

async function unfinishedRuns(session: ApiSession, options: CommandOptions): Promise<WatchedRun[]> {
  const filter = { status: UNFINISHED, ...inProject(options) };
  const { rows } = await runsOf(session.api, filter, { limit: Number.POSITIVE_INFINITY });
  const runs: WatchedRun[] = [];
  for (const { executionId } of rows) {
    const run = await watchedRun(session, executionId);
    if (run !== undefined) runs.push(run);
  }
  return runs;
}
