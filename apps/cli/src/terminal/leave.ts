/**
 * Actions and configurations run in this process and may call `process.exit`. Nebula marks its own exits, so that a
 * foreign one can be reported.
 */

let isExpected = true;
let resumeCommand: string | undefined;

/** Until `farewell` or `leave` is called, an exit of the process is foreign and calls `onForeignExit`. */
export function guardExit(onForeignExit: (resumeCommand: string | undefined) => void): void {
  isExpected = false;
  process.on('exit', (code) => {
    if (isExpected || code === UNSETTLED_AWAIT) return;
    onForeignExit(resumeCommand);
  });
}

/** Node's exit code for a top-level `await` that never settles; Node prints its own message. */
const UNSETTLED_AWAIT = 13;

/** Marks the exit as expected. */
export function farewell(): void {
  isExpected = true;
}

/** Exits at once, as expected. */
export function leave(code: number | string | null | undefined): never {
  farewell();
  process.exit(code);
}

/** Notes the command that resumes the current run, for the message of a foreign exit. The returned function clears it. */
export function noteResumeCommand(command: string): () => void {
  resumeCommand = command;
  return () => {
    resumeCommand = undefined;
  };
}
