/**
 * Runs lives by hand.
 *
 *   npm run sim -- --seeds 20000             as many as you like
 *   npm run sim -- --seeds 500 --from 9000   starting at a seed
 *   npm run sim -- --seed 1234               one life, with a trace of every moment
 *   npm run sim -- --alone                   with a single engine on its own store
 *   npm run sim -- --seed 1234 --record sim/recorded/x.json --found 'what it found'
 *   npm run sim -- --replay sim/recorded/x.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { printLife, type RecordedLife } from './recorded-life.ts';
import { Tally } from './report.ts';
import { live, replay } from './script.ts';

const PROGRESS_EVERY = 500;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    alone: { type: 'boolean', default: false },
    record: { type: 'string' },
    found: { type: 'string', default: '' },
    replay: { type: 'string' },
  },
});

const isOne = values.seed !== undefined || values.replay !== undefined;
process.exitCode = isOne ? await one() : await many(Number(values.from), Number(values.seeds));

async function one(): Promise<number> {
  const tally = new Tally();
  const life =
    values.replay === undefined
      ? await live(Number(values.seed), { alone: values.alone, keepsTrace: true })
      : await replay(JSON.parse(readFileSync(values.replay, 'utf8')) as RecordedLife, { keepsTrace: true });
  if (values.record !== undefined) writeFileSync(values.record, printLife(values.found, life.record));
  tally.add(life);
  const { violations } = life.world.oracle;
  console.log([...life.world.trace, '', String(tally), ''].join('\n'));
  console.log(violations.length === 0 ? 'all went well' : violations.join('\n'));
  return violations.length === 0 ? 0 : 1;
}

async function many(from: number, count: number): Promise<number> {
  const tally = new Tally();
  const failed: string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const life = await live(seed, { alone: values.alone });
    tally.add(life);
    const [violation] = life.world.oracle.violations;
    if (violation !== undefined) {
      const again = `npm run sim -- --seed ${seed}${values.alone ? ' --alone' : ''}`;
      failed.push(again);
      console.log(`seed ${seed}: ${violation}\n  ${again}`);
    }
    if (tally.lives % PROGRESS_EVERY === 0) console.log(`${tally.lives} of ${count}, ${failed.length} failed`);
  }
  console.log(`\n${tally}\n`);
  console.log(failed.length === 0 ? 'all went well' : `${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}
