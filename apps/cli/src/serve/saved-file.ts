/** Replaces the text of a workflow file for the owner of a desktop server. */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { NebulaError } from '@nebula/core';
import { isModule } from '../workflow-module.ts';

export function hashOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The hash of the text without a byte order mark; undefined if there is no such file. */
export function hashOfFile(file: string): string | undefined {
  return existsSync(file) ? hashOfText(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) : undefined;
}

/** Rejects with `NOT_SAVED_TO_FILE` unless the file is YAML or JSON in one of the folders, also behind links. */
export function refuseUnwritable(file: string, folders: readonly string[], text: string): void {
  const name = path.basename(file);
  if (isModule(file)) throw notSaved(`${name} is code, which the server does not write`);
  if (/\.json$/i.test(file) && !isJson(text)) throw notSaved(`${name} is JSON, and the text is not`);
  const real = realpathSync(file);
  const isInside = folders
    .filter((folder) => existsSync(folder))
    .some((folder) => real.startsWith(realpathSync(folder) + path.sep));
  if (!isInside) throw notSaved(`${name} is a link to a place outside of the folders of workflows`);
  try {
    accessSync(real, constants.W_OK);
    accessSync(path.dirname(real), constants.W_OK);
  } catch {
    throw notSaved(`the server may not write ${name}`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Readers see the old text or the new one. The name begins with a dot, so that no watcher takes the copy for a workflow.
 * `version`: the version that was registered with the text.
 */
export async function replaceFile(file: string, text: string, version: number): Promise<void> {
  const real = realpathSync(file);
  const copy = path.join(path.dirname(real), `.${path.basename(real)}.${process.pid}.tmp`);
  try {
    // A file or link that somebody has put there is removed, and never written through.
    await rm(copy, { force: true });
    const handle = await open(copy, 'wx', statSync(real).mode);
    try {
      await handle.writeFile(text, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(copy, real);
  } catch (error) {
    await rm(copy, { force: true });
    const { code = '' } = error as NodeJS.ErrnoException;
    throw notSaved(`${path.basename(file)} cannot be written (${code}); version ${version} is registered and active`);
  }
}

export function notSaved(why: string): NebulaError {
  return new NebulaError('NOT_SAVED_TO_FILE', `The text was not saved to a file: ${why}.`, {
    hint: 'Register without `saveToFile`, or change the file itself.',
  });
}

export function fileChanged(file: string, registered?: number): NebulaError {
  const what = `${file} was changed since the server registered it; it was not overwritten`;
  const state = registered === undefined ? '' : `. Version ${registered} is registered and active`;
  return new NebulaError('FILE_CHANGED', `${what}${state}.`, {
    hint: 'Read the workflow again and merge the changes, or register without `saveToFile`.',
  });
}
