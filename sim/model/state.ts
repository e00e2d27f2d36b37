/** The state of scopes and nodes in the interpreter. */
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
/** Statuses outside of an attempt or body: such a node is cancelled at once. */
export const IDLE: readonly Status[] = ['pending', 'queued', 'waiting'];

export interface Node {
  readonly id: string;
  readonly path: string;
  readonly keys: Keys;
  readonly scope: Scope;
  retries: Retries;
  status: Status;
  started: boolean;
  /** For a node that has begun or was skipped: whether an `always` edge, or a cleanup, led to it. */
  isFollower: boolean | undefined;
  isDisabled: boolean;
  cause: Cause | undefined;
  /** For a composite node: the error of its first failed iteration. */
  error: ErrorFact | undefined;
  isIgnored: boolean;
  /** The failure seemed handled when it happened. */
  wasHandled: boolean;
  /** The failure has been judged as unhandled. */
  isJudged: boolean;
  /** The failure is unhandled with `finish-running`: its finally waits for independent nodes. */
  isDeferred: boolean;
  output: Json;
  taken: readonly string[] | undefined;
  /** The iterations of a composite node. */
  iterations: Scope[];
  /** The node is being cut off, and becomes cancelled when nothing in it runs. */
  isStopping: boolean;
  isBroken: boolean;
  /** The node ran in a finally: it is not undone. */
  isCleanup: boolean;
  /** The node waited for a slot when its scope began to end. */
  wasQueued: boolean;
  /** For a composite node that is tried again: the nodes to undo first. */
  undoing: Node[];
  /** A node inside could not be undone: the composite node is not tried again. */
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
  /** The error with which a scope with `finish-running` fails at its end. */
  deferred: ErrorFact | undefined;
  /** An error under `onFailure: ignore`: the scope continues, and counts as failed where successes are counted. */
  tolerated: ErrorFact | undefined;
  cleanupError: ErrorFact | undefined;
  isEarly: boolean;
  /** A second cancel skipped the finally. */
  isCut: boolean;
}

export function blankNode(id: string, path: string, keys: Keys, scope: Scope): Node {
  return {
    ...{ id, path, keys, scope, retries: new Retries(keys.retry), status: 'pending', started: false },
    ...{ isFollower: undefined, isDeferred: false },
    ...{ isDisabled: false, cause: undefined, error: undefined, isIgnored: false, wasHandled: false, isJudged: false },
    ...{ output: null, taken: undefined, iterations: [], isStopping: false, isBroken: false, isCleanup: false },
    ...{ wasQueued: false, undoing: [], isStained: false },
  };
}

export function factOfNode(node: Node, isEnding: boolean): Fact {
  const { status, isDisabled } = node;
  const isDeferred = node.isDeferred && !isEnding;
  return { ...node, isDeferred, status: isDisabled ? 'disabled' : plainStatus(status, isEnding) };
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

/** The node, or one around it, ran in a finally. */
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

/** The output of the only end node, else those of the end nodes that ran. */
export function bodyOutput(scope: Scope | undefined): Json {
  if (scope === undefined) return null;
  const ends = [...scope.nodes.values()].filter(({ id }) => scope.graph.outgoing(id).length === 0);
  if (ends.length === 1) return ends[0]?.output ?? null;
  return Object.fromEntries(ends.filter(({ status }) => status === 'completed').map(({ id, output }) => [id, output]));
}

/**
 * A node that a finally could have reached, and did not, leads to a cleanup. Its edges are dead by failure, because it
 * was cancelled, or by choice, because nothing led to it.
 */
export function hasDoubtfulSource({ graph, nodes }: Scope, cleanup: ReadonlySet<string>): boolean {
  const always = graph.edges.filter(({ on, from }) => on === 'always' && nodes.get(from)?.started === true);
  const possible = [...graph.closure(always.map(({ to }) => to))].filter((id) => !cleanup.has(id));
  return possible.some((id) => graph.outgoing(id).some(({ to }) => cleanup.has(to)));
}

/** A cleanup has failed: so does its scope, and every scope around it that ends together with it. */
export function noteCleanupError(scope: Scope, error: ErrorFact | undefined): void {
  scope.cleanupError ??= error;
  const { owner } = scope;
  if (owner === undefined || owner.isCleanup || owner.scope.phase === 'live' || owner.keys.onError === 'ignore') return;
  noteCleanupError(owner.scope, error);
}
