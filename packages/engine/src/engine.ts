/** The engine: starts runs, keeps them going, and lets people see them. It ties the parts together and decides nothing. */
import {
  type ChildCancel,
  type ChildStart,
  createCatalog,
  documentOf,
  explainNode,
  isFinished,
  isParked,
  isResting,
  type Json,
  NebulaError,
  nodeAt,
  type OpenChild,
  openChild,
  openChildren,
  type Parent,
  type Plan,
  pathOf,
  RUN_DEFAULTS,
  type RunDocument,
  type Stimulus,
  startKey,
  startPermit,
  timelineOf,
  type WorkflowDefinition,
} from '@nebula/core';
import type { Drivers, Engine, EngineOptions, LiveEvent, Metrics, Settled, StartOptions } from './api.ts';
import { Attempts } from './attempts.ts';
import { Cache } from './cache.ts';
import { StoreDesk } from './desk.ts';
import type { Draft, LiveRun } from './live-run.ts';
import { cancelMessage } from './messages.ts';
import { Meter } from './metrics.ts';
import { Plans } from './plans.ts';
import { Runs } from './runs.ts';
import { Sweeper } from './sweeper.ts';
import { Turns } from './turns.ts';
import { Values } from './values.ts';
import { Waker } from './waker.ts';

const DEFAULTS = {
  concurrency: 4,
  maxCachedRuns: 2_000,
  maxActiveRuns: 100_000,
  retentionMs: 30 * 24 * 3_600_000,
  closeGraceMs: 5_000,
} as const;

/** As all ids: they become part of paths, keys and commands. */
const EXECUTION_ID = /^[a-zA-Z0-9_-]{1,200}$/;

/** How soon to try again to tell a run what happened to it. */
const REPORT_AGAIN_MS = 1_000;

/** A run whose next timer is further away than this need not stay in memory. */
const EVICT_BEYOND_MS = 1_000;

export function createEngine(drivers: Drivers, options: EngineOptions): Engine {
  return new LocalEngine(drivers, options);
}

/** What its parent is told of a child that is not there. */
function childLost(
  { node, executionId }: ChildStart,
  error: { readonly code: string; readonly message: string },
  notStarted: boolean,
): Stimulus {
  const failure = { ...error, kind: 'USER' as const };
  const result = { status: 'failed' as const, output: { value: null }, error: failure, notStarted };
  return { type: 'child', node, executionId, result, jitter: 1 };
}

interface Waiter {
  resolve(settled: Settled): void;
  reject(error: unknown): void;
}

class LocalEngine extends StoreDesk implements Engine {
  private readonly all: Drivers;
  private readonly options: EngineOptions;
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
  private readonly listeners = new Set<(event: LiveEvent) => void>();
  private readonly starting = new Map<string, Promise<string>>();
  private readonly waiters = new Map<string, Waiter[]>();
  private phase: 'new' | 'open' | 'closing' | 'closed' = 'new';

