/** The engine: starts runs, keeps them going, and lets people see them. It ties the parts together and decides nothing. */
import {
  type Action,
  backlogOf,
  createCatalog,
  documentOf,
  isFinished,
  isResting,
  NebulaError,
  nodeAt,
  type OpenCatalog,
  openChildren,
  RUN_DEFAULTS,
  type RunDocument,
  type Stimulus,
  timelineOf,
} from '@nebula/core';
import { STORE_GONE } from '@nebula/ports';
import type { Drivers, Engine, EngineHealth, EngineOptions, LiveEvent, Metrics, Settled, StartOptions } from './api.ts';
import { Attempts } from './attempts.ts';
import { Authority } from './authority.ts';
import { Cache } from './cache.ts';
import { Children, type ChildrenParts } from './children.ts';
import { StoreDesk } from './desk.ts';
import { Durations } from './durations.ts';
import type { Draft, LiveRun } from './live-run.ts';
import { Meter } from './metrics.ts';
import { OutsideAttempts } from './outside.ts';
import { Plans } from './plans.ts';
import { Runs } from './runs.ts';
import { Settling } from './settling.ts';
import { Starts } from './starts.ts';
import { Sweeper } from './sweeper.ts';
import { type TracedFrame, Tracing } from './tracing.ts';
import { Turns } from './turns.ts';
import { Values } from './values.ts';
import { Waker, type WakerParts, WORKER_PREFIX } from './waker.ts';

const DEFAULTS = {
  concurrency: 4,
  maxCachedRuns: 2_000,
  maxActiveRuns: 100_000,
  retentionMs: 30 * 24 * 3_600_000,
  closeGraceMs: 5_000,
} as const;

/** How soon to try again to tell a run what happened to it. */
const REPORT_AGAIN_MS = 1_000;

/** A run whose next timer is further away than this need not stay in memory. */
const EVICT_BEYOND_MS = 1_000;

export function createEngine(drivers: Drivers, options: EngineOptions): Engine {
  return new LocalEngine(drivers, options);
}

type OfWaker = Omit<WakerParts, 'post' | 'catchUp' | 'onFault' | 'onTrouble' | 'onLease' | 'startAnew'>;

class LocalEngine extends StoreDesk implements Engine {
  private readonly all: Drivers;
  private readonly workerId: string;
  private readonly meter = new Meter();
  private readonly plans: Plans;
  private readonly runs: Runs;
  private readonly values: Values;
  private readonly cache: Cache;
  private readonly attempts: Attempts;
  private readonly turns: Turns;
  private readonly waker: Waker;
  private readonly sweeper: Sweeper;
  private readonly starts: Starts;
  private readonly catalog: OpenCatalog;
  readonly outside: OutsideAttempts;
  private readonly children: Children;
  private readonly settling: Settling;
  private readonly tracing: Tracing;
  private readonly listeners = new Set<(event: LiveEvent) => void>();
  private wroteAt: number | null = null;
  private lastTrouble: unknown = null;
  /** Set when the data is gone. */
  private lost: NebulaError | undefined;
  private phase: 'new' | 'open' | 'closing' | 'closed' = 'new';

