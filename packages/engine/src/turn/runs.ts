/**
 * The runs in memory. A run is loaded when something happens to it, and forgotten when it is finished or when only a
 * far timer or a stimulus can move it.
 *
 *  C1 At most one LiveRun per execution; callers that ask while it is being loaded get the same one.
 *  C2 A run with open attempts of this process, a draft or mail is never evicted. Attempts of other engines do not keep
 *  it
 *     in memory; leases that this engine handed out do (`engine-effects.ts`, E2).
 */

import { type ExecutionId, NebulaError, type Plan, type WorkflowId } from '@nebula/core';
import {
  backlogOf,
  concerns,
  decodeSnapshot,
  encodeSnapshot,
  foldFrames,
  isFinished,
  newRunState,
  type RunState,
  type Steps,
  snapshotVersion,
} from '@nebula/core/run';
import {
  type Clock,
  type ExecutionRow,
  type InboxRow,
  inSlices,
  type Journal,
  type LoadedExecution,
  type SnapshotRow,
  type Store,
  type StoredFrame,
} from '@nebula/ports';
import type { Effects } from '../effects.ts';
import type { Authority } from '../start/authority.ts';
import type { Plans } from '../start/plans.ts';
import { decodeFrame, type Frame } from './codec.ts';
import { LiveRun } from './live-run.ts';
import { receivedMessage } from './messages.ts';
import { noteRequested } from './write.ts';

/** A shorter journal is never worth a snapshot. */
const SNAPSHOT_MIN_BYTES = 256 * 1024;

interface RunsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly authority: Authority;
  readonly workerId: string;
  readonly effects: Effects;
  readonly snapshotMinBytes?: number | undefined;
}

export class Runs {
  private readonly parts: RunsParts;
  private readonly live = new Map<ExecutionId, LiveRun>();
  private readonly loading = new Map<ExecutionId, Promise<ReadRun | undefined>>();

  constructor(parts: RunsParts) {
    this.parts = parts;
  }

  get size(): number {
    return this.live.size + this.loading.size;
  }

  get(executionId: ExecutionId): LiveRun | undefined {
    return this.live.get(executionId);
  }

  /** The number of ready nodes of all runs, and since when the oldest one is ready. */
  backlog(): { readonly count: number; readonly since: number | null } {
    let [count, since]: [number, number | null] = [0, null];
    for (const { state } of this.live.values()) {
      const own = backlogOf(state);
      count += own.count;
      if (own.since !== null) since = Math.min(since ?? own.since, own.since);
    }
    return { count, since };
  }

  create(plan: Plan, executionId: ExecutionId, project: string): LiveRun {
    const run = new LiveRun(newRunState(plan, executionId), 'new', project);
    this.live.set(executionId, run);
    return run;
  }

  /** Returns undefined if there is no such execution. */
  async load(executionId: ExecutionId): Promise<LiveRun | undefined> {
    return this.live.get(executionId) ?? (await (this.loading.get(executionId) ?? this.startLoading(executionId)))?.run;
  }

  /**
   * Like `loadWritten`. Only a run that this call has read comes with its inbox: a read that was under way may be older
   * than the message that the caller looks for.
   */
  async loadWithInbox(executionId: ExecutionId): Promise<ReadRun | undefined> {
    if (!this.live.has(executionId) && !this.loading.has(executionId)) return this.startLoading(executionId);
    const run = await this.loadWritten(executionId);
    return run && { run, state: run.state, inbox: undefined };
  }

  private startLoading(executionId: ExecutionId): Promise<ReadRun | undefined> {
    const promise = this.read(executionId).finally(() => this.loading.delete(executionId));
    this.loading.set(executionId, promise);
    return promise;
  }

  /** Like `load`, once it is known whether the store accepts the first frame of a run that is being created. */
  async loadWritten(executionId: ExecutionId): Promise<LiveRun | undefined> {
    const run = await this.load(executionId);
    if (run?.isNew !== true) return run;
    await new Promise<void>((resolve) => run.onCreated.push(() => resolve()));
    return this.loadWritten(executionId);
  }

  private async read(executionId: ExecutionId): Promise<ReadRun | undefined> {
    const { authority, effects } = this.parts;
    const loaded = await this.readRun(executionId);
    if (loaded === undefined) return undefined;
    const { state, row, inbox } = loaded;
    await authority.giveCeiling(state, row.project);
    const run = new LiveRun(state, 'idle', row.project);
    run.storedWakeAt = row.wakeAt;
    adopt(run, loaded);
    this.live.set(executionId, run);
    effects.loaded(run);
    return { run, state, inbox };
  }