  constructor(drivers: Drivers, options: EngineOptions) {
    const catalog = createCatalog(options.actions, options.retryPolicies ?? {}, options.capabilities);
    const plans = new Plans(drivers, catalog, options.expressionLimits);
    super(drivers, catalog, plans);
    this.all = drivers;
    this.options = options;
    this.workerId = drivers.random.id('wrk');
    this.plans = plans;
    this.runs = new Runs(drivers.store, plans, this.workerId, (run) => {
      this.untilDone(() => this.adopt(run));
    });
    this.values = new Values(drivers, options.inlineLimitBytes ?? RUN_DEFAULTS.inlineLimitBytes);
    this.cache = new Cache({ ...drivers, values: this.values });
    const shared = {
      ...drivers,
      cache: this.cache,
      runs: this.runs,
      values: this.values,
      meter: this.meter,
      workerId: this.workerId,
    };
    const concurrency = options.concurrency ?? DEFAULTS.concurrency;
    this.attempts = new Attempts({
      ...shared,
      concurrency,
      report: (executionId, stimulus) => this.report(executionId, stimulus),
      onTrouble: (error) => this.publish({ type: 'trouble', error }),
      onProgress: (executionId, node, fraction, message) => this.publishProgress(executionId, node, fraction, message),
    });
    this.turns = new Turns({
      ...shared,
      attempts: this.attempts,
      concurrency,
      retentionMs: options.retentionMs === undefined ? DEFAULTS.retentionMs : options.retentionMs,
      onFrame: (run, draft, at) => this.onFrame(run, draft, at),
      onNothing: (run) => this.onNothing(run),
      onFault: (run, error) => this.onFault(run.executionId, error),
      onTrouble: (error) => this.publish({ type: 'trouble', error }),
      onWake: (at) => this.waker.wakeAt(at),
      isLeased: () => this.waker.isLeased(),
      onCacheAsk: (run, node) => this.lookInCache(run, node),
    });
    this.waker = new Waker({
      ...shared,
      attempts: this.attempts,
      maxCachedRuns: options.maxCachedRuns ?? DEFAULTS.maxCachedRuns,
      post: (run, stimulus) => this.turns.post(run, stimulus),
      catchUp: (run) => this.turns.catchUp(run),
      onFault: (executionId, error) => this.onFault(executionId, error),
      onTrouble: (error) => this.publish({ type: 'trouble', error }),
      onLease: () => this.turns.kick(),
      startAnew: async ({ plan, state }, messageId, input) => {
        const { trigger } = state;
        await this.startByKey(plan, this.idFor(plan.workflowId, messageId), { input, trigger });
      },
    });
    this.sweeper = new Sweeper({
      ...drivers,
      isLive: (executionId) => this.runs.get(executionId) !== undefined,
      onTrouble: (error) => this.publish({ type: 'trouble', error }),
    });
    this.meter.gauge('engine.cached_runs', () => this.runs.size);
    this.meter.gauge('engine.queue_depth', () => drivers.queue.depth());
  }

  async open({ only }: { readonly only?: readonly string[] } = {}): Promise<void> {
    await this.waker.open(only && (await this.familyOf(only)));
    this.sweeper.open();
    this.phase = 'open';
    this.turns.openForWork();
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
    for (const waiters of this.waiters.values()) for (const waiter of waiters) waiter.reject(closed);
    this.waiters.clear();
  }

  register(definition: Json): Promise<{ workflowId: string; version: number; created: boolean }> {
    return this.plans.register(definition as unknown as WorkflowDefinition);
  }

  async start(workflowId: string, version?: number, options: StartOptions = {}): Promise<string> {
    if (this.phase !== 'open') throw new NebulaError('ENGINE_CLOSED', 'The engine is not open.');
    if (this.runs.size >= (this.options.maxActiveRuns ?? DEFAULTS.maxActiveRuns)) {
      throw new NebulaError('BUSY', `${this.runs.size} runs are under way already.`, {
        hint: 'Start it again when some of them have ended.',
        retryable: true,
      });
    }
    const plan =
      (version === undefined ? undefined : this.plans.cached(workflowId, version)) ??
      (await this.plans.get(workflowId, version));
    const { input, problems } = plan.acceptInput(options.input ?? {});
    if (problems.length > 0) {
      throw new NebulaError('INPUT_INVALID', `The input does not fit workflow '${workflowId}': ${problems[0]}`, {
        hint: problems.length > 1 ? problems.slice(1).join('; ') : 'See `input` in the definition.',
        details: { problems: [...problems] },
      });
    }
    const executionId = options.executionId ?? this.idFor(workflowId, options.idempotencyKey);
    if (!EXECUTION_ID.test(executionId)) {
      throw new NebulaError('EXECUTION_ID_INVALID', `'${executionId.slice(0, 80)}' cannot be the id of an execution.`, {
        hint: 'Ids have 1 to 200 letters, digits, _ and -.',
      });
    }
    const { start } = plan;
    // A parent waits for the execution that it asked for, and for no other.
    if (start !== undefined && start.policy !== 'allow' && options.parent === undefined)
      return this.startByKey(plan, executionId, { ...options, input });
    return this.create(plan, executionId, { ...options, input });
  }

  private idFor(workflowId: string, key: string | undefined): string {
    if (key === undefined) return this.all.random.id('exe');
    return `exe_k${this.all.digest(`${workflowId} ${key}`).slice(0, 40)}`;
  }

