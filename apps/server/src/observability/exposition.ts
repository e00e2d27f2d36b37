/** The Prometheus text format, version 0.0.4. Decision 012 says why no library does it. */
import type { Steps } from '@nebula/core';

export type Labels = Readonly<Record<string, string>>;

export interface HistogramSeries {
  readonly labels?: Labels;
  readonly count: number;
  readonly sum: number;
  /** Upper bounds, ascending, and how many observations were at or below each. */
  readonly buckets: readonly (readonly [upperBound: number, count: number])[];
}

export type Family = { readonly name: string; readonly help: string } & (
  | {
      readonly type: 'counter' | 'gauge';
      readonly samples: readonly { readonly labels?: Labels; readonly value: number }[];
    }
  | { readonly type: 'histogram'; readonly series: readonly HistogramSeries[] }
);

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The families one after the other: each takes milliseconds where there are many workflows. */
export function* expositionSteps(families: readonly Family[]): Steps<string> {
  let text = '';
  for (const family of families) {
    text += linesOf(family);
    yield;
  }
  return text;
}

function linesOf(family: Family): string {
  const { name, help, type } = family;
  const head = `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`;
  if (family.type !== 'histogram') {
    return head + family.samples.map(({ labels, value }) => line(name, labels, value)).join('');
  }
  return head + family.series.map((series) => seriesLines(name, series)).join('');
}

function seriesLines(name: string, { labels = {}, count, sum, buckets }: HistogramSeries): string {
  const bucket = (le: string, below: number): string => line(`${name}_bucket`, { ...labels, le }, below);
  return [
    ...buckets.map(([bound, below]) => bucket(String(bound), below)),
    bucket('+Inf', count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ].join('');
}

function line(name: string, labels: Labels = {}, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapedLabel(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${number(value)}\n`;
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapedLabel(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}
