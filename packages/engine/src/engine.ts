/**
 * The engine: makes its parts, opens and closes them. It decides nothing.
 *
 *   mailbox ─▶ turns (tasks, recovery) ─▶ effects ─▶ observers, children, waiters, waker
 *      ▲                  │
 *      └── attempts, remote attempts, waker, cache
 *
 * `context.ts` has what the parts share, `execution-service.ts` what needs no engine: looking at runs and leaving requests.
 */
import {
  type Action,
  createCatalog,
  documentOf,
  NebulaError,
  type OpenCatalog,
  openChildren,
  RUN_DEFAULTS,
} from '@nebula/core';
import type {
  Drivers,
  Engine,
  EngineHealth,
  EngineOptions,
  ExecutionService,
  Metrics,
  StartOptions,
  WaitResult,
} from './api.ts';
import { Attempts } from './attempts/attempts.ts';
import { Cache } from './attempts/cache.ts';
import { Durations } from './attempts/durations.ts';
import { Tasks } from './attempts/tasks.ts';
import type { EngineContext } from './context.ts';
import { EngineEffects } from './engine-effects.ts';
import { Lifecycle } from './lifecycle.ts';
import { Meter } from './observe/metrics.ts';
import { Observers } from './observe/observers.ts';
import { Tracing } from './observe/tracing.ts';
import { RemoteAttempts } from './remote/remote-attempts.ts';
import { StoreExecutionService } from './requests/execution-service.ts';
import { Selection } from './selection.ts';
import { Authority } from './start/authority.ts';
import { Children } from './start/children.ts';
import { Plans } from './start/plans.ts';
import { Starts } from './start/starts.ts';
import { BlobPins } from './storage/blob-pins.ts';
import { Sweeper } from './storage/sweeper.ts';
import { Values } from './storage/values.ts';
import { Mailbox } from './turn/mailbox.ts';
import { Recovery } from './turn/recovery.ts';
import { Runs } from './turn/runs.ts';
import { Turns } from './turn/turns.ts';
import { RunWaiters } from './wake/run-waiters.ts';
import { Waker } from './wake/waker.ts';
import { WORKER_PREFIX, WorkerLease } from './wake/worker-lease.ts';

const DEFAULTS = {
  concurrency: 4,
  maxCachedRuns: 2_000,
  maxActiveRuns: 100_000,
  retentionMs: 30 * 24 * 3_600_000,
  closeGraceMs: 5_000,
} as const;

export function createEngine(drivers: Drivers, options: EngineOptions): Engine {
  const engine = new LocalEngine(drivers, options);
  return Object.assign(engine, engine.executions);
}

class LocalEngine implements Omit<Engine, keyof ExecutionService> {
  private readonly context: EngineContext;
  private readonly catalog: OpenCatalog;
  private readonly plans: Plans;
  private readonly observers: Observers;
  private readonly effects: EngineEffects;
  private readonly attempts: Attempts;
  private readonly turns: Turns;
  private readonly starts: Starts;
  private readonly waker: Waker;
  private readonly waiters: RunWaiters;
  private readonly sweeper: Sweeper;
  readonly executions: StoreExecutionService;
  readonly remote: RemoteAttempts;

  constructor(drivers: Drivers, options: EngineOptions) {
    const { maxActiveRuns = DEFAULTS.maxActiveRuns, maxCachedRuns = DEFAULTS.maxCachedRuns, launchPlan } = options;
    const { retentionMs = DEFAULTS.retentionMs } = options;
    this.catalog = createCatalog(options.actions, options.retryPolicies ?? {}, options.capabilities, options.labels);
    this.catalog.announce(options.announced ?? []);
    const authority = new Authority(options.projects);
    this.plans = new Plans(drivers, this.catalog, options, authority);
    const { plans } = this;
    const [meter, tracing] = [new Meter(), new Tracing(drivers.digest)];
    this.observers = new Observers(meter, tracing);
    this.effects = new EngineEffects(this.observers);
    const context = newContext(drivers, options, { plans, authority, meter, tracing, effects: this.effects });
    this.context = context;
    this.executions = new StoreExecutionService(drivers, plans, context.blobPins, () =>
      this.effects.wake(drivers.clock.now()),
    );
    const { executions } = this;
    const cache = new Cache(context);
    const attempts = new Attempts(context);
    const recovery = new Recovery(context, attempts);
    const tasks = new Tasks(context, attempts, recovery);
    const starts = new Starts(context, { plans, authority, maxActiveRuns });
    const children = new Children(context, { starts, executions, launchPlan });
    this.attempts = attempts;
    this.starts = starts;
    this.turns = new Turns(context, { attempts, recovery, tasks, cache, retentionMs });
    this.remote = new RemoteAttempts(context, tasks, recovery);
    this.waker = new Waker(context, { attempts, recovery, starts, cache, authority, maxCachedRuns });
    this.waiters = new RunWaiters(context, executions);
    this.sweeper = new Sweeper(context);
    const { remote, waiters, waker } = this;
    this.effects.connect(context, {
      attempts,
      children,
      remote,
      waiters,
      waker,
      stop: (error) => this.stop(error),
    });
  }

