/** The output of a soak run: a line while it runs, and at the end a table and a verdict for each invariant. */
import { median } from '../measure.ts';
import { type Judgement, judgeFlatness, type Point, peaks } from './judge.ts';
import type { DatabaseFigures } from './measure-database.ts';

/** One window of time, `atMs` after the beginning. */
export interface Window {
  readonly atMs: number;
  readonly heapMb: number;
  readonly residentMb: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly calm: LaneFigures;
  readonly killed: LaneFigures;
}

/** `ended`: runs since the beginning. */
export type LaneFigures = DatabaseFigures & { readonly ended: number };

type Lane = 'calm' | 'killed';

interface Row {
  readonly name: string;
  readonly digits: number;
  /** `kept`: runs that ended so lately that the database may still have them. */
  readonly of: (window: Window, kept: (lane: Lane) => number) => number;
  readonly tolerance: number;
  /** Goes up until the sweeper comes, so that peaks are compared. */
  readonly isSwept: boolean;
}

/** The engine removes what has expired once a minute. */
const SWEEP_MS = 60_000;
/** Until then the engine's cache of large values (64 MB) fills up. */
const CACHES_FULL_MS = 90_000;
const MB = 1_048_576;

const ROWS: readonly Row[] = [
  { name: 'heap after collection, MB', digits: 1, of: ({ heapMb }) => heapMb, tolerance: 0.05, isSwept: false },
  { name: 'resident memory, MB', digits: 0, of: ({ residentMb }) => residentMb, tolerance: 0.1, isSwept: false },
  { name: 'probe p50, ms', digits: 2, of: ({ p50Ms }) => p50Ms, tolerance: 0.3, isSwept: false },
  { name: 'probe p99, ms', digits: 1, of: ({ p99Ms }) => p99Ms, tolerance: 1, isSwept: false },
  ...(['calm', 'killed'] as const).flatMap((lane: Lane): Row[] => [
    // Per run that is kept: on a busy machine the worker that is killed brings fewer of them to their end.
    {
      name: `database (${lane}), KB per run`,
      digits: 2,
      of: perRun(lane, 'bytes', 1_024),
      tolerance: 0.3,
      isSwept: true,
    },
    { name: `its log (${lane}), MB`, digits: 1, of: (w) => w[lane].logBytes / MB, tolerance: 1, isSwept: true },
    { name: `rows (${lane}) per run`, digits: 1, of: perRun(lane, 'rows', 1), tolerance: 0.1, isSwept: true },
    { name: `blobs (${lane}) per run`, digits: 3, of: perRun(lane, 'blobs', 1), tolerance: 0.3, isSwept: true },
  ]),
];

export interface Verdict {
  readonly name: string;
  readonly isFailed: boolean;
  readonly cells: readonly string[];
}

export function verdictsOf(windows: readonly Window[], durationMs: number, retentionMs: number): Verdict[] {
  return ROWS.map((row) => {
    const points: Point[] = windows.map((window) => {
      const gone = windows.findLast(({ atMs }) => atMs <= window.atMs - retentionMs - SWEEP_MS);
      const kept = (lane: Lane): number => window[lane].ended - (gone?.[lane].ended ?? 0);
      return { atMs: window.atMs, value: row.of(window, kept) };
    });
    const shown = row.isSwept ? peaks(points, SWEEP_MS) : points;
    const warmUpMs = row.isSwept ? Math.ceil((retentionMs + SWEEP_MS) / SWEEP_MS) * SWEEP_MS : CACHES_FULL_MS;
    const judgement = judgeFlatness(shown, row.tolerance, Math.max(durationMs / 6, warmUpMs));
    const third = Math.ceil(shown.length / 3);
    const parts = [shown.slice(0, third), shown.slice(third, 2 * third), shown.slice(2 * third)];
    const cells = parts.map((part) => figure(median(part.map(({ value }) => value)), row.digits));
    return {
      name: row.name + (row.isSwept ? ', peak' : ''),
      isFailed: judgement.verdict === 'grows',
      cells: [...cells, ...judged(judgement, row.tolerance)],
    };
  });
}

export function tableOf(verdicts: readonly Verdict[]): string {
  const rows = [
    ['', 'first third', 'middle', 'last third', 'growth', 'allowed', 'verdict'],
    ...verdicts.map(({ name, cells }) => [name, ...cells]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ');
  return rows.map(line).join('\n');
}

function perRun(lane: Lane, figure: 'bytes' | 'rows' | 'blobs', unit: number): Row['of'] {
  return (window, kept) => window[lane][figure] / unit / kept(lane);
}

function figure(value: number, digits: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(digits);
}

function judged({ verdict, growth }: Judgement, tolerance: number): string[] {
  const percent = (share: number) => (Number.isNaN(share) ? '–' : `${(100 * share).toFixed(1)} %`);
  return [percent(growth), percent(tolerance), verdict];
}
