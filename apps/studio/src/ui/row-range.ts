/** The rows of a long list that are in view, with a few more on both sides. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

const MORE_ROWS = 8;

export function rowRange({
  scrollTop,
  height,
  rowHeight,
  count,
}: {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}): RowRange {
  const first = Math.floor(scrollTop / rowHeight) - MORE_ROWS;
  const last = Math.ceil((scrollTop + height) / rowHeight) + MORE_ROWS;
  return { from: Math.max(0, Math.min(first, count)), to: Math.max(0, Math.min(last, count)) };
}