  constructor(drivers: Drivers, options: EngineOptions) {
    const { actions, retryPolicies = {}, capabilities, labels, announced = [] } = options;
    const catalog = createCatalog(actions, retryPolicies, capabilities, labels);
    catalog.announce(announced);
    const authority = new Authority(options.projects);
    const plans = new Plans(drivers, catalog, options, authority);
    super(drivers, plans);
    this.catalog = catalog;
    this.all = drivers;
    this.workerId = drivers.random.id(WORKER_PREFIX);
    this.plans = plans;
    const adopt = (run: LiveRun): void => this.untilDone(() => this.children.adopt(run));
    this.runs = new Runs(drivers.store, plans, this.workerId, authority, adopt, options.snapshotMinBytes);
    this.values = new Values(drivers, options.inlineLimitBytes ?? RUN_DEFAULTS.inlineLimitBytes);
    this.cache = new Cache({ ...drivers, values: this.values });
    this.tracing = new Tracing(drivers.digest);
    const shared = {
      ...drivers,
      tracing: this.tracing,
      onWritten: () => this.written(),
      cache: this.cache,
      runs: this.runs,
      values: this.values,
      meter: this.meter,
      holds: this.holds,
      durations: new Durations(drivers.store),
      workerId: this.workerId,
    };
    const concurrency = options.concurrency ?? DEFAULTS.concurrency;
    this.attempts = new Attempts({
      ...shared,
      concurrency,
      report: (executionId, stimulus) => this.report(executionId, stimulus),
      onTrouble: (error) => this.trouble(error),
      onProgress: (executionId, node, fraction, message) => this.publishProgress(executionId, node, fraction, message),
    });
    this.turns = new Turns({
      ...shared,
      attempts: this.attempts,
      concurrency,
      retentionMs: options.retentionMs === undefined ? DEFAULTS.retentionMs : options.retentionMs,
      onFrame: (run, draft, at) => this.onFrame(run, draft, at),
      onNothing: (run, draft) => this.onNothing(run, draft),
      onFault: (run, error) => this.onFault(run.executionId, error),
      onTrouble: (error) => this.trouble(error),
      onWake: (at) => this.waker.wakeAt(at),
      isLeased: () => this.waker.isLeased(),
      onCacheAsk: (run, node) => this.lookInCache(run, node),
    });
    this.outside = new OutsideAttempts({
      ...shared,
      post: (run, stimulus) => this.turns.post(run, stimulus),
      offer: (delivery, claim) => this.turns.claim(delivery, claim),
      catchUp: (run) => this.turns.catchUp(run),
      report: (executionId, stimulus) => this.report(executionId, stimulus),
      onProgress: (executionId, node, fraction, message) => this.publishProgress(executionId, node, fraction, message),
      onTrouble: (error) => this.trouble(error),
      onRest: (executionId) => this.restAgain(executionId),
    });
    const maxCachedRuns = options.maxCachedRuns ?? DEFAULTS.maxCachedRuns;
    this.waker = this.newWaker({ ...shared, attempts: this.attempts, maxCachedRuns });
    this.starts = new Starts({
      ...shared,
      plans,
      authority,
      turns: this.turns,
      maxActiveRuns: options.maxActiveRuns ?? DEFAULTS.maxActiveRuns,
      send: (executionId, message) => this.send(executionId, message),
      onStart: (executionId) => this.waker.include(executionId),
    });
    this.children = this.newChildren({ ...shared, launchPlan: options.launchPlan });
    this.settling = new Settling({
      ...shared,
      documentIn: ({ state }) => this.documentIn(state),
      isWorkedOn: (executionId) => this.waker.isIncluded(executionId),
    });
    this.sweeper = new Sweeper({
      ...drivers,
      isLive: (name) => this.runs.get(name) !== undefined || this.holds.has(name),
      onTrouble: (error) => this.trouble(error),
    });
    this.meter.gauge('engine.cached_runs', () => this.runs.size);
    this.meter.asked(async () => {
      const { depth, waitingSince } = await drivers.queue.stats();
      const { count, since } = this.backlog(waitingSince);
      return {
        'engine.queue_depth': depth,
        'engine.ready_nodes': count,
        'engine.ready_oldest_ms': Math.max(0, drivers.clock.now() - since),
      };
    });
  }

  private newWaker(shared: OfWaker): Waker {
    return new Waker({
      ...shared,
      post: (run, stimulus) => this.turns.post(run, stimulus),
      catchUp: (run) => this.turns.catchUp(run),
      onFault: (executionId, error) => this.onFault(executionId, error),
      onTrouble: (error) => this.trouble(error),
      onLease: () => this.turns.kick(),
      startAnew: ({ plan, state: { trigger, place, authority }, project }, messageId, input) =>
        this.starts.anew(plan, messageId, {
          input,
          trigger,
          project,
          ...(place && { place }),
          ...(authority && { authority }),
        }),
    });
  }

