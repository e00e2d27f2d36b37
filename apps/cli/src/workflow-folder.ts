/**
 * Finds the workflows that a file uses: first in the files beside it (`<id>.yaml`, `.yml`, `.json`, then
 * any file with that `id`), then among the registered ones. Follows their uses in turn.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  NebulaError,
  type ReadResult,
  readDefinition,
  type UsedWorkflow,
  usedWorkflows,
  type WorkflowDefinition,
} from '@nebula/core';
import { definitionOf } from './runs.ts';
import type { ApiSession, Context, Project } from './services.ts';
import type { FindWorkflow } from './views/workflow-graph.ts';

export interface OtherFile {
  /** The path as shown to the user. */
  readonly file: string;
  readonly id: string;
  readonly read: ReadResult;
  /** Undefined if the file is not a valid workflow. */
  readonly definition: WorkflowDefinition | undefined;
}

export interface Others {
  readonly find: FindWorkflow;
  /** Known ids, for suggestions. */
  readonly ids: readonly string[];
  /** Workflows from files, each after those that it uses, unless they use each other. */
  readonly files: readonly OtherFile[];
}

const ENDINGS = ['.yaml', '.yml', '.json'] as const;
/** The most files read in one folder: it may hold data. */
const MAX_FILES = 1_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** The most workflows that one file may use, directly or not. */
const MAX_OTHERS = 1_000;

export interface FindOptions {
  readonly project?: Project;
  /** Workflows that need not be searched for, each after those that it uses. */
  readonly usedFiles?: readonly OtherFile[];
}

export async function findOthers(
  context: Context,
  file: string,
  definition: WorkflowDefinition,
  { project, usedFiles = [] }: FindOptions = {},
): Promise<Others> {
  const { cwd } = context.io;
  const folder = new WorkflowFolder(file === '-' ? '' : path.dirname(file), cwd);
  const store = new RegisteredWorkflows(context, file, project);
  const search = new Search(folder, store, definition, usedFiles);
  try {
    await search.follow(definition);
    return {
      find: (id, version) => search.definitions.get(keyOf({ id, version })),
      ids: search.isMissing ? [...new Set([...(await folder.ids()), ...search.files.map(({ id }) => id)])] : [],
      files: search.files,
    };
  } finally {
    await store.close();
  }
}

/** The first file with this workflow in these folders. */
export async function fileWithWorkflow(
  folders: readonly string[],
  cwd: string,
  id: string,
): Promise<OtherFile | undefined> {
  for (const folder of new Set(folders)) {
    const found = await new WorkflowFolder(folder, cwd).find(id);
    if (found?.definition !== undefined) return found;
  }
  return undefined;
}

function keyOf({ id, version }: { readonly id: string; readonly version?: number | undefined }): string {
  return `${id}@${version ?? ''}`;
}

class Search {
  readonly definitions = new Map<string, WorkflowDefinition>();
  readonly files: OtherFile[] = [];
  isMissing = false;
  readonly #seen: Set<string>;
  readonly #folder: WorkflowFolder;
  readonly #store: RegisteredWorkflows;

  constructor(
    folder: WorkflowFolder,
    store: RegisteredWorkflows,
    main: WorkflowDefinition,
    usedFiles: readonly OtherFile[],
  ) {
    this.#folder = folder;
    this.#store = store;
    this.definitions.set(keyOf({ id: main.id }), main);
    this.#seen = new Set([main.id]);
    for (const other of usedFiles) {
      if (other.definition !== undefined) this.definitions.set(keyOf({ id: other.id }), other.definition);
      this.#seen.add(other.id);
      this.files.push(other);
    }
  }

  async follow(definition: WorkflowDefinition): Promise<void> {
    for (const used of usedWorkflows(definition)) {
      if (this.definitions.has(keyOf(used)) || this.definitions.size >= MAX_OTHERS) continue;
      const other = await this.#folder.find(used.id);
      if (other !== undefined && fits(used, other)) await this.#take(used, other);
      else await this.#takeRegistered(used);
    }
  }

  async #take(used: UsedWorkflow, other: OtherFile): Promise<void> {
    const { definition } = other;
    if (definition !== undefined) this.definitions.set(keyOf(used), definition);
    else this.isMissing = true;
    if (this.#seen.has(used.id)) return;
    this.#seen.add(used.id);
    if (definition !== undefined) await this.follow(definition);
    this.files.push(other);
  }

