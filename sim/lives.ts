/** Runs many lives in a row, and collects their results. */
import { Tally } from './report.ts';
import { type Life, type LifeOptions, live } from './script.ts';
import type { World } from './world.ts';

export interface Suite {
  readonly tally: Tally;
  /** Seed and complaint; empty if all went well. */
  readonly failures: readonly string[];
}

export async function liveMany(
  from: number,
  count: number,
  options: LifeOptions = {},
  tally: Tally = new Tally(),
): Promise<Suite> {
  const failures: string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const life = await live(seed, options);
    tally.add(life);
    const [violation] = life.world.oracle.violations;
    const how = `npm run sim -- --seed ${seed}${options.alone === true ? ' --alone' : ''}`;
    if (violation !== undefined) failures.push(`${violation}\n  ${how}`);
    // A life consists of promises only: without this pause nothing else in the process would run.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { tally, failures };
}

/** The first life of one engine after which the world is as wanted. */
export async function liveUntil(isWanted: (world: World) => boolean): Promise<Life> {
  for (let seed = 1; ; seed++) {
    const life = await live(seed, { alone: true });
    if (isWanted(life.world)) return life;
  }
}
