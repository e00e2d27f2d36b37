/** Times and counts of a run, in few characters. */
import type { NodeRunState } from '../model/run-state.ts';
import type { Progress } from './strip.ts';
import type { GraphWords } from './words.ts';

export function progressText({ total, done, failed }: Progress, words: GraphWords): string {
  const of = total === undefined ? words.number(done) : `${words.number(done)} / ${words.number(total)}`;
  return failed === 0 ? of : `${of} · ${words.failed(words.number(failed))}`;
}

export function hasTime({ attempts = 0, durationMs }: NodeRunState): boolean {
  return attempts > 1 || (durationMs !== null && durationMs !== undefined);
}

/** The time of a node, and its attempts if it took several. */
export function timeText({ attempts = 0, durationMs }: NodeRunState, words: GraphWords): string {
  const time = durationMs === null || durationMs === undefined ? '' : words.duration(durationMs);
  return attempts > 1 ? `×${attempts} ${time}`.trimEnd() : time;
}
