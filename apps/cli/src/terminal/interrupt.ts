/** Ctrl-C and its kin: the first one asks politely, the second one ends the process at once. */
import { EXIT } from '../exit-code.ts';
import { leave } from './leave.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupt {
  /** Resolves with the first signal. */
  readonly happened: Promise<NodeJS.Signals>;
  /** Gives the signals back. */
  release(): void;
}

export function listenForInterrupt(): Interrupt {
  let isSecond = false;
  let resolve: (signal: NodeJS.Signals) => void = () => undefined;
  const happened = new Promise<NodeJS.Signals>((done) => {
    resolve = done;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    // What must be put right on the terminal is put right by its `exit` listeners.
    if (isSecond) leave(EXIT.interrupted);
    isSecond = true;
    resolve(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    happened,
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
