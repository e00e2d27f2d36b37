/**
 * The entries that the faults of a suite met. A fault hits the runs that it concerns or, if it strikes something that
 * runs share (a process, the queue), all of these. The entries of the next frame of each hit run meet it. A fault that
 * strikes after a frame was written is met by the entries of that frame too.
 */
import type { Entry } from '@nebula/core';
import type { FaultKind } from './faults.ts';

export type EntryKind = Entry['type'];

/** Listed by hand and checked against the union: a new entry must be met too. */
const EVERY_ENTRY: Record<EntryKind, true> = {
  'run.started': true,
  'node.scheduled': true,
  'node.started': true,
  'node.completed': true,
  'node.retrying': true,
  'node.returned': true,
  'node.failed': true,
  'node.skipped': true,
  'node.cancelled': true,
  'node.unhandled': true,
  'node.unknown': true,
  'node.settled': true,
  'run.stopping': true,
  'run.finished': true,
  'run.reopened': true,
  'node.opened': true,
  'node.stopping': true,
  'node.compensating': true,
  'node.configured': true,
  'scopes.opened': true,
  'scope.stopping': true,
  'scope.closed': true,
  'items.added': true,
  'round.delayed': true,
  'child.requested': true,
  'node.waiting': true,
  'node.answered': true,
  'signal.kept': true,
  'signal.taken': true,
  'signal.refused': true,
  'scope.compensating': true,
  'scope.compensated': true,
  'run.checkpointed': true,
  'run.migrated': true,
  'run.paused': true,
  'run.resumed': true,
  'node.gated': true,
  'node.granted': true,
  'run.held': true,
  'run.begun': true,
};

/** A thousand lives reach these too rarely to meet every fault: each of them occurs, and meets some. */
export const RARE_ENTRY_KINDS = [
  'node.unhandled',
  'node.compensating',
  'signal.taken',
] as const satisfies readonly EntryKind[];

/** No life draws a setting that is an expression yet, a journal long enough for a snapshot, or a second version. */
const NOT_DRAWN: readonly EntryKind[] = ['node.configured', 'run.checkpointed', 'run.migrated'];

const SELDOM: readonly EntryKind[] = [...RARE_ENTRY_KINDS, ...NOT_DRAWN];
export const ENTRY_KINDS = (Object.keys(EVERY_ENTRY) as EntryKind[]).filter((kind) => !SELDOM.includes(kind));

/** Entries about attempts, and about runs that end with them. */
export const ATTEMPT_ENTRY_KINDS = [
  'node.scheduled',
  'node.started',
  'node.completed',
  'node.retrying',
  'node.failed',
  'node.unknown',
  'run.stopping',
  'run.finished',
] as const satisfies readonly EntryKind[];

export class Coverage {
  /** The number of entries by kind. */
  readonly entries = new Map<EntryKind, number>();
  /** How often an entry of one kind met a fault of another. */
  private readonly met = new Map<EntryKind, Map<FaultKind, number>>();
  /** The sites at which processes died. */
  readonly deaths = new Map<string, number>();
  private readonly waiting = new Map<string, Set<FaultKind>>();

  hit(kind: FaultKind, runs: Iterable<string>): void {
    for (const executionId of runs) {
      const kinds = this.waiting.get(executionId);
      if (kinds === undefined) this.waiting.set(executionId, new Set([kind]));
      else kinds.add(kind);
    }
  }

  died(site: string, side: string): void {
    add(this.deaths, `${side} ${site}`, 1);
  }

  written(executionId: string, entries: readonly { readonly type: EntryKind }[]): void {
    const kinds = this.waiting.get(executionId);
    for (const { type } of entries) {
      add(this.entries, type, 1);
      if (kinds !== undefined) for (const kind of kinds) this.meet(type, kind, 1);
    }
    if (entries.length > 0) this.waiting.delete(executionId);
  }

  /** The fault hit the writing of these entries. */
  metBy(kind: FaultKind, entries: readonly { readonly type: EntryKind }[]): void {
    for (const { type } of entries) this.meet(type, kind, 1);
  }

  private meet(entry: EntryKind, fault: FaultKind, times: number): void {
    const faults = this.met.get(entry) ?? new Map<FaultKind, number>();
    this.met.set(entry, faults);
    add(faults, fault, times);
  }

  count(entry: EntryKind, fault: FaultKind): number {
    return this.met.get(entry)?.get(fault) ?? 0;
  }

  add(other: Coverage): void {
    for (const [kind, count] of other.entries) add(this.entries, kind, count);
    for (const [entry, faults] of other.met) for (const [fault, count] of faults) this.meet(entry, fault, count);
    for (const [key, count] of other.deaths) add(this.deaths, key, count);
  }

  /** Kinds that met no fault at all. */
  unmet(entries: readonly EntryKind[]): EntryKind[] {
    return entries.filter((entry) => (this.met.get(entry)?.size ?? 0) === 0);
  }

  /** Pairs that never met. */
  missing(entries: readonly EntryKind[], faults: readonly FaultKind[]): string[] {
    return entries.flatMap((entry) =>
      faults.filter((fault) => this.count(entry, fault) === 0).map((f) => cell(entry, f)),
    );
  }
}

function cell(entry: EntryKind, fault: FaultKind): string {
  return `${entry} × ${fault}`;
}

function add<K>(counts: Map<K, number>, key: K, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
