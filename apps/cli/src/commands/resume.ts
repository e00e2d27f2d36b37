import { withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import { continueRuns, resumeSome, watchedRun } from '../continue-runs.ts';
import type { WatchedRun } from '../live/live-view.ts';
import { print } from '../print.ts';
import { runNamed, runsOf } from '../runs.ts';
import type { Command, OpenCall } from '../services.ts';

const UNFINISHED = 'pending,running,paused,compensating';

export const execute: Command = (call, [executionId]) =>
  withApi(call, 'work', async (open) => {
    if (executionId === undefined) return await resumeAll(open);
    const { status } = await runNamed(open, executionId);
    // A paused run that is named explicitly is resumed first.
    if (status === 'paused') await open.api.call('resumeExecution', { params: { executionId }, body: {} });
    return await resumeSome(open, [executionId]);
  });

async function resumeAll(open: OpenCall): Promise<number> {
  const { session, api, options } = open;
  const filter = { status: UNFINISHED, ...inProject(options) };
  const { rows } = await runsOf(api, filter, { limit: Number.POSITIVE_INFINITY });
  const runs: WatchedRun[] = [];
  for (const { executionId } of rows) {
    const run = await watchedRun(session, executionId);
    if (run !== undefined) runs.push(run);
  }
  if (runs.length > 0) return await continueRuns(open, runs, () => session.work(), true);
  return print(open, { items: [] }, () => ['nothing to continue: all runs have ended']);
}
