/** Reads files, pipes and stdin that the user names, whole and up to a limit. */
import { createReadStream, type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { DEFINITION_LIMITS, formatSize, NebulaError } from '@nebula/core';
import type { Io } from './terminal/io.ts';

const LIMIT_BYTES = DEFINITION_LIMITS.maxSourceBytes;
const SILENT_PIPE_MS = 2_000;

/** `what` is the expected kind, for messages: `a workflow file`. */
export async function readNamedFile(io: Io, file: string, what: string): Promise<Uint8Array> {
  const absolute = path.resolve(io.cwd, file);
  try {
    const found = await stat(absolute);
    refuseEndless(file, found, what);
    return found.isFile() || found.isDirectory() ? await readFile(absolute) : await readPipe(io, absolute, file);
  } catch (error) {
    throw error instanceof NebulaError ? error : unreadable(file, what, error as NodeJS.ErrnoException);
  }
}

/** Rejects devices, which have no end, and large files before they are read. */
function refuseEndless(file: string, found: Stats, what: string): void {
  if (found.isCharacterDevice() || found.isBlockDevice()) {
    throw new NebulaError('FILE_UNREADABLE', `${file} is a device, not ${what}`, {
      hint: 'give the path of a file, or - for stdin',
    });
  }
  if (found.size > LIMIT_BYTES) throw tooLarge(`${file} has ${formatSize(found.size)}`);
}

/** Reads a pipe such as the shell's `<(command)`. Prints a notice while the pipe has no writer. */
async function readPipe(io: Io, absolute: string, file: string): Promise<Uint8Array> {
  const waiting = setTimeout(() => {
    io.err.write(`${JSON.stringify(file)} is a pipe into which nothing has been written yet; Ctrl-C ends the wait\n`);
  }, SILENT_PIPE_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of createReadStream(absolute) as AsyncIterable<Buffer>) {
      clearTimeout(waiting);
      size += chunk.length;
      if (size > LIMIT_BYTES) throw tooLarge(`${file} has more than ${formatSize(LIMIT_BYTES)}`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(waiting);
  }
  return Buffer.concat(chunks);
}

function tooLarge(finding: string): NebulaError {
  return new NebulaError('TOO_LARGE', `${finding}; the limit is ${formatSize(LIMIT_BYTES)}`, {
    hint: 'keep large data in a file of its own and pass its path',
  });
}

function unreadable(file: string, what: string, error: NodeJS.ErrnoException): NebulaError {
  switch (error.code ?? '') {
    case 'ENOENT':
    case 'ENOTDIR':
      return new NebulaError('FILE_NOT_FOUND', `there is no file ${file}`, {
        hint: 'paths start at the current folder',
      });
    case 'EISDIR':
      return new NebulaError('FILE_UNREADABLE', `${file} is a folder, not ${what}`, {
        hint: 'give the path of a file in it',
      });
    default:
      return new NebulaError('FILE_UNREADABLE', `${file} cannot be read: ${error.message}`, {
        hint: 'check that this user may read it',
        cause: error,
      });
  }
}
