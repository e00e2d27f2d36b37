/** The table of `executions list`. */
import { formatDuration } from '@nebula/core';
import type { ExecutionRow } from '@nebula/ports';
import type { Colors } from '../terminal/io.ts';
import { tableLines } from './table.ts';
import { runGlyph, runPaint } from './theme.ts';
import { agoText } from './words.ts';

/** Unfinished, and nothing of its own will wake it: it waits for a person or a signal. */
export function isParked({ finishedAt, wakeAt }: ExecutionRow): boolean {
  return finishedAt === null && wakeAt === null;
}

export function executionLines(
  rows: readonly ExecutionRow[],
  options: { readonly colors: Colors; readonly width: number; readonly now: number },
): string[] {
  const { colors, now } = options;
  const headings = [
    { title: 'EXECUTION' },
    { title: 'STATUS' },
    { title: 'WORKFLOW' },
    { title: 'STARTED' },
    { title: 'DURATION', align: 'right' as const },
  ];
  const cells = rows.map((row) => [
    row.executionId,
    isParked(row) && row.status !== 'paused'
      ? colors.yellow('⏸ parked')
      : runPaint(row.status, colors)(`${runGlyph(row.status)} ${row.status}`),
    `${row.workflowId} ${colors.dim(`v${row.version}`)}`,
    agoText(row.createdAt, now),
    row.finishedAt === null ? colors.dim('–') : formatDuration(row.finishedAt - row.createdAt),
  ]);
  return tableLines(headings, cells, options);
}
