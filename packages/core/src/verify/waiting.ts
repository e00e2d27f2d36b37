/** Finds waits that are longer than an enclosing time limit, and waits until a time that has passed. */

import { formatDuration, parseDuration } from '../duration.ts';
import type { CompiledValue } from '../expression/index.ts';
import type { GraphRecord } from '../plan/context.ts';
import { type GraphPlan, innerGraph, type NodePlan, type WaitWork } from '../plan/plan.ts';
import type { GraphScope } from '../plan/scope.ts';
import type { DocumentPath } from '../problem.ts';
import { constantOf } from './constant.ts';
import { nodePath, type Verification } from './verification.ts';

/** The end of a wait, relative to its start. */
interface AwaitedEvent {
  readonly ms: number;
  /** `deadline` or `for`, and its path in the node. */
  readonly key: 'deadline' | 'for';
  readonly keys: DocumentPath;
}

interface Limit {
  readonly ms: number;
  /** The limit in words: `the timeout of 'loop'`. */
  readonly name: string;
}

export function checkWaits(verification: Verification, record: GraphRecord): void {
  for (const node of record.plan.nodes) {
    if (!node.enabled) continue;
    const { work } = node;
    if (work.kind === 'wait') {
      checkWait(verification, record, node, work);
      checkMoments(verification, record, node, work);
    }
    if (work.kind === 'inline') checkInside(verification, record, node, work.workflow.root);
  }
}

function checkWait(verification: Verification, record: GraphRecord, node: NodePlan, work: WaitWork): void {
  const all = awaitedBy(work);
  const deadline = all.find(({ key }) => key === 'deadline');
  const around = limitOf(verification, record, node);
  for (const awaited of all) {
    const own = awaited === deadline ? undefined : deadline && { ms: deadline.ms, name: 'its own deadline' };
    const limit = shortest([own, around]);
    if (limit === undefined || awaited.ms <= limit.ms) continue;
    const what = awaited.key === 'for' ? 'waits for' : 'has a deadline of';
    verification.problems.warning({
      code: 'WAIT_EXCEEDS_LIMIT',
      message: `'${node.id}' ${what} ${formatDuration(awaited.ms)}, but ${limit.name} ends it after ${formatDuration(limit.ms)}`,
      hint: `raise ${limit.name} above ${formatDuration(awaited.ms)}, or shorten the wait`,
      path: [...nodePath(record, node), ...awaited.keys],
    });
  }
}

/** Earlier times have passed, whatever the clock says. */
const LONG_AGO_MS = Date.UTC(2000, 0);

/** A number for `until` was once a duration; it is a time since 1970. */
function checkMoments({ problems }: Verification, record: GraphRecord, node: NodePlan, { waits }: WaitWork): void {
  for (const [index, wait] of waits.entries()) {
    const ms = wait.kind === 'until' ? constantOf(wait.until) : undefined;
    if (typeof ms !== 'number' || ms >= LONG_AGO_MS) continue;
    const length = ms >= 0 ? formatDuration(ms) : undefined;
    problems.warning({
      code: 'UNTIL_PASSED',
      message: `'${node.id}' does not wait: ${ms} is a time in milliseconds since 1970, which has passed`,
      hint: `write a date${length === undefined ? '' : `, or, to wait for ${length}, for: ${ms}ms`}`,
      path: [...nodePath(record, node), 'wait', ...(waits.length === 1 ? [] : ['any', index]), 'until'],
    });
  }
}

/** Checks the longest wait of an inlined workflow. */
function checkInside(verification: Verification, record: GraphRecord, node: NodePlan, root: GraphPlan): void {
  const limit = limitOf(verification, record, node);
  if (limit === undefined) return;
  const found = longestIn(root, '');
  if (found === undefined || found.ms <= limit.ms) return;
  const wait = `'${found.id}' in the workflow of '${node.id}' waits for ${formatDuration(found.ms)}`;
  verification.problems.warning({
    code: 'WAIT_EXCEEDS_LIMIT',
    message: `${wait}, but ${limit.name} ends it after ${formatDuration(limit.ms)}`,
    hint: `raise ${limit.name} above ${formatDuration(found.ms)}, or shorten the wait`,
    path: nodePath(record, node),
    at: 'key',
  });
}

interface LongestWait {
  readonly id: string;
  readonly ms: number;
}

function longestIn({ nodes }: GraphPlan, around: string): LongestWait | undefined {
  let longest: LongestWait | undefined;
  for (const { id, enabled, work } of nodes) {
    if (!enabled) continue;
    const path = `${around}${id}`;
    const own = work.kind === 'wait' ? awaitedBy(work).map(({ ms }) => ({ id: path, ms })) : [];
    const body = innerGraph(work);
    for (const one of [...own, body && longestIn(body, `${path}/`)]) {
      if (one !== undefined && one.ms > (longest?.ms ?? -1)) longest = one;
    }
  }
  return longest;
}

function awaitedBy({ waits, deadline }: WaitWork): readonly AwaitedEvent[] {
  const all = waits.map((wait, index): AwaitedEvent | undefined => {
    const ms = wait.kind === 'for' ? constantMs(wait.for) : undefined;
    const keys = waits.length === 1 ? ['wait', 'for'] : ['wait', 'any', index, 'for'];
    return ms === undefined ? undefined : { ms, key: 'for', keys };
  });
  const ms = constantMs(deadline);
  return [...all, ms === undefined ? undefined : ({ ms, key: 'deadline', keys: ['wait', 'deadline'] } as const)].filter(
    (one) => one !== undefined,
  );
}

function constantMs(value: CompiledValue | undefined): number | undefined {
  const constant = constantOf(value);
  const ms = typeof constant === 'string' ? parseDuration(constant) : constant;
  return typeof ms === 'number' ? ms : undefined;
}

/** The shortest limit of the node, an enclosing node or the workflow. */
function limitOf({ definition, graphOf }: Verification, record: GraphRecord, node: NodePlan): Limit | undefined {
  const limits = ownLimits(node);
  for (let at: GraphScope['outer'] = record.scope.outer; at !== undefined; at = at.scope.outer) {
    const around = graphOf.get(at.scope)?.plan.nodes[at.node];
    if (around !== undefined) limits.push(...ownLimits(around));
  }
  const ms = parseDuration(definition.config?.timeout ?? '');
  if (typeof ms === 'number') limits.push({ ms, name: 'config.timeout' });
  return shortest(limits);
}

function ownLimits({ id, timeouts: { attemptMs, totalMs } }: NodePlan): Limit[] {
  return [attemptMs, totalMs].filter((ms) => ms !== null).map((ms) => ({ ms, name: `the timeout of '${id}'` }));
}

function shortest(limits: readonly (Limit | undefined)[]): Limit | undefined {
  let found: Limit | undefined;
  for (const limit of limits) if (limit !== undefined && limit.ms < (found?.ms ?? Infinity)) found = limit;
  return found;
}