  private newChildren(
    shared: Pick<ChildrenParts, 'store' | 'clock' | 'runs' | 'values' | 'tracing' | 'launchPlan'>,
  ): Children {
    return new Children({
      ...shared,
      start: (...child) => this.start(...child),
      isOpen: () => this.phase === 'open',
      stateOf: (executionId) => this.state(executionId),
      report: (executionId, stimulus) => this.report(executionId, stimulus),
      untilDone: (work) => this.untilDone(work),
      onChild: (executionId) => this.waker.include(executionId),
      onTrouble: (error) => this.trouble(error),
      onStarted: (parentId) => this.restAgain(parentId),
      onSent: () => this.sent(),
    });
  }

  async open({ only }: { readonly only?: readonly string[] } = {}): Promise<void> {
    await this.waker.open(only && (await this.familyOf(only)));
    this.sweeper.open();
    this.phase = 'open';
    this.turns.openForWork();
    this.outside.openForWork();
  }

  /** These runs, and all that run for them. One that cannot be read is told as a fault when it is due. */
  private async familyOf(executionIds: readonly string[]): Promise<readonly string[]> {
    const family = new Set(executionIds);
    for (const executionId of family) {
      const state = await this.state(executionId).catch(() => undefined);
      for (const child of state === undefined ? [] : openChildren(state)) family.add(child.executionId);
    }
    return [...family];
  }

  async close({ graceMs = DEFAULTS.closeGraceMs }: { readonly graceMs?: number } = {}): Promise<void> {
    if (this.phase === 'closed' || this.phase === 'closing') return;
    this.phase = 'closing';
    this.turns.stopTakingWork();
    this.outside.close();
    await this.waker.close();
    await this.sweeper.close();
    await this.attempts.handBack(graceMs);
    await this.turns.idle(graceMs);
    this.turns.close();
    await this.all.logs.flush();
    this.phase = 'closed';
    const closed = new NebulaError('ENGINE_CLOSED', 'The engine was closed before the run ended.', {
      hint: 'The run goes on when an engine is opened on the same data.',
    });
    this.settling.rejectAll(closed);
    this.outside.onFault(closed);
  }

  announce(actions: readonly Action[]): void {
    if (this.catalog.announce(actions)) this.plans.forget();
  }

  async start(workflowId: string, version?: number, options: StartOptions = {}): Promise<string> {
    if (this.phase !== 'open') throw new NebulaError('ENGINE_CLOSED', 'The engine is not open.');
    if (this.lost !== undefined) throw this.lost;
    return this.starts.start(workflowId, version, options);
  }

  async settled(executionId: string, until: 'end' | 'rest' = 'rest', signal?: AbortSignal): Promise<Settled> {
    if (this.phase === 'closed') throw new NebulaError('ENGINE_CLOSED', 'The engine is closed.');
    if (this.lost !== undefined) throw this.lost;
    return this.settling.settled(executionId, until, signal);
  }

  async isResting(executionId: string): Promise<boolean> {
    if ((await this.all.store.inbox(executionId)).length > 0) return false;
    const live = this.runs.get(executionId);
    if (live !== undefined) return this.runs.isIdle(live) && isResting(live.state, this.all.clock.now());
    const state = await this.state(executionId);
    // It may have come into memory while it was read: then something is happening to it.
    return state !== undefined && this.runs.get(executionId) === undefined && isResting(state, this.all.clock.now());
  }

  peek(executionId: string): RunDocument | undefined {
    const run = this.runs.get(executionId);
    return run === undefined ? undefined : documentOf(run.state, this.values.glance);
  }

  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  metrics(): Promise<Metrics> {
    return this.meter.read();
  }

  health(): EngineHealth {
    const { phase, wroteAt } = this;
    return { phase, wroteAt, trouble: this.lost ?? this.lastTrouble };
  }

  trace(sink: (frame: TracedFrame) => void): () => void {
    return this.tracing.to(sink);
  }

  override async publishSignal(...signal: Parameters<StoreDesk['publishSignal']>): Promise<string | undefined> {
    const executionId = await super.publishSignal(...signal);
    this.waker.wakeAt(this.all.clock.now());
    return executionId;
  }

