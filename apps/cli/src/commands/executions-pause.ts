import type { RunDocument } from '@nebula/core';
import { withApi } from '../api.ts';
import { type Change, changeRuns, reportChange } from '../bulk.ts';
import { textOption } from '../command-options.ts';
import { ended, engineHere, printRecorded, recordedLines } from '../recorded-requests.ts';
import { commandWriter, writeLines } from '../report-runs.ts';
import { requested } from '../runs.ts';
import type { CommandOptions, Context, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { untilSeen } from '../wait-for-run.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const reason = textOption(options, 'reason');
  const change: Change = {
    verb: 'pause',
    done: 'requested',
    refusal: ended,
    bulk: { operation: 'pause', ...(reason !== undefined && { reason }) },
    async act({ executionId }, { api }, project) {
      const body = reason === undefined ? {} : { reason };
      await requested(project, executionId, api.call('pauseExecution', { params: { executionId }, body }));
    },
  };
  const changed = await changeRuns(context, args, options, change);
  if (!changed.one) {
    const words = 'Requests recorded';
    return reportChange(context, options, change, changed, recordedLines(context, changed.project, undefined, words));
  }
  const { project } = changed;
  const { executionId } = changed.target;
  const status = await pausedStatus(context, project, executionId, options);
  if (options.json === true) out.write(jsonDocument({ executionId, requested: true, status }));
  else if (status === 'paused') {
    const write = commandWriter(context, project, executionId);
    writeLines(out, [
      `${out.colors.yellow('⏸ paused')}  ${executionId}`,
      'running attempts finish, nothing new starts and timers stop until',
      `  ${out.colors.bold(write('executions resume'))}`,
    ]);
  } else printRecorded(context, project, executionId, 'Request recorded');
  return 0;
}

/** Nothing starts before the pause is in the journal, so an engine opened here does nothing but record it. */
async function pausedStatus(
  context: Context,
  project: Project,
  executionId: string,
  options: CommandOptions,
): Promise<RunDocument['status']> {
  const isPaused = ({ status, finishedAt }: RunDocument): boolean => status === 'paused' || finishedAt !== null;
  const session = await engineHere(context, project);
  if (session === undefined) {
    return (await withApi(context, options, 'look', (looking) => untilSeen(looking, executionId, isPaused))).status;
  }
  try {
    await session.work([executionId]);
    return (await untilSeen(session, executionId, isPaused)).status;
  } finally {
    await session.close();
  }
}
