import { NebulaError } from '@nebula/core';
import { type Change, changeRuns, concludeChange, type Target } from '../bulk.ts';
import { commandWriter, writeLines } from '../conclude.ts';
import { unknownExecution, withDesk } from '../desk.ts';
import { ended, keptLines, tellKept, waitUntil } from '../requests.ts';
import type { CommandOptions, Context, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

/** The opposite of `executions pause`, beside the engine that has the run; `nebula resume` is an engine itself. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const change: Change = {
    verb: 'resume',
    done: 'requested',
    refusal: (target, project) => ended(target) ?? notPaused(context, project, target),
    async act({ executionId }, { desk }, project) {
      if (!(await desk.requestResume(executionId))) unknownExecution(project, executionId);
    },
  };
  const changed = await changeRuns(context, args, options, change);
  if (!changed.one) {
    const words = 'the requests are kept';
    return concludeChange(context, options, change, changed, keptLines(context, changed.project, undefined, words));
  }
  const { executionId } = changed.target;
  const document = await withDesk(context, options, (session) =>
    waitUntil(session, executionId, ({ status }) => status !== 'paused'),
  );
  const status = document?.status ?? 'paused';
  if (options.json === true) out.write(jsonDocument({ executionId, requested: true, status }));
  else if (status === 'paused') tellKept(context, changed.project, executionId, 'the request is kept');
  else writeLines(out, [`${out.colors.green('▶')} ${executionId} goes on`]);
  return 0;
}

function notPaused(context: Context, project: Project, { executionId, status }: Target): NebulaError | undefined {
  if (status === 'paused') return undefined;
  return new NebulaError('NOT_PAUSED', `${executionId} is ${status}, not paused`, {
    hint: `to go on with it in an engine of its own: ${commandWriter(context, project, executionId)('resume')}`,
  });
}
