/**
 * Columns of text under dim headings. The widest cell decides; the last column is wrapped to fit the screen. If even
 * that does not fit, every row becomes a block: its first cell, and the others below it.
 */
import type { View } from '../terminal/io.ts';
import { column, columnRight, fit, packed, stripColours, visibleWidth, wrap } from '../terminal/width.ts';

const GAP = 2;
const MIN_LAST_CELLS = 16;

export interface Heading {
  readonly title: string;
  readonly align?: 'right';
}

export function tableLines(
  titles: readonly (string | Heading)[],
  rows: readonly (readonly string[])[],
  { colors, width }: View,
  /** The lines below each row. */
  notes: readonly (readonly string[])[] = [],
): string[] {
  const headings = titles.map((one): Heading => (typeof one === 'string' ? { title: one } : one));
  const widths = headings.map(({ title }, at) => {
    let widest = title.length;
    for (const row of rows) widest = Math.max(widest, visibleWidth(row[at] ?? ''));
    return widest;
  });
  const before = widths.slice(0, -1).reduce((sum, cells) => sum + cells + GAP, 0);
  const lastCells = Math.min(widths.at(-1) ?? 0, MIN_LAST_CELLS);
  if (before + lastCells > width) {
    return rows.flatMap((row, at) => [...blockLines(headings, row, width), ...(notes[at] ?? [])]);
  }
  const lastRoom = Math.max(MIN_LAST_CELLS, width - before);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => {
        const cellWidth = widths[at] as number;
        return headings[at]?.align === 'right' ? columnRight(cell, cellWidth) : column(cell, cellWidth);
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const rowLines = (row: readonly string[]): string[] => {
    const last = row.at(-1) ?? '';
    if (visibleWidth(last) <= lastRoom) return [fit(line(row), width)];
    const [first = '', ...rest] = wrap(last, lastRoom);
    return [line([...row.slice(0, -1), first]), ...rest.map((more) => ' '.repeat(before) + more)].map((one) =>
      fit(one, width),
    );
  };
  const heading = colors.dim(fit(line(headings.map(({ title }) => title)), width));
  return [heading, ...rows.flatMap((row, at) => [...rowLines(row), ...(notes[at] ?? [])])];
}

/** A leading number is not a name: it is put before the first cell that is one. */
function blockLines(headings: readonly Heading[], row: readonly string[], width: number): string[] {
  const lead = headings[0]?.align === 'right' ? 2 : 1;
  const room = Math.max(1, width - GAP);
  const cells = row.slice(lead).filter((one) => !EMPTY.has(stripColours(one)));
  const below = packed(cells, room).flatMap((line) => (visibleWidth(line) > room ? wrap(line, room) : [line]));
  return [row.slice(0, lead).join(' '), ...below.map((one) => ' '.repeat(GAP) + one)].map((one) => fit(one, width));
}

const EMPTY: ReadonlySet<string> = new Set(['', '–']);
