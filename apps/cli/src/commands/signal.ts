import { type Json, NebulaError, parseDuration } from '@nebula/core';
import { withApi } from '../api.ts';
import { inProject, textOption } from '../command-options.ts';
import { readJson } from '../input.ts';
import { recordedLines } from '../recorded-requests.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { jsonDocument } from '../views/json.ts';
import { momentText } from '../views/words.ts';

const DEFAULT_KEEP = '1d';

/** Sends a signal that one run takes: a run that waits for it now, or the next that does. */
export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const signal = args[0] as string;
  const key = textOption(options, 'key');
  const text = textOption(options, 'payload');
  const keepMs = keepOf(textOption(options, 'keep') ?? DEFAULT_KEEP);
  const payload: Json = text === undefined ? null : await readJson(io, text, '--payload');
  return await withApi(context, options, 'look', async ({ api }, project) => {
    const keptUntil = io.now() + keepMs;
    const body = { signal, payload, keep: `${keepMs}ms`, ...inProject(options), ...(key !== undefined && { key }) };
    const { taken, started } = await api.call('publishSignal', { body });
    const executionId = taken ?? started[0];
    if (options.json === true) {
      const until = executionId === undefined ? { keptUntil: new Date(keptUntil).toISOString() } : {};
      io.out.write(jsonDocument({ signal, key: key ?? '', executionId: executionId ?? null, ...until }));
      return 0;
    }
    const name = `signal ${printableLine(signal)}${key === undefined ? '' : ` (key ${printableLine(key)})`}`;
    if (executionId !== undefined) {
      writeLines(io.out, recordedLines(context, project, executionId, `${name} sent to ${executionId}`));
    } else {
      const { colors } = io.out;
      writeLines(io.out, [
        `${colors.yellow('⏸')} no run waits for ${name} yet`,
        `The signal is buffered for the next run that waits for it, until ${momentText(keptUntil, io.now())}`,
      ]);
    }
    return 0;
  });
}

function keepOf(text: string): number {
  const keepMs = parseDuration(text);
  if (typeof keepMs === 'number' && keepMs > 0) return keepMs;
  const problem = typeof keepMs === 'number' ? 'the duration is 0' : keepMs.message;
  throw new NebulaError('USAGE', `--keep ${text}: ${problem}`, {
    hint: typeof keepMs === 'number' ? 'give a duration such as 1h' : keepMs.hint,
  });
}
