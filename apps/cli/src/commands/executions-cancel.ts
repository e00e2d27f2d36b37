import { NebulaError, type RunDocument } from '@nebula/core';
import { commandWriter, writeLines } from '../conclude.ts';
import { documentOf, textOption, unknownExecution, withDesk } from '../desk.ts';
import type { CommandOptions, Context, DeskSession } from '../services.ts';
import { jsonDocument } from '../views/json.ts';
import { runGlyph, runPaint } from '../views/theme.ts';

/** An engine that runs beside us acts within this time; without one the request waits. */
const WAIT_MS = 2_000;
const POLL_MS = 50;

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const executionId = args[0] as string;
  return withDesk(context, options, async (session, project) => {
    const before = await documentOf(session, project, executionId);
    if (before.finishedAt !== null) {
      throw new NebulaError('ALREADY_FINISHED', `${executionId} has ended already: ${before.status}`);
    }
    const reason = textOption(options, 'reason') ?? 'cancelled from the command line';
    if (!(await session.desk.requestCancel(executionId, reason))) unknownExecution(project, executionId);
    const document = await waitForEnd(session, executionId);
    const status = document?.status ?? before.status;
    const isDone = document !== undefined && document.finishedAt !== null;
    if (options.json === true) {
      out.write(jsonDocument({ executionId, requested: true, status }));
      return 0;
    }
    const { colors } = out;
    if (isDone) writeLines(out, [`${runPaint(status, colors)(`${runGlyph(status)} ${status}`)}  ${executionId}`]);
    else {
      const resume = colors.bold(commandWriter(context, project, executionId)('resume'));
      writeLines(out, [
        `${colors.yellow('⏸')} the request is kept; it takes effect as soon as an engine works on this folder:`,
        `  ${resume}`,
      ]);
    }
    return 0;
  });
}

async function waitForEnd({ desk }: DeskSession, executionId: string): Promise<RunDocument | undefined> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const document = await desk.document(executionId);
    if (document === undefined || document.finishedAt !== null || performance.now() > until) return document;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
