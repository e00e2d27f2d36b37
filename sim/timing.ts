/**
 * Times of a run, read from its journal: nothing that waits for a time continues before it. A pause moves a time by as
 * much of the pause as lies after the entry that set the time; a time that was written as a date is not moved. Engines
 * may be late, and their clocks may be wrong, but the time of a frame never precedes a time that it acts on.
 */
import type { Entry, Json } from '@nebula/core';
import type { StoredValue } from '@nebula/core/run';

interface Moment {
  readonly at: number;
  /** The time of the frame that set it. */
  readonly since: number;
  readonly isFixed: boolean;
}

interface Wait {
  /** By the name of the awaited event. */
  readonly times: ReadonlyMap<string, Moment>;
  readonly isOnlyTime: boolean;
  readonly deadline: Moment | undefined;
}

const BEGINS: readonly string[] = ['node.started', 'node.opened', 'child.requested', 'node.waiting'];

export class Timing {
  private readonly complain: (complaint: string) => void;
  private readonly read: (stored: StoredValue | undefined) => Json;
  private readonly pauses: { readonly from: number; to: number }[] = [];
  private isPaused = false;
  private readonly retries = new Map<string, Moment>();
  private readonly rounds = new Map<string, Moment>();
  private readonly grants = new Map<string, Moment>();
  private readonly waits = new Map<string, Wait>();
  /** Moments of rates, as the store granted them. */
  private readonly rates = new Map<string, number>();
  private heldUntil: Moment | undefined;

  constructor(complain: (complaint: string) => void, read: (stored: StoredValue | undefined) => Json) {
    this.complain = complain;
    this.read = read;
  }

  frame(at: number, entries: readonly Entry[]): void {
    for (const entry of entries) this.entry(at, entry);
  }

  private entry(at: number, entry: Entry): void {
    switch (entry.type) {
      case 'run.paused':
        this.pauses.push({ from: at, to: Number.POSITIVE_INFINITY });
        this.isPaused = true;
        return;
      case 'run.resumed':
        return this.resume(at);
      case 'run.stopping':
        if (entry.paused !== true) this.resume(at);
        return;
      case 'run.finished':
      case 'run.reopened':
        this.resume(at);
        for (const moments of [this.retries, this.rounds, this.grants, this.waits, this.rates]) moments.clear();
        return;
      case 'run.held':
        this.heldUntil = moment(entry.until, at);
        return;
      case 'run.begun':
        if (this.heldUntil !== undefined) this.notBefore(this.heldUntil, at, 'it begins');
        this.heldUntil = undefined;
        return;
      case 'scopes.opened':
        return this.demand(this.rounds, entry.node, at, 'begins an iteration');
      case 'round.delayed':
        this.rounds.set(entry.node, moment(entry.until, at));
        return;
      case 'node.retrying':
        this.forget(entry.node);
        this.retries.set(entry.node, moment(entry.until, at));
        return;
      case 'node.granted':
        this.grants.set(entry.node, moment(entry.until, at));
        return;
      case 'node.waiting':
        this.begins(entry, at);
        return this.wait(entry, at);
      case 'node.completed':
        return this.completes(entry, at);
      case 'node.failed':
        return this.fails(entry, at);
      case 'node.opened':
        this.begins(entry, at);
        return this.forget(entry.node);
      case 'node.cancelled':
        return this.forget(entry.node);
      default:
        if ('node' in entry && BEGINS.includes(entry.type)) this.begins(entry, at);
    }
  }

  /** The node begins its body anew, or has ended. */
  private forget(node: string): void {
    for (const moments of [this.retries, this.rounds, this.grants, this.waits, this.rates]) {
      moments.delete(node);
      for (const path of moments.keys()) if (path.startsWith(`${node}/`)) moments.delete(path);
    }
  }

  onRate(node: string, at: number): void {
    this.rates.set(node, at);
  }

  private begins({ type, node }: { readonly type: string; readonly node: string }, at: number): void {
    this.demand(this.retries, node, at, type);
    this.demand(this.grants, node, at, type);
    const moment = this.rates.get(node) ?? 0;
    this.rates.delete(node);
    if (at < moment) this.complain(`${type} of ${node} ${moment - at} ms before the moment of its rate`);
  }

  private wait({ node, waits, deadline, deadlineFixed }: Extract<Entry, { type: 'node.waiting' }>, at: number): void {
    const times = new Map<string, Moment>();
    for (const one of waits) if (one.kind === 'time') times.set(one.name, moment(one.at, at, one.fixed));
    const isOnlyTime = waits.every(({ kind }) => kind === 'time');
    const until = deadline === undefined ? undefined : moment(deadline, at, deadlineFixed);
    this.waits.set(node, { times, isOnlyTime, deadline: until });
  }

  private completes({ node, output }: Extract<Entry, { type: 'node.completed' }>, at: number): void {
    const wait = this.waits.get(node);
    this.forget(node);
    if (wait === undefined) return;
    const { event } = (this.read(output) ?? {}) as { event?: string };
    const due = wait.isOnlyTime ? [...wait.times.values()][0] : wait.times.get(event ?? '');
    if (due !== undefined) this.notBefore(due, at, `${node} has waited`);
  }

  private fails({ node, error }: Extract<Entry, { type: 'node.failed' }>, at: number): void {
    const deadline = this.waits.get(node)?.deadline;
    this.forget(node);
    if (deadline !== undefined && error.code === 'TIMEOUT')
      this.notBefore(deadline, at, `${node} fails by its deadline`);
  }

  /** The last begin of the node, or of its next iteration, is not too early. */
  private demand(moments: Map<string, Moment>, node: string, at: number, what: string): void {
    const due = moments.get(node);
    moments.delete(node);
    if (due !== undefined) this.notBefore(due, at, `${what} of ${node}`);
  }

  private notBefore(due: Moment, at: number, what: string): void {
    const from = due.isFixed ? due.at : due.at + this.pausedAfter(due.since);
    if (at < from) this.complain(`${what} ${from - at} ms too early`);
  }

  private pausedAfter(since: number): number {
    return this.pauses.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
  }

  private resume(at: number): void {
    const last = this.pauses.at(-1);
    if (this.isPaused && last !== undefined) last.to = at;
    this.isPaused = false;
  }
}

function moment(at: number, since: number, isFixed = false): Moment {
  return { at, since, isFixed };
}
