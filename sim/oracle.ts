/**
 * The invariants of a world. Safety is checked with every frame and every call; liveness at the end. The oracle watches
 * from outside: journals as they are written, actions as they are called, effects as they happen.
 */

import type { Entry, Json, JsonObject, Plan, RunDocument } from '@nebula/core';
import type { BlobRef, StoredValue } from '@nebula/core/run';
import type { MemoryData } from '@nebula/drivers/memory';
import type { Blobs, PublishedSignal, SnapshotRow, Write } from '@nebula/ports';
import { Conformance, type Definition } from './conformance.ts';
import type { Call, Effect, ExternalWorld, Performer } from './external-world.ts';
import { Family } from './family.ts';
import { isLease, Leases } from './leases.ts';
import { Legality, type OutputHeard, type RunEnding } from './legality.ts';
import { Permits } from './permits.ts';
import { isSame } from './same.ts';
import { Signals } from './signals.ts';
import { snapshotDifference } from './snapshots.ts';
import { Starts } from './starts.ts';
import { Storage } from './storage.ts';
import { Timing } from './timing.ts';

const NOT_BEGUN: readonly string[] = ['idle', 'queued', 'gated'];
const FINISHED = ['completed', 'failed', 'cancelled', 'timed-out'];

export interface OracleParts {
  readonly data: MemoryData;
  readonly blobs: Blobs;
  readonly externalWorld: () => ExternalWorld;
  /** One engine has the store for itself: then no engine takes a living worker for dead. */
  readonly isAlone: boolean;
  /** No fault strikes any more, and none is under way. */
  readonly isCalm: () => boolean;
  readonly retentionMs: number | null;
  /** The project of a workflow. */
  readonly projectOf: (workflowId: string) => string;
}

export class Oracle {
  /** Violations; the first one is where to look. */
  readonly violations: string[] = [];
  /** The number of requests to reopen, by run. */
  private readonly reopeningsAsked = new Map<string, number>();
  readonly journals = new Map<string, Legality>();
  private readonly conformance = new Map<string, Conformance>();
  readonly family = new Family((what) => this.violated(what), this.journals);
  private readonly signals = new Signals((what) => this.violated(what));
  private readonly called = new Map<string, Performer>();
  private readonly starts = new Starts((what) => this.violated(what));
  private readonly permits: Permits;
  readonly leases = new Leases((what) => this.violated(what));
  readonly storage: Storage;
  private readonly timing = new Map<string, Timing>();
  /** Workflows of runs, by id; deleted ones too. */
  private readonly workflows = new Map<string, string>();
  /** Inputs of nodes that look into the cache. */
  private readonly asks = new Map<string, StoredValue | undefined>();
  /** Snapshots that were compared with their journals. */
  snapshots = 0;
  /** Idempotency keys of outputs from the cache, by run. */
  private readonly cached = new Set<string>();
  /** Idempotency keys of completed nodes. */
  private readonly completed = new Set<string>();
  private readonly definitions = new Map<string, Definition>();
  private readonly parts: OracleParts;

  constructor(parts: OracleParts) {
    this.parts = parts;
    const { data, blobs, retentionMs } = parts;
    const complain = (what: string): void => this.violated(what);
    this.storage = new Storage({ data, blobs, journals: this.journals, retentionMs, complain });
    this.permits = new Permits(complain, this.journals, (key) => data.permits.rows(`key:${key}`));
  }

  journal(executionId: string): Legality {
    let journal = this.journals.get(executionId);
    if (journal === undefined) {
      journal = new Legality((...output) => this.onOutput(executionId, ...output));
      this.journals.set(executionId, journal);
    }
    return journal;
  }

  private conformanceOf(executionId: string): Conformance {
    let one = this.conformance.get(executionId);
    if (one === undefined) {
      one = new Conformance({
        complain: (complaint) => this.violated(`${executionId}: ${complaint}`),
        definitionOf: (workflowId, version) => this.definitionOf(workflowId, version),
        valueOf: (stored) => this.valueOf(stored),
        signalOf: (payload) => this.signals.sentWith(payload),
      });
      this.conformance.set(executionId, one);
    }
    return one;
  }

  private timingOf(executionId: string): Timing {
    let one = this.timing.get(executionId);
    if (one === undefined) {
      one = new Timing(
        (complaint) => this.violated(`${executionId}: ${complaint}`),
        (stored) => this.valueOf(stored),
      );
      this.timing.set(executionId, one);
    }
    return one;
  }

  private definitionOf(workflowId: string, version?: number): Definition {
    const key = `${workflowId}@${version}`;
    let definition = this.definitions.get(key);
    if (definition === undefined) {
      const row = this.parts.data.workflows.findLast(
        (one) => one.workflowId === workflowId && (version === undefined || one.version === version),
      );
      definition = JSON.parse(row?.definition ?? '{}') as Definition;
      this.definitions.set(key, definition);
    }
    return definition;
  }

