/** The order of entries, stated again and by other means than in the core: a table of a node's statuses. */
import type { Entry, FinalRunStatus, RunError } from '@nebula/core';
import type { StoredValue } from '@nebula/core/run';
import { BUSY, FINAL, type NodeRecord, type Status } from './node-record.ts';
import { Scopes } from './scopes.ts';
import { Undoing } from './undoing.ts';

type NodeEntry = Exclude<Entry['type'], `run.${string}` | `scope${string}` | `signal.${string}` | `items.${string}`>;

const NEW: readonly Status[] = ['idle', 'queued', 'gated'];

const MAY_COME_AFTER: Record<NodeEntry, readonly Status[]> = {
  'node.configured': ['idle'],
  'node.scheduled': ['idle', 'gated', 'waiting', 'settled'],
  'node.started': [...NEW, 'waiting', 'settled'],
  'node.completed': [...NEW, 'running', 'settled', 'open', 'child', 'listening', 'answered'],
  'node.retrying': ['running', 'child', 'open', 'listening', 'answered'],
  'node.returned': ['running'],
  'node.failed': [...NEW, 'waiting', 'running', 'settled', 'open', 'child', 'listening', 'answered'],
  'node.skipped': NEW,
  'node.cancelled': [...NEW, 'waiting', 'running', 'settled', 'open', 'child', 'listening'],
  'node.unhandled': ['failed'],
  // Written again when the scope around it ends.
  'node.unknown': ['running', 'unknown'],
  'node.settled': ['unknown'],
  'node.opened': [...NEW, 'waiting', 'running', 'settled'],
  'node.stopping': ['open', 'child'],
  'node.compensating': ['open'],
  'round.delayed': ['open'],
  'child.requested': [...NEW, 'waiting'],
  'node.waiting': [...NEW, 'waiting'],
  'node.answered': ['listening'],
  'node.gated': [...NEW, 'waiting', 'settled'],
  'node.granted': ['gated'],
};

const LEADS_TO: Record<NodeEntry, Status> = {
  'node.configured': 'idle',
  'node.scheduled': 'queued',
  'node.started': 'running',
  'node.completed': 'completed',
  'node.retrying': 'waiting',
  'node.returned': 'queued',
  'node.failed': 'failed',
  'node.skipped': 'skipped',
  'node.cancelled': 'cancelled',
  'node.unhandled': 'failed',
  'node.unknown': 'unknown',
  'node.settled': 'settled',
  'node.opened': 'open',
  'node.stopping': 'open',
  'node.compensating': 'open',
  'round.delayed': 'open',
  'child.requested': 'child',
  'node.waiting': 'listening',
  'node.answered': 'answered',
  'node.gated': 'gated',
  'node.granted': 'gated',
};

/**
 * Entries that begin something: not allowed in a run that is paused or being stopped, nor in an iteration that is over.
 */
const BEGINS: readonly string[] = ['node.started', 'node.opened', 'child.requested', 'node.waiting'];

/** Entries after which a node has passed a gate. */
const PASSES: readonly string[] = ['node.scheduled', 'node.gated'];

/** Entries after which a node has an error to show. */
const ERRING: readonly string[] = ['node.failed', 'node.cancelled', 'node.unknown'];
/** Entries that leave the error as it is. */
const MUTE: readonly string[] = ['node.settled', 'node.unhandled'];

/** Statuses that stay when a run ends; all others become cancelled. */
const SHOWN: readonly Status[] = [...FINAL, 'unknown'];

export interface NodeEnding {
  readonly status: Status;
  readonly attempts: number;
  readonly output: StoredValue | undefined;
  readonly error: RunError | undefined;
}

export interface RunEnding {
  readonly status: FinalRunStatus;
  readonly error: RunError | undefined;
  readonly output: StoredValue | undefined;
  readonly at: number;
  readonly nodes: ReadonlyMap<string, NodeEnding>;
}

