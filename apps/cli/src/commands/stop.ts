import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NebulaError } from '@nebula/core';
import { definedMembers, textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { printDone } from '../print.ts';
import { readNote, type ServerNote } from '../remote/found-server.ts';
import type { Command, Project, Services } from '../services.ts';

const LOOK_MS = 50;
/** The server gives attempts 5 s to end by themselves. */
const MAX_WAIT_MS = 60_000;
const HEALTH_MS = 5_000;

export const execute: Command = async (call) => {
  const { services, options } = call;
  const project = await services.openProject(definedMembers({ dataDir: textOption(options, 'dataDir') }));
  const { url, pid } = await runningServer(services, project);
  process.kill(pid, 'SIGTERM');
  const isRunning = hasOwnStore(project) ? () => isAlive(pid) : () => isHolding(project, pid);
  for (let waitedMs = 0; isRunning(); waitedMs += LOOK_MS) {
    if (waitedMs >= MAX_WAIT_MS) throw stillStopping(pid);
    await sleep(LOOK_MS);
  }
  return printDone(
    call,
    { url, pid, stopped: true },
    `${url} (process ${pid}) has stopped; unfinished runs continue at the next start`,
  );
};

/** Only the process that holds the lock of the folder is the server: a note may name a process that is gone. */
async function runningServer(services: Services, project: Project): Promise<ServerNote> {
  const { dataDir } = project;
  const note = readNote(dataDir);
  if (hasOwnStore(project) && note !== undefined && (await answers(note))) return note;
  const holder = await services.engineHolder(project);
  if (holder === undefined) throw notRunning(`no server is running on ${dataDir}`, 'start one with `nebula serve`');
  const { pid, host } = holder;
  if (host !== hostname()) {
    throw notRunning(`the server on ${dataDir} runs on another machine, ${host}`, 'run `nebula stop` there');
  }
  if (note?.pid === pid) return note;
  throw notRunning(
    `process ${pid} uses ${dataDir}, and is not a server`,
    'it is another command, such as `nebula run`: wait for it, or stop it with Ctrl-C in its terminal',
  );
}

/** A store of the project's own has no lock in the data folder. */
function hasOwnStore({ config }: Project): boolean {
  return config.drivers?.store !== undefined;
}

/** The process of the note is alive, and a server answers at its URL. */
async function answers({ url, pid }: ServerNote): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_MS) }).catch(() => undefined);
  return response?.ok === true;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function notRunning(message: string, hint: string): NebulaError {
  return Object.assign(new NebulaError('SERVER_NOT_RUNNING', message, { hint }), { exitCode: EXIT.failed });
}

/** The note is removed with the lock, after the last write. */
function isHolding({ dataDir }: Project, pid: number): boolean {
  if (!isAlive(pid)) return false;
  try {
    return (JSON.parse(readFileSync(path.join(dataDir, 'engine.json'), 'utf8')) as ServerNote).pid === pid;
  } catch {
    return false;
  }
}

function stillStopping(pid: number): NebulaError {
  const message = `the server (process ${pid}) has not stopped within ${MAX_WAIT_MS / 1_000} seconds`;
  const hint = `\`kill -9 ${pid}\` ends it at once; attempts in progress are lost, and finished work is kept`;
  return Object.assign(new NebulaError('SERVER_NOT_STOPPED', message, { hint }), { exitCode: EXIT.failed });
}
