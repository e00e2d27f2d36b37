/**
 * The runs in memory. A run is loaded when something happens to it, and forgotten when it is finished or when
 * nothing but a far timer or a stimulus can move it.
 *
 *  C1 At most one LiveRun per execution; whoever asks while it is being loaded gets the same one.
 *  C2 A run with open attempts of this process, a draft or mail is never evicted; attempts of others do not keep it.
 */
import {
  concerns,
  decodeSnapshot,
  encodeSnapshot,
  isFinished,
  NebulaError,
  newRunState,
  type Plan,
  type RunState,
  replay,
} from '@nebula/core';
import type { Store } from '@nebula/ports';
import type { Authority } from './authority.ts';
import { decodeFrame, type Frame } from './codec.ts';
import { type LiveRun, newLiveRun } from './live-run.ts';
import type { Plans } from './plans.ts';

/** A journal younger than this is never worth a snapshot. */
const SNAPSHOT_MIN_BYTES = 256 * 1024;

export class Runs {
  private readonly store: Store;
  private readonly plans: Plans;
  private readonly workerId: string;
  private readonly authority: Authority;
  private readonly onRead: (run: LiveRun) => void;
  private readonly snapshotMinBytes: number;
  private readonly live = new Map<string, LiveRun>();
  private readonly loading = new Map<string, Promise<LiveRun | undefined>>();

  /** `onRead`: a run, or what others wrote to it, has come into memory from the store. */
  constructor(
    store: Store,
    plans: Plans,
    workerId: string,
    authority: Authority,
    onRead: (run: LiveRun) => void = () => {},
    snapshotMinBytes: number = SNAPSHOT_MIN_BYTES,
  ) {
    this.snapshotMinBytes = snapshotMinBytes;
    this.authority = authority;
    this.store = store;
    this.plans = plans;
    this.workerId = workerId;
    this.onRead = onRead;
  }

  get size(): number {
    return this.live.size + this.loading.size;
  }

  get(executionId: string): LiveRun | undefined {
    return this.live.get(executionId);
  }

  states(): RunState[] {
    return Array.from(this.live.values(), ({ state }) => state);
  }

  create(plan: Plan, executionId: string, project: string): LiveRun {
    const run = newLiveRun(newRunState(plan, executionId), true, project);
    this.live.set(executionId, run);
    return run;
  }

  /** Undefined when there is no such execution. */
  load(executionId: string): Promise<LiveRun | undefined> {
    const live = this.live.get(executionId);
    if (live !== undefined) return Promise.resolve(live);
    let promise = this.loading.get(executionId);
    if (promise === undefined) {
      promise = this.read(executionId).finally(() => this.loading.delete(executionId));
      this.loading.set(executionId, promise);
    }
    return promise;
  }

  /** One that is being started a second time is refused by the store, and what is told to it is lost: not that one. */
  async loadWritten(executionId: string): Promise<LiveRun | undefined> {
    const run = await this.load(executionId);
    if (run?.isNew !== true) return run;
    await new Promise<void>((resolve) => run.onCreated.push(() => resolve()));
    return this.loadWritten(executionId);
  }

  private async read(executionId: string): Promise<LiveRun | undefined> {
    const row = await this.store.execution(executionId);
    if (row === undefined) return undefined;
    const plan = await this.plans.get(row.workflowId, row.version);
    const loaded = await readState(this.store, plan, executionId);
    await this.authority.settle(loaded.state, row.project);
    const run = newLiveRun(loaded.state, false, row.project);
    run.storedWakeAt = row.wakeAt;
    adopt(run, loaded);
    this.live.set(executionId, run);
    this.onRead(run);
    return run;
  }

  /** Folds the journal again, after the store refused a frame. */
  async reload(run: LiveRun): Promise<void> {
    const loaded = await readState(this.store, run.plan, run.executionId);
    // After the frames: whoever changes it later writes a frame, too, and the next one of this engine is refused.
    const row = this.store.exclusive ? undefined : await this.store.execution(run.executionId);
    if (row !== undefined) run.storedWakeAt = row.wakeAt;
    await this.authority.settle(loaded.state, run.project);
    run.state = loaded.state;
    adopt(run, loaded);
    this.onRead(run);
  }

  /** Called between frames. */
  async snapshotIfHeavy(run: LiveRun): Promise<boolean> {
    if (run.journalBytes < this.snapshotMinBytes || run.journalBytes < run.snapshotBytes) return false;
    const state = encodeSnapshot(run.state);
    run.journalBytes = 0;
    run.snapshotBytes = state.length;
    const { seq } = run.state;
    await this.store.saveSnapshot(run.executionId, { seq, state });
    run.checkpoint = seq;
    return true;
  }

  forget(run: LiveRun): void {
    if (this.live.get(run.executionId) === run) this.live.delete(run.executionId);
  }

  /** True when nothing in this process needs the run. */
  isIdle(run: LiveRun): boolean {
    if (run.mailbox.length > 0 || run.draft !== null || run.isBusy) return false;
    // What a run that has ended left open is gone on with when it is retried.
    return isFinished(run.state.status) || !concerns(run.state, this.workerId);
  }

  ids(): string[] {
    return [...this.live.keys()];
  }

  /** As far as this process knows. */
  dueBefore(at: number): LiveRun[] {
    return [...this.live.values()].filter(({ storedWakeAt }) => typeof storedWakeAt === 'number' && storedWakeAt < at);
  }
}

interface Loaded {
  readonly state: RunState;
  readonly lastAt: number;
  readonly journalBytes: number;
  readonly snapshotBytes: number;
}

function adopt(run: LiveRun, loaded: Loaded): void {
  run.asked.clear();
  run.lastAt = loaded.lastAt;
  run.journalBytes = loaded.journalBytes;
  run.snapshotBytes = loaded.snapshotBytes;
}

/** The state of a run after frame `upTo`: its newest usable snapshot, and the journal after it. */
export async function readState(
  store: Store,
  plan: Plan,
  executionId: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<Loaded> {
  const stored = await store.load(executionId, { upTo });
  const snapshot = stored?.snapshot;
  const base = snapshot === undefined ? undefined : decodeSnapshot(plan, executionId, snapshot.state);
  const state = base ?? newRunState(plan, executionId);
  // A snapshot of an earlier format cannot be used: then the whole journal is folded.
  const isWhole = snapshot === undefined || base !== undefined;
  const frames = (isWhole ? stored : await store.load(executionId, { after: 0, upTo }))?.frames ?? [];
  let journalBytes = 0;
  let lastAt = 0;
  for (const frame of frames) {
    lastAt = frame.at;
    if (frame.seq <= state.seq) continue;
    fold(state, decodeFrame({ executionId, ...frame }));
    journalBytes += frame.entries.length;
  }
  if (state.seq === 0) {
    throw new NebulaError('JOURNAL_MISSING', `Execution ${executionId} has no journal.`, {
      hint: 'Restore the data folder from a backup, or delete this execution.',
    });
  }
  // Snapshots of earlier versions do not have it.
  state.updatedAt = lastAt;
  return { state, lastAt, journalBytes, snapshotBytes: base === undefined ? 0 : (snapshot?.state.length ?? 0) };
}

function fold(state: RunState, frame: Frame): void {
  try {
    replay(state, [frame]);
  } catch (cause) {
    if (cause instanceof NebulaError) throw cause;
    throw new NebulaError('JOURNAL_CORRUPT', `Frame ${frame.seq} of ${state.executionId} does not follow: ${cause}`, {
      hint: 'Restore the data folder from a backup, or delete this execution.',
      cause,
    });
  }
}