/** Called when a node gets an output or a graph from outside. `before`: its status until then. */
export type OutputHeard = (
  path: string,
  before: Status,
  entry: Extract<Entry, { type: 'node.completed' | 'node.opened' }>,
) => void;

/** Checks the journal of one run as it is written. Every complaint is a bug. */
export class Legality {
  readonly nodes = new Map<string, NodeRecord>();
  readonly complaints: string[] = [];
  status: 'pending' | 'running' | 'paused' | 'compensating' | FinalRunStatus = 'pending';
  reopenings = 0;
  /** Somebody asked for a replay: nodes before the replayed one stay as they are. */
  isReplayed = false;
  /** How often something began anew: with a reopening, or with the retry of a composite node. */
  private generation = 0;
  pauses = 0;
  /** The run was paused before this frame, and not resumed in it: `node.scheduled` ends the turn that also pauses. */
  private wasPaused = false;
  isStopping = false;
  /** While the run stops: targets of `always` edges run. */
  private cleans = false;
  /** The run was cancelled, or has been cancelled since it began to end. */
  private isCancelled = false;
  /** The run is being undone, or its failure node runs. */
  isEnding = false;
  /** The run is delayed; later starts may replace its input. */
  isDelayed = false;
  parent: { readonly executionId: string; readonly node: string } | undefined;
  readonly scopes: Scopes;
  readonly undoing: Undoing;
  /** Each end of the run. */
  readonly endings: RunEnding[] = [];
  /** Buffered signals, by name and key. */
  readonly kept: string[] = [];
  /** The highest attempt of a node ever, whatever became of its iteration. */
  private readonly highest = new Map<string, number>();
  /** Nodes settled or answered in this frame. */
  private readonly halfDone = new Set<string>();
  private readonly onOutput: OutputHeard;
  private lastAt = 0;
  private seq = 0;

  constructor(onOutput: OutputHeard = () => {}) {
    this.onOutput = onOutput;
    const complain = (complaint: string): void => void this.complaints.push(complaint);
    this.scopes = new Scopes(this.nodes, complain);
    this.undoing = new Undoing(this.nodes, complain);
  }

  /** The number of frames. */
  get length(): number {
    return this.seq;
  }

  get isFinished(): boolean {
    return ['completed', 'failed', 'cancelled', 'timed-out'].includes(this.status);
  }

  frame(seq: number, at: number, entries: readonly Entry[]): void {
    this.demand(seq === ++this.seq, `frame ${seq} comes as number ${this.seq}`);
    this.demand(at >= this.lastAt, `frame ${seq} goes back in time`);
    this.lastAt = at;
    this.wasPaused = this.status === 'paused';
    for (const entry of entries) this.entry(entry);
    for (const path of this.halfDone) {
      const status = this.nodes.get(path)?.status;
      this.demand(status !== 'settled' && status !== 'answered', `${path} is ${status}, and nothing follows`);
    }
    this.halfDone.clear();
  }

  node(path: string): NodeRecord {
    let record = this.nodes.get(path);
    if (record === undefined) {
      record = {
        status: 'idle',
        attempts: 0,
        isGatedInCleanup: false,
        hasBegun: false,
        effect: undefined,
        worker: undefined,
        isCached: false,
        waits: [],
        child: undefined,
        output: undefined,
        error: undefined,
        generation: 0,
      };
      this.nodes.set(path, record);
    }
    return record;
  }

  withStatus(...statuses: readonly Status[]): string[] {
    return [...this.nodes].filter(([, { status }]) => statuses.includes(status)).map(([path]) => path);
  }

  /** The highest attempt of a node ever. */
  highestOf(path: string): number {
    return this.highest.get(path) ?? 0;
  }

  /** The generation of a node: that of the last reopening with which it, or a composite node around it, began anew. */
  generationOf(path: string): number {
    const undone = this.undoing.generationOf(path);
    if (undone !== undefined) return undone;
    let generation = 0;
    for (let end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
      generation = Math.max(generation, this.nodes.get(end < 0 ? path : path.slice(0, end))?.generation ?? 0);
      if (end < 0) return generation;
    }
  }

