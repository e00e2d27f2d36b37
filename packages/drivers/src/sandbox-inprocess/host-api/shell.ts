/**
 * Access to programs.
 *
 *  1 No shell reads the command line: the program and its arguments are passed as they are.
 *  2 The program is looked up on the host's PATH, whatever PATH the action gives to the program itself.
 *  3 The program leads its own process group. An abort asks the whole group to end, then kills it.
 *  4 The program does not outlive this process, unless this process is killed without a chance to act.
 *  5 Output beyond the limit is read and dropped: the program is not disturbed, and memory stays bounded.
 *
 * One suspension point: the promise in `ended`, resolved by `close`, by `error`, or after a kill by the drain
 * timer.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { matchesName, NebulaError, type ShellOptions, type ShellResult } from '@nebula/core';
import type { HostProgram, Invocation } from '@nebula/ports';
import { demand } from '../grant.ts';
import type { Host } from '../host.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { isInside } from '../pattern.ts';
import { grantedEnv } from './env.ts';

export async function runProgram(
  host: Host,
  invocation: Invocation,
  program: string,
  args: readonly string[],
  options: ShellOptions = {},
): Promise<ShellResult> {
  const wanted = { kind: 'shell', doing: `run ${program}`, entry: program } as const;
  demand(invocation, wanted, (pattern) => matchesName(pattern, program));
  return await runHostProgram(
    {
      program,
      args,
      cwd: await workingFolder(host, options.cwd),
      env: { ...grantedEnv(host, invocation), ...options.env },
      stdin: options.stdin,
      maxOutputBytes: options.maxOutputBytes ?? SANDBOX_LIMITS.maxShellOutputBytes,
      signal: invocation.signal,
    },
    host.env.PATH ?? '',
  );
}

/** Runs a program without a check of grants. */
export async function runHostProgram(
  { program, args, cwd, env, stdin, maxOutputBytes, signal }: HostProgram,
  path: string,
): Promise<ShellResult> {
  const file = await locate(program, cwd, path);
  signal.throwIfAborted();
  const child = spawn(file, args, {
    argv0: program,
    cwd,
    env,
    detached: true,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  endWithProcess(child);
  const stdout = collect(child.stdout as Readable, maxOutputBytes);
  const stderr = collect(child.stderr as Readable, maxOutputBytes);
  if (child.stdin) {
    // A program may end without reading all of its input.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  }
  const exitCode = await ended(child, signal);
  return {
    exitCode,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.truncated() || stderr.truncated(),
  };
}

function ended(child: ChildProcess, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const timers: NodeJS.Timeout[] = [];
    const settle = (act: () => void) => {
      signal.removeEventListener('abort', onAbort);
      for (const timer of timers) clearTimeout(timer);
      act();
    };
    const giveUp = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      settle(() => reject(signal.reason));
    };
    const onAbort = () => {
      killGroup(child, 'SIGTERM');
      timers.push(
        setTimeout(() => {
          killGroup(child, 'SIGKILL');
          timers.push(setTimeout(giveUp, SANDBOX_LIMITS.shellDrainMs));
        }, SANDBOX_LIMITS.shellGraceMs),
      );
    };
    child.once('error', (error) => settle(() => reject(signal.aborted ? signal.reason : error)));
    child.once('close', (code, killedBy) => {
      // The rest of an aborted group has had its time after SIGTERM.
      if (signal.aborted) killGroup(child, 'SIGKILL');
      settle(() => (signal.aborted ? reject(signal.reason) : resolve(exitCodeOf(code, killedBy))));
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function exitCodeOf(code: number | null, killedBy: NodeJS.Signals | null): number {
  return code ?? 128 + (killedBy === null ? 0 : osConstants.signals[killedBy]);
}

const running = new Set<ChildProcess>();

function endWithProcess(child: ChildProcess): void {
  if (running.size === 0) process.on('exit', killRunning);
  running.add(child);
  const forget = () => {
    running.delete(child);
    if (running.size === 0) process.off('exit', killRunning);
  };
  child.once('close', forget);
  child.once('error', forget);
}

function killRunning(): void {
  for (const child of running) killGroup(child, 'SIGKILL');
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone.
  }
}

/** Keeps the first `maxBytes` and drops the rest. */
function collect(stream: Readable, maxBytes: number) {
  const chunks: Buffer[] = [];
  let kept = 0;
  let dropped = false;
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, maxBytes - kept);
    if (part.length < chunk.length) dropped = true;
    if (part.length === 0) return;
    chunks.push(part);
    kept += part.length;
  });
  return {
    // Decodes as an unfinished stream, so that a character cut at the end is left out.
    text: () => new TextDecoder().decode(Buffer.concat(chunks), { stream: dropped }),
    truncated: () => dropped,
  };
}

/** The working folder, inside the project folder. A program that needs another one can get it by an argument. */
async function workingFolder(host: Host, cwd: string | undefined): Promise<string> {
  const root = await realpath(host.projectDir);
  if (cwd === undefined) return root;
  const folder = await realpath(resolve(root, cwd)).catch(() => undefined);
  if (folder === undefined || !(await stat(folder)).isDirectory()) {
    throw new NebulaError('FOLDER_NOT_FOUND', `the working folder ${cwd} does not exist`);
  }
  if (!isInside(folder, root)) {
    throw new NebulaError(
      'CAPABILITY_DENIED',
      `a program may not start in ${cwd}: it is outside of the project folder`,
      {
        hint: 'Start it in the project folder and give it the path as an argument',
        details: { capability: 'shell', wanted: cwd },
      },
    );
  }
  return folder;
}

async function locate(program: string, cwd: string, path: string): Promise<string> {
  const candidates = program.includes('/')
    ? [resolve(cwd, program)]
    : path
        .split(delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => join(folder, program));
  for (const candidate of candidates) {
    const found = await access(candidate, constants.X_OK).then(
      async () => (await stat(candidate)).isFile(),
      () => false,
    );
    if (found) return candidate;
  }
  throw new NebulaError('PROGRAM_NOT_FOUND', `there is no program '${program}'`, {
    hint: program.includes('/')
      ? 'The path is relative to the working folder'
      : "Install it, or add its folder to the worker's PATH",
  });
}
