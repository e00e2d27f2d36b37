/** The engine: opens and closes its parts, and exposes their operations. `wiring.ts` makes the parts. */

import { type ExecutionId, NebulaError } from '@nebula/core';
import { documentOf, openChildren } from '@nebula/core/run';
import type { Drivers, Engine, EngineOptions } from './api.ts';
import { engineFigures } from './observe/figures.ts';
import { type EngineParts, makeParts } from './wiring.ts';

const CLOSE_GRACE_MS = 5_000;

export function createEngine(drivers: Drivers, options: EngineOptions): Engine {
  const parts = makeParts(drivers, options, (error) => stop(parts, error));
  const { context, plans, executions, starts, waiters, observers, effects, remote } = parts;
  const { clock, lifecycle, meter, runs, tracing, values } = context;
  return {
    ...executions,
    remote,
    open: ({ only } = {}) => open(parts, only),
    close: ({ graceMs = CLOSE_GRACE_MS } = {}) => close(parts, graceMs),
    start: (workflowId, version, start = {}) => starts.start(workflowId, version, start),
    waitFor: (executionId, until, signal) => waiters.waitFor(executionId, until, signal),
    isQuiescent: (executionId) => waiters.isQuiescent(executionId),
    peek(executionId) {
      const run = runs.get(executionId);
      return run?.isDurable ? documentOf(run.state, values.glance, clock.now()) : undefined;
    },
    announce(actions) {
      if (plans.checks.catalog.announce(actions)) plans.forget();
    },
    on: (listener) => observers.on(listener),
    trace: (sink) => tracing.to(sink),
    metrics: () => meter.read(),
    figures: () => engineFigures(context),
    health() {
      const { phase, lost } = lifecycle;
      const { wroteAt, lastTrouble } = effects;
      return { phase, wroteAt, trouble: lost ?? lastTrouble };
    },
  };
}

async function open(parts: EngineParts, only: readonly string[] | undefined): Promise<void> {
  const { context, waker, sweeper, turns, remote } = parts;
  context.selection.limitTo(only && (await familyOf(parts, only)));
  await waker.open();
  sweeper.open();
  context.lifecycle.phase = 'open';
  turns.openForWork();
  remote.openForWork();
}

/** The given runs and all their children. A run that cannot be read is reported as a fault when it is due. */
async function familyOf(
  { executions }: EngineParts,
  executionIds: readonly ExecutionId[],
): Promise<readonly ExecutionId[]> {
  const family = new Set(executionIds);
  for (const executionId of family) {
    const state = await executions.state(executionId).catch(() => undefined);
    for (const child of state === undefined ? [] : openChildren(state)) family.add(child.executionId);
  }
  return [...family];
}

async function close({ context, ...parts }: EngineParts, graceMs: number): Promise<void> {
  const { lifecycle, logs } = context;
  const { attempts, remote, sweeper, turns, waiters, waker } = parts;
  if (lifecycle.phase === 'closed' || lifecycle.phase === 'closing') return;
  lifecycle.phase = 'closing';
  turns.stopTakingWork();
  remote.close();
  await waker.close();
  await sweeper.close();
  await attempts.handBack(graceMs);
  await turns.idle(graceMs);
  turns.close();
  await logs.flush();
  lifecycle.phase = 'closed';
  const closed = new NebulaError('ENGINE_CLOSED', 'The engine was closed before the run ended.', {
    hint: 'The run continues when an engine is opened on the same data.',
  });
  waiters.rejectAll(closed);
  remote.onFault(closed);
}

/** Stops the engine because its data is gone: no further write would be kept. */
function stop({ context, attempts, remote, sweeper, turns, waiters, waker }: EngineParts, error: NebulaError): void {
  context.lifecycle.lost = error;
  turns.stopTakingWork();
  remote.close();
  turns.close();
  void waker.close();
  void sweeper.close();
  void attempts.handBack(0);
  waiters.rejectAll(error);
  remote.onFault(error);
}
