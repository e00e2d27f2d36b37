/** When to kill: some of the kills early in a life, the others spread over all the work there is. All from one seed. */

export type Moment =
  /** So long after the process was started: while it loads, opens the data, or recovers. */
  | { readonly when: 'early'; readonly afterMs: number }
  /** When so many effects have been seen since the beginning, and a moment later. */
  | { readonly when: 'work'; readonly effects: number; readonly plusMs: number };

const EARLY_SHARE = 0.3;
/** So that there is work left at the last kill. */
const LAST_CUT = 0.95;

export function killPlan(chance: () => number, kills: number, effects: number, startMs: number): Moment[] {
  const early = Math.round(kills * EARLY_SHARE);
  const cuts = Array.from({ length: kills - early }, () => Math.floor(chance() * effects * LAST_CUT));
  const plan: Moment[] = cuts
    .sort((a, b) => a - b)
    .map((cut) => ({ when: 'work', effects: cut, plusMs: chance() * 4 }));
  for (let at = 0; at < early; at++) {
    const index = Math.floor(chance() * (plan.length + 1));
    plan.splice(index, 0, { when: 'early', afterMs: chance() * startMs });
  }
  return plan;
}

/** Mulberry32: small, and good enough to spread kills. */
export function chanceFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
