import { NebulaError } from '@nebula/core';
import { withApi } from '../api.ts';
import { type Change, changeRuns, reportChange, type Target } from '../bulk.ts';
import { continueHere, reportRecorded } from '../continue-runs.ts';
import { ended, printRecorded, recordedLines } from '../recorded-requests.ts';
import { commandWriter, writeLines } from '../report-runs.ts';
import { requested } from '../runs.ts';
import type { CommandOptions, Context, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { untilSeen } from '../wait-for-run.ts';

/** Resumes paused runs in the engine that owns them, or in this process when no engine runs. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const change: Change = {
    verb: 'resume',
    done: 'requested',
    refusal: (target, project) => ended(target) ?? notPaused(context, project, target),
    bulk: { operation: 'resume' },
    async act({ executionId }, { api }, project) {
      await requested(project, executionId, api.call('resumeExecution', { params: { executionId }, body: {} }));
    },
  };
  const changed = await changeRuns(context, args, options, change);
  const { project } = changed;
  const executionIds = (changed.one ? [changed.target] : changed.changed).map(({ executionId }) => executionId);
  if (!changed.one && (executionIds.length === 0 || changed.failures.length > 0)) {
    const after = recordedLines(context, project, undefined, 'Requests recorded');
    return reportChange(context, options, change, changed, after);
  }
  return await continueHere(context, project, executionIds, options, awaitResume);
}

/** Waits for the engine that owns the folder to resume the runs. */
async function awaitResume(
  context: Context,
  project: Project,
  executionIds: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { out } = context.io;
  const [executionId = '', second] = executionIds;
  if (second !== undefined || options.run === false) return reportRecorded(context, project, executionIds, options);
  const { status } = await withApi(context, options, 'look', (session) =>
    untilSeen(session, executionId, (document) => document.status !== 'paused'),
  );
  if (options.json === true) out.write(jsonDocument({ executionId, requested: true, status }));
  else if (status === 'paused') printRecorded(context, project, executionId, 'Request recorded');
  else writeLines(out, [`${out.colors.green('▶')} ${executionId} goes on`]);
  return 0;
}

function notPaused(context: Context, project: Project, { executionId, status }: Target): NebulaError | undefined {
  if (status === 'paused') return undefined;
  return new NebulaError('NOT_PAUSED', `${executionId} is ${status}, not paused`, {
    hint: `to continue the run in this process: ${commandWriter(context, project, executionId)('resume')}`,
  });
}
