/** The real program in a real process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const BIN = fileURLToPath(new URL('../../bin/nebula.js', import.meta.url));

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Result>;
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout or stderr has the text. */
  until(text: string | RegExp): Promise<void>;
}

interface Options {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  readonly nodeArgs?: readonly string[];
  /** Root only: as another user. */
  readonly uid?: number;
}

export function startNebula(args: readonly string[], options: Options): RunningProcess {
  const {
    NO_COLOR: _no,
    FORCE_COLOR: _force,
    NEBULA_DATA_DIR: _dir,
    npm_command: _npm,
    npm_execpath: _exec,
    ...env
  } = process.env;
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), BIN, ...args], {
    cwd: options.cwd,
    env: { ...env, ...options.env },
    stdio: 'pipe',
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  });
  let [stdout, stderr] = ['', ''];
  const watchers = new Set<() => void>();
  const heard = (): void => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    heard();
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    heard();
  });
  // A program that ends without reading closes the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin ?? '');
  const ended = new Promise<Result>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  const until = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!(typeof text === 'string' ? (stdout + stderr).includes(text) : text.test(stdout + stderr))) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
      void ended.then((result) => reject(new Error(`ended without ${text}: ${JSON.stringify(result)}`)));
    });
  return { child, ended, until, stdout: () => stdout, stderr: () => stderr };
}

export function nebula(args: readonly string[], options: Options): Promise<Result> {
  return startNebula(args, options).ended;
}

/** A new folder with these files; a folder of its own, so that no configuration above it is found. */
export function projectFolder(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-cli-')));
  writeFileSync(path.join(root, 'package.json'), '{}');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}
