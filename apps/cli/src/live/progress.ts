/**
 * What is known about a run while it is being watched.
 *
 *  1 Fed by live events, each in constant time, so that a graph of 100,000 nodes costs no more per event than a small one.
 *  2 `counts` and `notable` are indexes over `nodes`: whoever changes a status goes through `#move`.
 *  3 A document is the newer truth: `sync` overwrites everything that it tells.
 *  4 `nodes` are those of the workflow itself. What is inside of others hangs on them, scope by scope; rounds that went
 *    well are gone, and of the failed ones only some are kept, so that 100,000 items take no more than those that run.
 */
import {
  idsInOrder,
  type NodeStatus,
  type RunDocument,
  type RunError,
  type RunStatus,
  type TimelineEvent,
} from '@nebula/core';
import { gateOf } from '../views/gate-words.ts';
import type { OutlineRow } from '../views/outline.ts';
import { waitingOf } from '../views/wait-words.ts';
import { errorOf, numberOf, textOf } from './event-details.ts';
import { type BodyProgress, type NodeProgress, newNode, type Rounds, type ScopeProgress } from './node-progress.ts';

/** The last step in the path of what undoes. */
const UNDO = '~undo';

/** Always shown, however large the graph is. */
const NOTABLE: ReadonlySet<NodeStatus> = new Set<NodeStatus>(['running', 'waiting', 'failed', 'unknown']);
const RECENT_LIMIT = 64;
/** Failed rounds of a loop that are kept to be shown. */
const FAILED_ROUNDS_KEPT = 16;
const NO_ROUNDS: Rounds = { total: null, open: 0, succeeded: 0, failed: 0 };

export class RunProgress {
  readonly executionId: string;
  readonly title: string;
  status: RunStatus = 'pending';
  startedAt: number | null = null;
  finishedAt: number | null = null;
  error: RunError | null = null;
  pauseReason: string | null = null;
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
  /** Nodes at any depth that wait for something that happens outside. */
  readonly waiting = new Set<NodeProgress>();
  /** Nodes of the workflow itself that have a body to be shown. */
  readonly composites = new Set<NodeProgress>();
  /** What has been done by the run is undone here. */
  undo: ScopeProgress | null = null;
  /** The last ones that finished, newest last. */
  readonly recent: NodeProgress[] = [];
  /** Grows with every change: a painter that has seen it has nothing to do. */
  revision = 0;
  readonly #byPath = new Map<string, NodeProgress>();
  readonly #scopes = new Map<string, ScopeProgress>();

