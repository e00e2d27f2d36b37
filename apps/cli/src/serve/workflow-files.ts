/**
 * Registers and activates the workflow files of a project, and again when they change.
 *
 *  1 A broken file is reported with its problems; the previous version stays active.
 *  2 A file that has not changed since its registration, by this server or an earlier one, is skipped, so that
 *     activations by others stay. The record of the workflow has the hash of its file.
 *  3 A broken file may name an action that a worker announces later, so it is checked again then.
 *  4 One scan or save at a time; a change during a scan causes one more.
 *  5 The workflow of a removed file is deactivated, unless another file has it or another version was activated since.
 *     `workflow-files.json` in the data folder names the files, so that one that is removed while no server runs is missed.
 *  6 A text is saved only into a file that is as it was registered last.
 *  7 Files are not removed while the folder of their pattern is missing, as after a failed mount: their workflows stay active.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import type { NebulaClient } from '@nebula/client';
import { isJsonObject, type Json, NebulaError, type TriggerDefinition, type WorkflowDefinition } from '@nebula/core';
import { DEFAULT_PROJECT } from '@nebula/ports';
import type { WorkflowFiles as SavedFiles, WorkflowOrigins } from '@nebula/server';
import { unlessAbsent } from '../api.ts';
import { type Grants, grantsOf } from '../grants.ts';
import { baseFolder } from '../project.ts';
import type { Context, Project, ServerSession } from '../services.ts';
import type { Colors } from '../terminal/io.ts';
import { triggerScheduleId } from '../views/triggers.ts';
import { allProblems, type CheckedFile, checkFile, registerAll, reportLines, textsIn } from '../workflow-file.ts';
import { isModule, isOfHelper } from '../workflow-module.ts';
import { fileChanged, hashOfFile, hashOfText, notSaved, refuseUnwritable, replaceFile } from './saved-file.ts';

/** The limit on files: a folder may contain data. */
const MAX_FILES = 2_000;
/** In the data folder: the registered files, with the workflow and version of each. */
const NOTE = 'workflow-files.json';

export type FileNews =
  | { readonly kind: 'registered'; readonly file: string; readonly workflow: ServedWorkflow; readonly isNew: boolean }
  | {
      readonly kind: 'broken';
      readonly file: string;
      readonly message: string;
      /** The problems with line and column, for people. */
      readonly report: readonly string[];
      /** The problems for programs. */
      readonly problems: readonly Json[];
    }
  | {
      readonly kind: 'gone';
      readonly file: string;
      readonly workflowId: string;
      /** False if the workflow stays active: another file has it, or another version was activated. */
      readonly isDeactivated: boolean;
    }
  | {
      readonly kind: 'missing';
      readonly folder: string;
      /** The workflows of its files, which stay active. */
      readonly workflowIds: readonly string[];
    };

export interface ServedWorkflow {
  readonly workflowId: string;
  readonly version: number;
  /** The workflow cannot be started without an input. */
  readonly needsInput: boolean;
  readonly triggers: readonly { readonly trigger: TriggerDefinition; readonly nextFireAt: number | null }[];
  /** The grants of a new version that asks for capabilities. */
  readonly grants?: Grants;
  /** The file is unchanged, and somebody deactivated the workflow. */
  readonly isInactive?: true;
}

interface Known {
  readonly mark: string;
  /** Files of the workflows that it uses. */
  readonly uses: readonly string[];
  readonly workflowId: string | undefined;
  /** The version that was registered last. */
  readonly version?: number | undefined;
  /** The hash of the text that was registered last. */
  readonly textHash?: string | undefined;
  readonly isBroken: boolean;
}

type Session = Pick<ServerSession, 'api' | 'origins'>;

export class WorkflowFiles implements SavedFiles {
  readonly #context: Context;
  readonly #project: Project;
  readonly #api: NebulaClient;
  readonly #origins: WorkflowOrigins;
  readonly #colors: Colors;
  /** By file: the registered workflow, or the problems of the file. */
  readonly #known = new Map<string, Known>();
  /** Folders that were missing at the last look. */
  #missing: ReadonlySet<string> = new Set();
  #patterns: readonly string[] = [];
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(context: Context, project: Project, { api, origins }: Session, colors: Colors) {
    this.#context = context;
    this.#project = project;
    this.#api = api;
    this.#origins = origins;
    this.#colors = colors;
    this.#readNote();
  }

