/**
 * `nebula test --watch`: runs the tests again whenever a workflow, a test or an action changes. Each run has its own
 * process, because loaded code cannot be unloaded.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { NebulaError } from '@nebula/core';
import { EXIT } from '../exit-code.ts';
import { writeLines } from '../print.ts';
import type { Call, Context } from '../services.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { CTRL_C, listenForKeys } from '../terminal/keys.ts';
import { printableLine } from '../terminal/width.ts';
import { plural } from '../views/words.ts';
import { WatchedFolders } from '../watched-folder.ts';

const CLEAR = '\x1b[2J\x1b[3J\x1b[H';

export async function watchTests(call: Call, files: readonly string[]): Promise<number> {
  const { io, options } = call;
  if (options.json === true) {
    throw new NebulaError('USAGE', '--watch runs until it is stopped, and --json prints one document', {
      hint: 'choose one of them',
    });
  }
  const quit = Promise.withResolvers<number>();
  let exitCode: number = EXIT.completed;
  const stopKeys = listenForKeys((key) => {
    if (key === CTRL_C) quit.resolve(EXIT.interrupted);
    else if (key === 'q') quit.resolve(exitCode);
  });
  const interrupt = listenForInterrupt();
  void interrupt.happened.then(() => quit.resolve(EXIT.interrupted));
  const runs = new TestRuns(call, files, (code) => {
    exitCode = code;
  });
  const folders = new WatchedFolders((changed) => runs.begin(changed));
  try {
    for (const folder of await foldersOf(call, files)) await folders.add(folder);
    runs.begin([]);
    return await quit.promise;
  } finally {
    folders.close();
    runs.close();
    interrupt.release();
    stopKeys();
    if (io.out.live) writeLines(io.out, ['']);
  }
}

/** The folders of the tests and of the project, whose actions may be elsewhere. */
async function foldersOf({ io, services }: Context, files: readonly string[]): Promise<string[]> {
  // A configuration that cannot be loaded now is reported by every run of the tests, until it can.
  const project = await services.openProject({}).catch(() => undefined);
  const folders = [io.cwd, ...files.map((file) => path.dirname(path.resolve(io.cwd, file)))];
  return [...new Set(project?.configFile === undefined ? folders : [project.dir, ...folders])];
}

/** Runs one after the other: changes during a run are tested after it. */
class TestRuns {
  readonly #context: Context;
  readonly #files: readonly string[];
  readonly #onEnd: (exitCode: number) => void;
  #running: ChildProcess | undefined;
  #waiting: readonly string[] | undefined;
  #isClosed = false;

  constructor(context: Context, files: readonly string[], onEnd: (exitCode: number) => void) {
    this.#context = context;
    this.#files = files;
    this.#onEnd = onEnd;
  }

  begin(changed: readonly string[]): void {
    if (this.#isClosed) return;
    if (this.#running !== undefined) {
      this.#waiting = [...new Set([...(this.#waiting ?? []), ...changed])];
      return;
    }
    const { io } = this.#context;
    const { out } = io;
    if (out.live) out.write(CLEAR);
    if (changed.length > 0) writeLines(out, [out.colors.dim(changedText(io.cwd, changed)), '']);
    const [script = ''] = process.argv.slice(1);
    const child = spawn(process.execPath, [...process.execArgv, script, 'test', ...this.#files], {
      cwd: io.cwd,
      // Keys are read by the watching process.
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...(out.colors.isColorSupported && { FORCE_COLOR: '1' }) },
    });
    this.#running = child;
    child.on('error', () => this.#ended(EXIT.internal));
    child.on('close', (code) => this.#ended(code ?? EXIT.internal));
  }

  close(): void {
    this.#isClosed = true;
    this.#running?.kill();
  }

  #ended(exitCode: number): void {
    if (this.#isClosed || this.#running === undefined) return;
    this.#running = undefined;
    this.#onEnd(exitCode);
    const { out } = this.#context.io;
    writeLines(out, ['', out.colors.dim(out.live ? 'waiting for changes; q quits' : 'waiting for changes')]);
    const next = this.#waiting;
    this.#waiting = undefined;
    if (next !== undefined) this.begin(next);
  }
}

const MAX_NAMED = 3;

function changedText(cwd: string, files: readonly string[]): string {
  const named = files.slice(0, MAX_NAMED).map((file) => printableLine(path.relative(cwd, file)));
  const more = files.length > MAX_NAMED ? ` and ${plural(files.length - MAX_NAMED, 'other file')}` : '';
  return `changed: ${named.join(', ')}${more}`;
}