  constructor(executionId: string, title: string, outline: readonly OutlineRow[]) {
    this.executionId = executionId;
    this.title = title;
    for (const row of outline) this.#add(null, row);
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
    const before = new Map([...this.#byPath].filter(([, { scope }]) => scope !== null));
    for (const scope of [...this.#scopes.values()]) this.#drop(scope);
    for (const path of idsInOrder(document)) {
      const seen = document.nodes[path];
      if (seen === undefined) continue;
      const node = this.#nodeFor(path);
      const known = before.get(path);
      if (known !== undefined) {
        const { attemptAt, waiting, gate, child, log, retryAt } = known;
        Object.assign(node, { attemptAt, waiting, gate, child, log, retryAt });
      }
      node.attempts = seen.attempts;
      node.error = seen.error;
      node.startedAt = timeOf(seen.startedAt);
      node.attemptAt ??= node.startedAt;
      node.finishedAt = timeOf(seen.finishedAt);
      if (seen.rounds !== undefined) this.#bodyOf(node).rounds = seen.rounds;
      this.#move(node, seen.status);
      if (node.waiting !== null) this.waiting.add(node);
    }
    for (const scope of this.#scopes.values()) this.#noteFailure(scope);
  }

  /** What a document does not tell: waits, retries, other executions. */
  recall(events: readonly TimelineEvent[]): void {
    this.revision++;
    for (const event of events) {
      if (event.type === 'WorkflowPaused') this.pauseReason = textOf(event.details, 'reason');
      const node = event.node === null ? undefined : this.#byPath.get(event.node);
      if (node === undefined) continue;
      if (event.type === 'ChildRequested') node.child = childOf(event);
      else if (event.type === 'RoundDelayed' && node.status === 'running') {
        this.#bodyOf(node).until = numberOf(event.details, 'until');
      } else if (node.status === 'waiting') this.#recallWait(node, event);
    }
  }

  #recallWait(node: NodeProgress, event: TimelineEvent): void {
    if (event.type === 'NodeWaiting') {
      node.waiting = waitingOf(event.details);
      node.retryAt = null;
      this.waiting.add(node);
    } else if (event.type === 'NodeGated') {
      node.gate = gateOf(event.details);
      node.retryAt = null;
    } else if (event.type === 'NodeRetried') {
      node.gate = null;
      node.retryAt = numberOf(event.details, 'until');
    } else if (event.type === 'NodeGranted') node.retryAt = numberOf(event.details, 'until');
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
    else if (event.type.startsWith('Round') && event.type !== 'RoundDelayed') this.#applyToRound(event.node, event);
    else if (event.type !== 'CompensationStarted') this.#applyToNode(this.#nodeFor(event.node), event);
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
        if (this.undo !== null) this.#drop(this.undo);
        break;
      case 'WorkflowPaused':
        this.status = 'paused';
        this.pauseReason = textOf(event.details, 'reason');
        break;
      case 'WorkflowResumed':
        this.status = 'running';
        break;
      case 'CompensationStarted':
        this.status = 'compensating';
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

  /** The path is that of the round: `items/3`. */
  #applyToRound(path: string, event: TimelineEvent): void {
    const body = this.#bodyOf(this.#nodeFor(path.slice(0, path.lastIndexOf('/'))));
    body.rounds ??= NO_ROUNDS;
    const { rounds } = body;
    switch (event.type) {
      case 'RoundStarted':
        body.rounds = { ...rounds, open: rounds.open + 1 };
        body.until = null;
        this.#scopeFor(path);
        break;
      case 'RoundCompleted': {
        body.rounds = { ...rounds, open: rounds.open - 1, succeeded: rounds.succeeded + 1 };
        const scope = this.#scopes.get(path);
        if (scope !== undefined) this.#drop(scope);
        break;
      }
      case 'RoundFailed':
        body.rounds = { ...rounds, open: rounds.open - 1, failed: rounds.failed + 1 };
        this.#scopeFor(path).error = errorOf(event.details) ?? FAILED;
        this.#keepSomeFailed(body);
        break;
      default:
        break;
    }
  }

  #keepSomeFailed({ rounds, scopes }: BodyProgress): void {
    if (rounds === null || rounds.failed <= FAILED_ROUNDS_KEPT) return;
    for (const scope of scopes.values()) {
      if (scope.error !== null) return this.#drop(scope);
    }
  }

  #applyToNode(node: NodeProgress, event: TimelineEvent): void {
    switch (event.type) {
      case 'NodeScheduled':
      case 'NodeReturned':
        this.#move(node, 'queued');
        break;
      case 'NodeStarted':
        node.attempts = numberOf(event.details, 'attempt') ?? node.attempts + 1;
        this.#begin(node, event);
        break;
      case 'NodeOpened':
        this.#begin(node, event);
        this.#open(node, numberOf(event.details, 'items'));
        break;
      case 'ChildRequested':
        node.attempts = numberOf(event.details, 'attempt') ?? node.attempts + 1;
        node.child = childOf(event);
        this.#begin(node, event);
        break;
      case 'ItemsAdded':
        this.#addItems(this.#bodyOf(node), numberOf(event.details, 'items') ?? 0);
        break;
      case 'RoundDelayed':
        this.#bodyOf(node).until = numberOf(event.details, 'until');
        break;
      case 'NodeWaiting':
        node.startedAt ??= event.at;
        this.#move(node, 'waiting');
        node.waiting = waitingOf(event.details);
        this.waiting.add(node);
        break;
      case 'NodeGated':
        this.#move(node, 'waiting');
        node.gate = gateOf(event.details);
        node.retryAt = null;
        break;
      case 'NodeGranted':
        this.#move(node, 'waiting');
        node.retryAt = numberOf(event.details, 'until');
        break;
      case 'NodeRetried':
        node.error = errorOf(event.details) ?? node.error;
        this.#move(node, 'waiting');
        node.gate = null;
        node.retryAt = numberOf(event.details, 'until');
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

  #begin(node: NodeProgress, event: TimelineEvent): void {
    node.startedAt ??= event.at;
    node.attemptAt = event.at;
    node.finishedAt = null;
    node.fraction = null;
    node.message = null;
    this.#move(node, 'running');
  }

  #open(node: NodeProgress, items: number | null): void {
    const body = this.#bodyOf(node);
    for (const scope of [...body.scopes.values()]) this.#drop(scope);
    body.rounds = items === null ? null : { ...NO_ROUNDS, total: items };
  }

  #addItems(body: BodyProgress, items: number): void {
    const { total } = body.rounds ?? NO_ROUNDS;
    if (body.rounds !== null && total !== null) body.rounds = { ...body.rounds, total: total + items };
  }

  #end(node: NodeProgress, status: NodeStatus, event: TimelineEvent): void {
    node.finishedAt = event.at;
    this.#move(node, status);
    if (node.scope !== null) return;
    this.recent.push(node);
    if (this.recent.length > 2 * RECENT_LIMIT) this.recent.splice(0, RECENT_LIMIT);
  }

