/** Workflows in TypeScript: a module whose default export is a workflow of the builder, or a definition. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isJsonObject, NebulaError, type WorkflowDefinition } from '@nebula/core';
import { readNamedFile } from './named-file.ts';
import type { Io } from './terminal/io.ts';

export interface WorkflowModule {
  readonly definition: WorkflowDefinition;
  /** The workflows that it uses, each after those that it uses itself. */
  readonly uses: readonly WorkflowDefinition[];
}

export function isModule(file: string): boolean {
  return /\.[mc]?[tj]s$/.test(file);
}

export async function loadModule(io: Io, file: string): Promise<WorkflowModule> {
  const absolute = path.resolve(io.cwd, file);
  // Reports a missing or unreadable file with the usual messages.
  await readNamedFile(io, file, 'a workflow file');
  await import('./testing/resolve-packages.ts');
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(await currentUrl(absolute))) as typeof loaded;
  } catch (error) {
    const { loadFailure } = await import('./load-failure.ts');
    throw await loadFailure('WORKFLOW_INVALID', file, { cwd: io.cwd, error });
  }
  const exported = loaded.default;
  if (isJsonObject(exported) && isJsonObject(exported.definition)) {
    return { uses: [], ...(exported as unknown as Partial<WorkflowModule>) } as WorkflowModule;
  }
  if (isJsonObject(exported)) return { definition: exported as unknown as WorkflowDefinition, uses: [] };
  throw new NebulaError('WORKFLOW_INVALID', `${file} has no workflow as its default export`, {
    hint: "write: export default workflow('id', { … }, (w) => { … }), with workflow from '@nebula/sdk'",
    details: { hasDefault: exported !== undefined },
  });
}

/** Whether the error says that a module exports nothing as its default: it is a part of others, not a workflow. */
export function isOfHelper(error: unknown): boolean {
  return error instanceof NebulaError && isJsonObject(error.details) && error.details['hasDefault'] === false;
}

/** When each module was changed before it was loaded, and how often it was loaded. */
const loads = new Map<string, { readonly changed: number; readonly times: number }>();

/** Node caches modules by URL: one that has changed gets a new one. What it imports stays as it was. */
async function currentUrl(file: string): Promise<string> {
  const { mtimeMs: changed } = await stat(file);
  const before = loads.get(file);
  const times = before === undefined ? 0 : before.times + (before.changed === changed ? 0 : 1);
  loads.set(file, { changed, times });
  const { href } = pathToFileURL(file);
  return times === 0 ? href : `${href}?revision=${times}`;
}
