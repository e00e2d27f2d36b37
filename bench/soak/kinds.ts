/** The workflows of a soak run, and how each of them must end. */
import type { FinalRunStatus } from '@nebula/core';

export interface Kind {
  readonly definition: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly ends: FinalRunStatus;
  /** Nodes that take effect: exactly these, each under one key. */
  readonly effects: readonly string[];
  /** The share of the runs. */
  readonly weight: number;
}

/** Runs whose time from start to end is measured. */
export const PROBE = 'probe';

const retry = { policy: 'fixed', delay: '5ms', attempts: 1_000, lost: 1_000 };
const CHAIN = names('c', 10);
const WIDE = names('w', 20);

const all: readonly Kind[] = [
  kind('probe', 'completed', 8, { a: work() }),
  kind(
    'chain',
    'completed',
    4,
    Object.fromEntries(CHAIN.map((name, at) => [name, work(at === 0 ? [] : [CHAIN[at - 1]])])),
  ),
  kind('wide', 'completed', 2, {
    first: work(),
    ...Object.fromEntries(WIDE.map((name) => [name, work(['first'])])),
    join: work(WIDE),
  }),
  kind('retried', 'completed', 3, { a: { ...work([], { failures: 2 }), retry: { attempts: 1_000 } }, b: work(['a']) }),
  kind('slow', 'failed', 2, { a: { ...work([], { hang: true }), timeout: '40ms' } }, []),
  kind('late', 'timed-out', 1, { a: work([], { hang: true }) }, [], { timeout: '60ms' }),
  kind('large', 'completed', 2, {
    a: work([], { bytes: 500_000 }),
    b: work(['a'], { note: '{{ $a.padding.length }}' }),
  }),
  kind(
    'handled',
    'completed',
    2,
    { a: work([], { decline: true }), b: { action: 'soak.work@1' }, c: work(['b']) },
    ['b', 'c'],
    {},
    [{ from: 'a', to: 'b', on: 'error', match: { code: 'DECLINED' } }],
  ),
  kind('cancelled', 'cancelled', 1, { a: work([], { hang: true }) }, []),
  kind('once', 'completed', 3, { a: { action: 'soak.once@1' }, b: { ...work(['a']), action: 'soak.once@1' } }),
];

export const KINDS: ReadonlyMap<string, Kind> = new Map(all.map((one) => [one.definition.id, one]));

export function kindOf(executionId: string): Kind {
  const kind = KINDS.get(executionId.split('-')[0] as string);
  if (kind === undefined) throw new Error(`${executionId} is of no kind`);
  return kind;
}

export function drawKind(fraction: number): string {
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  let left = fraction * total;
  for (const { definition, weight } of all) {
    left -= weight;
    if (left < 0) return definition.id;
  }
  return PROBE;
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`);
}

function work(needs: readonly (string | undefined)[] = [], input: Readonly<Record<string, unknown>> = {}) {
  return { action: 'soak.work@1', ...(needs.length > 0 && { needs }), with: input };
}

function kind(
  id: string,
  ends: FinalRunStatus,
  weight: number,
  nodes: Readonly<Record<string, unknown>>,
  effects: readonly string[] = Object.keys(nodes),
  config: Readonly<Record<string, unknown>> = {},
  edges?: readonly unknown[],
): Kind {
  return { definition: { id, config: { retry, ...config }, nodes, ...(edges && { edges }) }, ends, weight, effects };
}