  async #takeRegistered(used: UsedWorkflow): Promise<void> {
    const definition = await this.#store.find(used.id, used.version);
    if (definition === undefined) {
      this.isMissing = true;
      return;
    }
    this.definitions.set(keyOf(used), definition);
    await this.follow(definition);
  }
}

/** A requested version must be that of the file; otherwise a registered version is taken. */
function fits({ version }: UsedWorkflow, { definition }: OtherFile): boolean {
  return version === undefined || definition?.version === version;
}

class WorkflowFolder {
  readonly #dir: string;
  readonly #cwd: string;
  #all: Promise<readonly OtherFile[]> | undefined;

  constructor(dir: string, cwd: string) {
    this.#dir = dir;
    this.#cwd = cwd;
  }

  async find(id: string): Promise<OtherFile | undefined> {
    for (const ending of ENDINGS) {
      const other = await this.#read(`${id}${ending}`);
      if (other !== undefined && (other.definition === undefined || other.id === id)) return { ...other, id };
    }
    return (await this.#files()).find((other) => other.definition !== undefined && other.id === id);
  }

  async ids(): Promise<readonly string[]> {
    return (await this.#files()).flatMap(({ id, definition }) => (definition === undefined ? [] : [id]));
  }

  #files(): Promise<readonly OtherFile[]> {
    this.#all ??= this.#readAll();
    return this.#all;
  }

  async #readAll(): Promise<readonly OtherFile[]> {
    const names = await readdir(path.resolve(this.#cwd, this.#dir)).catch(() => []);
    const files: OtherFile[] = [];
    for (const name of names.filter((one) => ENDINGS.some((ending) => one.endsWith(ending))).slice(0, MAX_FILES)) {
      const other = await this.#read(name);
      if (other !== undefined) files.push(other);
    }
    return files;
  }

  /** Returns undefined if the file cannot be read. */
  async #read(name: string): Promise<OtherFile | undefined> {
    const file = path.join(this.#dir, name);
    const absolute = path.resolve(this.#cwd, file);
    try {
      const found = await stat(absolute);
      if (!found.isFile() || found.size > MAX_FILE_BYTES) return undefined;
      const bytes = await readFile(absolute);
      const read = readDefinition(bytes, { file });
      const { definition } = read;
      return { file, read, definition, id: definition?.id ?? '' };
    } catch {
      return undefined;
    }
  }
}

/** Opens the data folder at the first use. A missing data folder has no registered workflows. */
class RegisteredWorkflows {
  readonly #context: Context;
  readonly #file: string;
  readonly #project: Project | undefined;
  #session: Promise<ApiSession | undefined> | undefined;

  constructor(context: Context, file: string, project: Project | undefined) {
    this.#context = context;
    this.#file = file;
    this.#project = project;
  }

  async find(id: string, version: number | undefined): Promise<WorkflowDefinition | undefined> {
    this.#session ??= this.#open();
    const session = await this.#session;
    return session === undefined ? undefined : await definitionOf(session.api, id, version);
  }

  async #open(): Promise<ApiSession | undefined> {
    const { services } = this.#context;
    try {
      const project = this.#project ?? (await services.openProject(this.#file === '-' ? {} : { file: this.#file }));
      return await services.openApi(project, 'read');
    } catch (error) {
      if (error instanceof NebulaError) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#session)?.close();
  }
}

/** The workflows that a registered workflow uses inline, for drawing. */
export async function registeredWorkflows(
  { api }: ApiSession,
  definition: WorkflowDefinition | undefined,
): Promise<FindWorkflow> {
  const found = new Map<string, WorkflowDefinition>();
  const queue = definition === undefined ? [] : [definition];
  for (let one = queue.pop(); one !== undefined && found.size < MAX_OTHERS; one = queue.pop()) {
    for (const used of usedWorkflows(one)) {
      if (used.mode === 'child' || found.has(keyOf(used))) continue;
      const inner = await definitionOf(api, used.id, used.version);
      if (inner === undefined) continue;
      found.set(keyOf(used), inner);
      queue.push(inner);
    }
  }
  return (id, version) => found.get(keyOf({ id, version }));
}
