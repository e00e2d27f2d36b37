import type { FrameRow } from '@nebula/ports';
import { expect, test } from 'vitest';
import { missingBlobs } from '../src/index.ts';

const blob = (digit: string) => ({ blob: { sha256: digit.repeat(64), bytes: 70_000 } });

/** Some of each field that may hold a stored value; more frames than a page has. */
function frames(): FrameRow[] {
  const entries = [
    { type: 'run.started', input: blob('a') },
    { type: 'node.completed', node: 'n', output: blob('b') },
    { type: 'node.completed', node: 'n', output: { value: { blob: { sha256: 'c'.repeat(64), bytes: 1 } } } },
    { type: 'vars.set', vars: { x: blob('d'), y: { value: 1 } } },
  ];
  const rows: FrameRow[] = [];
  for (let position = 1; position <= 1_200; position++) {
    const text = JSON.stringify(position === 1 || position === 1_200 ? entries : [{ type: 'run.resumed' }]);
    const executionId = position === 1_200 ? 'exe_last' : 'exe_first';
    rows.push({ executionId, seq: position, at: 0, entries: text, position: String(position) as FrameRow['position'] });
  }
  return rows;
}

test('[ENG-340] finds each blob that the journal names and that is not there', async () => {
  const rows = frames();
  const feed = async ({ after, limit }: { after: unknown; limit: number }) =>
    rows.filter(({ position }) => Number(position) > Number(after)).slice(0, limit);
  const has = (executionId: string, sha256: string): boolean =>
    executionId === 'exe_first' && sha256 !== 'd'.repeat(64);
  const missing = await missingBlobs({ feed: feed as never }, has);
  expect(missing.map(({ executionId, sha256 }) => `${executionId} ${sha256[0]}`)).toEqual([
    'exe_first d',
    'exe_last a',
    'exe_last b',
    'exe_last d',
  ]);
  expect(await missingBlobs({ feed: feed as never }, () => true)).toEqual([]);
});
