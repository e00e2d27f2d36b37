import { NebulaError, parseDuration } from '@nebula/core';
import { withApi } from '../api.ts';
import { definedMembers, inProject, textOption } from '../command-options.ts';
import { jsonOption } from '../input.ts';
import { print } from '../print.ts';
import { recordedLines } from '../recorded-requests.ts';
import type { Command } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { momentText } from '../views/words.ts';

const DEFAULT_KEEP = '1d';

/** Sends a signal that one run takes: a run that waits for it now, or the next that does. */
export const execute: Command = async (call, [signal = '']) => {
  const { io, options } = call;
  const { colors } = io.out;
  const key = textOption(options, 'key');
  const keepMs = keepOf(textOption(options, 'keep') ?? DEFAULT_KEEP);
  const payload = (await jsonOption(call, 'payload')) ?? null;
  return await withApi(call, 'read', async (open) => {
    const keptUntil = io.now() + keepMs;
    const body = { signal, payload, keep: `${keepMs}ms`, ...inProject(options), ...definedMembers({ key }) };
    const { taken, started } = await open.api.call('publishSignal', { body });
    const executionId = taken ?? started[0];
    const until = executionId === undefined ? { keptUntil: new Date(keptUntil).toISOString() } : {};
    const document = { signal, key: key ?? '', executionId: executionId ?? null, ...until };
    const name = `signal ${printableLine(signal)}${key === undefined ? '' : ` (key ${printableLine(key)})`}`;
    const words = `${name} sent to ${executionId}`;
    const lines = executionId === undefined ? undefined : await recordedLines(open, executionId, words);
    return print(call, document, () => {
      if (lines !== undefined) return lines;
      return [
        `${colors.yellow('⏸')} no run waits for ${name} yet`,
        `The signal is buffered for the next run that waits for it, until ${momentText(keptUntil, io.now())}`,
      ];
    });
  });
};

function keepOf(text: string): number {
  const keepMs = parseDuration(text);
  if (typeof keepMs === 'number' && keepMs > 0) return keepMs;
  const problem = typeof keepMs === 'number' ? 'the duration is 0' : keepMs.message;
  throw new NebulaError('USAGE', `--keep ${text}: ${problem}`, {
    hint: typeof keepMs === 'number' ? 'give a duration such as 1h' : keepMs.hint,
  });
}