  protected override async send(...message: Parameters<StoreDesk['send']>): Promise<boolean> {
    const isKnown = await super.send(...message);
    this.sent();
    return isKnown;
  }

  protected override sent(): void {
    this.waker.wakeAt(this.all.clock.now());
  }

  private lookInCache(run: LiveRun, path: string): void {
    const node = nodeAt(run.state, path);
    // It has gone on meanwhile, and may have been read for nothing else.
    if (node?.phase.status !== 'gated') return this.turns.touch(run);
    const { executionId } = run;
    this.cache.look(run, node).then(
      (look) => {
        if ('hit' in look) return this.report(executionId, { type: 'cached', node: path, ...look });
        this.report(executionId, { type: 'granted', node: path, gate: 'cache', miss: look.miss });
      },
      (error: unknown) => {
        this.trouble(error);
        this.all.clock.timer(REPORT_AGAIN_MS, () => this.untilDone(() => this.lookAgain(executionId, path)));
      },
    );
  }

  /** It may have left memory: nobody else would ask for it. */
  private async lookAgain(executionId: string, path: string): Promise<void> {
    const run = await this.runs.load(executionId);
    if (run !== undefined) this.lookInCache(run, path);
  }

  /** What the store does not do now is tried again. */
  private untilDone(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.trouble(error);
      this.all.clock.timer(REPORT_AGAIN_MS, () => this.phase === 'open' && this.untilDone(work));
    });
  }

  /** An attempt of this process has ended. Its run is in memory: runs with open attempts are not evicted. */
  private report(executionId: string, stimulus: Stimulus): void {
    const run = this.runs.get(executionId);
    if (run !== undefined) return this.tell(run, stimulus);
    this.runs.load(executionId).then(
      (loaded) => loaded !== undefined && this.tell(loaded, stimulus),
      (error: unknown) => {
        if (error instanceof NebulaError && !error.retryable) return this.onFault(executionId, error);
        this.trouble(error);
        this.all.clock.timer(REPORT_AGAIN_MS, () => this.report(executionId, stimulus));
      },
    );
  }

  private tell(run: LiveRun, stimulus: Stimulus): void {
    // It is being started a second time, and the store will refuse that: what is told to this one would be lost.
    if (run.isNew) run.onCreated.push(() => this.report(run.executionId, stimulus));
    else this.turns.post(run, stimulus);
  }

  private onFrame(run: LiveRun, draft: Draft, at: number): void {
    for (const done of run.onCreated.splice(0)) done();
    this.outside.onDecided(draft);
    this.count(run, draft);
    for (const child of draft.turn.children) this.children.start(run, child);
    if (this.listeners.size > 0) this.publishFrame(run, draft, at);
    if (this.tracing.isOn) this.traceFrame(run, draft, at);
    this.attempts.verifyUnknown(run);
    const isNews = draft.turn.entries.at(-1)?.type === 'run.finished';
    this.rest(run, at, isNews);
    if (isFinished(run.state.status)) return;
    void this.runs.snapshotIfHeavy(run).then(
      (taken) => taken && this.meter.add('engine.snapshots'),
      (error: unknown) => this.trouble(error),
    );
  }

  /** A late report, or one for a run that has ended: it may have been loaded for nothing else. */
  private onNothing(run: LiveRun, draft: Draft): void {
    this.outside.onDecided(draft);
    this.attempts.verifyUnknown(run);
    this.rest(run, this.all.clock.now(), false);
  }

  /** Between frames: a run that has ended, or that nothing here can move, leaves memory. */
  private rest(run: LiveRun, at: number, isNews: boolean): void {
    if (run.mailbox.length > 0) return;
    const { executionId } = run;
    if (isFinished(run.state.status)) {
      this.runs.forget(run);
      const tell = (document: RunDocument): void => this.publish({ type: 'finished', executionId, document });
      this.settling.end(run, isNews && this.listeners.size > 0 ? tell : undefined);
      return;
    }
    this.settling.rest(run);
    const wakeAt = run.storedWakeAt;
    const isFar = wakeAt === null || wakeAt === undefined || wakeAt - at > EVICT_BEYOND_MS;
    if (!isFar || !this.runs.isIdle(run) || this.children.areHere(run) || this.outside.has(executionId)) return;
    this.runs.forget(run);
    // It may have been the last one for which its parent stayed.
    if (run.state.parent !== null) this.restAgain(run.state.parent.executionId);
  }

  private restAgain(executionId: string): void {
    const run = this.runs.get(executionId);
    if (run !== undefined && this.runs.isIdle(run)) this.rest(run, this.all.clock.now(), false);
  }

  /** Nodes that wait for a slot: since when in the queue, how many behind it. */
  private backlog(queuedSince: number | null): { readonly count: number; readonly since: number } {
    let [count, since] = [0, queuedSince ?? this.all.clock.now()];
    for (const state of this.runs.states()) {
      const own = backlogOf(state);
      count += own.count;
      since = Math.min(since, own.since ?? since);
    }
    return { count, since };
  }

  /** What is tried again; unless the data is gone. */
  private trouble(error: unknown): void {
    this.lastTrouble = error;
    this.publish({ type: 'trouble', error });
    if (error instanceof NebulaError && error.code === STORE_GONE && this.lost === undefined) this.stop(error);
  }

  private written(): void {
    this.wroteAt = this.all.clock.now();
    this.lastTrouble = null;
  }

  /** Nothing of what is done here would be kept. */
  private stop(error: NebulaError): void {
    this.lost = error;
    this.turns.stopTakingWork();
    this.outside.close();
    this.turns.close();
    void this.waker.close();
    void this.sweeper.close();
    void this.attempts.handBack(0);
    this.settling.rejectAll(error);
    this.outside.onFault(error);
  }

  private onFault(executionId: string, error: unknown): void {
    this.publish({ type: 'fault', executionId, error });
    this.settling.reject(executionId, error);
    this.outside.onFault(error, executionId);
  }

  private count(run: LiveRun, { turn }: Draft): void {
    const { meter } = this;
    const { level } = run.state.root;
    if (level > run.levelsDone) meter.add('workflow.dag.level_executed', level - run.levelsDone);
    run.levelsDone = level;
    for (const entry of turn.entries) {
      if (entry.type === 'run.started') meter.add('workflow.started');
      else if (entry.type === 'node.failed') meter.add('workflow.node.failed');
      else if (entry.type === 'node.retrying') meter.add('workflow.node.retried');
      else if (entry.type === 'run.finished') {
        meter.add(entry.status === 'timed-out' ? 'workflow.timed_out' : `workflow.${entry.status}`);
        meter.observe('workflow.duration_ms', turn.now - run.state.startedAt);
      }
    }
  }

  private publishFrame(run: LiveRun, { turn }: Draft, at: number): void {
    const { executionId } = run;
    for (const entry of turn.entries) {
      for (const event of timelineOf(entry, at)) this.publish({ type: 'timeline', executionId, event });
    }
    this.publish({ type: 'changed', executionId });
  }

  private traceFrame({ executionId, plan, state }: LiveRun, { turn: { entries } }: Draft, at: number): void {
    if (entries.length === 0) return;
    const { workflowId, version } = plan;
    const { seq, traceparent } = state;
    const actionOf = (path: string): string | undefined => {
      const work = nodeAt(state, path)?.plan.work;
      if (work === undefined || !('action' in work)) return undefined;
      return `${work.action.id}@${work.action.version}`;
    };
    this.tracing.tell({ executionId, workflowId, version, traceparent, seq, at, entries, actionOf });
  }

  private publishProgress(executionId: string, node: string, fraction: number, message: string | undefined): void {
    if (this.listeners.size === 0) return;
    this.publish({ type: 'progress', executionId, node, fraction, ...(message === undefined ? {} : { message }) });
  }

  /** Listeners are guests: what they throw is theirs. */
  private publish(event: LiveEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch {}
    }
  }
}
