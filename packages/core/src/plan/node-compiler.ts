/** Compiles one node of a definition to its part of the plan. */
import type { NodeDefinition, Numeric } from '../definition/model.ts';
import { RUN_DEFAULTS } from '../limits.ts';
import type { Steps } from '../steps.ts';
import type { Json, JsonSchema } from '../value.ts';
import { actionWork, compensation } from './kinds/action.ts';
import type { NodeReader } from './node-reader.ts';
import type { CachePlan, Mutable, NodePlan, RetryPlan, Timeouts, Work } from './plan.ts';
import { durationOf, effectiveRetry, numberOf, retryPlan, timeoutsOf } from './retry-plan.ts';
import { HERE, routeOf } from './route.ts';
import { type MergeKeys, settingsOf } from './settings.ts';
import { type CompiledWork, compileWork, type Surroundings } from './work.ts';

export interface CompiledNode {
  readonly node: Mutable<NodePlan>;
  /** The estimate of the node, or of its body. */
  readonly estimateMs: number;
  /** The schema of its output, where the body is more exact than the kind. */
  readonly output: JsonSchema | undefined;
}

/** The estimate of a node without one: a short network call. */
const DEFAULT_ESTIMATE_MS = 100;

export function* compileNode(reader: NodeReader, around: Surroundings): Steps<CompiledNode> {
  const { id, index, definition, context } = reader.parts;
  const { config = {} } = context.definition;
  const when = reader.condition(definition.when, ['when']);
  // Nearly all nodes are actions, and a generator more for each is a tenth of a cold compile.
  const compiled = around.kind === 'action' ? { work: actionWork(reader, around.action) } : undefined;
  const { work: found, body, output }: CompiledWork = compiled ?? (yield* compileWork(reader, around));
  const work = body !== undefined && body.plan === undefined ? undefined : found;
  checkLoopKeys(reader);
  const compensate = compensation(reader);
  const concurrency = concurrencyOf(reader);
  const rateLimit = rateLimitOf(reader);
  const emits = reader.condition(definition.emit, ['emit'], { self: true, after: true });
  const merge = around.regions.get(id)?.merge;
  checkMergeRetry(reader, merge);
  const retry = work?.kind === 'merge' ? undefined : (definition.retry ?? merge?.retry);
  const effective = {
    retry: effectiveRetry(retry, work?.kind === 'action' ? config.retry : undefined) as Json | undefined,
    // A node that needs no slot does not queue, so the workflow's priority expression is not evaluated for it.
    priority: definition.priority ?? (work && 'action' in work ? config.priority : numberOf(config.priority)),
  };
  const estimateMs = durationOf(definition.estimate) ?? body?.longestMs ?? DEFAULT_ESTIMATE_MS;
  return {
    output,
    estimateMs,
    node: {
      index,
      id,
      name: definition.name ?? id,
      incoming: [],
      outgoing: [],
      sources: 0,
      join: definition.join === 'any' ? 1 : (definition.join ?? 'all'),
      level: 0,
      rank: 0,
      estimateMs,
      isEstimated: definition.estimate !== undefined,
      priority: numberOf(effective.priority as Numeric | undefined) ?? RUN_DEFAULTS.priority,
      route: work !== undefined && 'action' in work ? routeOf(context.catalog, work.action, definition.labels) : HERE,
      enabled: definition.enabled ?? true,
      when,
      onError: definition.onError,
      retry: retryOf(reader, work, merge),
      timeouts: timeoutsWith(definition.timeout, work, merge),
      settings: settingsOf(reader, effective, merge),
      // Every node of a plan without errors has its work.
      work: work as Work,
      compensate,
      cache: cacheOf(reader),
      concurrency,
      rateLimit,
      emits,
      breaks: definition.break ?? false,
      reads: reader.reads,
    },
  };
}

const ATTEMPTED: readonly Work['kind'][] = ['action', 'dynamic', 'child'];

const ONCE: RetryPlan = { rules: [], lost: 0 };

/** The timeout of an inlined workflow limits its node, unless the node has its own. */
function timeoutsWith(
  given: NodeDefinition['timeout'],
  work: Work | undefined,
  merge: MergeKeys | undefined,
): Timeouts {
  const own = timeoutsOf(given);
  if (merge !== undefined) return { ...own, attemptMs: smaller(own.attemptMs, durationOf(merge.timeout) ?? null) };
  return work?.kind === 'inline' ? { ...own, totalMs: own.totalMs ?? work.workflow.timeoutMs } : own;
}

/** The smaller of two limits; null means no limit. */
function smaller(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** The default retry of the workflow applies to action nodes only; that of a merge applies to its split. */
function retryOf(reader: NodeReader, work: Work | undefined, merge: MergeKeys | undefined): RetryPlan {
  const { context, definition, path } = reader.parts;
  const isAttempted = work === undefined || ATTEMPTED.includes(work.kind);
  const retry = definition.retry ?? merge?.retry;
  if (work?.kind === 'merge' || (!isAttempted && retry === undefined)) return ONCE;
  const owner = definition.retry === undefined && merge !== undefined ? merge.path : path;
  const defaults = work?.kind === 'action' ? context.defaultRetry : undefined;
  return retryPlan(retry, defaults, reader, [...owner, 'retry']);
}

function checkMergeRetry(reader: NodeReader, merge: MergeKeys | undefined): void {
  if (reader.parts.definition.retry === undefined || merge?.retry === undefined) return;
  const message = "'retry' is on the split and on its merge: both repeat the nodes between them";
  reader.error('MISPLACED_KEY', message, 'keep one of them', ['retry'], 'key');
}

function checkLoopKeys(reader: NodeReader): void {
  const { definition, scope } = reader.parts;
  if (definition.break !== undefined && scope.loop === undefined) {
    const hint = 'put it on a node in the body of the loop itself, not in a group or a workflow inside that body';
    reader.error('NOT_IN_A_LOOP', "'break' is allowed only inside a loop", hint, ['break'], 'key');
  }
  if (definition.emit !== undefined && scope.loop !== 'forEach' && scope.loop !== 'any') {
    const hint = 'put it on a node in the body of the forEach itself, not in a group or a workflow inside that body';
    reader.error('NOT_IN_A_LOOP', "'emit' is allowed only inside a forEach", hint, ['emit'], 'key');
  }
}

function cacheOf({ parts: { definition } }: NodeReader): CachePlan | undefined {
  const { cache } = definition;
  if (cache === undefined) return undefined;
  return {
    version: String(cache.version ?? 1),
    ttlMs: durationOf(cache.ttl) ?? null,
    ignore: cache.ignore ?? [],
    overwrite: cache.overwrite ?? false,
  };
}

function concurrencyOf(reader: NodeReader): NodePlan['concurrency'] {
  const { concurrency } = reader.parts.definition;
  if (concurrency === undefined) return undefined;
  const key = reader.value(concurrency.key, ['concurrency', 'key']);
  return { key, limit: numberOf(concurrency.limit) ?? 1 };
}

function rateLimitOf(reader: NodeReader): NodePlan['rateLimit'] {
  const { rateLimit } = reader.parts.definition;
  if (rateLimit === undefined) return undefined;
  const key = reader.value(rateLimit.key, ['rateLimit', 'key']);
  return { key, limit: numberOf(rateLimit.limit) ?? 1, perMs: durationOf(rateLimit.per) ?? 0 };
}