  get hasBroken(): boolean {
    return [...this.#known.values()].some(({ isBroken }) => isBroken);
  }

  /** Absolute paths of the files, and of those that they use. */
  get paths(): readonly string[] {
    const files = [...this.#known].flatMap(([file, { uses }]) => [file, ...uses]);
    return files.map((file) => path.resolve(this.#context.io.cwd, file));
  }

  /** Registers changed files and returns the changes since the last look. */
  async registerChanged(patterns: readonly string[]): Promise<readonly FileNews[]> {
    return await this.#alone(() => this.#registerNow(patterns));
  }

  isWritable(file: string): boolean {
    const known = this.#known.get(this.#shown(file));
    return known?.workflowId !== undefined && !isModule(file);
  }

  async save<T extends { readonly version: number }>(
    workflowId: string,
    text: string,
    register: () => Promise<T>,
  ): Promise<T> {
    return await this.#alone(async () => {
      const origin = await this.#origins.read(workflowId);
      if (origin === undefined) throw notSaved(`${workflowId} does not come from a file of this server`);
      const known = this.#known.get(this.#shown(origin.path));
      if (known?.workflowId !== workflowId) throw notSaved(`${origin.path} is not a workflow file of this server`);
      const file = path.join(this.#project.dir, origin.path);
      const hash = hashOfFile(file);
      if (hash !== undefined) refuseUnwritable(file, this.#folders(this.#patterns), text);
      if (hash === undefined || hash !== known.textHash) throw fileChanged(origin.path);
      const registered = await register();
      // The registration took its time, and editors write whenever they like.
      if (known.textHash !== hashOfFile(file)) throw fileChanged(origin.path, registered.version);
      await replaceFile(file, text, registered.version);
      await this.#noteSaved(this.#shown(origin.path), registered.version);
      return registered;
    });
  }

  /** The file has the text of a registered version. */
  async #noteSaved(file: string, version: number): Promise<void> {
    const checked = await checkFile(this.#context, this.#project, file, { owner: DEFAULT_PROJECT });
    const { definition } = checked;
    // Changed once more meanwhile: the next look registers it.
    if (definition === undefined) return;
    await this.#registeredAs(file, checked, { workflowId: definition.id, version });
    this.#note();
  }

  /** Runs the work after all earlier work has ended. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#underWay.then(work, work);
    this.#underWay = result;
    return result;
  }

  /** The name of a file of the project, relative to the current folder, as everywhere in this class. */
  #shown(file: string): string {
    return path.relative(this.#context.io.cwd, path.join(this.#project.dir, file)) || file;
  }

  /** The name relative to the project folder, with slashes, by which the server remembers it. */
  #stored(file: string): string {
    const absolute = path.resolve(this.#context.io.cwd, file);
    return path.relative(this.#project.dir, absolute).split(path.sep).join('/');
  }

  #folders(patterns: readonly string[]): readonly string[] {
    return patterns.map((pattern) => path.resolve(this.#project.dir, baseFolder(pattern)));
  }

  async #registerNow(patterns: readonly string[]): Promise<readonly FileNews[]> {
    this.#patterns = patterns;
    const files = await filesOf(this.#project.dir, patterns);
    const news: FileNews[] = [];
    for (const file of files) {
      const one = await this.#take(this.#shown(file));
      if (one !== undefined) news.push(one);
    }
    news.push(...(await this.#removeGone(patterns)));
    if (news.length > 0) this.#note();
    return news;
  }

  async #removeGone(patterns: readonly string[]): Promise<FileNews[]> {
    const { cwd } = this.#context.io;
    const gone = [...this.#known].filter(([file]) => !existsSync(path.resolve(cwd, file)));
    const roots = this.#folders(patterns);
    const rootOf = ([file]: readonly [string, Known]): string =>
      roots.find((root) => path.resolve(cwd, file).startsWith(root + path.sep)) ?? this.#project.dir;
    const news: FileNews[] = [];
    const missing = new Set<string>();
    for (const [root, files] of Map.groupBy(gone, rootOf)) {
      if (existsSync(root)) {
        for (const [file, known] of files) news.push(...(await this.#removed(file, known)));
        continue;
      }
      missing.add(root);
      if (this.#missing.has(root)) continue;
      const workflowIds = files.flatMap(([, { workflowId }]) => workflowId ?? []);
      news.push({ kind: 'missing', folder: path.relative(cwd, root) || '.', workflowIds });
    }
    this.#missing = missing;
    return news;
  }

  /** Forgets the file once its workflow is deactivated; if that fails, the next look tries again. */
  async #removed(file: string, { workflowId, version }: Known): Promise<FileNews[]> {
    try {
      const isDeactivated = workflowId !== undefined && (await this.#deactivate(file, workflowId, version));
      if (workflowId !== undefined && (await this.#origins.read(workflowId))?.path === this.#stored(file)) {
        await this.#origins.note(workflowId, undefined);
      }
      this.#known.delete(file);
      return workflowId === undefined ? [] : [{ kind: 'gone', file, workflowId, isDeactivated }];
    } catch (error) {
      if (!(error instanceof NebulaError)) throw error;
      const message = `it was removed, and ${workflowId} cannot be deactivated: ${error.message}`;
      return [{ kind: 'broken', file, report: [], problems: [], message }];
    }
  }

  async #deactivate(file: string, workflowId: string, version: number | undefined): Promise<boolean> {
    if ([...this.#known].some(([name, other]) => name !== file && other.workflowId === workflowId)) return false;
    const workflow = await unlessAbsent(this.#api.call('getWorkflow', { params: { workflowId } }));
    if (workflow === undefined || workflow.activeVersion === null || workflow.activeVersion !== version) return false;
    await this.#api.call('deactivateWorkflow', { params: { workflowId } });
    return true;
  }

  /** The files of the server that ran before: those that are not there any more were removed meanwhile. */
  #readNote(): void {
    try {
      const noted: unknown = JSON.parse(readFileSync(path.join(this.#project.dataDir, NOTE), 'utf8'));
      for (const [file, one] of Object.entries(isJsonObject(noted) ? noted : {})) {
        if (!isJsonObject(one) || existsSync(file)) continue;
        const { workflowId, version } = one;
        if (typeof workflowId !== 'string' || typeof version !== 'number') continue;
        const shown = path.relative(this.#context.io.cwd, file);
        this.#known.set(shown, { mark: '', uses: [], workflowId, version, isBroken: false });
      }
    } catch {
      // The first server of this folder.
    }
  }

  #note(): void {
    const files = [...this.#known].flatMap(([file, { workflowId, version }]) =>
      version === undefined ? [] : [[path.resolve(this.#context.io.cwd, file), { workflowId, version }] as const],
    );
    writeFileSync(path.join(this.#project.dataDir, NOTE), `${JSON.stringify(Object.fromEntries(files))}\n`);
  }

  async #take(file: string): Promise<FileNews | undefined> {
    try {
      const checked = await checkFile(this.#context, this.#project, file, { owner: DEFAULT_PROJECT });
      const before = this.#known.get(file);
      const mark = markOf(checked);
      if (before?.mark === mark) return undefined;
      const uses = checked.others.map((other) => other.file);
      if (checked.definition === undefined) {
        this.#known.set(file, { ...before, mark, uses, workflowId: before?.workflowId, isBroken: true });
        const errors = checked.problems.filter(({ severity }) => severity === 'error');
        const message = errors[0]?.message ?? 'a workflow it runs has errors';
        const problems = allProblems(checked);
        return { kind: 'broken', file, message, report: reportLines(checked, this.#colors), problems };
      }
      const { definition } = checked;
      const origin = await this.#origins.read(definition.id);
      if (origin?.path === this.#stored(file) && origin.hash === hashOf(checked)) {
        await this.#registeredAs(file, checked, { workflowId: definition.id, version: origin.version });
        return { kind: 'registered', file, workflow: await this.#unchanged(definition, origin.version), isNew: false };
      }
      const { workflow, isNew } = await this.#register(checked, definition);
      await this.#registeredAs(file, checked, workflow);
      return { kind: 'registered', file, workflow, isNew };
    } catch (error) {
      if (!(error instanceof NebulaError)) throw error;
      if (isOfHelper(error)) return undefined;
      const mark = `${error.code} ${error.message}`;
      const before = this.#known.get(file);
      if (before?.mark === mark) return undefined;
      const uses = before?.uses ?? [];
      this.#known.set(file, { ...before, mark, uses, workflowId: before?.workflowId, isBroken: true });
      return {
        kind: 'broken',
        file,
        report: [],
        problems: [],
        message: error.hint === undefined ? error.message : `${error.message} (${error.hint})`,
      };
    }
  }

  async #registeredAs(
    file: string,
    checked: CheckedFile,
    { workflowId, version }: { readonly workflowId: string; readonly version: number },
  ): Promise<void> {
    const uses = checked.others.map((other) => other.file);
    const textHash = checked.text === null ? undefined : hashOfText(checked.text);
    this.#known.set(file, { mark: markOf(checked), uses, workflowId, version, textHash, isBroken: false });
    await this.#origins.note(workflowId, { path: this.#stored(file), hash: hashOf(checked), version });
  }

  async #register(checked: CheckedFile, definition: WorkflowDefinition) {
    const others = checked.others.flatMap((other) => other.definition ?? []);
    const how = { activate: true, texts: textsIn(checked), nameOf: (file: string) => this.#stored(file) };
    const { workflowId, version, created } = await registerAll(this.#api, others, definition, how);
    const grants = created ? await grantsOf(this.#api, definition) : undefined;
    const workflow = { workflowId, version, ...(await this.#startedBy(definition)), ...(grants && { grants }) };
    return { workflow, isNew: created };
  }

  /** The workflow of a file that is as an earlier server registered it: somebody may have activated another version. */
  async #unchanged(definition: WorkflowDefinition, version: number): Promise<ServedWorkflow> {
    const params = { workflowId: definition.id };
    const { activeVersion } = await this.#api.call('getWorkflow', { params });
    if (activeVersion === null) {
      return { ...params, version, needsInput: needsInput(definition), triggers: [], isInactive: true };
    }
    if (activeVersion === version) return { ...params, version, ...(await this.#startedBy(definition)) };
    const active = await this.#api.call('getWorkflowVersion', { params: { ...params, version: activeVersion } });
    const other = active.definition as unknown as WorkflowDefinition;
    return { ...params, version: activeVersion, ...(await this.#startedBy(other)) };
  }

  /** The triggers of the active version. */
  async #startedBy(definition: WorkflowDefinition): Promise<Pick<ServedWorkflow, 'needsInput' | 'triggers'>> {
    const triggers: { trigger: TriggerDefinition; nextFireAt: number | null }[] = [];
    for (const [index, trigger] of (definition.triggers ?? []).entries()) {
      const isTimed = trigger.schedule !== undefined || trigger.interval !== undefined;
      const params = { scheduleId: triggerScheduleId(definition.id, index) };
      const next = isTimed ? (await this.#api.call('getSchedule', { params })).nextFireAt : null;
      triggers.push({ trigger, nextFireAt: next === null ? null : Date.parse(next) });
    }
    return { needsInput: needsInput(definition), triggers };
  }
}

function needsInput({ input }: WorkflowDefinition): boolean {
  const required = isJsonObject(input) ? input.required : undefined;
  return Array.isArray(required) && required.length > 0;
}

/** A mark that is the same for the same file with the same workflows inside. */
function markOf(checked: CheckedFile): string {
  const { definition, problems } = checked;
  return definition === undefined
    ? JSON.stringify(problems.map(({ code, message }) => [code, message]))
    : hashOf(checked);
}

/** Of the text of the file and of those that it uses; of code, of its definition. A later server has the same hash. */
function hashOf({ text, definition, others }: CheckedFile): string {
  return hashOfText(JSON.stringify([text ?? definition, others.map((other) => other.text ?? other.definition)]));
}

async function filesOf(dir: string, patterns: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    for await (const file of glob(pattern, { cwd: dir })) {
      if (/\.(?:test|d)\.\w+$/.test(file) || found.size >= MAX_FILES) continue;
      found.add(file);
    }
  }
  return [...found].sort();
}

/** The folders below which files may appear; a missing one is reported by the watcher of its parent. */
export function foldersOf(dir: string, patterns: readonly string[]): readonly string[] {
  const folders = patterns.map((pattern) => {
    let folder = path.resolve(dir, baseFolder(pattern));
    while (!existsSync(folder) && folder !== dir && folder !== path.dirname(folder)) folder = path.dirname(folder);
    return folder;
  });
  return [...new Set(folders)];
}
