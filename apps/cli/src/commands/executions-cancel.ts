import type { RunDocument } from '@nebula/core';
import { type Change, changeRuns, concludeChange } from '../bulk.ts';
import { writeLines } from '../conclude.ts';
import { textOption, unknownExecution, withDesk } from '../desk.ts';
import { ended, keptLines, tellKept, waitUntil } from '../requests.ts';
import type { CommandOptions, Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { runGlyph, runPaint } from '../views/theme.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const reason = textOption(options, 'reason') ?? 'cancelled from the command line';
  const compensate = options.compensate !== false;
  const change: Change = {
    verb: 'cancel',
    done: 'requested',
    refusal: ended,
    async act({ executionId }, { desk }, project) {
      const isKnown = await desk.requestCancel(executionId, reason, ...(compensate ? [] : [{ compensate }]));
      if (!isKnown) unknownExecution(project, executionId);
    },
  };
  const changed = await changeRuns(context, args, options, change);
  if (!changed.one) {
    const words = 'the requests are kept';
    return concludeChange(context, options, change, changed, keptLines(context, changed.project, undefined, words));
  }
  const { executionId } = changed.target;
  const isOver = (document: RunDocument): boolean => document.finishedAt !== null;
  const document = await withDesk(context, options, (session) => waitUntil(session, executionId, isOver));
  const status = document?.status ?? changed.target.status;
  if (options.json === true) out.write(jsonDocument({ executionId, requested: true, status }));
  else if (document !== undefined && isOver(document)) {
    writeLines(out, [`${runPaint(status, out.colors)(`${runGlyph(status)} ${status}`)}  ${executionId}`]);
  } else tellKept(context, changed.project, executionId, `${out.colors.yellow('⏸')} the request is kept`);
  return 0;
}
