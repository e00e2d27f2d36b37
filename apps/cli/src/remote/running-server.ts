/** The server that works on a data folder, as long as it runs. */
import { hostname } from 'node:os';
import { NebulaError } from '@nebula/core';
import { EXIT } from '../exit-code.ts';
import type { Project, Services } from '../services.ts';
import { readNote, type ServerNote } from './found-server.ts';

const HEALTH_MS = 5_000;

/**
 * Only the process that holds the lock of the folder is the server: a note may name a process that is gone. Rejects with
 * `SERVER_NOT_RUNNING`.
 */
export async function runningServer(services: Services, project: Project): Promise<ServerNote> {
  const { dataDir } = project;
  const note = readNote(dataDir);
  if (hasOwnStore(project) && note !== undefined && (await answers(note))) return note;
  const holder = await services.engineHolder(project);
  if (holder === undefined) throw notRunning(`no server is running on ${dataDir}`, 'start one with `nebula serve`');
  const { pid, host } = holder;
  if (host !== hostname()) {
    throw notRunning(`the server on ${dataDir} runs on another machine, ${host}`, 'run this command there');
  }
  if (note?.pid === pid) return note;
  throw notRunning(
    `process ${pid} uses ${dataDir}, and is not a server`,
    'it is another command, such as `nebula run`: wait for it, or stop it with Ctrl-C in its terminal',
  );
}

/** A store of the project's own has no lock in the data folder. */
export function hasOwnStore({ config }: Project): boolean {
  return config.drivers?.store !== undefined;
}

/** The process of the note is alive, and a server answers at its URL. */
async function answers({ url, pid }: ServerNote): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_MS) }).catch(() => undefined);
  return response?.ok === true;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function notRunning(message: string, hint: string): NebulaError {
  return Object.assign(new NebulaError('SERVER_NOT_RUNNING', message, { hint }), { exitCode: EXIT.failed });
}
