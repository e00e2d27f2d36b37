/**
 * The states of a run, from its events. `nebula.events(executionId)` of `@nebula/client` yields past events, then new
 * ones, so the states of a run follow from its events alone.
 */
import type { TimelineEventType } from '@nebula/core';
import { type Iterations, statusCode } from './iterations.ts';
import type { DrawnStatus, NodeRunState } from './run-state.ts';

/** An event as the API sends it. */
export interface LiveEvent {
  readonly at: string | number;
  readonly type: string;
  readonly node: string | null;
  readonly details?: unknown;
}

const NODE_STATUS: Readonly<Record<string, DrawnStatus>> = {
  NodeScheduled: 'queued',
  NodeReturned: 'queued',
  NodeGated: 'waiting',
  NodeGranted: 'waiting',
  NodeStarted: 'running',
  NodeOpened: 'running',
  NodeStopping: 'running',
  ItemsAdded: 'running',
  RoundDelayed: 'running',
  ChildRequested: 'running',
  NodeWaiting: 'waiting',
  NodeAnswered: 'waiting',
  SignalRefused: 'waiting',
  NodeRetried: 'waiting',
  NodeCompleted: 'completed',
  NodeFailed: 'failed',
  NodeUnhandled: 'failed',
  NodeSkipped: 'skipped',
  NodeCancelled: 'cancelled',
  NodeUnknown: 'unknown',
  NodeSettled: 'unknown',
} satisfies Partial<Record<TimelineEventType, DrawnStatus>>;

const ROUND_STATUS: Readonly<Record<string, DrawnStatus>> = {
  RoundStarted: 'running',
  RoundStopping: 'running',
  RoundCompleted: 'completed',
  RoundFailed: 'failed',
} satisfies Partial<Record<TimelineEventType, DrawnStatus>>;

export type LiveChange =
  | { readonly path: string; readonly state: NodeRunState }
  | { readonly path: string; readonly iterations: Iterations; readonly state: NodeRunState };

export class LiveRun {
  readonly #states = new Map<string, NodeRunState>();
  readonly #startedAt = new Map<string, number>();
  readonly #rounds = new Map<string, { codes: Uint8Array; count: number }>();

  /** The change that an event makes; undefined: none. */
  apply({ at, type, node, details }: LiveEvent): LiveChange | undefined {
    if (node === null) return undefined;
    const status = NODE_STATUS[type];
    if (status !== undefined) return this.#node(node, status, type, timeOf(at), details);
    const round = ROUND_STATUS[type];
    return round === undefined ? undefined : this.#round(node, round);
  }

  #node(path: string, status: DrawnStatus, type: string, now: number, details: unknown): LiveChange {
    const before = this.#states.get(path);
    const { attempt, items } = (details ?? {}) as { readonly attempt?: number; readonly items?: number };
    if (status === 'running' && !this.#startedAt.has(path)) this.#startedAt.set(path, now);
    const startedAt = this.#startedAt.get(path);
    const isOver = status === 'completed' || status === 'failed' || status === 'cancelled';
    const iterations = before?.iterations;
    const total =
      items === undefined ? iterations?.total : (type === 'ItemsAdded' ? (iterations?.total ?? 0) : 0) + items;
    const counts = iterations ?? (type === 'NodeOpened' && items !== undefined ? NO_ITERATIONS : undefined);
    const attempts = attempt ?? before?.attempts;
    const state: NodeRunState = {
      status,
      ...(attempts === undefined ? {} : { attempts }),
      ...(isOver && startedAt !== undefined ? { durationMs: now - startedAt } : {}),
      ...(counts === undefined ? {} : { iterations: { ...counts, total: total ?? null } }),
    };
    this.#states.set(path, state);
    return { path, state };
  }

  /** `scope` is the path of an iteration: `items/3`. */
  #round(scope: string, status: DrawnStatus): LiveChange | undefined {
    const slash = scope.lastIndexOf('/');
    const [path, index] = [scope.slice(0, slash), Number(scope.slice(slash + 1))];
    if (slash < 0 || !Number.isInteger(index) || index < 0) return undefined;
    const rounds = this.#rounds.get(path) ?? { codes: new Uint8Array(64), count: 0 };
    this.#rounds.set(path, rounds);
    if (index >= rounds.codes.length) {
      const more = new Uint8Array(Math.max(index + 1, 2 * rounds.codes.length));
      more.set(rounds.codes);
      rounds.codes = more;
    }
    const isNew = index >= rounds.count;
    const before = isNew ? undefined : rounds.codes[index];
    rounds.codes[index] = statusCode(status);
    rounds.count = Math.max(rounds.count, index + 1);
    const old = this.#states.get(path) ?? { status: 'running' };
    const counts = { ...(old.iterations ?? NO_ITERATIONS) };
    const wasOpen = before === RUNNING;
    if (status === 'running' && !wasOpen) counts.open++;
    if (status !== 'running' && wasOpen) counts.open--;
    if (status === 'completed') counts.succeeded++;
    if (status === 'failed') counts.failed++;
    const state = { ...old, iterations: counts };
    this.#states.set(path, state);
    return { path, state, iterations: this.#strip(rounds, counts.total) };
  }

  /** Iterations that have not begun are pending. */
  #strip(rounds: { codes: Uint8Array; count: number }, total: number | null): Uint8Array {
    const length = Math.max(rounds.count, total ?? 0);
    if (length <= rounds.codes.length) return rounds.codes.subarray(0, length);
    const codes = new Uint8Array(length);
    codes.set(rounds.codes.subarray(0, rounds.count));
    rounds.codes = codes;
    return codes;
  }
}

const RUNNING = statusCode('running');
const NO_ITERATIONS = { total: null, open: 0, succeeded: 0, failed: 0 } as const;

function timeOf(at: string | number): number {
  return typeof at === 'number' ? at : Date.parse(at);
}
