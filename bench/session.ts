/** An engine on a fresh SQLite store in strict durability: what every durable figure is measured on. */
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Action, Json } from '@nebula/core';
import { fsBlobs } from '@nebula/drivers/fs';
import { memoryQueue } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { openSqliteStore, type SqliteStore } from '@nebula/drivers/sqlite';
import { createEngine, type Engine } from '@nebula/engine';

export interface Session {
  readonly engine: Engine;
  readonly store: SqliteStore;
  readonly folder: string;
  /** Registers a definition, and gives the way to run it once to its end. */
  workflow(definition: Record<string, unknown>): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const actions: readonly Action[] = [
  { id: 'noop', version: '1', effect: 'pure', run: () => null },
  {
    id: 'sleep',
    version: '1',
    effect: 'pure',
    run: async (ctx, input) => {
      await ctx.sleep((input as { ms: number }).ms);
      return null;
    },
  },
];

/** On the disk of the working folder, not in /tmp, which may be memory. */
export function benchFolder(): string {
  return mkdtempSync(path.join(process.cwd(), '.nebula-bench-'));
}

export async function openSession({ concurrency = 64 } = {}): Promise<Session> {
  const folder = benchFolder();
  const clock = realClock;
  const store = await openSqliteStore({
    path: path.join(folder, 'nebula.db'),
    clock,
    engine: true,
    durability: 'strict',
  });
  const queue = memoryQueue({ clock });
  const engine = createEngine(
    {
      store,
      queue,
      blobs: fsBlobs({ root: path.join(folder, 'blobs') }),
      logs: store.logs,
      sandbox: createInProcessSandbox({ projectDir: folder, clock }),
      clock,
      random: realRandom(),
      digest: sha256,
    },
    { actions, concurrency },
  );
  await engine.open();
  return {
    engine,
    store,
    folder,
    async workflow(definition) {
      const { workflowId, version } = await engine.register(definition as Json);
      return async () => {
        const result = await engine.waitFor(await engine.start(workflowId, version));
        if (result.document.status !== 'completed') throw new Error(`the run is ${result.document.status}`);
      };
    },
    async close() {
      await engine.close();
      await queue.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs `total` times, `width` at a time. */
export async function repeat(run: () => Promise<void>, total: number, width: number): Promise<void> {
  let started = 0;
  const lane = async (): Promise<void> => {
    while (started++ < total) await run();
  };
  await Promise.all(Array.from({ length: width }, lane));
}

export function chain(length: number): Record<string, unknown> {
  const nodes: Record<string, unknown> = {};
  for (let n = 0; n < length; n++) nodes[`n${n}`] = { action: 'noop@1', ...(n > 0 && { needs: [`n${n - 1}`] }) };
  return { id: `chain-${length}`, nodes };
}