  /** Starts with the same key are looked at one after the other. */
  private startByKey(plan: Plan, executionId: string, options: StartOptions): Promise<string> {
    let key: string;
    try {
      key = startKey(plan, options.input ?? {});
    } catch (error) {
      if (!(error instanceof NebulaError)) throw error;
      throw new NebulaError('START_KEY_INVALID', `config.start.key: ${error.message}`, {
        hint: error.hint ?? 'See `config.start` in the definition.',
      });
    }
    const permit = startPermit(plan.workflowId, key);
    const before = this.starting.get(permit) ?? Promise.resolve('');
    const mine = before.catch(() => '').then(() => this.startAlone(plan, executionId, options, key));
    this.starting.set(permit, mine);
    const done = (): void => {
      if (this.starting.get(permit) === mine) this.starting.delete(permit);
    };
    mine.then(done, done);
    return mine;
  }

  private async startAlone(plan: Plan, executionId: string, options: StartOptions, key: string): Promise<string> {
    const { store, clock } = this.all;
    const isDebounced = plan.start?.policy === 'debounce';
    const [holder] = await store.permits(startPermit(plan.workflowId, key));
    const until = clock.now() + (plan.start?.windowMs ?? 0);
    if (holder === undefined)
      return this.create(plan, executionId, options, { key, ...(isDebounced && { hold: { until } }) });
    if (isDebounced) await this.send(holder.executionId, { type: 'restart', input: options.input ?? {}, until });
    return holder.executionId;
  }

