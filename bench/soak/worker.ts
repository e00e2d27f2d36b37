/**
 * `node --expose-gc worker.ts FOLDER RETENTION_MS`: an engine that does what it is told on stdin (`Order`) and says on
 * stdout what happens (`Line`). SIGTERM closes it and ends with 130, as `nebula` does.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Json } from '@nebula/core';
import { fsBlobs } from '@nebula/drivers/fs';
import { memoryQueue } from '@nebula/drivers/memory';
import { realClock, realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { createEngine } from '@nebula/engine';
import { say as sayText } from '../../e2e/say.ts';
import { residentBytes } from '../measure.ts';
import { soakActions } from './actions.ts';
import { KINDS, kindOf } from './kinds.ts';
import type { Line, Order } from './line.ts';

const EXIT_INTERRUPTED = 130;
const CANCEL_AFTER_MS = 20;

const [folder = '', retention = ''] = process.argv.slice(2);
const effectsDir = path.join(folder, 'effects');
mkdirSync(effectsDir, { recursive: true });

const store = await openSqliteStore({ path: path.join(folder, 'nebula.db'), clock: realClock, engine: true });
const queue = memoryQueue({ clock: realClock });
const engine = createEngine(
  {
    store,
    queue,
    blobs: fsBlobs({ root: path.join(folder, 'blobs') }),
    logs: store.logs,
    sandbox: createInProcessSandbox({ projectDir: folder, clock: realClock }),
    clock: realClock,
    random: realRandom(),
    digest: sha256,
  },
  { actions: soakActions(effectsDir, say), concurrency: 32, retentionMs: Number(retention) },
);

let isClosing = false;
process.on('SIGTERM', () => void close());
// Ctrl-C goes to all processes of a terminal; the one that ordered the runs decides when to end.
process.on('SIGINT', () => undefined);

engine.on((event) => {
  if (event.type === 'trouble' || event.type === 'fault') say({ what: 'trouble', message: String(event.error) });
});
await engine.open();
for (const { definition } of KINDS.values()) await engine.register(definition as Json);
say({ what: 'open' });

for await (const text of createInterface({ input: process.stdin })) {
  const order = JSON.parse(text) as Order;
  if ('measure' in order) measure();
  else bring(order.run).catch((error: unknown) => isClosing || say({ what: 'trouble', message: String(error) }));
}

// The sender of orders is gone.
await close();

async function bring(executionId: string): Promise<void> {
  const { definition } = kindOf(executionId);
  const begin = performance.now();
  const isKnown = (await store.execution(executionId)) !== undefined;
  if (!isKnown) await engine.start(definition.id, undefined, { executionId });
  if (definition.id === 'cancelled') {
    await new Promise((resolve) => setTimeout(resolve, CANCEL_AFTER_MS));
    await engine.requestCancel(executionId, 'it was to be cancelled');
  }
  const { parked, document } = await engine.waitFor(executionId);
  const ms = isKnown ? null : performance.now() - begin;
  const error = document.error === null ? null : `${document.error.code}: ${document.error.message}`;
  say({ what: 'ended', executionId, status: parked ? 'parked' : document.status, error, ms });
}

async function close(): Promise<void> {
  if (isClosing) return;
  isClosing = true;
  await engine.close();
  await queue.close();
  await store.close();
  process.exit(EXIT_INTERRUPTED);
}

function measure(): void {
  const resident = residentBytes();
  say({ what: 'memory', heapBytes: process.memoryUsage().heapUsed, residentBytes: resident });
}

function say(line: Line): void {
  sayText(`${JSON.stringify(line)}\n`);
}
