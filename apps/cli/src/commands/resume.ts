import { NebulaError } from '@nebula/core';
import { withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import { continueRuns, resumeSome, watchedRun } from '../continue-runs.ts';
import { EXIT, worstExitCode } from '../exit-code.ts';
import { failureOf } from '../failure.ts';
import type { WatchedRun } from '../live/live-view.ts';
import { print, writeLines } from '../print.ts';
import { runNamed, runsOf } from '../runs.ts';
import type { Command, OpenCall } from '../services.ts';
import { errorLines } from '../views/error.ts';

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
  const codes: number[] = [];
  for (const { executionId } of rows) {
    const run = await watchedRun(session, executionId).catch((error: unknown) => {
      codes.push(reportUnreadable(open, executionId, error));
    });
    if (run !== undefined) runs.push(run);
  }
  if (runs.length > 0) {
    const code = await continueRuns(open, runs, () => session.work(), true);
    return code === EXIT.interrupted ? code : worstExitCode([...codes, code]);
  }
  print(open, { items: [] }, () => (codes.length > 0 ? [] : ['nothing to continue: all runs have ended']));
  return worstExitCode(codes);
}

/** Reports a run that cannot be continued here, e.g. because an action is missing; the others continue. */
function reportUnreadable({ io }: OpenCall, executionId: string, error: unknown): number {
  // The store or the server is not available: no run can be read.
  if (error instanceof NebulaError && error.retryable) throw error;
  const failure = failureOf(error, false);
  const message = `${executionId} cannot be continued: ${failure.message}`;
  writeLines(io.err, errorLines({ ...failure, message }, io.err.colors));
  return failure.exitCode === EXIT.internal ? EXIT.internal : EXIT.failed;
}
