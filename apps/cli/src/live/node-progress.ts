/** What is known about a node, and about what is inside of it. */
import type { Gate, NodeStatus, RunError } from '@nebula/core';
import type { OutlineRow } from '../views/outline.ts';
import type { Waiting } from '../views/wait-words.ts';

export interface NodeProgress {
  readonly path: string;
  readonly name: string;
  readonly prefix: string;
  /** Place in the outline. */
  readonly order: number;
  /** Null for a node of the workflow itself. */
  readonly scope: ScopeProgress | null;
  /** Of its body, where it has one. */
  readonly outline: readonly OutlineRow[];
  status: NodeStatus;
  attempts: number;
  /** Start of the first attempt, and of the one that runs. */
  startedAt: number | null;
  attemptAt: number | null;
  finishedAt: number | null;
  retryAt: number | null;
  fraction: number | null;
  message: string | null;
  log: string | null;
  error: RunError | null;
  waiting: Waiting | null;
  /** What it has to be granted before it begins. */
  gate: Gate | null;
  child: { readonly executionId: string; readonly workflowId: string } | null;
  body: BodyProgress | null;
}

/** A composite node that has been opened. */
export interface BodyProgress {
  /** Null where the body runs once. */
  rounds: Rounds | null;
  /** When the next round begins. */
  until: number | null;
  readonly scopes: Map<string, ScopeProgress>;
}

export interface Rounds {
  /** Null when nobody knows how many there will be. */
  readonly total: number | null;
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** One run of a body. */
export interface ScopeProgress {
  readonly path: string;
  readonly owner: NodeProgress | null;
  /** Null where the body runs once. */
  readonly round: number | null;
  /** What it has done is being undone here. */
  readonly isUndo: boolean;
  readonly nodes: NodeProgress[];
  error: RunError | null;
}

export function newNode(path: string, row: OutlineRow, scope: ScopeProgress | null, order: number): NodeProgress {
  return {
    path,
    name: row.name,
    prefix: row.prefix,
    order,
    scope,
    outline: row.body ?? [],
    status: 'pending',
    attempts: 0,
    startedAt: null,
    attemptAt: null,
    finishedAt: null,
    retryAt: null,
    fraction: null,
    message: null,
    log: null,
    error: null,
    waiting: null,
    gate: null,
    child: null,
    body: null,
  };
}
