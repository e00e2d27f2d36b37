import { NebulaError } from '@nebula/core';
import { type Change, changeRuns, reportChange, type Target } from '../bulk.ts';
import { commandWriter, writeLines } from '../report-runs.ts';
import type { CommandOptions, Context, Project } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const refused = (target: Target, project: Project): NebulaError =>
    new NebulaError('NOT_FINISHED', `${target.executionId} is ${target.status}: only ended runs can be deleted`, {
      hint: `first ${commandWriter(context, project, target.executionId)('executions cancel')}`,
    });
  const change: Change = {
    verb: 'delete',
    done: 'deleted',
    refusal: (target, project) => (target.isFinished ? undefined : refused(target, project)),
    bulk: { operation: 'delete' },
    async act({ executionId }, { api }) {
      await api.call('deleteExecution', { params: { executionId } });
    },
  };
  const changed = await changeRuns(context, args, options, change);
  if (!changed.one) return reportChange(context, options, change, changed, []);
  const { executionId } = changed.target;
  if (options.json === true) out.write(jsonDocument({ executionId, deleted: true }));
  else writeLines(out, [`deleted ${executionId}`]);
  return 0;
}
