/**
 * Writes to stdout and waits until it is written, so that what was said is with the reader when the process is killed.
 * A plain `writeSync` does not do: starting a thread makes Node's stdout non-blocking, and then it fails with EAGAIN
 * as soon as a busy reader is some hundred lines behind.
 */
import { writeSync } from 'node:fs';

const STDOUT = 1;
const PAUSE_MS = 1;
const bell = new Int32Array(new SharedArrayBuffer(4));

export function say(text: string): void {
  let left = Buffer.from(text);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(STDOUT, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(bell, 0, 0, PAUSE_MS);
    }
  }
}
