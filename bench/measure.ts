/** Small sums over measurements. */

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function megabytes(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}

export function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

/** Collects garbage if the process was started with --expose-gc, and gives the resident memory. */
export function residentBytes(): number {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  return process.memoryUsage().rss;
}
