import { refresh } from '../../data/queries.ts';

/** An accepted answer takes effect in the next turn of its run. */
const TURN_MS = 1_000;

/** Reads the tasks again, now and after the answer has taken effect. */
export function refreshInbox(): void {
  refresh('listHumanTasks', 'countHumanTasks');
  setTimeout(() => refresh('listHumanTasks', 'countHumanTasks'), TURN_MS);
}
