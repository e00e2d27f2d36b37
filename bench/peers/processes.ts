/**
 * Servers and what they leave behind.
 *
 * 1. Every process started here is known until it has ended, so that all of them can be stopped at any moment.
 * 2. A server has a process group of its own: a Ctrl-C in the terminal reaches the harness only, which stops it.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const READY_MS = 60_000;
const LOOK_MS = 50;
const STOP_MS = 10_000;
const LOG_SHOWN = 2_000;

export interface Started {
  readonly child: ChildProcess;
  readonly log: string;
  readonly endBy: NodeJS.Signals;
}

const running = new Set<Started>();

/** `endBy` is the signal that ends it at once; its data is thrown away. */
export function start(
  command: string,
  args: readonly string[],
  { log, endBy, ...options }: { log: string; endBy: NodeJS.Signals } & SpawnOptions,
): Started {
  const output = openSync(log, 'a');
  const child = spawn(command, args, { detached: true, ...options, stdio: ['ignore', output, output] });
  closeSync(output);
  return track({ child, log, endBy });
}

export function track(started: Started): Started {
  const { child } = started;
  running.add(started);
  child.once('error', () => running.delete(started));
  child.once('exit', () => running.delete(started));
  return started;
}

export async function stop(started: Started): Promise<void> {
  if (!running.has(started)) return;
  const ended = once(started.child, 'exit');
  started.child.kill(started.endBy);
  const kill = setTimeout(() => started.child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(kill);
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

export async function untilReady(started: Started, isReady: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (!(await isReady().catch(() => false))) {
    if (!running.has(started)) throw new Error(`${started.child.spawnfile} ended:\n${tail(started.log)}`);
    if (performance.now() > deadline) throw new Error(`${started.child.spawnfile} is not ready:\n${tail(started.log)}`);
    await sleep(LOOK_MS);
  }
}

/** Runs a program to its end. */
export async function finish(command: string, args: readonly string[], log: string): Promise<void> {
  const { child } = start(command, args, { log, endBy: 'SIGKILL' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${tail(log)}`);
}

export function tail(log: string): string {
  return readFileSync(log, 'utf8').slice(-LOG_SHOWN);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