  private demand(holds: boolean, complaint: string): void {
    if (!holds) this.complaints.push(complaint);
  }

  private entry(entry: Entry): void {
    switch (entry.type) {
      case 'run.started':
        this.demand(this.status === 'pending', 'starts twice');
        this.status = 'running';
        this.parent = entry.parent;
        return;
      case 'run.stopping':
        return this.stop(entry);
      case 'run.paused':
        this.demand(['running', 'compensating'].includes(this.status), `is paused while it is ${this.status}`);
        this.status = 'paused';
        this.pauses++;
        return;
      case 'run.resumed':
        this.demand(this.status === 'paused', `is resumed while it is ${this.status}`);
        this.wasPaused = false;
        this.status = this.isEnding ? 'compensating' : 'running';
        return;
      case 'run.held':
        this.demand(this.nodes.size === 0, 'is held back, and has begun');
        this.isDelayed = true;
        return;
      case 'run.begun':
        this.demand(this.isDelayed, 'begins, and was not held back');
        this.isDelayed = false;
        return;
      case 'run.finished':
        return this.finish(entry);
      case 'run.reopened':
        return this.reopen(entry);
      case 'scopes.opened':
        this.demand(this.mayBegin(entry.node, true), `iterations of ${entry.node} begin in what is over`);
        return this.scopes.open(entry.node, entry.from, entry.to);
      case 'scope.stopping':
        if (this.undoing.isUndo(`${entry.scope}/`)) return this.undoing.stop(entry.scope);
        return this.scopes.stop(entry.scope, entry.finally);
      case 'scope.closed':
        return this.scopes.close(entry.scope, entry.error !== undefined);
      case 'scope.compensating':
        return this.compensate(entry);
      case 'scope.compensated':
        this.demand(!this.isFinished, `says that ${entry.scope || 'it'} is compensated after its end`);
        return;
      case 'run.checkpointed':
        this.demand(!this.isFinished && entry.seq > 0, 'has a snapshot after its end');
        return;
      case 'items.added':
        // This includes a loop that was cut off: a retry continues it.
        this.demand(this.node(entry.node).status !== 'completed', `items for ${entry.node}, which is done`);
        return;
      case 'signal.kept':
        this.kept.push(`${entry.signal} ${entry.key}`);
        return;
      case 'signal.taken':
        return this.take(`${entry.signal} ${entry.key}`);
      case 'signal.refused':
        this.demand(this.node(entry.node).status === 'listening', `${entry.node} refuses, and does not wait`);
        return;
      // No life has a second version.
      case 'run.migrated':
        return this.demand(false, 'the run is migrated');
      case 'node.scheduled':
      case 'node.skipped':
        for (const path of entry.nodes) this.step(path, entry);
        return;
      default:
        return this.step(entry.node, entry);
    }
  }

