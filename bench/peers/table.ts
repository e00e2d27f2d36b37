/** The results as a table that reads well in a terminal and in Markdown. */
import type { Figures } from './peer.ts';

export type Outcome =
  | { readonly kind: 'measured'; readonly figures: Figures }
  | { readonly kind: 'not installed'; readonly how: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface Row {
  readonly name: string;
  readonly title: string;
  readonly version: string | null;
  readonly durability: string;
  readonly outcome: Outcome;
}

interface Column {
  readonly head: string;
  readonly key: keyof Figures;
  readonly digits: number;
}

const COLUMNS: readonly Column[] = [
  { head: 'W1 steps/s', key: 'stepsPerSecond', digits: 0 },
  { head: 'W2 p50 ms', key: 'p50MsPerStep', digits: 2 },
  { head: 'W2 p99 ms', key: 'p99MsPerStep', digits: 2 },
  { head: 'W3 ms', key: 'fanOutMs', digits: 0 },
  { head: 'CPU ms/run', key: 'cpuMsPerRun', digits: 2 },
];

/** How many times better Nebula is: more steps, or less of everything else. */
function ratio(key: keyof Figures, ours: Figures, theirs: Figures): number | undefined {
  const [a, b] = [ours[key], theirs[key]];
  if (a === undefined || b === undefined) return undefined;
  return key === 'stepsPerSecond' ? a / b : b / a;
}

export function formatTable(rows: readonly Row[]): string {
  const nebula = rows.find(({ name }) => name === 'nebula')?.outcome;
  const ours = nebula?.kind === 'measured' ? nebula.figures : {};
  const head = ['', 'durability', ...COLUMNS.flatMap(({ head }) => [head, '×'])];
  return align([head, ...rows.map((row) => cells(row, ours))]);
}

function cells(row: Row, ours: Figures): string[] {
  const title = row.version === null ? row.title : `${row.title} ${row.version}`;
  const { outcome } = row;
  switch (outcome.kind) {
    case 'measured':
      return [
        title,
        row.durability,
        ...COLUMNS.flatMap((column) => figureCells(column, row.name, ours, outcome.figures)),
      ];
    case 'not installed':
      return [title, `not installed: ${outcome.how}`];
    case 'failed':
      return [title, `failed: ${outcome.reason.split('\n')[0]}`];
  }
}

function figureCells({ key, digits }: Column, name: string, ours: Figures, theirs: Figures): [string, string] {
  const times = name === 'nebula' ? undefined : ratio(key, ours, theirs);
  return [format(theirs[key], digits), format(times, times !== undefined && times < 10 ? 1 : 0)];
}

function format(value: number | undefined, digits: number): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The first two columns to the left, figures to the right. */
function align(rows: readonly (readonly string[])[]): string {
  const count = rows[0]!.length;
  const widths = Array.from({ length: count }, (_, at) => Math.max(3, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, at) => (at < 2 ? (row[at] ?? '').padEnd(width) : (row[at] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(rows[0]!), rule, ...rows.slice(1).map(line)].join('\n');
}
