/**
 * `nebula serve --detach`: starts the server as a process of its own and waits until it listens.
 *
 *  1 The child is the same command without `--detach`. Its output goes to `server.log` in the data folder.
 *  2 The child reports once, over an IPC channel that both sides close then. A child that ends before has failed: its
 *    error, which is at the end of the log, and its exit code become those of this command.
 *  3 An interrupt before the report stops the child.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NebulaError } from '@nebula/core';
import { textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { print } from '../print.ts';
import type { Call, Project } from '../services.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { nextLines } from '../views/summary.ts';
import { shellWord } from '../views/words.ts';

const LOG = 'server.log';
/** A log above this size is moved to `server.log.1` by the next start. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
const IS_DETACHED = 'NEBULA_DETACHED';
const BIN = fileURLToPath(new URL('../../bin/nebula.js', import.meta.url));

/** The report of a child that listens. */
interface Listening {
  readonly url: string;
}

export async function serveDetached(call: Call, project: Project): Promise<number> {
  const { io, options, program, services } = call;
  mkdirSync(project.dataDir, { recursive: true, mode: 0o700 });
  const logFile = path.join(project.dataDir, LOG);
  if ((await services.engineHolder(project)) === undefined) rotate(logFile);
  const log = openSync(logFile, 'a', 0o600);
  const begin = fstatSync(log).size;
  const given = ['port', 'host', 'preset'].flatMap((name) => {
    const value = textOption(options, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const child = spawn(process.execPath, [...process.execArgv, BIN, 'serve', '--data-dir', project.dataDir, ...given], {
    cwd: io.cwd,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1', [IS_DETACHED]: '1' },
  });
  closeSync(log);
  const outcome = await outcomeOf(child);
  if (outcome === 'interrupted') return EXIT.interrupted;
  if ('exitCode' in outcome) throw notStarted(logFile, begin, outcome.exitCode);
  const { pid = 0 } = child;
  child.disconnect();
  child.unref();
  const shown = path.relative(io.cwd, logFile);
  const document = { url: outcome.url, pid, logFile };
  const dataDir = project.needsDataDirOption ? ` --data-dir ${shellWord(project.dataDir)}` : '';
  const { colors } = io.out;
  const next = [
    [`${program} studio${dataDir}`, 'open the Studio'],
    [`${program} stop${dataDir}`, 'stop it'],
  ] as const;
  return print(call, document, () => [
    `${colors.green('✓')} the server listens on ${colors.bold(colors.cyan(outcome.url))} (process ${pid})`,
    `  ${colors.dim('log')}  ${shown.startsWith('..') ? logFile : shown}`,
    ...nextLines(next, { colors, width: io.out.columns() }),
  ]);
}

export function isDetached(env: Readonly<Record<string, string | undefined>>): boolean {
  return env[IS_DETACHED] !== undefined;
}

/** Called by a server that listens: tells the command that started it in the background, if one did. */
export function reportListening({ url }: Listening, env: Readonly<Record<string, string | undefined>>): void {
  if (!isDetached(env) || process.send === undefined) return;
  process.send({ url } satisfies Listening, () => process.disconnect());
}

async function outcomeOf(child: ChildProcess): Promise<Listening | { readonly exitCode: number } | 'interrupted'> {
  const interrupt = listenForInterrupt();
  try {
    return await Promise.race([
      new Promise<Listening>((resolve) => child.once('message', (message) => resolve(message as Listening))),
      new Promise<{ exitCode: number }>((resolve, reject) => {
        child.once('exit', (code) => resolve({ exitCode: code ?? EXIT.failed }));
        child.once('error', reject);
      }),
      interrupt.happened.then(() => {
        child.kill('SIGTERM');
        return 'interrupted' as const;
      }),
    ]);
  } finally {
    interrupt.release();
  }
}

function rotate(logFile: string): void {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`);
}

/** The error that the child printed: its lines in the log that are no JSON documents. */
function notStarted(logFile: string, begin: number, exitCode: number): NebulaError {
  const printed = readFileSync(logFile).subarray(begin).toString('utf8');
  const text = printed.replace(/^\{.*\n/gm, '');
  const [, preface = '', code, message, , hint] =
    /^([\s\S]*?)^error ([A-Z_]+): ([\s\S]*?)(\nhint: ([\s\S]*))?$(?![\s\S])/m.exec(text.trimEnd()) ?? [];
  if (code === undefined || message === undefined) {
    const why = text.trimEnd().split('\n').at(-1) || `it ended with exit code ${exitCode}`;
    const error = new NebulaError('SERVER_NOT_STARTED', `the server did not start: ${why}`, {
      hint: `its log is ${logFile}`,
    });
    return Object.assign(error, { exitCode: exitCode || EXIT.failed });
  }
  const error = new NebulaError(code, `the server did not start: ${message}`, {
    ...(hint !== undefined && { hint: hint.replace(/\n {6}/g, '\n') }),
  });
  return Object.assign(error, { exitCode, preface: preface === '' ? [] : preface.trimEnd().split('\n') });
}