  private async create(
    plan: Plan,
    executionId: string,
    options: StartOptions,
    more: { readonly key?: string; readonly hold?: { readonly until: number } } = {},
  ): Promise<string> {
    const { trigger = { type: 'manual' }, parent, input = {} } = options;
    const known = this.runs.get(executionId);
    const run = known ?? this.runs.create(plan, executionId);
    this.waker.include(executionId);
    if (known === undefined)
      this.turns.post(run, { type: 'start', input, trigger, ...(parent && { parent }), ...more });
    if (run.isNew) {
      await new Promise<void>((resolve, reject) => {
        run.onCreated.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    }
    return executionId;
  }

  async settled(executionId: string): Promise<Settled> {
    if (this.phase === 'closed') throw new NebulaError('ENGINE_CLOSED', 'The engine is closed.');
    const { promise: waiting, ...waiter } = Promise.withResolvers<Settled>();
    this.waiters.set(executionId, [...(this.waiters.get(executionId) ?? []), waiter]);
    // The engine may be closed while the store is asked, before anybody listens.
    waiting.catch(() => {});
    const run = this.runs.get(executionId);
    // Something happens to it: what it comes to is told then.
    if (run !== undefined && !(isParked(run.state) && this.runs.isIdle(run))) return waiting;
    try {
      await this.settleFromStore(executionId);
    } catch (error) {
      const others = this.takeWaiters(executionId).filter((other) => other !== waiter);
      if (others.length > 0) this.waiters.set(executionId, others);
      throw error;
    }
    return waiting;
  }

  async isResting(executionId: string): Promise<boolean> {
    if ((await this.all.store.inbox(executionId)).length > 0) return false;
    const live = this.runs.get(executionId);
    if (live !== undefined) return this.runs.isIdle(live) && isResting(live.state);
    const state = await this.state(executionId);
    // It may have come into memory while it was read: then something is happening to it.
    return state !== undefined && this.runs.get(executionId) === undefined && isResting(state);
  }

  /** A run to which nothing happens here may have ended, or be parked, already. */
  private async settleFromStore(executionId: string): Promise<void> {
    const row = await this.all.store.execution(executionId);
    if (row === undefined) {
      this.takeWaiters(executionId).forEach((waiter) => {
        waiter.reject(new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`));
      });
    } else if (row.finishedAt !== null || row.wakeAt === null || row.wakeAt > this.all.clock.now()) {
      // A request that waits in its inbox may move it on: then that is waited for.
      if ((await this.all.store.inbox(executionId)).length > 0) return;
      const run = await this.runs.load(executionId);
      if (run === undefined) return;
      if (isFinished(run.state.status)) this.finish(run);
      else if (this.runs.isIdle(run)) {
        if (isParked(run.state)) this.settlePark(run);
        this.runs.forget(run);
      }
    }
  }

  peek(executionId: string): RunDocument | undefined {
    const run = this.runs.get(executionId);
    return run === undefined ? undefined : documentOf(run.state, this.values.glance);
  }

  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  metrics(): Metrics {
    return this.meter.read();
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
    this.cache.look(executionId, node).then(
      (look) => {
        if ('hit' in look) return this.report(executionId, { type: 'cached', node: path, ...look });
        this.report(executionId, { type: 'granted', node: path, gate: 'cache', miss: look.miss });
      },
      (error: unknown) => {
        this.publish({ type: 'trouble', error });
        this.all.clock.timer(REPORT_AGAIN_MS, () => this.untilDone(() => this.lookAgain(executionId, path)));
      },
    );
  }

  /** It may have left memory: nobody else would ask for it. */
  private async lookAgain(executionId: string, path: string): Promise<void> {
    const run = await this.runs.load(executionId);
    if (run !== undefined) this.lookInCache(run, path);
  }

  /** Starting it twice is starting it once; one that cannot be started has failed. */
  private startChild(parentId: string, child: ChildStart): void {
    if (child.again) return this.untilDone(() => this.goOnWithChild(parentId, child));
    const { node, executionId, workflowId, version, input, depth } = child;
    const parent = { executionId: parentId, node, depth };
    const trigger = { type: 'workflow', executionId: parentId, node };
    this.start(workflowId, version, { executionId, input, trigger, parent }).then(
      () => this.untilDone(() => this.cancelUnlessWanted(parent, executionId)),
      (error: unknown) => {
        if (this.phase !== 'open') return;
        if (error instanceof NebulaError && !error.retryable) {
          return this.report(parentId, childLost(child, { code: error.code, message: error.message }, true));
        }
        this.publish({ type: 'trouble', error });
        this.all.clock.timer(REPORT_AGAIN_MS, () => this.startChild(parentId, child));
      },
    );
  }

  /** It has been told with the frame that asks for it. Nobody knows what one that has been deleted did: it is not done again. */
  private async goOnWithChild(parentId: string, child: ChildStart): Promise<void> {
    const { node, executionId } = child;
    this.waker.include(executionId);
    if ((await this.all.store.execution(executionId)) !== undefined) return;
    const message = `It has been deleted, so nothing can go on in it. To run it anew, replay '${node}'.`;
    this.report(parentId, childLost(child, { code: 'CHILD_GONE', message }, false));
  }

  /** What the store does not do now is tried again. */
  private untilDone(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.publish({ type: 'trouble', error });
      this.all.clock.timer(REPORT_AGAIN_MS, () => this.phase === 'open' && this.untilDone(work));
    });
  }

  /** A parent that ended, or gave it up, while the child was being started could not tell it so. */
  private async cancelUnlessWanted(parent: Parent, executionId: string): Promise<void> {
    const child = await this.asWaitedFor(parent, executionId);
    if (child !== undefined && child.stop === null) return;
    const { attempt = 0, stop } = child ?? {};
    await this.cancelChild(parent.executionId, { executionId, attempt, compensate: stop?.compensate ?? true });
  }

  /** Undefined: its parent does not wait for it any more. */
  private async asWaitedFor(
    { executionId: parentId, node }: Parent,
    executionId: string,
  ): Promise<OpenChild | undefined> {
    const { store } = this.all;
    const live = this.runs.get(parentId);
    // What is being decided on may still be refused.
    if (live !== undefined && live.draft === null && !live.isBusy) {
      const { state } = live;
      if (store.exclusive || (await store.frames(parentId, state.seq)).length === 0)
        return openChild(state, node, executionId);
    }
    const state = await this.state(parentId);
    return state && openChild(state, node, executionId);
  }

  private async cancelChild(parentId: string, cancel: ChildCancel): Promise<void> {
    const { store, clock } = this.all;
    await store.send(cancelMessage(cancel, parentId), clock.now());
    this.waker.wakeAt(clock.now());
  }

  /**
   * A run was read from the store: whoever wrote its last frame may have died before its children were started, and
   * whoever started it, before it was told that nobody wants it any more.
   */
  private async adopt(run: LiveRun): Promise<void> {
    const { parent, status, stopping, ending, children, reopened } = run.state;
    const isEnding = isFinished(status) || stopping !== null || ending !== null;
    // One that somebody retried, or replayed, is theirs.
    if (parent !== null && reopened === 0 && !isEnding) await this.cancelUnlessWanted(parent, run.executionId);
    if (children.size === 0) return;
    const { executionId: parentId } = run;
    for (const { stop, input, ...child } of openChildren(run.state)) {
      if (stop !== null) await this.cancelChild(parentId, { ...child, ...stop });
      this.waker.include(child.executionId);
      if ((await this.all.store.execution(child.executionId)) !== undefined) continue;
      if (input.blob !== undefined) await this.values.fetch(parentId, [input.blob]);
      const value = input.blob === undefined ? (input.value ?? {}) : this.values.lookup(input.blob);
      this.startChild(parentId, { ...child, input: value });
    }
  }

  /** An attempt of this process has ended. Its run is in memory: runs with open attempts are not evicted. */
  private report(executionId: string, stimulus: Stimulus): void {
    const run = this.runs.get(executionId);
    if (run !== undefined) {
      this.turns.post(run, stimulus);
      return;
    }
    this.runs.load(executionId).then(
      (loaded) => loaded !== undefined && this.turns.post(loaded, stimulus),
      (error: unknown) => {
        if (error instanceof NebulaError && !error.retryable) return this.onFault(executionId, error);
        this.publish({ type: 'trouble', error });
        this.all.clock.timer(REPORT_AGAIN_MS, () => this.report(executionId, stimulus));
      },
    );
  }

  private onFrame(run: LiveRun, draft: Draft, at: number): void {
    for (const done of run.onCreated.splice(0)) done();
    this.count(run, draft);
    for (const child of draft.turn.children) this.startChild(run.executionId, child);
    if (this.listeners.size > 0) this.publishFrame(run, draft, at);
    this.attempts.verifyUnknown(run);
    const isNews = draft.turn.entries.at(-1)?.type === 'run.finished';
    this.rest(run, at, isNews);
    if (isFinished(run.state.status)) return;
    void this.runs.snapshotIfHeavy(run).then(
      (taken) => taken && this.meter.add('engine.snapshots'),
      (error: unknown) => this.publish({ type: 'trouble', error }),
    );
  }

  /** A late report, or one for a run that has ended: it may have been loaded for nothing else. */
  private onNothing(run: LiveRun): void {
    this.attempts.verifyUnknown(run);
    this.rest(run, this.all.clock.now(), false);
  }

  /** Between frames: a run that has ended, or that nothing here can move, leaves memory. */
  private rest(run: LiveRun, at: number, isNews: boolean): void {
    if (run.mailbox.length > 0) return;
    if (isFinished(run.state.status)) {
      this.finish(run, isNews);
      return;
    }
    if (isParked(run.state)) this.settlePark(run);
    const wakeAt = run.storedWakeAt;
    const isFar = wakeAt === null || wakeAt === undefined || wakeAt - at > EVICT_BEYOND_MS;
    if (isFar && this.runs.isIdle(run)) this.runs.forget(run);
  }

  /** `isNews`: it has ended just now. */
  private finish(run: LiveRun, isNews = false): void {
    this.runs.forget(run);
    const waiters = this.takeWaiters(run.executionId);
    if (waiters.length === 0 && !(isNews && this.listeners.size > 0)) return;
    void this.finalDocument(run).then(
      (document) => {
        if (isNews) this.publish({ type: 'finished', executionId: run.executionId, document });
        for (const waiter of waiters) waiter.resolve({ parked: false, document });
      },
      (error: unknown) => {
        for (const waiter of waiters) waiter.reject(error);
      },
    );
  }

  /** Of the end that was reached here: the journal may go on while large values are fetched. */
  private async finalDocument({ state }: LiveRun): Promise<RunDocument> {
    return state.spilled === 0 ? documentOf(state, this.values.lookup) : this.documentIn(state);
  }

  private settlePark(run: LiveRun): void {
    const waiters = this.takeWaiters(run.executionId);
    if (waiters.length === 0) return;
    const now = this.all.clock.now();
    const waitingFor = [...run.state.unknown].flatMap((node) => explainNode(run.state, pathOf(node), now) ?? []);
    const document = documentOf(run.state, this.values.glance);
    for (const waiter of waiters) waiter.resolve({ parked: true, document, waitingFor });
  }

  private takeWaiters(executionId: string): Waiter[] {
    const waiters = this.waiters.get(executionId) ?? [];
    this.waiters.delete(executionId);
    return waiters;
  }

  private onFault(executionId: string, error: unknown): void {
    this.publish({ type: 'fault', executionId, error });
    for (const waiter of this.takeWaiters(executionId)) waiter.reject(error);
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