  private step(path: string, entry: Extract<Entry, { type: NodeEntry }>): void {
    const { type } = entry;
    const node = this.node(path);
    const before = node.status;
    this.demand(!this.isFinished && this.status !== 'pending', `${type} of ${path} in a run that is ${this.status}`);
    // Only a check that knows the graph can tell whether the node is in a cleanup: see `Conformance`.
    const isSpared = type === 'node.granted' && node.isGatedInCleanup;
    this.demand(isSpared || MAY_COME_AFTER[type].includes(before), `${type} of ${path}, which is ${before}`);
    const isPassed = before === 'gated' && PASSES.includes(type) && this.status === 'paused' && this.wasPaused;
    this.demand(!isPassed, `${type} of ${path}, which passes its gate in a pause`);
    node.isGatedInCleanup = false;
    // A node that is being stopped keeps its status until it ends.
    node.status = type === 'node.stopping' ? before : LEADS_TO[type];
    if (type === 'node.settled' || type === 'node.answered') this.halfDone.add(path);
    if (BEGINS.includes(type)) {
      node.hasBegun = true;
      // A returned graph is accepted at any time; its nodes begin when they may.
      const isReturned = type === 'node.opened' && entry.graph !== undefined;
      this.demand(this.mayBegin(path) || isReturned, `${type} of ${path} in what is over, or paused`);
      this.undoing.begins(path);
    }
    if (type === 'node.started' || type === 'child.requested') this.attempt(path, node, entry.attempt);
    // Bodies and waits count as attempts; a returned graph belongs to the attempt of its action.
    if (type === 'node.waiting' || (type === 'node.opened' && before !== 'running' && before !== 'settled'))
      node.attempts++;
    if (type === 'node.started') {
      node.effect = entry.effect;
      node.worker = entry.worker;
    }
    if (type === 'child.requested') node.child = entry.executionId;
    if (type === 'node.waiting') node.waits = entry.waits;
    if (type === 'node.opened') this.scopes.begin(path, entry);
    if (type === 'node.stopping' && before === 'open') this.scopes.stopNode(path, entry);
    if (type === 'node.compensating') this.undoing.open(path);
    if (type === 'node.retrying' && before === 'open') {
      this.undoing.again(path);
      this.scopes.cut(path, `${path} begins again`);
      this.scopes.forget(path);
      // Nodes inside run again under new idempotency keys.
      node.generation = ++this.generation;
    }
    if (type === 'node.retrying')
      this.demand(entry.error.code !== 'WORKER_LOST' || node.effect !== 'once', `${path} is once, and tried again`);
    if (type === 'node.unknown') {
      this.demand(node.effect === 'once', `${path} may be repeated, and is unknown`);
    }
    if (type === 'node.settled' && entry.outcome === 'unknown') {
      node.status = 'unknown';
    }
    if (type === 'node.completed') {
      node.isCached = entry.cached !== undefined;
      node.output = entry.output;
    }
    if (!MUTE.includes(type)) node.error = ERRING.includes(type) && 'error' in entry ? entry.error : undefined;
    if (type === 'node.completed' || type === 'node.opened') this.onOutput(path, before, entry);
    if (!FINAL.includes(node.status)) return;
    // A settled outcome may arrive at any time, whatever became of the scope.
    if (before !== 'settled') this.demand(this.scopes.isHere(path), `${type} of ${path} in an iteration that is over`);
    if (before === 'open') {
      this.undoing.mustBeOver(path);
      this.undoing.collect();
      this.scopes.end(path, node.status === 'completed');
    }
    if (type === 'node.completed' && (entry.undo !== undefined || entry.undoError !== undefined))
      this.undoing.done(path, this.generationOf(path), before === 'settled');
  }

  private attempt(path: string, node: NodeRecord, attempt: number): void {
    const highest = this.highest.get(path) ?? 0;
    if (node.attempts > 0) this.demand(attempt === node.attempts + 1, `${path} starts #${attempt} after #${highest}`);
    else this.demand(attempt > highest, `${path} starts #${attempt}, which there was`);
    node.attempts = attempt;
    this.highest.set(path, Math.max(attempt, highest));
  }

  /**
   * Returns whether something at that path may begin now. `iterations`: only iterations of a loop, which need no
   * worker.
   */
  private mayBegin(path: string, iterations = false): boolean {
    return !this.isDelayed && (this.status !== 'paused' || iterations) && this.isWanted(path);
  }

  /** Nothing around the path is being stopped. An undo continues in any case. */
  isWanted(path: string): boolean {
    if (this.undoing.isUndo(path)) return this.scopes.isHere(path);
    return (!this.isStopping || this.cleans) && this.scopes.isLive(path);
  }

  private take(signal: string): void {
    const at = this.kept.indexOf(signal);
    this.demand(at >= 0, `signal ${signal} is taken, and was not kept`);
    if (at >= 0) this.kept.splice(at, 1);
  }