  /** A request was put into an inbox. */
  onSend(executionId: string, messageId: string, message: JsonObject): void {
    if (message.type === 'retry' || message.type === 'replay') {
      this.reopeningsAsked.set(executionId, (this.reopeningsAsked.get(executionId) ?? 0) + 1);
    }
    if (message.type === 'replay') this.journal(executionId).isReplayed = true;
    this.starts.onSend(executionId, message);
    if (message.type === 'signal') this.signals.sent(executionId, messageId, message);
  }

  /** The moments that the store granted to nodes with a rate limit. */
  onRates(executionId: string, moments: readonly { readonly node: string; readonly at: number }[]): void {
    for (const { node, at } of moments) this.timingOf(executionId).onRate(node, at);
  }

  onFrame({ executionId, frame, taken = [] }: Write, entries: readonly Entry[], now: number): void {
    const journal = this.journal(executionId);
    if (!journal.isFinished) this.signals.taken(executionId, taken, entries);
    if (frame !== undefined) {
      for (const entry of entries) {
        if (entry.type === 'run.started') this.workflows.set(executionId, entry.workflowId);
        if (entry.type === 'signal.kept') this.signals.buffered(executionId, this.valueOf(entry.payload));
        if (entry.type === 'node.gated' && entry.gate.kind === 'cache' && entry.input !== undefined)
          this.asks.set(`${executionId} ${entry.node}`, entry.input);
        // A replay may have edited the input of its first node.
        if (entry.type === 'run.reopened' && entry.input !== undefined)
          this.asks.set(`${executionId} ${entry.nodes[0]}`, entry.input);
      }
      if (this.parts.isAlone) this.noneLost(executionId, entries, now);
      this.family.onFrame(executionId, entries);
      journal.frame(frame.seq, frame.at, entries);
      this.conformanceOf(executionId).frame(entries);
      this.timingOf(executionId).frame(frame.at, entries);
      this.permits.onFrame(executionId, entries);
      this.leases.onFrame(executionId, entries, this.parts.isCalm());
      this.starts.onFrame(executionId, entries, ({ blob, value }) =>
        blob === undefined ? (value ?? null) : this.lookup(blob),
      );
      for (const complaint of journal.complaints.splice(0)) this.violated(`${executionId}: ${complaint}`);
    }
    this.cannotBeStuck(executionId, journal);
    const asked = this.reopeningsAsked.get(executionId) ?? 0;
    if (journal.reopenings > asked) this.violated(`${executionId} was reopened more often than asked for`);
  }

  /** An engine is about to store a snapshot. */
  onSnapshot(plan: Plan, executionId: string, snapshot: SnapshotRow): void {
    const run = this.parts.data.runs.get(executionId);
    if (run === undefined) return;
    this.snapshots++;
    const difference = snapshotDifference(plan, executionId, snapshot, run.frames);
    if (difference !== undefined) this.violated(`${executionId}: the snapshot of frame ${snapshot.seq}: ${difference}`);
  }

  /** A published signal goes to a run that waits for it. */
  onPublished({ signal, key, messageId, body }: PublishedSignal, executionId: string | undefined): void {
    this.signals.onPublished(messageId, JSON.parse(body) as JsonObject);
    if (executionId === undefined) return;
    const journal = this.journals.get(executionId);
    // The oracle hears of a frame a moment after the store has it.
    if (journal?.length !== this.parts.data.runs.get(executionId)?.frames.length) return;
    const waiting = [...(journal?.nodes.values() ?? [])].filter(
      ({ status, waits }) =>
        status === 'listening' &&
        waits.some((one) => one.kind === 'signal' && one.signal === signal && one.key === key),
    );
    const name = `${executionId} gets the signal ${signal} ${key}`;
    if (waiting.length === 0) return this.violated(`${name}, and does not wait for it`);
    const inbox = [...(this.parts.data.runs.get(executionId)?.inbox.values() ?? [])];
    const sent = inbox.filter((one) => this.signals.isPublished(one.messageId, signal, key));
    if (sent.length > waiting.length) this.violated(`${name} more often than it waits`);
  }

