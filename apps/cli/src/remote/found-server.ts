/**
 * The note of the server that works on a data folder, by which commands find it: `server.json` and, for desktop,
 * `token`.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NebulaError } from '@nebula/core';

const NOTE = 'server.json';
const TOKEN = 'token';
const TOKEN_BYTES = 32;
const TOKEN_TEXT = /^[\w-]{32,}$/;

export interface ServerNote {
  readonly url: string;
  readonly pid: number;
  /** When the process began; it has loaded its code since. Left out by earlier versions. */
  readonly startedAt?: string;
  /** The options of `nebula serve`, for the command that starts it again: `--port 8080`. */
  readonly options?: string;
}

export function tokenFile(dataDir: string): string {
  return path.join(dataDir, TOKEN);
}

/** Returns undefined if there is none, or it is not readable. */
export function readToken(dataDir: string): string | undefined {
  try {
    const text = readFileSync(tokenFile(dataDir), 'utf8').trim();
    return TOKEN_TEXT.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps an existing token, so that clients that have it stay signed in. */
export function makeToken(dataDir: string): string {
  const known = readToken(dataDir);
  if (known !== undefined) return known;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  try {
    // Drivers of the project's own may leave the data folder to the token alone.
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    rmSync(tokenFile(dataDir), { force: true });
    writeFileSync(tokenFile(dataDir), `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new NebulaError(
      'DATA_DIR_UNWRITABLE',
      `the token of the server cannot be written: ${(error as Error).message}`,
      {
        hint: 'give this user write permission, or choose another folder with --data-dir',
      },
    );
  }
  return token;
}

export function readNote(dataDir: string): ServerNote | undefined {
  try {
    const { url, pid, startedAt, options } = JSON.parse(readFileSync(path.join(dataDir, NOTE), 'utf8')) as ServerNote;
    if (typeof url !== 'string' || !Number.isInteger(pid)) return undefined;
    return {
      url,
      pid,
      ...(typeof startedAt === 'string' && { startedAt }),
      ...(typeof options === 'string' && { options }),
    };
  } catch {
    return undefined;
  }
}

/** Returns a function that removes the note. */
export function leaveNote(dataDir: string, note: ServerNote): () => void {
  const file = path.join(dataDir, NOTE);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(note)}\n`);
  return () => rmSync(file, { force: true });
}

/** The server that owns the folder, derived from the error of an open. A note of a dead server is ignored. */
export function holdingServer(dataDir: string, error: unknown): ServerNote | undefined {
  if (!(error instanceof NebulaError) || error.code !== 'STORE_LOCKED') return undefined;
  const note = readNote(dataDir);
  const holder = error.details as { readonly pid?: number } | undefined;
  return note !== undefined && note.pid === holder?.pid ? note : undefined;
}
