import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NebulaError } from '@nebula/core';
import { definedMembers, textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { printDone } from '../print.ts';
import type { ServerNote } from '../remote/found-server.ts';
import { hasOwnStore, isAlive, runningServer } from '../remote/running-server.ts';
import type { Command, Project } from '../services.ts';

const LOOK_MS = 50;
/** The server gives attempts 5 s to end by themselves. */
const MAX_WAIT_MS = 60_000;

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
