/** Shows nothing of a run; what else is printed meanwhile goes to stderr. */
import type { Io } from '../terminal/io.ts';
import { printable } from '../terminal/width.ts';
import type { LiveView } from './live-view.ts';

export function silentView({ err }: Io): LiveView {
  return {
    event: () => undefined,
    log: () => undefined,
    foreign: (line) => err.write(`${printable(line)}\n`),
    say: (line) => err.write(`${line}\n`),
    close: () => undefined,
  };
}
