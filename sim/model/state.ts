/** What the interpreter keeps of scopes and nodes. */
import type { Json } from '@nebula/core';
import type { Graph, Keys } from './graph.ts';
import type { Cause, ErrorFact, Fact } from './meaning.ts';
import { Retries } from './retries.ts';

export type Status =
  | 'pending'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'unknown';
export type Ending = { readonly status: 'completed' | 'failed' | 'cancelled'; readonly error?: ErrorFact | undefined };

export const OPEN: readonly Status[] = ['queued', 'running', 'waiting'];
/** Not in the middle of an attempt or body: cancelled at once. */
export const IDLE: readonly Status[] = ['pending', 'queued', 'waiting'];

export interface Node {
  readonly id: string;
  readonly path: string;
  readonly keys: Keys;
  readonly scope: Scope;
  retries: Retries;
  status: Status;
  started: boolean;
  /** Once it has begun or was skipped: whether an `always` edge, or a cleanup, led to it. */
  isFollower: boolean | undefined;
  isDisabled: boolean;
  cause: Cause | undefined;
  /** Of a composite node: that of the first of its iterations to fail. */
  error: ErrorFact | undefined;
  isIgnored: boolean;
  /** When it failed, something was to handle it. */
  wasHandled: boolean;
  /** Its failure has been looked at as unhandled. */
  isJudged: boolean;
  output: Json;
  taken: readonly string[] | undefined;
  /** Of a composite node: its iterations. */
  iterations: Scope[];
  /** It is being cut off, and becomes cancelled when nothing of it runs. */
  isStopping: boolean;
  isBroken: boolean;
  /** A finally ran it: it is not undone. */
  isCleanup: boolean;
  /** It waited for a slot when its scope began to end. */
  wasQueued: boolean;
  /** Of a composite node that is tried again: what is undone first. */
  undoing: Node[];
  /** Something inside could not be undone: it is not tried again. */
  isStained: boolean;
}

export interface Scope {
  readonly path: string;
  readonly graph: Graph;
  readonly owner: Node | undefined;
  readonly index: number;
  readonly nodes: Map<string, Node>;
  phase: 'live' | 'stopping' | 'finally' | 'ended';
  ending: Ending | undefined;
  /** `finish-running`: the scope fails with it in the end. */
  deferred: ErrorFact | undefined;
  /** `onFailure: ignore`: the scope goes on, and counts as failed where successes are counted. */
  tolerated: ErrorFact | undefined;
  cleanupError: ErrorFact | undefined;
  isEarly: boolean;
  /** Somebody cancelled twice: there is no finally. */
  isCut: boolean;
}

export function blankNode(id: string, path: string, keys: Keys, scope: Scope): Node {
  return {
    ...{ id, path, keys, scope, retries: new Retries(keys.retry), status: 'pending', started: false },
    ...{ isFollower: undefined },
    ...{ isDisabled: false, cause: undefined, error: undefined, isIgnored: false, wasHandled: false, isJudged: false },
    ...{ output: null, taken: undefined, iterations: [], isStopping: false, isBroken: false, isCleanup: false },
    ...{ wasQueued: false, undoing: [], isStained: false },
  };
}

export function factOfNode(node: Node, isEnding: boolean): Fact {
  const { status, isDisabled } = node;
  return { ...node, status: isDisabled ? 'disabled' : plainStatus(status, isEnding) };
}

function plainStatus(status: Status, isEnding: boolean): Fact['status'] {
  if (status === 'unknown') return isEnding ? 'cancelled' : 'active';
  return OPEN.includes(status) ? 'active' : (status as Fact['status']);
}

export function undoPath(prefix: string, { path }: Node): string {
  return `${prefix}~undo/${path.replaceAll('/', ':')}`;
}

export function nodeOf(scope: Scope, id: string): Node {
  return scope.nodes.get(id) as Node;
}

export function isUntouched({ status, started }: Node): boolean {
  return status === 'cancelled' && !started;
}

/** A finally ran it, or what it is in. */
export function isCleanup(node: Node): boolean {
  return node.isCleanup || (node.scope.owner !== undefined && isCleanup(node.scope.owner));
}

export function isAction({ keys }: Node): boolean {
  return keys.action !== undefined;
}

export function isLoop(keys: Keys): boolean {
  return keys.forEach !== undefined || keys.while !== undefined;
}

export function roundsOf(keys: Keys): number {
  if (keys.forEach !== undefined) return (keys.forEach as { in: Json[] }).in.length;
  if (keys.while === undefined) return 1;
  return Number(/\d+/.exec((keys.while as { condition: string }).condition)?.[0]);
}

/** Of its only end node, else of each end node that ran. */
export function bodyOutput(scope: Scope | undefined): Json {
  if (scope === undefined) return null;
  const ends = [...scope.nodes.values()].filter(({ id }) => scope.graph.outgoing(id).length === 0);
  if (ends.length === 1) return ends[0]?.output ?? null;
  return Object.fromEntries(ends.filter(({ status }) => status === 'completed').map(({ id, output }) => [id, output]));
}

/**
 * A node that a finally could have come to, and does not, leads to a cleanup: its edges are dead by failure, because it
 * was cancelled, or by choice, because nothing led to it.
 */
export function hasDoubtfulSource({ graph, nodes }: Scope, cleanup: ReadonlySet<string>): boolean {
  const always = graph.edges.filter(({ on, from }) => on === 'always' && nodes.get(from)?.started === true);
  const possible = [...graph.closure(always.map(({ to }) => to))].filter((id) => !cleanup.has(id));
  return possible.some((id) => graph.outgoing(id).some(({ to }) => cleanup.has(to)));
}

/** A cleanup has failed: so does its scope, and every scope around it that this one ends with. */
export function noteCleanupError(scope: Scope, error: ErrorFact | undefined): void {
  scope.cleanupError ??= error;
  const { owner } = scope;
  if (owner === undefined || owner.isCleanup || owner.scope.phase === 'live' || owner.keys.onError === 'ignore') return;
  noteCleanupError(owner.scope, error);
}