  /** A run whose workflow can no longer be compiled here is read only to end it: it is being cancelled. */
  private async readRun(executionId: ExecutionId): Promise<Loaded | undefined> {
    const { store, clock, plans } = this.parts;
    const strict: PlanSource = (workflowId, version, isCurrent) =>
      isCurrent ? plans.get(workflowId, version) : plans.getWithoutActions(workflowId, version);
    try {
      return await readState({ store, clock }, strict, executionId);
    } catch (error) {
      if (!(error instanceof NebulaError) || error.code !== 'PLAN_INVALID') throw error;
      const planOf: PlanSource = (workflowId, version) => plans.getWithoutActions(workflowId, version);
      const loaded = await readState({ store, clock }, planOf, executionId);
      if (loaded === undefined || loaded.state.stopping !== null) return loaded;
      if (loaded.inbox.some(({ body }) => isCancelOfRun(body))) return loaded;
      throw error;
    }
  }

  /** Folds the journal again, after the store refused a frame. Returns the inbox. */
  async reload(run: LiveRun): Promise<readonly InboxRow[]> {
    const { store, clock, plans, authority, effects } = this.parts;
    const planOf: PlanSource = async (workflowId, version) =>
      version === run.plan.version ? run.plan : plans.getWithoutActions(workflowId, version);
    const loaded = await readState({ store, clock }, planOf, run.executionId);
    if (loaded === undefined) throw journalMissing(run.executionId);
    const { state, row, inbox } = loaded;
    // An engine that changes the wake time later writes a frame, so the next frame of this engine is refused.
    if (!store.exclusive) run.storedWakeAt = row.wakeAt;
    await authority.giveCeiling(state, run.project);
    run.state = state;
    adopt(run, loaded);
    noteRequested(run);
    effects.loaded(run);
    return inbox;
  }

  /** Stores a snapshot if the journal has grown enough. Called between frames. */
  async snapshotIfHeavy(run: LiveRun): Promise<boolean> {
    const { store, snapshotMinBytes = SNAPSHOT_MIN_BYTES } = this.parts;
    if (run.journalBytes < snapshotMinBytes || run.journalBytes < run.snapshotBytes) return false;
    const state = encodeSnapshot(run.state);
    run.journalBytes = 0;
    run.snapshotBytes = state.length;
    const { seq } = run.state;
    await store.saveSnapshot(run.executionId, { seq, state });
    run.checkpoint = seq;
    return true;
  }

  forget(run: LiveRun): void {
    if (this.live.get(run.executionId) === run) this.live.delete(run.executionId);
  }

  /** True when nothing in this process needs the run. */
  isIdle(run: LiveRun): boolean {
    if (run.mailbox.length > 0 || run.mode !== 'idle') return false;
    // Open attempts of a finished run wait for a retry.
    return isFinished(run.state.phase.status) || !concerns(run.state, this.parts.workerId);
  }

  ids(): string[] {
    return [...this.live.keys()];
  }

  /** Runs whose stored wake time, as far as this process knows it, is earlier than `at`. */
  dueBefore(at: number): LiveRun[] {
    return [...this.live.values()].filter(({ storedWakeAt }) => typeof storedWakeAt === 'number' && storedWakeAt < at);
  }
}

interface ReadRun {
  readonly run: LiveRun;
  /** The state that was read together with the inbox. */
  readonly state: RunState;
  readonly inbox: readonly InboxRow[] | undefined;
}

interface Loaded extends Pick<LoadedExecution, 'row' | 'inbox'> {
  readonly state: RunState;
  readonly lastAt: number;
  readonly journalBytes: number;
  readonly snapshotBytes: number;
}

function adopt(run: LiveRun, loaded: Loaded): void {
  run.requestedPermits.clear();
  run.lastAt = loaded.lastAt;
  run.journalBytes = loaded.journalBytes;
  run.snapshotBytes = loaded.snapshotBytes;
}

/** Gives the plan of a version. Earlier versions of the run are only read: their actions may be missing here. */
export type PlanSource = (workflowId: WorkflowId, version: number, isCurrent: boolean) => Promise<Plan>;

