/**
 * The entries that the faults of a suite met. A fault has targets, and an entry meets a fault only through one of them:
 *
 *  1 A write: the entries that the fault found in the write, whether they were stored or not.
 *  2 A run, because a call about that run failed, was late or was under way: the entries of its next frame.
 *  3 A node of a run, because its task or its attempt was hit: the entries of the next frame that has one about the node.
 *
 * A fault without a target, such as a crash of a process that does nothing, is met by no entry.
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

/** The lives of a test reach these too rarely to meet every kind of fault: each of them occurs, and meets some. */
export const RARE_ENTRY_KINDS = [
  'node.unhandled',
  'node.compensating',
  'signal.taken',
  'items.added',
  'node.answered',
  'signal.refused',
  'round.delayed',
] as const satisfies readonly EntryKind[];

/** No life draws a setting that is an expression, or a migration, yet. */
const NOT_DRAWN: readonly EntryKind[] = ['node.configured', 'run.migrated'];

const SELDOM: readonly EntryKind[] = [...RARE_ENTRY_KINDS, ...NOT_DRAWN];
export const ENTRY_KINDS = (Object.keys(EVERY_ENTRY) as EntryKind[]).filter((kind) => !SELDOM.includes(kind));

/** Entries about the outcomes of attempts, and about runs that end with them. */
export const OUTCOME_ENTRY_KINDS = [
  'node.completed',
  'node.retrying',
  'node.failed',
  'run.finished',
] as const satisfies readonly EntryKind[];

/** The part of a life that a fault hits. */
export type Target =
  | { readonly executionId: string; readonly node?: string }
  | { readonly entries: readonly { readonly type: EntryKind }[] };

type WrittenEntry = { readonly type: EntryKind; readonly node?: string; readonly nodes?: readonly string[] };

export class Coverage {
  /** The number of entries by kind. */
  readonly entries = new Map<EntryKind, number>();
  /** How often an entry of one kind met a fault of another. */
  private readonly met = new Map<EntryKind, Map<FaultKind, number>>();
  /** The sites at which processes died. */
  readonly deaths = new Map<string, number>();
  /** Faults that wait for the next frame of a run, each with the node that it hit. */
  private readonly waiting = new Map<string, Map<string, { readonly kind: FaultKind; readonly node?: string }>>();

  hit(kind: FaultKind, targets: Iterable<Target>): void {
    for (const target of targets) {
      if ('entries' in target) {
        for (const { type } of target.entries) this.meet(type, kind, 1);
        continue;
      }
      const { executionId, node } = target;
      const hits = this.waiting.get(executionId) ?? new Map();
      this.waiting.set(executionId, hits.set(`${kind} ${node ?? ''}`, { kind, ...(node !== undefined && { node }) }));
    }
  }

  died(site: string, side: string): void {
    add(this.deaths, `${side} ${site}`, 1);
  }

  written(executionId: string, entries: readonly WrittenEntry[]): void {
    for (const { type } of entries) add(this.entries, type, 1);
    const hits = this.waiting.get(executionId);
    if (hits === undefined || entries.length === 0) return;
    for (const [name, { kind, node }] of hits) {
      const isMet = node === undefined || entries.some((entry) => entry.node === node || entry.nodes?.includes(node));
      if (!isMet) continue;
      hits.delete(name);
      for (const { type } of entries) this.meet(type, kind, 1);
    }
    if (hits.size === 0) this.waiting.delete(executionId);
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

  /** The number of kinds of entries that met the fault. */
  metBy(fault: FaultKind): number {
    return [...this.met.values()].filter((faults) => faults.has(fault)).length;
  }

  /** Kinds that met no fault at all. */
  unmet(entries: readonly EntryKind[]): EntryKind[] {
    return entries.filter((entry) => (this.met.get(entry)?.size ?? 0) === 0);
  }

  /** Pairs of an entry and a group of faults that never met. */
  missing(entries: readonly EntryKind[], groups: Readonly<Record<string, readonly FaultKind[]>>): string[] {
    return Object.entries(groups).flatMap(([name, kinds]) =>
      entries.filter((entry) => kinds.every((kind) => this.count(entry, kind) === 0)).map((one) => `${one} × ${name}`),
    );
  }
}

function add<K>(counts: Map<K, number>, key: K, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
