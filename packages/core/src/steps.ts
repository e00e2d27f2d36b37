/**
 * Interruptible work. A generator yields between steps of well under a millisecond; its caller decides how many steps
 * to run before other work gets a turn. Core has no clock to decide this itself.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps without interruption. */
export function allSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