/** The state of a run after frame `upTo`, in one round trip: the newest usable snapshot, and the journal after it. */
export async function readState(
  { store, clock }: { readonly store: Journal; readonly clock: Clock },
  planOf: PlanSource,
  executionId: ExecutionId,
  upTo = Number.POSITIVE_INFINITY,
): Promise<Loaded | undefined> {
  const stored = await store.load(executionId, { upTo });
  if (stored === undefined) return undefined;
  const { row, snapshot, inbox } = stored;
  const versions = new Versions(row, planOf);
  const base = snapshot && (await restored(snapshot, executionId, versions));
  // A snapshot of an earlier format is not usable, so the whole journal is folded.
  const isWhole = snapshot === undefined || base !== undefined;
  const frames = (isWhole ? stored : await store.load(executionId, { after: 0, upTo }))?.frames ?? [];
  await versions.fetchMigrated(frames);
  const isPart = upTo !== Number.POSITIVE_INFINITY;
  const state = base ?? newRunState(await versions.first(frames, isPart), executionId, versions.planOf);
  const newer = frames.filter(({ seq }) => seq > state.seq);
  await inSlices(foldAll(state, newer), clock);
  const journalBytes = newer.reduce((sum, { entries }) => sum + entries.length, 0);
  const lastAt = frames.at(-1)?.at ?? 0;
  if (state.seq === 0) throw journalMissing(executionId);
  // Snapshots of earlier versions have no `updatedAt`.
  state.updatedAt = lastAt;
  const snapshotBytes = base === undefined ? 0 : (snapshot?.state.length ?? 0);
  return { state, row, inbox, lastAt, journalBytes, snapshotBytes };
}

async function restored(
  { state }: SnapshotRow,
  executionId: ExecutionId,
  versions: Versions,
): Promise<RunState | undefined> {
  const version = snapshotVersion(state);
  if (version === undefined) return undefined;
  return decodeSnapshot(await versions.fetch(version), executionId, state, versions.planOf);
}

/** The plans that a journal needs: of the version with which the run began, and of those to which it was migrated. */
class Versions {
  private readonly row: ExecutionRow;
  private readonly source: PlanSource;
  private readonly fetched = new Map<number, Plan>();

  constructor(row: ExecutionRow, source: PlanSource) {
    this.row = row;
    this.source = source;
  }

  readonly planOf = (version: number): Plan => {
    const plan = this.fetched.get(version);
    if (plan === undefined) throw new Error(`version ${version} of ${this.row.workflowId} was not fetched`);
    return plan;
  };

  async fetch(version: number): Promise<Plan> {
    const { workflowId, version: current } = this.row;
    const plan = this.fetched.get(version) ?? (await this.source(workflowId, version, version === current));
    this.fetched.set(version, plan);
    return plan;
  }

  async fetchMigrated(frames: readonly StoredFrame[]): Promise<void> {
    const { executionId } = this.row;
    for (const frame of frames) {
      if (!frame.entries.includes('"run.migrated"')) continue;
      for (const entry of decodeFrame({ executionId, ...frame }).entries) {
        if (entry.type === 'run.migrated') await this.fetch(entry.version);
      }
    }
  }

  /**
   * The plan with which the run began. Only a run that was migrated, perhaps after the part of its journal that was read,
   * began with another one than its row names.
   */
  async first([frame]: readonly StoredFrame[], isPart: boolean): Promise<Plan> {
    const { executionId, version } = this.row;
    if (frame === undefined || (this.fetched.size === 0 && !isPart)) return this.fetch(version);
    const started = decodeFrame({ executionId, ...frame }).entries.find(({ type }) => type === 'run.started');
    return this.fetch(started?.type === 'run.started' ? started.version : version);
  }
}

function isCancelOfRun(body: string): boolean {
  const message = receivedMessage(body);
  return message?.type === 'cancel' && message.node === undefined;
}

function journalMissing(executionId: ExecutionId): NebulaError {
  return new NebulaError('JOURNAL_MISSING', `Execution ${executionId} has no journal.`, {
    hint: 'Restore the data folder from a backup, or delete this execution.',
  });
}

function* foldAll(state: RunState, frames: readonly StoredFrame[]): Steps<void> {
  const { executionId } = state;
  for (const frame of frames) {
    fold(state, decodeFrame({ executionId, ...frame }));
    yield;
  }
}

function fold(state: RunState, frame: Frame): void {
  try {
    foldFrames(state, [frame]);
  } catch (cause) {
    if (cause instanceof NebulaError) throw cause;
    throw new NebulaError('JOURNAL_CORRUPT', `Frame ${frame.seq} of ${state.executionId} does not follow: ${cause}`, {
      hint: 'Restore the data folder from a backup, or delete this execution.',
      cause,
    });
  }
}
