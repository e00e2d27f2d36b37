/**
 * What must be true of a world. Safety is looked at with every frame and every call; liveness at the end.
 * The oracle watches from outside: journals as they are written, actions as they are called, effects as they happen.
 */
import {
  type Action,
  type BlobRef,
  compilePlan,
  createCatalog,
  documentOf,
  type Entry,
  idempotencyKey,
  type Json,
  jsonEquals,
  newRunState,
  type Plan,
  type RunDocument,
  type RunState,
  replay,
  type WorkflowDefinition,
} from '@nebula/core';
import type { MemoryData } from '@nebula/drivers/memory';
import type { Blobs, Write } from '@nebula/ports';
import { Legality } from './legality.ts';
import type { Call, Outside } from './outside.ts';
import type { Process } from './process.ts';

const FINISHED = ['completed', 'failed', 'cancelled', 'timed-out'];

export interface OracleParts {
  readonly data: MemoryData;
  readonly blobs: Blobs;
  readonly outside: () => Outside;
  /** One engine is alone on the store: then nobody takes a living worker for dead. */
  readonly isAlone: boolean;
}

export class Oracle {
  /** The first is where to look. */
  readonly violations: string[] = [];
  /** Requests for a retry, by run. */
  readonly retriesAsked = new Map<string, number>();
  readonly journals = new Map<string, Legality>();
  private readonly called = new Map<string, Process>();
  private readonly plans = new Map<string, Plan>();
  private readonly parts: OracleParts;

  constructor(parts: OracleParts) {
    this.parts = parts;
  }

  journal(executionId: string): Legality {
    let journal = this.journals.get(executionId);
    if (journal === undefined) {
      journal = new Legality();
      this.journals.set(executionId, journal);
    }
    return journal;
  }

  onFrame({ executionId, frame }: Write, entries: readonly Entry[], now: number): void {
    const journal = this.journal(executionId);
    if (frame !== undefined) {
      if (this.parts.isAlone) this.noneLost(executionId, entries, now);
      journal.frame(frame.seq, frame.at, entries);
      for (const complaint of journal.complaints.splice(0)) this.violated(`${executionId}: ${complaint}`);
    }
    this.cannotBeStuck(executionId, journal);
    const asked = this.retriesAsked.get(executionId) ?? 0;
    if (journal.reopenings > asked) this.violated(`${executionId} was reopened more often than asked for`);
  }

  onCall({ executionId, node, attempt, process }: Call): void {
    const name = `${executionId} ${node}#${attempt}`;
    const record = this.journal(executionId).node(node);
    if (record.attempts < attempt) this.violated(`${name} runs before the journal says so`);
    if (record.attempts === attempt && record.worker !== process.workerId)
      this.violated(`${name} runs in another process`);
    const isGivenUp = record.attempts > attempt;
    if (record.status === 'completed' && !isGivenUp) this.violated(`${name} runs although it is completed`);
    if (isGivenUp && this.parts.isAlone) this.violated(`${name} runs although it was given up`);
    if (this.called.has(name)) this.violated(`${name} runs twice`);
    this.called.set(name, process);
  }

  /** What an engine showed as the end of a run is what its journal says. */
  onFinished(document: RunDocument): void {
    const { executionId } = document;
    const run = this.parts.data.runs.get(executionId);
    if (run === undefined) return;
    const state = newRunState(this.planOf(run.row), executionId);
    for (const { seq, at, entries } of run.frames) {
      replay(state, [{ seq, at, entries: JSON.parse(entries) as Entry[] }]);
      if (FINISHED.includes(state.status) && isSame(this.documentOf(state), document)) return;
    }
    this.violated(`${executionId} was shown as it never was`);
  }

