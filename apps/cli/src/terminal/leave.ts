/**
 * Actions and configurations run in this process and may end it. Nebula itself always says goodbye first, so that an
 * end nobody announced can be told from its own.
 */

let isExpected = true;
let goOn: string | undefined;

/** From now on, until `farewell` or `leave`, an end of the process is somebody else's: `onForeignExit` is told. */
export function guardExit(onForeignExit: (goOn: string | undefined) => void): void {
  isExpected = false;
  process.on('exit', (code) => {
    if (isExpected || code === UNSETTLED_AWAIT) return;
    onForeignExit(goOn);
  });
}

/** Node's own end, with words of its own, of a program whose last `await` waits for nothing. */
const UNSETTLED_AWAIT = 13;

/** Whoever ends the process from here on may. */
export function farewell(): void {
  isExpected = true;
}

/** Ends the process at once, on purpose. */
export function leave(code: number | string | null | undefined): never {
  farewell();
  process.exit(code);
}

/** The command that continues what is worked on, until the returned function is called. */
export function noteResumeCommand(command: string): () => void {
  goOn = command;
  return () => {
    goOn = undefined;
  };
}
