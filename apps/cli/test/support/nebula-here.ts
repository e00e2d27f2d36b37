/** The real program with its real storage, in this process: for commands that need no process of their own. */
import { composeServices } from '../../src/compose/services.ts';
import { runCommandLine } from '../../src/main.ts';
import type { Result } from './nebula-process.ts';
import { memoryIo } from './screen-text.ts';

interface Options {
  readonly cwd: string;
  readonly stdin?: string;
}

let last: Promise<unknown> = Promise.resolve();

/** One after the other, also for tests that run at once: a command captures what actions print in its process. */
export function nebulaHere(args: readonly string[], { cwd, stdin = '' }: Options): Promise<Result> {
  const run = async (): Promise<Result> => {
    const io = memoryIo({ cwd, stdin, now: () => Date.now() });
    const code = await runCommandLine({ io, services: composeServices(io), program: 'nebula' }, args);
    return { code, stdout: io.out.text(), stderr: io.err.text() };
  };
  const ended = last.then(run);
  last = ended.catch(() => undefined);
  return ended;
}
