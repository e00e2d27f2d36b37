/** Columns of text under dim headings; the widest cell decides, the last column is wrapped to fit the screen. */
import type { Colors } from '../terminal/io.ts';
import { column, columnRight, fit, visibleWidth, wrap } from '../terminal/width.ts';

const GAP = 2;
const MIN_LAST_CELLS = 16;

export interface Heading {
  readonly title: string;
  readonly align?: 'right';
}

export function tableLines(
  headings: readonly Heading[],
  rows: readonly (readonly string[])[],
  { colors, width }: { readonly colors: Colors; readonly width: number },
): string[] {
  const widths = headings.map(({ title }, at) => {
    let widest = title.length;
    for (const row of rows) widest = Math.max(widest, visibleWidth(row[at] ?? ''));
    return widest;
  });
  const before = widths.slice(0, -1).reduce((sum, cells) => sum + cells + GAP, 0);
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
  return [colors.dim(fit(line(headings.map(({ title }) => title)), width)), ...rows.flatMap(rowLines)];
}
