/**
 * What is known about a run while it is being watched.
 *
 *  1 Fed by live events, each in constant time, so that a graph of 100,000 nodes costs no more per event than a small one.
 *  2 `counts` and `notable` are indexes over `nodes`: whoever changes a status goes through `#move`.
 *  3 A document is the newer truth: `sync` overwrites everything that it tells.
 */
import type { NodeStatus, RunDocument, RunError, RunStatus, TimelineEvent } from '@nebula/core';
import { isJsonObject, type Json } from '@nebula/core';
import type { OutlineRow } from '../views/outline.ts';

export interface NodeProgress {
  readonly path: string;
  readonly name: string;
  readonly prefix: string;
  /** Place in the outline. */
  readonly order: number;
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
}

/** Always shown, however large the graph is. */
const NOTABLE: ReadonlySet<NodeStatus> = new Set<NodeStatus>(['running', 'waiting', 'failed', 'unknown']);
const RECENT_LIMIT = 64;

export class RunProgress {
  readonly executionId: string;
  readonly title: string;
  status: RunStatus = 'pending';
  startedAt: number | null = null;
  finishedAt: number | null = null;
  error: RunError | null = null;
  readonly nodes: NodeProgress[] = [];
  readonly counts: Record<NodeStatus, number> = {
    pending: 0,
    queued: 0,
    running: 0,
    waiting: 0,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    unknown: 0,
  };
  readonly notable = new Set<NodeProgress>();
  /** The last ones that finished, newest last. */
  readonly recent: NodeProgress[] = [];
  /** Grows with every change: a painter that has seen it has nothing to do. */
  revision = 0;
  readonly #byPath = new Map<string, NodeProgress>();

  constructor(executionId: string, title: string, outline: readonly OutlineRow[]) {
    this.executionId = executionId;
    this.title = title;
    for (const row of outline) this.#add(row.id, row.name, row.prefix);
  }

  node(path: string): NodeProgress | undefined {
    return this.#byPath.get(path);
  }

  sync(document: RunDocument): void {
    this.revision++;
    this.status = document.status;
    this.error = document.error;
    this.startedAt = timeOf(document.startedAt);
    this.finishedAt = timeOf(document.finishedAt);
    for (const [path, seen] of Object.entries(document.nodes)) {
      const node = this.#byPath.get(path) ?? this.#add(path, path, '');
      node.attempts = seen.attempts;
      node.error = seen.error;
      node.startedAt = timeOf(seen.startedAt);
      node.attemptAt ??= node.startedAt;
      node.finishedAt = timeOf(seen.finishedAt);
      this.#move(node, seen.status);
    }
  }

  progress(path: string, fraction: number, message: string | undefined): void {
    const node = this.#byPath.get(path);
    if (node === undefined) return;
    this.revision++;
    node.fraction = fraction;
    node.message = message ?? node.message;
  }

  log(path: string | null, message: string): void {
    const node = path === null ? undefined : this.#byPath.get(path);
    if (node === undefined) return;
    this.revision++;
    node.log = message;
  }

  apply(event: TimelineEvent): void {
    this.revision++;
    if (event.node === null) this.#applyToRun(event);
    else this.#applyToNode(this.#byPath.get(event.node) ?? this.#add(event.node, event.node, ''), event);
  }

  #applyToRun(event: TimelineEvent): void {
    switch (event.type) {
      case 'WorkflowStarted':
        this.status = 'running';
        this.startedAt = event.at;
        break;
      case 'WorkflowReopened':
        this.status = 'running';
        this.finishedAt = null;
        this.error = null;
        break;
      case 'WorkflowCompleted':
        this.#finish('completed', event);
        break;
      case 'WorkflowFailed':
        this.#finish('failed', event);
        break;
      case 'WorkflowCancelled':
        this.#finish('cancelled', event);
        break;
      case 'WorkflowTimedOut':
        this.#finish('timed-out', event);
        break;
      default:
        break;
    }
  }

  #finish(status: RunStatus, event: TimelineEvent): void {
    this.status = status;
    this.finishedAt = event.at;
    this.error = errorOf(event.details) ?? this.error;
  }

  #applyToNode(node: NodeProgress, event: TimelineEvent): void {
    switch (event.type) {
      case 'NodeScheduled':
        this.#move(node, 'queued');
        break;
      case 'NodeStarted':
        node.attempts = numberOf(event.details, 'attempt') ?? node.attempts + 1;
        node.startedAt ??= event.at;
        node.attemptAt = event.at;
        node.finishedAt = null;
        node.fraction = null;
        node.message = null;
        this.#move(node, 'running');
        break;
      case 'NodeRetried':
        node.error = errorOf(event.details) ?? node.error;
        node.retryAt = numberOf(event.details, 'until');
        this.#move(node, 'waiting');
        break;
      case 'NodeReturned':
        this.#move(node, 'queued');
        break;
      case 'NodeCompleted':
        node.error = null;
        this.#end(node, 'completed', event);
        break;
      case 'NodeFailed':
        node.error = errorOf(event.details) ?? node.error;
        this.#end(node, 'failed', event);
        break;
      case 'NodeSkipped':
        this.#end(node, 'skipped', event);
        break;
      case 'NodeCancelled':
        this.#end(node, 'cancelled', event);
        break;
      case 'NodeUnknown':
        node.error = errorOf(event.details) ?? node.error;
        this.#move(node, 'unknown');
        break;
      default:
        break;
    }
  }

  #end(node: NodeProgress, status: NodeStatus, event: TimelineEvent): void {
    node.finishedAt = event.at;
    this.#move(node, status);
    this.recent.push(node);
    if (this.recent.length > 2 * RECENT_LIMIT) this.recent.splice(0, RECENT_LIMIT);
  }

  #move(node: NodeProgress, status: NodeStatus): void {
    this.counts[node.status]--;
    this.counts[status]++;
    node.status = status;
    if (status !== 'waiting') node.retryAt = null;
    if (NOTABLE.has(status)) this.notable.add(node);
    else this.notable.delete(node);
  }

  /** Nodes that the outline does not know come last: bodies of loops, graphs made while running. */
  #add(path: string, name: string, prefix: string): NodeProgress {
    const node: NodeProgress = {
      path,
      name,
      prefix,
      order: this.nodes.length,
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
    };
    this.nodes.push(node);
    this.#byPath.set(path, node);
    this.counts.pending++;
    return node;
  }
}

function timeOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}

function numberOf(details: Json, key: string): number | null {
  const value = isJsonObject(details) ? details[key] : undefined;
  return typeof value === 'number' ? value : null;
}

/** The error that an event carries in its details, if it does. */
export function errorOf(details: Json): RunError | null {
  if (!isJsonObject(details) || !isJsonObject(details.error)) return null;
  const { code, kind, message, node, details: more } = details.error;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return {
    code,
    message,
    kind: kind === 'SYSTEM' ? 'SYSTEM' : 'USER',
    ...(typeof node === 'string' && { node }),
    ...(more !== undefined && { details: more }),
  };
}
