/** The product's drivers on one data folder, as the command line composes them: for the worker, and for who looks. */
import path from 'node:path';
import type { Action } from '@nebula/core';
import { fsBlobs } from '@nebula/drivers/fs';
import { memoryQueue } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { createEngine, createExecutionService, type Engine, type ExecutionService } from '@nebula/engine';
import type { Store } from '@nebula/ports';

const CONCURRENCY = 16;
/** By default an engine waits 5 s. At load 30 four attempts with large outputs were left open; the limit is suspected. */
const CLOSE_GRACE_MS = 60_000;

export function databaseIn(folder: string): string {
  return path.join(folder, 'nebula.db');
}

export function effectsIn(folder: string): string {
  return path.join(folder, 'effects.log');
}

function around(folder: string) {
  return {
    blobs: fsBlobs({ root: path.join(folder, 'blobs') }),
    clock: realClock,
    random: realRandom(),
    digest: sha256,
  };
}

export async function openEngineIn(
  folder: string,
  actions: readonly Action[],
): Promise<{ readonly engine: Engine; close(): Promise<void> }> {
  const context = around(folder);
  const store = await openSqliteStore({ path: databaseIn(folder), clock: realClock, engine: true });
  const queue = memoryQueue({ clock: realClock });
  const sandbox = createInProcessSandbox({ projectDir: folder, clock: realClock });
  const engine = createEngine(
    { ...context, store, logs: store.logs, queue, sandbox },
    { actions, concurrency: CONCURRENCY },
  );
  return {
    engine,
    async close() {
      await engine.close({ graceMs: CLOSE_GRACE_MS });
      await queue.close();
      await store.close();
    },
  };
}

/** Changes nothing in the folder, so a killed worker's files stay as it left them. */
export async function openServiceIn(
  folder: string,
  actions: readonly Action[],
): Promise<{ readonly executions: ExecutionService; readonly store: Store; close(): Promise<void> }> {
  const store = await openSqliteStore({ path: databaseIn(folder), clock: realClock, engine: false, readonly: true });
  const executions = createExecutionService({ ...around(folder), store, logs: store.logs }, { actions });
  return { executions, store, close: () => store.close() };
}