  /** When everything has been given time to end. */
  atTheEnd(executionIds: Iterable<string>): void {
    for (const executionId of executionIds) {
      const run = this.parts.data.runs.get(executionId);
      if (run === undefined) {
        this.violated(`${executionId} is gone`);
        continue;
      }
      const { row, frames, inbox } = run;
      const state = newRunState(this.planOf(row), executionId);
      for (const { seq, at, entries } of frames) replay(state, [{ seq, at, entries: JSON.parse(entries) as Entry[] }]);
      if (!FINISHED.includes(row.status)) this.violated(`${executionId} has not ended: ${this.standOf(executionId)}`);
      if (row.status !== state.status)
        this.violated(`${executionId} is listed as ${row.status}, and is ${state.status}`);
      if (row.wakeAt !== null || row.finishedAt === null) this.violated(`${executionId} has ended, and will be woken`);
      if (inbox.size > 0) this.violated(`${executionId} has ended without hearing ${inbox.size} requests`);
      this.effectsOf(state);
    }
  }

  private documentOf(state: RunState): RunDocument {
    return documentOf(state, this.lookup);
  }

  private readonly lookup = (blob: BlobRef): Json => this.texts.get(blob.sha256) ?? null;
  /** Large values by their names: filled by whoever stores them. */
  readonly texts = new Map<string, Json>();

  /** Exactly one effect for each completed node, and its result is the node's output; never two where one is allowed. */
  private effectsOf(state: RunState): void {
    const { effects } = this.parts.outside();
    const document = this.documentOf(state);
    for (const [path, node] of Object.entries(document.nodes)) {
      const effect = effects.get(idempotencyKey(state, path));
      const name = `${state.executionId} ${path}`;
      if ((effect?.times ?? 0) > 1) this.violated(`${name} took effect ${effect?.times} times`);
      if (node.status !== 'completed') continue;
      if (effect === undefined) this.violated(`${name} is completed without effect`);
      else if (!jsonEquals(effect.result, node.output)) this.violated(`${name} has another output than its effect`);
    }
  }

  /** What waits for a time or a worker has a wake time; only what waits for people has none. */
  private cannotBeStuck(executionId: string, journal: Legality): void {
    const row = this.parts.data.runs.get(executionId)?.row;
    if (journal.status !== 'running' || row === undefined || row.wakeAt !== null) return;
    // Level by level, what is queued waits until nothing before it is unknown.
    const isHeld = this.planOf(row).mode === 'levels' && journal.withStatus('unknown').length > 0;
    const open = journal.withStatus('running', 'waiting', ...(isHeld ? [] : ['queued' as const]));
    if (open.length > 0) this.violated(`${executionId} will not be woken, and ${open} are not done`);
  }

  /** What an action reported to a living engine is journalled as it was. */
  private noneLost(executionId: string, entries: readonly Entry[], now: number): void {
    for (const entry of entries) {
      if (entry.type !== 'node.retrying' && entry.type !== 'node.unknown') continue;
      if (entry.error.code !== 'WORKER_LOST') continue;
      const name = `${executionId} ${entry.node}#${this.journal(executionId).node(entry.node).attempts}`;
      const endedAt = this.called.get(name)?.endedAt ?? (this.called.has(name) ? Number.POSITIVE_INFINITY : 0);
      if (endedAt > now) this.violated(`${name} was lost by a living engine`);
    }
  }

  private planOf({ workflowId, version }: { readonly workflowId: string; readonly version: number }): Plan {
    const key = `${workflowId}@${version}`;
    let plan = this.plans.get(key);
    if (plan === undefined) {
      const row = this.parts.data.workflows.find((one) => one.workflowId === workflowId && one.version === version);
      const definition = { ...(JSON.parse(row?.definition ?? '') as WorkflowDefinition), version };
      plan = compilePlan(definition, this.catalog()).plan as Plan;
      this.plans.set(key, plan);
    }
    return plan;
  }

  private catalog() {
    const nobody = { inFlight: new Set(), granted: new Set() } as unknown as Process;
    return createCatalog(this.parts.outside().actions(nobody) as readonly Action[], {}, undefined);
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

function isSame(a: RunDocument, b: RunDocument): boolean {
  return jsonEquals(a as unknown as Json, b as unknown as Json);
}
