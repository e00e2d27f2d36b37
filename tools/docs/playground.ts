/**
 * Where the documentation is tried out: a copy of what a reader has after cloning, with `nebula`, `npx` and `npm` on the
 * PATH. Commands of one document follow each other, as a reader would type them: the folder they go to stays.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Screen } from './screen.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');
const BIN = path.join(ROOT, 'apps/cli/bin/nebula.js');
const COLUMNS = 100;
const TIMEOUT_MS = 300_000;
/** A program of util-linux that runs another one in a terminal. */
const TERMINAL = 'script';

export function hasTerminal(): boolean {
  return spawnSync(TERMINAL, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
}

export interface Said {
  readonly code: number;
  /** The screen at the end. */
  readonly lines: readonly string[];
}

export interface Streams {
  readonly stdout: string;
  readonly stderr: string;
}

type NebulaHere = (args: readonly string[], options: { readonly cwd: string }) => Promise<Streams>;

export interface RunOptions {
  readonly columns?: number;
  /** Called with the output as it is printed. */
  readonly onText?: (text: string) => void;
}

export class Playground {
  readonly base = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-docs-')));
  readonly dir = path.join(this.base, 'nebula');
  #cwd = this.dir;
  #lastExecution = 'exe_none';

  constructor() {
    mkdirSync(this.dir);
    const isOutput = (source: string) => source.startsWith(path.join(ROOT, 'examples/out'));
    cpSync(path.join(ROOT, 'examples'), path.join(this.dir, 'examples'), {
      recursive: true,
      filter: (source) => !isOutput(source),
    });
    for (const file of ['nebula.config.ts', 'package.json', 'tsconfig.json']) {
      cpSync(path.join(ROOT, file), path.join(this.dir, file));
    }
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(this.dir, 'node_modules'));
    this.#program('nebula', `exec '${process.execPath}' '${BIN}' "$@"`);
    this.#program('node', `exec '${process.execPath}' "$@"`);
    this.#program('npx', 'test "$1" = nebula || exit 127; shift; npm_command=exec exec nebula "$@"');
    // Installing and the repository's own start and test take long and need more than a folder; a project's test runs.
    const program = (file: string): string => `shift 3; exec node '${path.join(ROOT, file)}' "$@"`;
    const own = `"run sim --") ${program('sim/run.ts')};; "run power-loss --") ${program('e2e/power-loss/run.ts')};;`;
    this.#program(
      'npm',
      `case "$1 $2 $3" in ci*|start*|install*) ;; test*) test -d examples || exec node --test;; ${own} *) exit 127;; esac`,
    );
  }

  #program(name: string, text: string): void {
    mkdirSync(path.join(this.base, 'bin'), { recursive: true });
    const file = path.join(this.base, 'bin', name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  }

  write(name: string, text: string): void {
    const file = path.resolve(this.#cwd, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Runs a script in a terminal. `exe_…` in it is the last run that was seen. */
  async run(script: string, options: RunOptions = {}): Promise<Said> {
    const columns = options.columns ?? COLUMNS;
    const state = path.join(this.base, 'cwd');
    const file = path.join(this.base, 'script.sh');
    const text = script.replaceAll(/exe_\w*…/g, this.#lastExecution);
    writeFileSync(file, `cd '${this.#cwd}'\ntrap 'pwd > "${state}"' EXIT\n${text}\n`);
    const inTerminal = `stty cols ${columns} rows 200 && exec bash -e '${file}'`;
    const { code, output } = await this.#spawn(TERMINAL, ['-qfec', inTerminal, '/dev/null'], options.onText);
    this.#cwd = readFileSync(state, 'utf8').trim();
    this.#see(output);
    const screen = new Screen(columns);
    screen.write(output);
    return { code, lines: screen.lines().map(lineText) };
  }

  /** Runs a command of the program in this process, which takes a third of the CPU time of a new one. */
  async nebula(...args: readonly string[]): Promise<Streams> {
    // The program has no exports.
    const file = path.join(ROOT, 'apps/cli/test/support/nebula-here.ts');
    const { nebulaHere } = (await import(file)) as { nebulaHere: NebulaHere };
    const result = await nebulaHere(args, { cwd: this.#cwd });
    this.#see(result.stdout);
    return result;
  }

  #see(output: string): void {
    this.#lastExecution = output.match(/exe_[0-9a-z]{26}/g)?.at(-1) ?? this.#lastExecution;
  }

  #spawn(
    program: string,
    args: readonly string[],
    onText?: (text: string) => void,
  ): Promise<{ code: number; output: string }> {
    const child = spawn(program, args, {
      cwd: this.dir,
      env: {
        PATH: `${path.join(this.base, 'bin')}:${process.env.PATH}`,
        HOME: this.base,
        TMPDIR: this.base,
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
        SHELL: '/bin/sh',
        // Compiled code is kept outside of the folder, which is new for each document; the tests also bundle it.
        ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
        ...(process.env.NODE_OPTIONS && { NODE_OPTIONS: process.env.NODE_OPTIONS }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        onText?.(text);
      });
    }
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code: code ?? 128, output }));
    });
  }

  /** Kills every process that was started here and still runs: a server of a document that failed, a run in the background. */
  #killProcesses(): void {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${this.base}\0`))
          process.kill(Number(pid), 'SIGKILL');
      } catch {
        // The process ended, or belongs to another user.
      }
    }
  }

  /** Retries: a killed process may still finish one write. */
  remove(): void {
    this.#killProcesses();
    rmSync(this.base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function lineText(runs: readonly { readonly column: number; readonly text: string }[]): string {
  return runs.reduce((line, { column, text }) => line.padEnd(column) + text, '');
}
