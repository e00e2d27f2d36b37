/** Random workflows, in a form that both the engine's compiler and the oracle can read, and random events. */
import fc from 'fast-check';
import type { Short } from './drive.ts';

/** Conditions whose value the oracle knows without an expression evaluator. */
export type Condition = 'true' | 'false' | 'broken' | 'source-completed' | 'source-large' | 'upstream-success';

export interface RandomEdge {
  readonly from: number;
  readonly to: number;
  readonly on: 'success' | 'error' | 'always' | 'result';
  readonly when: Condition | undefined;
  /** The matcher of error edges; result edges always match `v > 2`. */
  readonly match: 'code-A' | 'kind-SYSTEM' | undefined;
}

export interface RandomRetry {
  readonly policy: 'fixed' | 'exponential' | 'exponential-jitter';
  readonly initialMs: number;
  readonly multiplier: number;
  readonly attempts: number;
  readonly lost: number;
  readonly on: readonly string[] | undefined;
}

export interface RandomNode {
  readonly join: 'all' | 'any' | 'ended' | number;
  readonly enabled: boolean;
  readonly when: Condition | undefined;
  readonly brokenParameters: boolean;
  readonly onError: 'halt' | 'ignore' | 'branch' | undefined;
  readonly action: 'do' | 'pay' | 'look' | 'check';
  readonly priority: number;
  readonly retry: RandomRetry | undefined;
  readonly attemptMs: number | undefined;
  readonly queuedMs: number | undefined;
  readonly totalMs: number | undefined;
}

export interface RandomWorkflow {
  readonly nodes: readonly RandomNode[];
  readonly edges: readonly RandomEdge[];
  readonly mode: 'parallel' | 'levels' | 'sequential';
  readonly maxParallelism: number;
  readonly onFailure: 'fail-fast' | 'finish-running' | 'ignore';
  readonly timeoutMs: number | undefined;
  readonly maxTotalRetries: number | undefined;
  readonly output: 'default' | 'broken';
}

/** A random event; its meaning depends on the state of the run (`pick` modulo the choices). */
export interface Happening {
  readonly kind: (typeof HAPPENINGS)[number];
  readonly pick: number;
  readonly value: number;
  /** In the same turn as the next event. */
  readonly joined: boolean;
}

const HAPPENINGS = [
  'complete',
  'complete',
  'complete',
  'complete',
  'fail-user',
  'fail-system',
  'break-off',
  'hand-back',
  'lose-worker',
  'stale',
  'advance',
  'advance',
  'next-timer',
  'cancel',
  'settle',
  'settle',
  'retry',
  'crash',
  'recall',
] as const;

const MAX_NODES = 15;

const retry: fc.Arbitrary<RandomRetry> = fc.record({
  policy: fc.constantFrom('fixed', 'exponential', 'exponential-jitter'),
  initialMs: fc.constantFrom(0, 500, 1_000),
  multiplier: fc.constantFrom(1, 1.5, 3),
  attempts: fc.integer({ min: 1, max: 4 }),
  lost: fc.integer({ min: 0, max: 3 }),
  on: oneIn(4, fc.constantFrom(['A'], ['TIMEOUT'])),
});

const node: fc.Arbitrary<RandomNode> = fc.record({
  join: fc.oneof(
    { weight: 4, arbitrary: fc.constant('all' as const) },
    fc.constant('any' as const),
    fc.constant('ended' as const),
    fc.constant(2),
  ),
  enabled: oneIn(12, fc.constant(false)).map((value) => value ?? true),
  when: oneIn(4, fc.constantFrom<Condition>('true', 'true', 'false', 'broken', 'upstream-success')),
  brokenParameters: oneIn(20, fc.constant(true)).map((value) => value ?? false),
  onError: oneIn(3, fc.constantFrom('halt', 'ignore', 'ignore', 'branch')),
  action: fc.constantFrom('do', 'do', 'do', 'pay', 'look', 'check'),
  priority: fc.constantFrom(5, 5, 5, 1, 9),
  retry: oneIn(2, retry),
  attemptMs: oneIn(4, fc.constantFrom(1_000, 5_000)),
  queuedMs: oneIn(6, fc.constantFrom(1_000, 3_000)),
  totalMs: oneIn(5, fc.constantFrom(2_000, 8_000)),
});

function oneIn<T>(outOf: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: outOf - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const edge = (count: number): fc.Arbitrary<RandomEdge> =>
  fc.record({
    from: fc.nat(count - 1),
    to: fc.nat(count - 1),
    on: fc.constantFrom('success', 'success', 'success', 'error', 'always', 'result'),
    when: oneIn(4, fc.constantFrom<Condition>('true', 'false', 'broken', 'source-completed', 'source-large')),
    match: oneIn(3, fc.constantFrom('code-A', 'kind-SYSTEM')),
  });

export const randomWorkflow: fc.Arbitrary<RandomWorkflow> = fc.integer({ min: 1, max: MAX_NODES }).chain((count) =>
  fc
    .record({
      nodes: fc.array(node, { minLength: count, maxLength: count }),
      edges: fc.array(edge(count), { maxLength: count * 2, size: 'max' }),
      mode: fc.constantFrom('parallel', 'parallel', 'levels', 'sequential'),
      maxParallelism: fc.constantFrom(1, 2, 3, 25),
      onFailure: fc.constantFrom('fail-fast', 'finish-running', 'finish-running', 'ignore'),
      timeoutMs: oneIn(4, fc.constantFrom(4_000, 20_000)),
      maxTotalRetries: oneIn(4, fc.nat(3)),
      output: fc.constantFrom('default', 'default', 'default', 'default', 'broken'),
    } as const)
    .map(sound),
);

export const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...HAPPENINGS),
    pick: fc.nat(999),
    value: fc.nat(5),
    joined: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  }),
  { maxLength: 60, size: 'max' },
);

