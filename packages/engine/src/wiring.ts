/**
 * Makes the parts of an engine.
 *
 *   mailbox ─▶ turns (tasks, recovery) ─▶ effects ─▶ observers, children, waiters, waker
 *      ▲                  │
 *      └── attempts, remote attempts, waker, cache, starts
 *
 * `context.ts` is shared by all parts. `execution-service.ts` reads runs and records requests, which needs no engine.
 */
import { definitionChecks, type NebulaError, RUN_DEFAULTS } from '@nebula/core';
import { SLICE_MS } from '@nebula/ports';
import type { Drivers, EngineOptions } from './api.ts';
import { Attempts } from './attempts/attempts.ts';
import { Cache } from './attempts/cache.ts';
import { CallbackSigner } from './attempts/callback-signer.ts';
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
import { EngineLease, WORKER_PREFIX } from './wake/engine-lease.ts';
import { RunWaiters } from './wake/run-waiters.ts';
import { Waker } from './wake/waker.ts';

const DEFAULTS = {
  concurrency: 4,
  inlineLimitBytes: RUN_DEFAULTS.inlineLimitBytes,
  maxCachedRuns: 2_000,
  maxActiveRuns: 100_000,
  retentionMs: 30 * 24 * 3_600_000,
  sliceMs: SLICE_MS,
} as const;

/** The parts that `engine.ts` opens, closes and offers. */
export interface EngineParts {
  readonly context: EngineContext;
  readonly plans: Plans;
  readonly executions: StoreExecutionService;
  readonly observers: Observers;
  readonly effects: EngineEffects;
  readonly attempts: Attempts;
  readonly remote: RemoteAttempts;
  readonly starts: Starts;
  readonly turns: Turns;
  readonly waiters: RunWaiters;
  readonly waker: Waker;
  readonly sweeper: Sweeper;
}

/** `stop`: called when the data is gone. */
export function makeParts(drivers: Drivers, given: EngineOptions, stop: (error: NebulaError) => void): EngineParts {
  const options = { ...DEFAULTS, ...given };
  const { maxActiveRuns, maxCachedRuns, retentionMs, sliceMs, launchPlan, compiled } = options;
  const authority = new Authority(options.projects);
  const { announced = [], checks = definitionChecks(options, () => drivers.clock.now()) } = options;
  checks.catalog.announce(announced);
  const plans = new Plans(drivers, checks, authority, compiled);
  const [meter, tracing] = [new Meter(), new Tracing(drivers.digest)];
  const observers = new Observers(meter, tracing);
  const effects = new EngineEffects(observers);
  const context = newContext(drivers, options, { plans, authority, meter, tracing, effects });
  const wake = (): void => effects.wake(drivers.clock.now());
  const executions = new StoreExecutionService(drivers, plans, context.blobPins, wake);
  const cache = new Cache(context);
  const attempts = new Attempts(context);
  const recovery = new Recovery(context, attempts);
  const tasks = new Tasks(context, attempts, recovery);
  const turns = new Turns(context, { attempts, recovery, tasks, cache, retentionMs, sliceMs });
  const remote = new RemoteAttempts(context, tasks, recovery);
  const starts = new Starts(context, { plans, authority, maxActiveRuns });
  const children = new Children(context, { starts, executions, launchPlan });
  const waker = new Waker(context, { attempts, recovery, starts, cache, authority, plans, maxCachedRuns });
  const waiters = new RunWaiters(context, executions);
  const sweeper = new Sweeper(context);
  effects.connect(context, { attempts, children, remote, waiters, waker, stop });
  return {
    ...{ context, plans, executions, observers, effects },
    ...{ attempts, remote, starts, turns, waiters, waker, sweeper },
  };
}

function newContext(
  drivers: Drivers,
  {
    concurrency,
    inlineLimitBytes,
    snapshotMinBytes,
    callbacks,
  }: EngineOptions & Record<'concurrency' | 'inlineLimitBytes', number>,
  made: Pick<EngineContext, 'meter' | 'tracing' | 'effects'> & { readonly plans: Plans; readonly authority: Authority },
): EngineContext {
  const { clock, queue } = drivers;
  const { meter, tracing, effects } = made;
  const workerId = drivers.random.id(WORKER_PREFIX);
  const shared = { ...drivers, ...made, workerId };
  const runs = new Runs({ ...shared, snapshotMinBytes });
  meter.gauge('engine.cached_runs', () => runs.size);
  meter.gaugeGroup(async () => {
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
    ...{ workerId, concurrency, meter, tracing, effects, runs },
    lifecycle: new Lifecycle(),
    selection: new Selection(shared),
    lease: new EngineLease(shared),
    values: new Values(drivers, inlineLimitBytes),
    durations: new Durations(drivers.store),
    callbackSigner: new CallbackSigner(callbacks),
    blobPins: new BlobPins(),
    mailbox: new Mailbox({ clock, runs, effects }),
  };
}
