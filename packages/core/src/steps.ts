/**
 * Work that may be interrupted: it yields between steps of well under a millisecond, and whoever drives it decides how
 * many it takes before others get their turn. The core has no clock to decide by.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** All steps at once. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
