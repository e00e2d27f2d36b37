/**
 * Access to files. A path is checked twice: as written, so that a refusal reveals nothing about what exists, and as
 * resolved through links, so that no link leads out of the grant.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { NebulaError } from '@nebula/core';
import type { Invocation } from '@nebula/ports';
import { makeFolder, syncFolder, writeSynced } from '../../fs/durable.ts';
import { demand, denied, grants, type Wanted } from '../grant.ts';
import type { Host } from '../host.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { isInside, matchesPath } from '../pattern.ts';
import { codeReservation } from './code-files.ts';

export async function readGranted(
  host: Host,
  invocation: Invocation,
  path: string,
  options: { readonly maxBytes?: number } = {},
): Promise<Uint8Array> {
  const real = await reach(host, invocation, path, 'read');
  const maxBytes = options.maxBytes ?? SANDBOX_LIMITS.maxReadBytes;
  // Non-blocking: opening a pipe would otherwise wait for a writer, and block a thread of the pool.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    throw fileError(error, path);
  });
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new NebulaError('FILE_NOT_REGULAR', `${path} is not a regular file`);
    if (found.size > maxBytes) throw tooLarge(path, found.size, maxBytes);
    const data = await handle.readFile({ signal: invocation.signal });
    if (data.byteLength > maxBytes) throw tooLarge(path, data.byteLength, maxBytes);
    return data;
  } finally {
    await handle.close();
  }
}

export async function writeGranted(
  host: Host,
  invocation: Invocation,
  path: string,
  data: string | Uint8Array,
  options: { readonly append?: boolean } = {},
): Promise<void> {
  const real = await reach(host, invocation, path, 'write');
  await makeFolder(dirname(real));
  // A link may have appeared where a folder was missing.
  const target = await reach(host, invocation, path, 'write');
  invocation.signal.throwIfAborted();
  if (options.append) await append(target, data, path);
  else await replace(target, data, invocation.signal);
}

/** Appends to the only name of a file: another name of it may be reserved. A replaced file leaves the others alone. */
async function append(target: string, data: string | Uint8Array, shown: string): Promise<void> {
  const links = await stat(target).then(
    (found) => found.nlink,
    () => 0,
  );
  if (links > 1) throw new NebulaError('FILE_NOT_REGULAR', `${shown} has other names (hard links)`);
  await writeSynced(target, data, APPEND, 0o644);
  if (links === 0) await syncFolder(dirname(target));
}

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * Replaces a file: readers see the old content or the new one; when the promise resolves, the new one survives a power
 * loss.
 */
async function replace(path: string, data: string | Uint8Array, signal: AbortSignal): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`);
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => undefined,
  );
  try {
    await writeSynced(temporary, data, 'wx', 0o644);
    if (mode !== undefined) await chmod(temporary, mode);
    signal.throwIfAborted();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** The real path, if it is granted. */
async function reach(host: Host, invocation: Invocation, path: string, access: 'read' | 'write'): Promise<string> {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new NebulaError('PATH_INVALID', `${JSON.stringify(path)} is not a path`);
  }
  const written = resolve(host.projectDir, path);
  const entry = isInside(written, host.projectDir) ? written.slice(host.projectDir.length + 1) || '.' : written;
  const wanted: Wanted = { kind: 'files', access, doing: `${access} ${entry}`, entry };
  demand(invocation, wanted, (pattern) => matchesPath(pattern, written, host.projectDir));
  await refuseReserved(host, invocation, { path: written, root: host.projectDir, access }, wanted);

  const root = await realpath(host.projectDir);
  const real = await realPathOf(written, path);
  await refuseReserved(host, invocation, { path: real, root, access }, wanted);
  const patterns = invocation.granted.files?.[access] ?? [];
  if (!grants(patterns, (pattern) => matchesPath(pattern, real, root))) {
    throw denied(
      invocation,
      { ...wanted, entry: isInside(real, root) ? real.slice(root.length + 1) : real },
      `it leads to ${real}`,
    );
  }
  return real;
}

/** Folders in which the kernel shows environments, memory and open files of processes. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/** A path with the project folder, both as written or both as resolved. */
interface Reach {
  readonly path: string;
  readonly root: string;
  readonly access: 'read' | 'write';
}

async function refuseReserved(host: Host, invocation: Invocation, reach: Reach, wanted: Wanted): Promise<void> {
  const why = await reservation(host, reach);
  if (why === undefined) return;
  const { action } = invocation;
  throw new NebulaError('CAPABILITY_DENIED', `${action.id} may not ${wanted.doing}: ${why}`, {
    hint: 'No grant reaches it: see docs/actions.md. An action gets a secret by ctx.credential(alias).',
    details: { capability: 'files', wanted: wanted.entry, ...(wanted.access && { access: wanted.access }) },
  });
}

async function reservation({ dataDir, reserved }: Host, { path, root, access }: Reach): Promise<string | undefined> {
  const kernel = KERNEL_FOLDERS.find((folder) => isInside(path, folder));
  if (kernel !== undefined) return `${kernel} belongs to the system`;
  if (dataDir !== undefined) {
    const real = await realpath(dataDir).catch(() => dataDir);
    if (isInside(path, dataDir) || isInside(path, real)) return 'it is in the data folder';
  }
  return codeReservation(path, root, access) ?? reserved?.(path, access);
}

/** Resolves a path that need not exist: links of the existing part are followed. */
async function realPathOf(path: string, shown: string): Promise<string> {
  const missing: string[] = [];
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(await realpath(existing), ...missing);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(existing) === existing)
        throw fileError(error, shown);
      missing.unshift(basename(existing));
    }
  }
}

function fileError(error: unknown, path: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return new NebulaError('FILE_NOT_FOUND', `${path} does not exist`, { cause: error });
    case 'ENOTDIR':
      return new NebulaError('FILE_NOT_FOUND', `a part of ${path} is not a folder`, { cause: error });
    case 'ELOOP':
      return new NebulaError('FILE_NOT_REGULAR', `${path} is a link that leads nowhere`, { cause: error });
    default:
      return error;
  }
}

function tooLarge(path: string, bytes: number, maxBytes: number): NebulaError {
  return new NebulaError('FILE_TOO_LARGE', `${path} has ${bytes} bytes, more than the limit of ${maxBytes}`, {
    details: { bytes, maxBytes },
  });
}
