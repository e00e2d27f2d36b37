/** Test outcomes and coverage for people. */
import type { Json } from '@nebula/core';
import type { Difference, WorkflowCoverage } from '@nebula/testing';
import type { Colors, View } from '../terminal/io.ts';
import { printable, printableLine } from '../terminal/width.ts';
import { jsonLines } from '../views/json.ts';
import { plural } from '../views/words.ts';

const MAX_VALUE_LINES = 20;
const MAX_VALUE_TEXT = 2_000;
const MAX_LISTED = 12;

export function fileLines({ file, tests, broken }: FileOutcome, options: View): string[] {
  const { colors } = options;
  if (broken !== undefined) return [...broken.report, `${colors.red('✗')} ${colors.bold(file)}`, ''];
  return [colors.bold(file), ...tests.flatMap((test) => testLines(test, options)), ''];
}

function testLines(test: TestOutcome, options: View): string[] {
  const { colors } = options;
  const name = printableLine(test.name);
  if (test.passed) {
    const crashes = test.crashes === undefined ? '' : colors.dim(`  survived ${plural(test.crashes, 'kill')}`);
    return [`  ${colors.green('✓')} ${name}${crashes}`];
  }
  const position = test.place === undefined ? '' : `  ${colors.cyan(test.place)}`;
  const lines = [`  ${colors.red('✗')} ${colors.bold(name)}${position}`];
  for (const difference of test.differences) lines.push('', ...differenceLines(difference, options));
  if (test.failure !== undefined) lines.push('', ...failureLines(test.failure, colors));
  if (test.path.length > 0) lines.push('', `      ${colors.dim(`it went ${wentText(test.path)}`)}`);
  return [...lines, ''];
}

function wentText(path: readonly string[]): string {
  const shown = path.slice(0, MAX_LISTED).map(printableLine).join(' → ');
  return path.length > MAX_LISTED ? `${shown} → … (${path.length} nodes)` : shown;
}

function differenceLines({ what, expected, actual, note }: Difference, options: View): string[] {
  const { colors } = options;
  const [first, ...frames] = note?.split('\n') ?? [];
  const noted = first === undefined ? '' : `  ${colors.dim(printableLine(first))}`;
  const head = [
    `      ${colors.bold(printableLine(what))}${noted}`,
    ...frames.map((frame) => `      ${colors.dim(printableLine(frame))}`),
  ];
  if (isTexts(expected) && isTexts(actual)) return [...head, ...listDifference(expected, actual, colors)];
  return [
    ...head,
    ...valueLines('expected', colors.green, expected, options),
    ...valueLines('received', colors.red, actual, options),
  ];
}

function valueLines(label: string, color: Colors['red'], value: Json | undefined, options: View): string[] {
  const indent = ' '.repeat(18);
  const width = Math.max(40, options.width - indent.length);
  const { lines, cut } =
    value === undefined
      ? { lines: [options.colors.dim('(nothing)')], cut: 0 }
      : jsonLines(value, { colors: options.colors, width, maxLines: MAX_VALUE_LINES, maxText: MAX_VALUE_TEXT });
  const more = cut === 0 ? [] : [options.colors.dim(`… ${cut} more lines`)];
  return [...lines, ...more].map((line, at) => (at === 0 ? `        ${color(label)}  ${line}` : `${indent}${line}`));
}

function isTexts(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Missing and additional items, each at its position. */
function listDifference(expected: readonly string[], actual: readonly string[], colors: Colors): string[] {
  const common = commonParts(expected, actual);
  const lines: string[] = [];
  let [from, to] = [0, 0];
  for (const [at, other] of [...common, [expected.length, actual.length] as const]) {
    while (from < at) lines.push(`        ${colors.green(`- ${printableLine(expected[from++] as string)}`)}`);
    while (to < other) lines.push(`        ${colors.red(`+ ${printableLine(actual[to++] as string)}`)}`);
    if (at < expected.length) lines.push(`          ${colors.dim(printableLine(expected[at] as string))}`);
    [from, to] = [at + 1, other + 1];
  }
  return [`        ${colors.green('- expected')}  ${colors.red('+ received')}`, ...lines];
}

/** The longest common subsequence, as pairs of positions. */
function commonParts(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      (lengths[i] as number[])[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

function failureLines({ code, message, hint }: NonNullable<TestOutcome['failure']>, colors: Colors): string[] {
  const lines = printable(message).trimEnd().split('\n');
  const coded = code === undefined ? '' : `${colors.dim(code)}  `;
  return [
    ...lines.map((line, at) => `      ${at === 0 ? coded : ''}${at === 0 ? colors.red(line) : line}`),
    ...(hint === undefined ? [] : [`      ${colors.green('hint:')} ${printableLine(hint)}`]),
  ];
}

export function totalLine(files: readonly FileOutcome[], colors: Colors): string {
  const tests = files.flatMap((file) => file.tests);
  const failed = tests.filter(({ passed }) => !passed).length;
  const broken = files.filter((file) => file.broken !== undefined).length;
  const parts = [colors.green(`${tests.length - failed} passed`)];
  if (failed > 0) parts.push(colors.red(`${failed} failed`));
  if (broken > 0) parts.push(colors.red(`${plural(broken, 'file')} could not be run`));
  return colors.bold(parts.join(', '));
}

export function coverageLines(coverage: readonly WorkflowCoverage[], { colors }: View): string[] {
  if (coverage.length === 0) return [];
  const width = Math.max(...coverage.map(({ workflowId }) => workflowId.length));
  const lines = ['', colors.bold('Coverage')];
  for (const { workflowId, nodes, edges } of coverage) {
    const share = (done: number, total: number): string => {
      const text = `${done}/${total}`;
      return done === total ? colors.green(text) : colors.yellow(text);
    };
    lines.push(
      `  ${printableLine(workflowId).padEnd(width)}  nodes ${share(nodes.ran, nodes.total)}  edges ${share(edges.taken, edges.total)}`,
    );
    lines.push(...neverLines('never ran  ', nodes.never, colors), ...neverLines('never taken', edges.never, colors));
  }
  return lines;
}

function neverLines(label: string, names: readonly string[], colors: Colors): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, MAX_LISTED).map(printableLine).join(', ');
  const more = names.length > MAX_LISTED ? `, … and ${names.length - MAX_LISTED} more` : '';
  return [`    ${colors.dim(label)}  ${shown}${more}`];
}

export interface TestOutcome {
  readonly name: string;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  readonly failure?: { readonly code?: string; readonly message: string; readonly hint?: string };
  /** `order.test.yaml:12:5`. */
  readonly place?: string;
  /** Nodes of the run, in the order in which they finished. */
  readonly path: readonly string[];
  readonly crashes?: number;
}

export interface FileOutcome {
  readonly file: string;
  readonly tests: readonly TestOutcome[];
  /** The problems of a file that could not be run, ready to be printed. */
  readonly broken?: { readonly code: string; readonly report: readonly string[] };
}
