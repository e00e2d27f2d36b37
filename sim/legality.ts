/** Which entry may follow which, said once more and by other means than the core says it: a table of a node's statuses. */
import type { Entry, FinalRunStatus } from '@nebula/core';

export type Status =
  | 'idle'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'unknown'
  /** Unknown, and somebody has just said what became of it. */
  | 'settled'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled';

/** Entries of single nodes that are looked at. */
type NodeEntry = keyof typeof MAY_COME_AFTER;

const MAY_COME_AFTER = {
  'node.scheduled': ['idle', 'waiting', 'settled'],
  'node.started': ['idle', 'queued', 'waiting', 'settled'],
  'node.completed': ['running', 'settled'],
  'node.retrying': ['running'],
  'node.returned': ['running'],
  'node.failed': ['idle', 'queued', 'waiting', 'running', 'settled'],
  'node.skipped': ['idle', 'queued'],
  'node.cancelled': ['running', 'settled'],
  'node.unknown': ['running'],
  'node.settled': ['unknown'],
} as const satisfies Partial<Record<Entry['type'], readonly Status[]>>;

const LEADS_TO: Record<NodeEntry, Status> = {
  'node.scheduled': 'queued',
  'node.started': 'running',
  'node.completed': 'completed',
  'node.retrying': 'waiting',
  'node.returned': 'queued',
  'node.failed': 'failed',
  'node.skipped': 'skipped',
  'node.cancelled': 'cancelled',
  'node.unknown': 'unknown',
  'node.settled': 'settled',
};

export interface NodeRecord {
  status: Status;
  attempts: number;
  /** Of the last attempt. */
  effect: string | undefined;
  worker: string | undefined;
  /** `verify` has been asked, and could not tell. */
  isAsked: boolean;
}

const FINAL: readonly Status[] = ['completed', 'failed', 'skipped', 'cancelled'];

/** The journal of one run, as it comes. Every complaint is a bug. */
export class Legality {
  readonly nodes = new Map<string, NodeRecord>();
  readonly complaints: string[] = [];
  status: 'pending' | 'running' | FinalRunStatus = 'pending';
  reopenings = 0;
  isStopping = false;
  private lastAt = 0;
  private seq = 0;

  frame(seq: number, at: number, entries: readonly Entry[]): void {
    this.demand(seq === ++this.seq, `frame ${seq} comes as number ${this.seq}`);
    this.demand(at >= this.lastAt, `frame ${seq} goes back in time`);
    this.lastAt = at;
    for (const entry of entries) this.entry(entry);
    for (const [node, { status }] of this.nodes)
      this.demand(status !== 'settled', `${node} is settled, and nothing follows`);
  }

  node(path: string): NodeRecord {
    let record = this.nodes.get(path);
    if (record === undefined) {
      record = { status: 'idle', attempts: 0, effect: undefined, worker: undefined, isAsked: false };
      this.nodes.set(path, record);
    }
    return record;
  }

  withStatus(...statuses: readonly Status[]): string[] {
    return [...this.nodes].filter(([, { status }]) => statuses.includes(status)).map(([path]) => path);
  }

  private demand(holds: boolean, complaint: string): void {
    if (!holds) this.complaints.push(complaint);
  }

  private entry(entry: Entry): void {
    switch (entry.type) {
      case 'run.started':
        this.demand(this.status === 'pending', 'starts twice');
        this.status = 'running';
        return;
      case 'run.stopping':
        this.demand(this.status === 'running' && !this.isStopping, 'is stopped twice');
        this.isStopping = true;
        return;
      case 'run.finished':
        return this.finish(entry.status);
      case 'run.reopened':
        return this.reopen(entry.nodes);
      case 'node.scheduled':
      case 'node.skipped':
        for (const path of entry.nodes) this.step(path, entry);
        return;
      case 'node.started':
      case 'node.completed':
      case 'node.retrying':
      case 'node.returned':
      case 'node.failed':
      case 'node.cancelled':
      case 'node.unknown':
      case 'node.settled':
        return this.step(entry.node, entry);
      default:
        return;
    }
  }

  private step(path: string, entry: Extract<Entry, { type: NodeEntry }>): void {
    const { type } = entry;
    const node = this.node(path);
    this.demand(this.status === 'running', `${type} of ${path} in a run that is ${this.status}`);
    this.demand((MAY_COME_AFTER[type] as readonly Status[]).includes(node.status), `${type} of ${path}, which is ${node.status}`);
    node.status = LEADS_TO[type];
    if (type === 'node.started') {
      this.demand(entry.attempt === node.attempts + 1, `${path} starts #${entry.attempt} after #${node.attempts}`);
      this.demand(!this.isStopping, `${path} starts while its run is being stopped`);
      node.attempts = entry.attempt;
      node.effect = entry.effect;
      node.worker = entry.worker;
    }
    if (type === 'node.retrying')
      this.demand(entry.error.code !== 'WORKER_LOST' || node.effect !== 'once', `${path} is once, and tried again`);
    if (type === 'node.unknown') {
      this.demand(node.effect === 'once', `${path} may be repeated, and is unknown`);
      node.isAsked = false;
    }
    if (type === 'node.settled' && entry.outcome === 'unknown') {
      node.status = 'unknown';
      node.isAsked = true;
    }
  }

  private finish(status: FinalRunStatus): void {
    this.demand(this.status === 'running', `finishes although it is ${this.status}`);
    const running = this.withStatus('running');
    this.demand(running.length === 0, `finishes while ${running} run`);
    for (const node of this.nodes.values())
      if (!FINAL.includes(node.status) && node.status !== 'unknown') node.status = 'cancelled';
    this.status = status;
    this.isStopping = false;
  }

  private reopen(nodes: readonly string[]): void {
    this.demand(this.status !== 'running' && this.status !== 'pending', `is reopened although it is ${this.status}`);
    this.status = 'running';
    this.reopenings++;
    for (const path of nodes) {
      const { status } = this.node(path);
      this.demand(!['completed', 'unknown', 'running'].includes(status), `${path} is ${status}, and begins again`);
      this.node(path).status = 'idle';
    }
  }
}
