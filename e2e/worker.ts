/**
 * `node worker.ts FOLDER RUNS LIFE [stay]`: brings all runs of `order.yaml` to their end, whatever earlier lives
 * have left.
 * Ends with 0 when every run has ended (with `stay` it waits for a signal then), with 130 when it was asked to stop, as
 * `nebula` does.
 * On stdout: one letter per line of the effect log, and `o` when the engine is open.
 */
import { readFileSync } from 'node:fs';
import { type Json, readDefinition } from '@nebula/core';
import { effectActions } from './actions.ts';
import { effectsIn, openEngineIn } from './data-folder.ts';
import { EffectLog } from './effect-log.ts';
import { executionIdOf } from './order.ts';
import { say } from './say.ts';

const EXIT_INTERRUPTED = 130;
/** Runs that are under way at once; the others are started as these end. */
const WIDTH = 40;

const [folder = '', runs = '0', life = '1', stay] = process.argv.slice(2);
const interrupted = new Promise<'interrupted'>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve('interrupted'));
});

// Keeps it alive, and ends it with the one who started it.
process.stdin.on('close', () => process.exit(1)).resume();

const log = new EffectLog(effectsIn(folder));
const actions = effectActions(log, Number(life), (what) => say(what.slice(0, 1)));
const { engine, close } = await openEngineIn(folder, actions);
await engine.open();
say('o');

const all = finishAll(Number(runs));
// Closing the engine rejects it, when nobody waits for it any more.
all.catch(() => undefined);
const first = await Promise.race([stay === undefined ? all : all.then(() => interrupted), interrupted]);
await close();
process.exit(first === 'interrupted' ? EXIT_INTERRUPTED : 0);

async function finishAll(total: number): Promise<void> {
  const { definition } = readDefinition(readFileSync(new URL('order.yaml', import.meta.url)));
  const { workflowId, version } = await engine.register(definition as unknown as Json);
  const { rows } = await engine.list({ limit: total + 1 });
  const known = new Map(rows.map((row) => [row.executionId, row.finishedAt !== null]));
  const left = Array.from({ length: total }, (_, n) => n).filter((n) => known.get(executionIdOf(n)) !== true);
  const lane = async (): Promise<void> => {
    for (let n = left.shift(); n !== undefined; n = left.shift()) {
      const executionId = executionIdOf(n);
      await engine.start(workflowId, version, { executionId, input: { n } });
      const { parked } = await engine.waitFor(executionId);
      if (parked) throw new Error(`${executionId} waits for a person`);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
}