  /** Allowed once, unless a paused run that is to fail is cancelled, or a cancel asks not to undo. */
  private stop({
    status,
    compensate,
    paused,
    finally: cleans = false,
    cancelRequested = false,
  }: Extract<Entry, { type: 'run.stopping' }>): void {
    const isAnew =
      !cleans || compensate === false || cancelRequested || (this.status === 'paused' && status === 'cancelled');
    this.demand(cleans || this.isCancelled || !this.cleans, 'skips its finally after one cancel');
    this.isCancelled ||= cancelRequested || status === 'cancelled';
    this.demand(['running', 'paused'].includes(this.status) && (!this.isStopping || isAnew), 'is stopped twice');
    this.demand(paused !== true || this.status === 'paused', 'stays paused, and was not');
    // A repeated entry leaves a running finally alone, unless it skips it.
    if (!(this.isStopping && this.cleans && cleans)) this.scopes.drop('', cleans);
    this.isStopping = true;
    this.cleans = cleans;
    if (paused !== true) this.status = 'running';
  }

  private compensate({ scope, status, compensate }: Extract<Entry, { type: 'scope.compensating' }>): void {
    this.demand(status !== 'completed', `${scope} goes well, and is undone`);
    this.demand(scope !== '' || this.status === 'running', `is undone while it is ${this.status}`);
    this.scopes.cut(scope, `${scope || 'the run'} is undone`);
    this.undoing.open(scope, compensate !== false);
    if (scope !== '') return;
    this.status = 'compensating';
    this.isEnding = true;
    this.isStopping = false;
  }

  private finish({ status, error, output }: Extract<Entry, { type: 'run.finished' }>): void {
    this.demand(!this.isFinished && this.status !== 'pending', `finishes although it is ${this.status}`);
    this.demand(status !== 'completed' || this.status !== 'compensating', 'is undone, and completes');
    this.undoing.close();
    this.scopes.cut('', 'it finishes');
    this.status = status;
    this.endings.push({ status, error, output, at: this.lastAt, nodes: this.rootNodes() });
    this.isEnding = false;
    this.isStopping = false;
    this.cleans = false;
    this.isCancelled = false;
    this.isDelayed = false;
  }

  /** The outcome of the root nodes, as people see it. */
  private rootNodes(): ReadonlyMap<string, NodeEnding> {
    const ended = [...this.nodes].filter(([path]) => !path.includes('/'));
    return new Map(
      ended.map(([path, { status, attempts, output, error }]) => [
        path,
        { status: SHOWN.includes(status) ? status : 'cancelled', attempts, output, error },
      ]),
    );
  }

  private reopen({ nodes, open = [], renewed = [] }: Extract<Entry, { type: 'run.reopened' }>): void {
    this.demand(this.isFinished, `is reopened although it is ${this.status}`);
    this.status = 'running';
    this.reopenings++;
    this.generation++;
    for (const path of this.isReplayed ? [] : this.undoing.undone()) {
      const isAgain = nodes.some((node) => path === node || path.startsWith(`${node}/`));
      this.demand(isAgain, `${path} was undone, and does not begin again`);
    }
    this.undoing.forget();
    for (const path of nodes) {
      const record = this.node(path);
      const { status } = record;
      const isNew = renewed.includes(path);
      // A terminate that ended the run ends it again: nothing of it is repeated.
      const isDone = status === 'unknown' || (status === 'completed' && record.attempts > 0);
      this.demand(isNew || !isDone, `${path} is ${status}, and begins again`);
      this.demand(!BUSY.includes(status), `${path} is ${status}, and begins again`);
      this.scopes.forget(path);
      record.status = 'idle';
      record.hasBegun = false;
      record.error = undefined;
      if (!isNew) continue;
      record.generation = this.generation;
      this.undoing.renew(path);
    }
    for (const path of open) {
      this.node(path).error = undefined;
      this.scopes.reopen(path);
    }
  }
}
