/** What differs between two runs, node by node. */
import type { AnswerOf } from '@nebula/client';

type RunDocument = AnswerOf<'getExecution'>;
export type ComparedRun = Pick<RunDocument, 'nodes'>;
type NodeDocument = RunDocument['nodes'][string];

export interface NodeDifference {
  readonly path: string;
  readonly a: NodeDocument | undefined;
  readonly b: NodeDocument | undefined;
  /** The first of: status, error, attempts. Outputs are compared apart, because they have to be read. */
  readonly differs: 'status' | 'error' | 'attempts' | undefined;
  /** The duration in B by that in A; undefined if one is not known or A took no time. */
  readonly ratio: number | undefined;
  /** How much longer it took in B. */
  readonly extraMs: number | undefined;
}

/** All nodes of both runs, in the order in which they began; nodes that never began are last. */
export function compareRuns(a: ComparedRun, b: ComparedRun): NodeDifference[] {
  const paths = [...new Set([...Object.keys(a.nodes), ...Object.keys(b.nodes)])];
  const origin = [originOf(a), originOf(b)] as const;
  const began = new Map(paths.map((path) => [path, beginOf(a.nodes[path], b.nodes[path], origin)]));
  const order = (path: string): number => began.get(path) ?? Number.POSITIVE_INFINITY;
  // The sort is stable: nodes that began together stay in the order of the definition.
  return paths
    .sort((one, other) => compareNumbers(order(one), order(other)))
    .map((path) => nodeDifference(path, a.nodes[path], b.nodes[path]));
}

function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

/** The first beginning in a run: times of two runs are compared relative to it. */
function originOf({ nodes }: ComparedRun): number {
  const times = Object.values(nodes).flatMap(({ startedAt }) => (startedAt === null ? [] : [Date.parse(startedAt)]));
  return times.length === 0 ? 0 : Math.min(...times);
}

function beginOf(
  a: NodeDocument | undefined,
  b: NodeDocument | undefined,
  [originA, originB]: readonly [number, number],
): number {
  const times = [
    ...(a?.startedAt == null ? [] : [Date.parse(a.startedAt) - originA]),
    ...(b?.startedAt == null ? [] : [Date.parse(b.startedAt) - originB]),
  ];
  return times.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...times);
}

function nodeDifference(path: string, a: NodeDocument | undefined, b: NodeDocument | undefined): NodeDifference {
  const before = a?.durationMs ?? undefined;
  const after = b?.durationMs ?? undefined;
  const isTimed = before !== undefined && after !== undefined;
  return {
    path,
    a,
    b,
    differs: differenceOf(a, b),
    ratio: isTimed && before > 0 ? after / before : undefined,
    extraMs: isTimed ? after - before : undefined,
  };
}

function differenceOf(a: NodeDocument | undefined, b: NodeDocument | undefined): NodeDifference['differs'] {
  if (a?.status !== b?.status) return 'status';
  if (a?.error?.code !== b?.error?.code || a?.error?.message !== b?.error?.message) return 'error';
  return a?.attempts === b?.attempts ? undefined : 'attempts';
}

/** The nodes that took longer in one run than in the other, the largest difference first. */
export function slowest(differences: readonly NodeDifference[], limit: number): NodeDifference[] {
  return differences
    .filter(({ extraMs }) => extraMs !== undefined && extraMs !== 0)
    .sort((one, other) => Math.abs(other.extraMs ?? 0) - Math.abs(one.extraMs ?? 0))
    .slice(0, limit);
}

type Preview = AnswerOf<'getValues'>['output'];

/** Whether two outputs are the same: large ones by their digest. */
export function isSameValue(a: Preview, b: Preview): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
