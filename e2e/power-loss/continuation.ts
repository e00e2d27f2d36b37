/**
 * Lets an engine continue a rebuilt state: every promised frame is read back through the store, and every run ends, with
 * the output of its definition and each effect once.
 */
import path from 'node:path';
import { fsBlobs } from '@nebula/drivers/fs';
import { memoryQueue } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { createEngine, type Engine } from '@nebula/engine';
import type { Store } from '@nebula/ports';
import { fact } from './marks.ts';
import type { Promises } from './promises.ts';
import { actionsOn, expectedOutput, INLINE_LIMIT_BYTES, type WorkflowName } from './workflows.ts';
import { DATA_FOLDER, DATABASE } from './workload-options.ts';

const CONCURRENCY = 8;
const PATIENCE_MS = 30_000;
const MAX_RUNS = 1_000;

export async function continueState(folder: string, promises: Promises): Promise<string[]> {
  const dataDir = path.join(folder, DATA_FOLDER);
  const failures: string[] = [];
  const finished = new Set<string>();
  const effects = new Set(promises.effects);
  const world = {
    has: (key: string) => effects.has(key),
    add(key: string) {
      const node = key.slice(0, key.lastIndexOf(':'));
      if (finished.has(node)) failures.push(`${key} runs again after its end was recorded`);
      if (effects.has(key) && /:c:\d+$/.test(key)) failures.push(`the once action ${key} runs twice`);
      effects.add(key);
    },
  };
  const store = await openSqliteStore({ path: path.join(dataDir, DATABASE), clock: realClock, engine: true });
  failures.push(...(await missingFrames(store, promises)));
  const queue = memoryQueue({ clock: realClock });
  const drivers = {
    store,
    queue,
    logs: store.logs,
    blobs: fsBlobs({ root: path.join(dataDir, 'blobs') }),
    sandbox: createInProcessSandbox({ projectDir: folder, clock: realClock }),
    clock: realClock,
    random: realRandom(),
    digest: sha256,
  };
  const options = { actions: actionsOn(world), concurrency: CONCURRENCY, inlineLimitBytes: INLINE_LIMIT_BYTES };
  const engine = createEngine(drivers, options);
  try {
    for (const key of await finishedNodes(engine)) finished.add(key);
    await engine.open();
    failures.push(...(await endAll(engine)));
  } finally {
    await engine.close();
    await queue.close();
    await store.close();
  }
  return failures;
}

/** Frames of runs that were deleted since are not there any more. */
async function missingFrames(store: Store, promises: Promises): Promise<string[]> {
  const there = new Set<string>();
  const { rows } = await store.list({ limit: MAX_RUNS });
  for (const { executionId } of rows) {
    const frames = await store.frames(executionId, 0);
    for (const [index, { seq, entries }] of frames.entries()) {
      if (seq !== index + 1) return [`the frames of ${executionId} have a gap before ${seq}`];
      there.add(fact.frame(executionId, seq, entries));
    }
  }
  const runs = new Set(rows.map(({ executionId }) => executionId));
  return promises.facts.filter((promised) => {
    const [kind, executionId = ''] = promised.split(' ');
    return kind === 'frame' && runs.has(executionId) && !there.has(promised);
  });
}

async function finishedNodes(engine: Engine): Promise<string[]> {
  const { rows } = await engine.list({ limit: MAX_RUNS });
  const keys: string[] = [];
  for (const { executionId } of rows) {
    for (const { entries } of await engine.journal(executionId)) {
      for (const entry of entries) if (entry.type === 'node.completed') keys.push(`${executionId}:${entry.node}`);
    }
  }
  return keys;
}

async function endAll(engine: Engine): Promise<string[]> {
  const { rows } = await engine.list({ limit: MAX_RUNS });
  const failures: string[] = [];
  for (const { executionId, workflowId } of rows) {
    const input = (await engine.input(executionId)) as { readonly n: number };
    // A user whose signal was not acknowledged sends it again.
    if (workflowId === 'waiting') {
      await engine.requestSignal(executionId, { signal: 'go', key: String(input.n), payload: `go${input.n}` });
    }
  }
  for (const { executionId, workflowId } of rows) {
    const { n } = (await engine.input(executionId)) as { readonly n: number };
    try {
      const { document } = await engine.waitFor(executionId, 'end', AbortSignal.timeout(PATIENCE_MS));
      const expected = expectedOutput(workflowId as WorkflowName, n);
      if (document.status !== 'completed' || document.output !== expected) {
        failures.push(`${executionId} is ${document.status} with ${JSON.stringify(document.output)}, not ${expected}`);
      }
    } catch (error) {
      failures.push(`${executionId} does not end: ${(error as Error).message}`);
    }
  }
  return failures;
}