/** Edges point forwards, none is given twice, and joins can be met. */
function sound(workflow: RandomWorkflow): RandomWorkflow {
  const seen = new Set<string>();
  const edges = workflow.edges
    .filter(({ from, to }) => from !== to)
    .map((one) => ({ ...one, from: Math.min(one.from, one.to), to: Math.max(one.from, one.to) }))
    .map((one) => (one.on === 'error' ? one : { ...one, match: undefined }))
    .filter((one) => {
      const identity = JSON.stringify([one.from, one.to, one.on, one.when, one.match]);
      return !seen.has(identity) && seen.add(identity);
    });
  const nodes = workflow.nodes.map((one, index) => {
    const sources = new Set(edges.filter(({ to }) => to === index).map(({ from }) => from)).size;
    const join = typeof one.join === 'number' && one.join > sources ? 'all' : one.join;
    // The state of an upstream node is final only if all sources are.
    const mayLook = sources > 0 && join === 'all';
    const hasErrorEdge = edges.some(({ from, on }) => from === index && on === 'error');
    return {
      ...one,
      join,
      when: one.when === 'upstream-success' && !mayLook ? undefined : one.when,
      onError: one.onError === 'branch' && !hasErrorEdge ? undefined : one.onError,
    };
  });
  return { ...workflow, nodes, edges };
}

export function idOf(index: number): string {
  return `n${index}`;
}

/** Plain success edges are written as `needs`, half of the time. */
export function definitionOf(workflow: RandomWorkflow): Short {
  const nodes: Record<string, Record<string, unknown>> = {};
  const asNeeds = (one: RandomEdge): boolean =>
    one.on === 'success' && one.when === undefined && (one.from + one.to) % 2 === 0;
  workflow.nodes.forEach((one, index) => {
    const incoming = workflow.edges.filter(({ to }) => to === index);
    nodes[idOf(index)] = {
      action: `${one.action}@1`,
      ...optional(
        'needs',
        incoming.filter(asNeeds).map(({ from }) => idOf(from)),
      ),
      join: one.join,
      enabled: one.enabled,
      ...optional('when', one.when && textOf(one.when, incoming[0]?.from ?? 0)),
      ...optional('with', one.brokenParameters ? { x: '{{ $input.nothing.here }}' } : undefined),
      ...optional('onError', one.onError),
      priority: one.priority,
      ...optional('retry', one.retry && retryDefinition(one.retry)),
      timeout: {
        ...optional('attempt', duration(one.attemptMs)),
        ...optional('queued', duration(one.queuedMs)),
        ...optional('total', duration(one.totalMs)),
      },
    };
  });
  const edges = workflow.edges
    .filter((one) => !asNeeds(one))
    .map((one) => ({
      from: idOf(one.from),
      to: idOf(one.to),
      on: one.on,
      ...optional('when', one.when && textOf(one.when, one.from)),
      ...(one.on === 'result' ? { match: { v: { gt: 2 } } } : {}),
      ...optional('match', one.match && (one.match === 'code-A' ? { code: 'A' } : { kind: 'SYSTEM' })),
    }));
  const { mode, maxParallelism, onFailure } = workflow;
  const config = {
    mode,
    maxParallelism,
    onFailure,
    ...optional('timeout', duration(workflow.timeoutMs)),
    ...optional('maxTotalRetries', workflow.maxTotalRetries),
  };
  return { config, nodes, edges, ...(workflow.output === 'broken' ? { output: '{{ $input.nothing.here }}' } : {}) };
}

function retryDefinition({ policy, initialMs, multiplier, attempts, lost, on }: RandomRetry): object {
  const delays = policy === 'fixed' ? { delay: duration(initialMs) } : { initial: duration(initialMs), multiplier };
  return { policy, ...delays, attempts, lost, ...optional('on', on) };
}

function textOf(condition: Condition, source: number): string {
  switch (condition) {
    case 'true':
    case 'false':
      return condition;
    case 'broken':
      return '$input.nothing.here';
    case 'source-completed':
      return `$nodes.${idOf(source)}.status == "completed"`;
    case 'source-large':
      return `($nodes.${idOf(source)}.output?.v ?? 0) > 2`;
    case 'upstream-success':
      return `$nodes.${idOf(source)}.success`;
  }
}

function duration(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `${ms}ms`;
}

function optional<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
