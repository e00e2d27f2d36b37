/** SIGINT, SIGTERM and SIGHUP: the first signal asks the command to stop, the second one exits at once. */
import { EXIT } from '../exit-code.ts';
import { leave } from './leave.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupt {
  /** Resolves with the first signal. */
  readonly happened: Promise<NodeJS.Signals>;
  /** Removes the listeners. */
  release(): void;
}

export function listenForInterrupt(): Interrupt {
  let isSecond = false;
  let resolve: (signal: NodeJS.Signals) => void = () => undefined;
  const happened = new Promise<NodeJS.Signals>((done) => {
    resolve = done;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    // `exit` listeners restore the terminal.
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