  onCall({ executionId, node, attempt, idempotencyKey, performer, worker }: Call): void {
    const name = `${executionId} ${node}#${attempt}`;
    const journal = this.journal(executionId);
    const record = journal.nodes.get(node) ?? { attempts: 0, worker: undefined, status: 'idle', isCached: false };
    // A remote worker may learn of its attempt after the run was ended and reopened: the next attempt is then pending.
    const isCurrent = record.attempts === attempt && !NOT_BEGUN.includes(record.status);
    if (isCurrent && idempotencyKey !== this.keyOf(executionId, node))
      this.violated(`${name} runs with the key ${idempotencyKey}`);
    if (journal.highestOf(node) < attempt) this.violated(`${name} runs before the journal says so`);
    if (isCurrent && record.worker !== worker) this.violated(`${name} runs in another process`);
    const isGivenUp = !isCurrent || record.isCached;
    if (record.status === 'completed' && !isGivenUp) this.violated(`${name} runs although it is completed`);
    // A remote worker learns of it with its next heartbeat.
    if (isGivenUp && this.parts.isAlone && !isLease(worker)) this.violated(`${name} runs although it was given up`);
    if (this.called.has(name)) this.violated(`${name} runs twice`);
    this.called.set(name, performer);
  }

  /** The end that an engine showed equals the end in the journal. */
  onFinished(document: RunDocument): void {
    const { executionId } = document;
    if (!this.parts.data.runs.has(executionId)) return;
    const { endings } = this.journal(executionId);
    const differences = endings.map((ending) => this.differenceOf(ending, document));
    if (differences.includes(undefined)) return;
    this.violated(`${executionId} was shown as it never was: ${differences.at(-1)}`);
  }

  /** Checked after everything had time to end. */
  atTheEnd(executionIds: Iterable<string>): void {
    this.starts.atTheEnd();
    for (const executionId of executionIds) {
      const run = this.parts.data.runs.get(executionId);
      if (run === undefined) {
        if (!this.storage.isDeleted(executionId)) this.violated(`${executionId} is gone`);
        continue;
      }
      const { row, inbox } = run;
      const { status } = this.journal(executionId);
      if (!FINISHED.includes(row.status)) this.violated(`${executionId} has not ended: ${this.standOf(executionId)}`);
      if (row.status !== status) this.violated(`${executionId} is listed as ${row.status}, and is ${status}`);
      if (row.wakeAt !== null || row.finishedAt === null) this.violated(`${executionId} has ended, and will be woken`);
      if (inbox.size > 0) this.violated(`${executionId} has ended without hearing ${inbox.size} requests`);
    }
    for (const [key, { times }] of this.parts.externalWorld().effects) {
      if (times > 1) this.violated(`${key} took effect ${times} times`);
    }
  }

  private differenceOf({ status, error, output, at, nodes }: RunEnding, document: RunDocument): string | undefined {
    if (document.status !== status) return `${document.status}, not ${status}`;
    if (!isSame(document.error, error)) return `its error is ${JSON.stringify(document.error)}`;
    if (document.finishedAt !== new Date(at).toISOString()) return `it ended at ${document.finishedAt}`;
    if (output !== undefined && !isSame(document.output, this.valueOf(output))) return 'its output is another one';
    for (const [path, node] of nodes) {
      const shown = document.nodes[path];
      if (shown === undefined) return `${path} is missing`;
      if (shown.status !== node.status) return `${path} is ${shown.status}, not ${node.status}`;
      if (shown.attempts !== node.attempts) return `${path} has ${shown.attempts} attempts, not ${node.attempts}`;
      if (!isSame(shown.error, node.error))
        return `the error of ${path} is ${JSON.stringify(shown.error)}, not ${JSON.stringify(node.error)}`;
      if (node.status === 'completed' && node.output !== undefined && !isSame(shown.output, this.valueOf(node.output)))
        return `the output of ${path} is another one`;
    }
    return undefined;
  }

  private readonly lookup = (blob: BlobRef): Json => this.texts.get(blob.sha256) ?? null;
  /** Large values by name, filled by the code that stores them. */
  readonly texts = new Map<string, Json>();

  private keyOf(executionId: string, node: string): string {
    return `${executionId}:${node}:${this.journal(executionId).generationOf(node)}`;
  }

  private valueOf(stored: StoredValue | undefined): Json {
    return stored?.blob === undefined ? (stored?.value ?? null) : this.lookup(stored.blob);
  }

  /** Each node that completes has exactly one effect, whose result is the node's output. */
  private onOutput(executionId: string, ...[path, before, entry]: Parameters<OutputHeard>): void {
    if (before === 'child' && entry.type === 'node.completed') this.family.onResult(executionId, path, entry);
    if (before === 'open' && entry.type === 'node.completed')
      this.inOrder(executionId, path, this.valueOf(entry.output));
    if (before === 'listening' && entry.type === 'node.completed')
      this.signals.ended(executionId, this.valueOf(entry.output));
    if (entry.type === 'node.completed' && entry.cached !== undefined)
      return this.wasDone(executionId, path, this.valueOf(entry.output), entry.cached.executionId);
    if (before !== 'running' && before !== 'settled') return;
    const name = `${executionId} ${path}`;
    const key = this.keyOf(executionId, path);
    if (this.completed.has(key)) this.violated(`${name} completes a second time`);
    this.completed.add(key);
    const effect = this.parts.externalWorld().effects.get(key);
    if (effect === undefined) return this.violated(`${name} is completed without effect`);
    const output = this.valueOf(entry.type === 'node.opened' ? entry.graph : entry.output);
    if (!isSame(effect.result, output)) this.violated(`${name} has another output than its effect`);
    if (effect.action === 'plan' && entry.type === 'node.completed') this.violated(`${name} ends without its graph`);
    this.undoesWhatWasDone(executionId, path, effect);
  }

