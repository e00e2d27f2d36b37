/** The table of `executions list`. */
import { formatDuration } from '@nebula/core';
import type { ExecutionRow } from '@nebula/ports';
import type { RunWaits } from '../run-waits.ts';
import type { View } from '../terminal/io.ts';
import { fit, wrap } from '../terminal/width.ts';
import { tableLines } from './table.ts';
import { statusGlyph, statusPaint } from './theme.ts';
import { agoText, plural, versionWord } from './words.ts';

/** The most waits listed per run. */
const MAX_WAITS = 2;
const INDENT = '    ';

export type ListedRun = Pick<
  ExecutionRow,
  'executionId' | 'status' | 'workflowId' | 'version' | 'createdAt' | 'finishedAt'
> & { readonly trigger?: RunTrigger | undefined };

/** The trigger that started a run: its type, and its id if it has one. */
export interface RunTrigger {
  readonly type: string;
  readonly id?: string;
}

export function executionLines(
  rows: readonly ListedRun[],
  options: View & { readonly now: number },
  waits: ReadonlyMap<string, RunWaits> = new Map(),
): string[] {
  const { colors, now } = options;
  const headings = [
    'EXECUTION',
    'STATUS',
    'WORKFLOW',
    'TRIGGER',
    'STARTED',
    { title: 'DURATION', align: 'right' as const },
  ];
  const cells = rows.map((row) => [
    row.executionId,
    waits.get(row.executionId)?.parked === true && row.status !== 'paused'
      ? colors.yellow('⏸ parked')
      : statusPaint(row.status, colors)(`${statusGlyph(row.status)} ${row.status}`),
    `${row.workflowId} ${colors.dim(versionWord(row.version))}`,
    triggerText(row),
    agoText(row.createdAt, now),
    row.finishedAt === null ? colors.dim('–') : formatDuration(row.finishedAt - row.createdAt),
  ]);
  const notes = rows.map(({ executionId }) => waitLines(waits.get(executionId), options));
  return tableLines(headings, cells, options, notes);
}

/** `manual`, `schedule greeting--1`, `event order-placed`. */
function triggerText({ trigger }: ListedRun): string {
  if (trigger === undefined) return '–';
  return trigger.id === undefined ? trigger.type : `${trigger.type} ${trigger.id}`;
}

function waitLines(run: RunWaits | undefined, { colors, width }: View): string[] {
  const waits = run?.waits ?? [];
  const more = waits.length > MAX_WAITS ? [`… and ${plural(waits.length - MAX_WAITS, 'more wait')}`] : [];
  const shown = waits.slice(0, MAX_WAITS).map(({ node, text }) => `${node} waits ${text}`);
  return [...shown, ...more].flatMap((line) =>
    wrap(line, width - INDENT.length).map((part, at) => colors.dim(fit(`${at === 0 ? '  ↳ ' : INDENT}${part}`, width))),
  );
}
