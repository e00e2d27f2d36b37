import { NebulaError } from '@nebula/core';
import { type Change, changeRuns, reportChange, type Target } from '../bulk.ts';
import { continueHere } from '../continue-runs.ts';
import { recordedLines } from '../recorded-requests.ts';
import { commandWriter } from '../report-runs.ts';
import { requested } from '../runs.ts';
import type { CommandOptions, Context, Project } from '../services.ts';

/** Records the request, then continues the runs here unless another engine owns the folder. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const change: Change = {
    verb: 'retry',
    done: 'requested',
    refusal: (target, project) => refusalOf(context, project, target),
    bulk: { operation: 'retry' },
    async act({ executionId }, { api }, project) {
      await requested(project, executionId, api.call('retryExecution', { params: { executionId }, body: {} }));
    },
  };
  const changed = await changeRuns(context, args, options, change);
  const { project } = changed;
  if (changed.one) return await continueHere(context, project, [changed.target.executionId], options);
  const isLeft = options.run === false || changed.changed.length === 0 || changed.failures.length > 0;
  if (isLeft) {
    return reportChange(
      context,
      options,
      change,
      changed,
      recordedLines(context, project, undefined, 'Requests recorded'),
    );
  }
  return await continueHere(
    context,
    project,
    changed.changed.map(({ executionId }) => executionId),
    options,
  );
}

function refusalOf(context: Context, project: Project, { executionId, status, isFinished }: Target) {
  if (!isFinished) {
    return new NebulaError('NOT_FINISHED', `${executionId} is ${status}: only an ended run can be retried`, {
      hint: commandWriter(context, project, executionId)('resume'),
    });
  }
  if (status !== 'completed') return undefined;
  return new NebulaError('NOTHING_TO_RETRY', `${executionId} has completed: there is nothing to retry`, {
    hint: `${commandWriter(context, project, executionId)('executions replay', 'NODE')} runs a part of it again`,
  });
}