  /** An output from the cache was computed by some node of the same project, from the same input. */
  private wasDone(executionId: string, path: string, output: Json, from: string): void {
    const key = keyIn(output) ?? '';
    const effect = this.parts.externalWorld().effects.get(key);
    const name = `${executionId} ${path}`;
    if (effect === undefined || !isSame(effect.result, output))
      return this.violated(`${name} has from the cache what nobody did`);
    if (this.projectOf(executionId) !== this.projectOf(from))
      this.violated(`${name} has from the cache what another project did`);
    if (!isSame(effect.input, this.valueOf(this.asks.get(name))))
      this.violated(`${name} has from the cache what was done with another input`);
    this.cached.add(`${executionId} ${key}`);
  }

  private projectOf(executionId: string): string {
    return this.parts.projectOf(this.workflows.get(executionId) ?? '');
  }

  private undoesWhatWasDone(executionId: string, path: string, { undoes }: Effect): void {
    const undone = this.journal(executionId).undoing.undoneBy(path);
    if (undone === undefined || undoes === undefined) return;
    const key = `${executionId}:${undone.path}:${undone.generation}`;
    if (undoes !== key) this.violated(`${executionId} ${path} undid ${undoes}, not ${key}`);
  }

  /** The output of a loop has the result of each iteration at its position. */
  private inOrder(executionId: string, path: string, output: Json): void {
    if (!Array.isArray(output) || output.length !== this.journal(executionId).scopes.roundsOf(path)) return;
    for (const [iteration, one] of output.entries()) {
      const key = keyIn(one);
      if (key === undefined || this.cached.has(`${executionId} ${key}`)) continue;
      if (!key.startsWith(`${executionId}:${path}/${iteration}/`))
        this.violated(`${executionId} ${path} has ${key} as its result ${iteration}`);
    }
  }

  /** A run that waits for a time or a worker has a wake time; only a run that waits for people has none. */
  private cannotBeStuck(executionId: string, journal: Legality): void {
    const row = this.parts.data.runs.get(executionId)?.row;
    if (journal.isFinished || journal.status === 'pending' || row === undefined || row.wakeAt !== null) return;
    // In `mode: levels`, a queued node waits until all earlier levels have ended.
    const waitsForLevel =
      this.definitionOf(row.workflowId, row.version).config?.mode === 'levels' &&
      journal.withStatus('unknown', 'listening', 'child', 'gated').length > 0;
    const timed =
      journal.status === 'paused' ? [] : (['waiting', ...(waitsForLevel ? [] : ['queued' as const])] as const);
    const open = [
      ...journal.withStatus('running'),
      ...journal.withStatus(...timed).filter((path) => journal.isWanted(path)),
    ];
    if (open.length > 0) this.violated(`${executionId} will not be woken, and ${open} are not done`);
  }

  /** An outcome that an action reported to a living engine is journalled unchanged. */
  private noneLost(executionId: string, entries: readonly Entry[], now: number): void {
    for (const entry of entries) {
      if (entry.type !== 'node.retrying' && entry.type !== 'node.unknown') continue;
      if (entry.error.code !== 'WORKER_LOST') continue;
      const { attempts, worker } = this.journal(executionId).node(entry.node);
      if (isLease(worker)) continue;
      const name = `${executionId} ${entry.node}#${attempts}`;
      const endedAt = this.called.get(name)?.endedAt ?? (this.called.has(name) ? Number.POSITIVE_INFINITY : 0);
      if (endedAt > now) this.violated(`${name} was lost by a living engine`);
    }
  }

  private standOf(executionId: string): string {
    const { nodes } = this.journal(executionId);
    const row = this.parts.data.runs.get(executionId)?.row;
    return `${[...nodes].map(([path, { status }]) => `${path} ${status}`).join(', ')}; wakes ${row?.wakeAt}`;
  }

  violated(what: string): void {
    this.violations.push(what);
  }
}

/** The idempotency key in the output of an action. */
function keyIn(output: Json): string | undefined {
  const { key } = (output ?? {}) as { readonly key?: Json };
  return typeof key === 'string' ? key : undefined;
}
