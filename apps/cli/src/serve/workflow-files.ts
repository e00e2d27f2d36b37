/**
 * Registers and activates the workflow files of a project, and again when they change.
 *
 *  1 A broken file is reported with its problems; the previous version stays active.
 *  2 A file that has not changed since its registration is skipped, so that activations by others stay.
 *  3 A broken file may name an action that a worker announces later, so it is checked again then.
 *  4 One scan at a time; a change during a scan causes one more.
 *  5 The workflow of a removed file is deactivated, unless another file has it or another version was activated since.
 *     `workflow-files.json` in the data folder names the files, so that one that is removed while no server runs is missed.
 *  6 Files are not removed while the folder of their pattern is missing, as after a failed mount: their workflows stay active.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import type { NebulaClient } from '@nebula/client';
import { isJsonObject, type Json, NebulaError, type TriggerDefinition, type WorkflowDefinition } from '@nebula/core';
import { DEFAULT_PROJECT } from '@nebula/ports';
import { unlessAbsent } from '../api.ts';
import { type Grants, grantsOf } from '../grants.ts';
import { baseFolder } from '../project.ts';
import type { Context, Project } from '../services.ts';
import type { Colors } from '../terminal/io.ts';
import { triggerScheduleId } from '../views/triggers.ts';
import { allProblems, type CheckedFile, checkFile, registerAll, reportLines } from '../workflow-file.ts';
import { isOfHelper } from '../workflow-module.ts';

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
}

interface Known {
  readonly mark: string;
  /** Files of the workflows that it uses. */
  readonly uses: readonly string[];
  readonly workflowId: string | undefined;
  /** The version that was registered last. */
  readonly version?: number | undefined;
  readonly isBroken: boolean;
}

export class WorkflowFiles {
  readonly #context: Context;
  readonly #project: Project;
  readonly #api: NebulaClient;
  readonly #colors: Colors;
  /** By file: the registered workflow, or the problems of the file. */
  readonly #known = new Map<string, Known>();
  /** Folders that were missing at the last look. */
  #missing: ReadonlySet<string> = new Set();
  #registering: Promise<readonly FileNews[]> | undefined;

  constructor(context: Context, project: Project, api: NebulaClient, colors: Colors) {
    this.#context = context;
    this.#project = project;
    this.#api = api;
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
    const before = this.#registering;
    const registering = (async () => {
      await before?.catch(() => undefined);
      return await this.#registerNow(patterns);
    })();
    this.#registering = registering;
    return await registering;
  }

  async #registerNow(patterns: readonly string[]): Promise<readonly FileNews[]> {
    const files = await filesOf(this.#project.dir, patterns);
    const news: FileNews[] = [];
    for (const file of files) {
      const one = await this.#take(path.relative(this.#context.io.cwd, path.join(this.#project.dir, file)) || file);
      if (one !== undefined) news.push(one);
    }
    news.push(...(await this.#removeGone(patterns)));
    if (news.length > 0) this.#note();
    return news;
  }

  async #removeGone(patterns: readonly string[]): Promise<FileNews[]> {
    const { cwd } = this.#context.io;
    const gone = [...this.#known].filter(([file]) => !existsSync(path.resolve(cwd, file)));
    const roots = patterns.map((pattern) => path.resolve(this.#project.dir, baseFolder(pattern)));
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
      const { workflow, isNew } = await this.#register(checked, checked.definition);
      const { workflowId, version } = workflow;
      this.#known.set(file, { mark, uses, workflowId, version, isBroken: false });
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

  async #register(checked: CheckedFile, definition: WorkflowDefinition) {
    const others = checked.others.flatMap((other) => other.definition ?? []);
    const registered = await registerAll(this.#api, others, definition, { activate: true });
    const { workflowId, version, created } = registered;
    const schedules = new Map<string, number>();
    for (const [index, trigger] of (definition.triggers ?? []).entries()) {
      if (trigger.schedule === undefined && trigger.interval === undefined) continue;
      const scheduleId = triggerScheduleId(workflowId, index);
      const { nextFireAt } = await this.#api.call('getSchedule', { params: { scheduleId } });
      if (nextFireAt !== null) schedules.set(scheduleId, Date.parse(nextFireAt));
    }
    const triggers = (definition.triggers ?? []).map((trigger, index) => ({
      trigger,
      nextFireAt: schedules.get(triggerScheduleId(workflowId, index)) ?? null,
    }));
    const grants = created ? await grantsOf(this.#api, definition) : undefined;
    const workflow = { workflowId, version, needsInput: needsInput(definition), triggers, ...(grants && { grants }) };
    return { workflow, isNew: created };
  }
}

function needsInput({ input }: WorkflowDefinition): boolean {
  const required = isJsonObject(input) ? input.required : undefined;
  return Array.isArray(required) && required.length > 0;
}

/** A mark that is the same for the same file with the same workflows inside. */
function markOf({ definition, problems, others }: CheckedFile): string {
  const inside = others.map((other) => other.definition);
  return JSON.stringify(
    definition === undefined ? problems.map(({ code, message }) => [code, message]) : [definition, inside],
  );
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