  #move(node: NodeProgress, status: NodeStatus): void {
    const before = node.status;
    node.status = status;
    if (status !== 'waiting') {
      node.retryAt = null;
      node.waiting = null;
      node.gate = null;
      this.waiting.delete(node);
    }
    if (node.scope !== null) return;
    this.counts[before]--;
    this.counts[status]++;
    if (NOTABLE.has(status)) this.notable.add(node);
    else this.notable.delete(node);
  }

  #bodyOf(node: NodeProgress): BodyProgress {
    node.body ??= { rounds: null, until: null, scopes: new Map() };
    return node.body;
  }

  /** Nodes that the outline does not know come last: bodies of loops, graphs made while running. */
  #nodeFor(path: string): NodeProgress {
    const known = this.#byPath.get(path);
    if (known !== undefined) return known;
    const cut = path.lastIndexOf('/');
    if (cut < 0) return this.#add(null, { id: path, name: path, prefix: '' });
    const scope = this.#scopeFor(path.slice(0, cut));
    const id = path.slice(cut + 1);
    // Making the scope makes the nodes of its outline.
    return (
      this.#byPath.get(path) ?? this.#add(scope, { id, name: scope.isUndo ? id.replaceAll(':', '/') : id, prefix: '' })
    );
  }

  #scopeFor(path: string): ScopeProgress {
    const known = this.#scopes.get(path);
    if (known !== undefined) return known;
    const cut = path.lastIndexOf('/');
    const last = path.slice(cut + 1);
    const isUndo = last === UNDO;
    const around = cut < 0 ? undefined : this.#byPath.get(path.slice(0, cut));
    const isRound = /^\d+$/.test(last) && around?.body?.rounds != null;
    const owner = isRound ? (around as NodeProgress) : isUndo ? (around ?? null) : this.#nodeFor(path);
    const scope: ScopeProgress = {
      path,
      owner,
      round: isRound ? Number(last) : null,
      isUndo,
      nodes: [],
      error: null,
    };
    this.#scopes.set(path, scope);
    if (owner === null) this.undo = scope;
    else {
      this.#bodyOf(owner).scopes.set(path, scope);
      if (owner.scope === null) this.composites.add(owner);
      if (!isUndo) for (const row of owner.outline) this.#add(scope, row);
    }
    return scope;
  }

  /** With everything that is in it. */
  #drop(scope: ScopeProgress): void {
    for (const node of scope.nodes) {
      for (const inner of [...(node.body?.scopes.values() ?? [])]) this.#drop(inner);
      this.#byPath.delete(node.path);
      this.waiting.delete(node);
    }
    this.#scopes.delete(scope.path);
    const { owner } = scope;
    owner?.body?.scopes.delete(scope.path);
    if (owner?.body?.scopes.size === 0) this.composites.delete(owner);
    if (this.undo === scope) this.undo = null;
  }

  /** A document has no word about rounds; one in which nothing goes on and something failed has failed. */
  #noteFailure(scope: ScopeProgress): void {
    if (scope.round === null || scope.nodes.some(({ status }) => OPEN.has(status))) return;
    scope.error ??= scope.nodes.find(({ status }) => status === 'failed')?.error ?? null;
  }

  #add(scope: ScopeProgress | null, row: OutlineRow): NodeProgress {
    const path = scope === null ? row.id : `${scope.path}/${row.id}`;
    const order = scope === null ? this.nodes.length : scope.nodes.length;
    const node = newNode(path, row, scope, order);
    this.#byPath.set(path, node);
    if (scope === null) {
      this.nodes.push(node);
      this.counts.pending++;
    } else scope.nodes.push(node);
    return node;
  }
}

const OPEN: ReadonlySet<NodeStatus> = new Set<NodeStatus>(['queued', 'running', 'waiting', 'unknown']);
const FAILED: RunError = { code: 'FAILED', kind: 'USER', message: 'The round failed.' };

function timeOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}

function childOf({ details }: TimelineEvent): NodeProgress['child'] {
  const executionId = textOf(details, 'executionId');
  return executionId === null ? null : { executionId, workflowId: textOf(details, 'workflowId') ?? '' };
}