  async open({ only }: { readonly only?: readonly string[] } = {}): Promise<void> {
    this.context.selection.limitTo(only && (await this.familyOf(only)));
    await this.waker.open();
    this.sweeper.open();
    this.context.lifecycle.phase = 'open';
    this.turns.openForWork();
    this.remote.openForWork();
  }

  /** These runs and all their children. A run that cannot be read is reported as a fault when it is due. */
  private async familyOf(executionIds: readonly string[]): Promise<readonly string[]> {
    const family = new Set(executionIds);
    for (const executionId of family) {
      const state = await this.executions.state(executionId).catch(() => undefined);
      for (const child of state === undefined ? [] : openChildren(state)) family.add(child.executionId);
    }
    return [...family];
  }

  async close({ graceMs = DEFAULTS.closeGraceMs }: { readonly graceMs?: number } = {}): Promise<void> {
    const { lifecycle, logs } = this.context;
    if (lifecycle.phase === 'closed' || lifecycle.phase === 'closing') return;
    lifecycle.phase = 'closing';
    this.turns.stopTakingWork();
    this.remote.close();
    await this.waker.close();
    await this.sweeper.close();
    await this.attempts.handBack(graceMs);
    await this.turns.idle(graceMs);
    this.turns.close();
    await logs.flush();
    lifecycle.phase = 'closed';
    const closed = new NebulaError('ENGINE_CLOSED', 'The engine was closed before the run ended.', {
      hint: 'The run goes on when an engine is opened on the same data.',
    });
    this.waiters.rejectAll(closed);
    this.remote.onFault(closed);
  }

  /** The data is gone: no write of this engine would be kept. */
  private stop(error: NebulaError): void {
    this.context.lifecycle.lost = error;
    this.turns.stopTakingWork();
    this.remote.close();
    this.turns.close();
    void this.waker.close();
    void this.sweeper.close();
    void this.attempts.handBack(0);
    this.waiters.rejectAll(error);
    this.remote.onFault(error);
  }

  announce(actions: readonly Action[]): void {
    if (this.catalog.announce(actions)) this.plans.forget();
  }

  async start(workflowId: string, version?: number, options: StartOptions = {}): Promise<string> {
    return this.starts.start(workflowId, version, options);
  }

  async waitFor(executionId: string, until: 'end' | 'parked' = 'parked', signal?: AbortSignal): Promise<WaitResult> {
    const { phase, lost } = this.context.lifecycle;
    if (phase === 'closed') throw new NebulaError('ENGINE_CLOSED', 'The engine is closed.');
    if (lost !== undefined) throw lost;
    return this.waiters.waitFor(executionId, until, signal);
  }

  isQuiescent(executionId: string): Promise<boolean> {
    return this.waiters.isQuiescent(executionId);
  }

  peek: Engine['peek'] = (executionId) => {
    const { runs, values } = this.context;
    const run = runs.get(executionId);
    return run && documentOf(run.state, values.glance);
  };

  on: Engine['on'] = (listener) => this.observers.on(listener);

  trace: Engine['trace'] = (sink) => this.context.tracing.to(sink);

  metrics(): Promise<Metrics> {
    return this.context.meter.read();
  }

  health(): EngineHealth {
    const { phase, lost } = this.context.lifecycle;
    const { wroteAt, lastTrouble } = this.effects;
    return { phase, wroteAt, trouble: lost ?? lastTrouble };
  }
}

function newContext(
  drivers: Drivers,
  {
    concurrency = DEFAULTS.concurrency,
    inlineLimitBytes = RUN_DEFAULTS.inlineLimitBytes,
    snapshotMinBytes,
  }: EngineOptions,
  made: Pick<EngineContext, 'meter' | 'tracing' | 'effects'> & { readonly plans: Plans; readonly authority: Authority },
): EngineContext {
  const { clock, queue } = drivers;
  const { meter, tracing, effects } = made;
  const workerId = drivers.random.id(WORKER_PREFIX);
  const shared = { ...drivers, ...made, workerId };
  const runs = new Runs({ ...shared, snapshotMinBytes });
  meter.gauge('engine.cached_runs', () => runs.size);
  meter.asked(async () => {
    const { depth, waitingSince } = await queue.stats();
    const { count, since } = runs.backlog();
    const now = clock.now();
    return {
      'engine.queue_depth': depth,
      'engine.ready_nodes': count,
      'engine.ready_oldest_ms': Math.max(0, now - Math.min(waitingSince ?? now, since ?? now)),
    };
  });
  return {
    ...drivers,
    workerId,
    concurrency,
    meter,
    tracing,
    effects,
    runs,
    lifecycle: new Lifecycle(),
    selection: new Selection(shared),
    lease: new WorkerLease(shared),
    values: new Values(drivers, inlineLimitBytes),
    durations: new Durations(drivers.store),
    blobPins: new BlobPins(),
    mailbox: new Mailbox({ clock, runs, effects }),
  };
}
