/** The expectations of a test on a run, and their comparison with the run. */
import {
  type DocumentPath,
  type Json,
  type JsonObject,
  recordOf,
  type SourceMap,
  type SourceRange,
  type ValueType,
} from '@nebula/core';
import { withoutIterations } from '@nebula/core/run';
import type { TestRun } from '../test-run.ts';
import { type Mismatch, mismatches } from './matching.ts';

export interface Expectation {
  readonly status?: string;
  readonly output?: Json;
  readonly error?: Json;
  /** Exactly these nodes, in this order. */
  readonly path?: readonly string[];
  /** A subset of the nodes that ran or were skipped. */
  readonly ran?: readonly string[];
  readonly skipped?: readonly string[];
  readonly nodes?: Readonly<Record<string, Json>>;
  /** By node or action: the number of calls, or their inputs. */
  readonly calls?: Readonly<Record<string, Json>>;
  /** Nodes that wait for an external event. */
  readonly waiting?: readonly string[];
  /** Position of each key in the file. */
  readonly ranges: Readonly<Record<string, SourceRange | undefined>>;
}

const TEXTS: ValueType = { is: 'list', of: { is: 'text' } };
const STATUSES = ['pending', 'running', 'paused', 'compensating', 'completed', 'failed', 'cancelled', 'timed-out'];
const EXPECT_KEYS: Readonly<Record<Exclude<keyof Expectation, 'ranges'>, ValueType>> = {
  status: { is: 'choice', of: STATUSES },
  output: { is: 'value' },
  error: { is: 'value' },
  path: TEXTS,
  ran: TEXTS,
  skipped: TEXTS,
  nodes: { is: 'object' },
  calls: { is: 'object' },
  waiting: TEXTS,
};
export const EXPECT: ValueType = { is: 'record', record: recordOf('expect', 'expect', EXPECT_KEYS) };

export function expectationOf(expected: JsonObject, path: DocumentPath, source: SourceMap): Expectation {
  const { error } = expected;
  const ranges = Object.keys(expected).map((key) => [key, source.rangeOf([...path, key], 'key')]);
  return {
    ...expected,
    ...(typeof error === 'string' && { error: { code: error } }),
    ranges: Object.fromEntries(ranges),
  };
}

/** One deviation from the expectation. */
export interface Difference extends Mismatch {
  readonly range: SourceRange | undefined;
}

/** `isLast`: the test ends here, and the run must have completed unless the test expects otherwise. */
export function differencesOf(run: TestRun, expected: Expectation, isLast: boolean): Difference[] {
  const found: Difference[] = [];
  const rangeOf = (key: string): SourceRange | undefined => expected.ranges[key];
  const add = (key: string, list: readonly Mismatch[]): void => {
    found.push(...list.map((one) => ({ ...one, range: rangeOf(key) })));
  };
  const { error, output } = run;
  const status = expected.status ?? (isLast ? impliedStatus(expected) : undefined);
  if (status !== undefined && run.status !== status) {
    const frames = run.stack?.split('\n').slice(1) ?? [];
    const note = error !== null && { note: [`${error.code}: ${error.message}`, ...frames].join('\n') };
    add('status', [{ what: 'status', expected: status, actual: run.status, ...note }]);
  }
  if (expected.output !== undefined) add('output', mismatches(expected.output, output, 'output'));
  if (expected.error !== undefined) add('error', mismatches(expected.error, error as unknown as Json, 'error'));
  if (expected.path !== undefined && expected.path.join('\n') !== run.path.join('\n')) {
    add('path', [{ what: 'path', expected: [...expected.path], actual: [...run.path] }]);
  }
  add('ran', missing('ran', expected.ran, run.path));
  add('skipped', missing('skipped', expected.skipped, run.skipped));
  const waiting = run.waitingFor.map(({ node }) => node);
  add('waiting', missing('waiting', expected.waiting, waiting));
  const { nodes } = run;
  for (const [path, pattern] of Object.entries(expected.nodes ?? {})) {
    const own = typeof pattern === 'string' ? { status: pattern } : pattern;
    add('nodes', mismatches(own, (nodes[path] ?? null) as unknown as Json, `nodes.${path}`));
  }
  for (const [of, wanted] of Object.entries(expected.calls ?? {})) add('calls', callMismatches(run, of, wanted));
  return found;
}

function impliedStatus(expected: Expectation): string | undefined {
  if (expected.error !== undefined) return 'failed';
  return expected.waiting === undefined ? 'completed' : 'running';
}

function missing(what: string, wanted: readonly string[] | undefined, there: readonly string[]): Mismatch[] {
  const names = new Set([...there, ...there.map(withoutIterations)]);
  const lacking = (wanted ?? []).filter((name) => !names.has(name));
  return lacking.length === 0
    ? []
    : [{ what, expected: [...(wanted ?? [])], actual: [...there], note: `missing: ${lacking.join(', ')}` }];
}

function callMismatches(run: TestRun, of: string, wanted: Json): Mismatch[] {
  const inputs = run.calls(of).map(({ input }) => input);
  const what = `calls.${of}`;
  return mismatches(wanted, Array.isArray(wanted) ? inputs : inputs.length, what);
}
