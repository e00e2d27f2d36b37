/**
 * Starts runs for new files in folders. Polls, because not every file system reports changes.
 *
 *  1 A run learns of a file only if it is below the project folder, not reserved, and within the ceiling of the
 *    project; each is checked for the path as written and with links followed.
 *  2 The triggers of a project share a budget of names that a look reads and of files that they watch.
 */
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Ceiling, grantsOne, NebulaError } from '@nebula/core';
import type { Launcher } from '../launcher.ts';
import { FILE_PATTERN_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { everyRecord, readRecord } from '../records.ts';
import { isoTime } from '../routes/times.ts';
import { refuseUngranted } from './activation.ts';
import { filesOf, parseFilePattern, type WalkBudget } from './file-pattern.ts';
import { fire } from './fire.ts';
import type { FileRecord } from './records.ts';

const SCAN_MS = 1_000;
/** How long a file that started a run is remembered, so that deleting the run does not start it again. */
const REMEMBERED_MS = 400 * 24 * 3_600_000;

type WatchLimits = { readonly [K in 'maxEntries' | 'maxFiles']: number };

export interface FileWatchParts {
  readonly parts: Parts;
  readonly launcher: Launcher;
  readonly projectDir: string;
  /** The reason why no run learns of a file or folder. */
  readonly reserved?: ((file: string) => string | undefined) | undefined;
  /** For tests: other limits than those of the server. */
  readonly limits?: WatchLimits;
  isLeader(): boolean;
  onTrouble(error: unknown): void;
}

interface Seen {
  /** Size and time of change. */
  readonly state: string;
  readonly isDone: boolean;
}

/** The share of a project in one look. */
interface ProjectWatch {
  readonly ceiling: Ceiling;
  readonly names: WalkBudget;
  filesLeft: number;
}

interface Dropped {
  readonly file: string;
  readonly stats: Stats;
  readonly mark: string;
}

export class FileWatch {
  private readonly options: FileWatchParts;
  private readonly task: PeriodicTask;
  /** Files as of the last scan: a file that still changes is not taken yet. */
  private seen = new Map<string, Seen>();
  private readonly refused = new Set<string>();
  private readonly limits: WatchLimits;

  constructor(options: FileWatchParts) {
    this.options = options;
    const { parts, onTrouble, limits = FILE_PATTERN_LIMITS } = options;
    this.limits = limits;
    this.task = new PeriodicTask({ clock: parts.clock, everyMs: SCAN_MS, run: () => this.scan(), onTrouble });
  }

  open(): void {
    this.task.open();
  }

  close(): void {
    this.task.close();
  }

  private async scan(): Promise<void> {
    if (!this.options.isLeader()) return;
    const now = new Map<string, Seen>();
    const watches = new Map<string, ProjectWatch>();
    for await (const { id, body } of everyRecord<FileRecord>(this.options.parts.records, 'file')) {
      const watch = watches.get(body.project) ?? (await this.watchOf(body.project));
      watches.set(body.project, watch);
      for (const file of await this.filesOf(id, body, watch)) {
        const seen = await this.consider(id, body, file);
        if (seen !== undefined) now.set(`${id} ${file}`, seen);
      }
    }
    this.seen = now;
  }

  private async watchOf(project: string): Promise<ProjectWatch> {
    const { parts, reserved } = this.options;
    return {
      ceiling: await parts.projects.ceilingOf(project),
      names: { left: this.limits.maxEntries, isSkipped: (folder) => reserved?.(folder) !== undefined },
      filesLeft: this.limits.maxFiles,
    };
  }

  /**
   * A stored pattern may be invalid under newer rules, be over a ceiling that was lowered, or match too much. Such
   * a pattern is reported once and does not stop other triggers.
   */
  private async filesOf(id: string, { project, path: pattern }: FileRecord, watch: ProjectWatch): Promise<string[]> {
    const filesMatching: string[] = [];
    try {
      refuseUngranted({ file: { path: pattern } }, project, watch.ceiling);
      for await (const file of this.filesMatching(pattern, watch)) filesMatching.push(file);
      this.refused.delete(id);
    } catch (error) {
      if (!(error instanceof NebulaError)) throw error;
      if (!this.refused.has(id)) this.options.onTrouble(error);
      this.refused.add(id);
    }
    return filesMatching;
  }

  private async *filesMatching(pattern: string, watch: ProjectWatch): AsyncGenerator<string> {
    const { projectDir } = this.options;
    const isFolder = await stat(path.resolve(projectDir, pattern)).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    const root = await realpath(projectDir);
    const parsed = parseFilePattern(isFolder ? `${pattern}/*` : pattern);
    for await (const file of filesOf(projectDir, parsed, watch.names)) {
      if (!(await this.mayTell(file, root, watch.ceiling))) continue;
      if (watch.filesLeft-- <= 0) throw tooMany(`watch more than ${this.limits.maxFiles} files`, pattern);
      yield file;
    }
    if (watch.names.left <= 0) throw tooMany(`read more than ${this.limits.maxEntries} names`, pattern);
  }

  private async mayTell(file: string, root: string, ceiling: Ceiling): Promise<boolean> {
    const { projectDir, reserved } = this.options;
    const written = path.resolve(projectDir, file);
    const real = await realpath(written).catch(() => undefined);
    if (real === undefined || !isBelow(root, real)) return false;
    if ((reserved?.(written) ?? reserved?.(real)) !== undefined) return false;
    const resources = [path.relative(root, real).replaceAll(path.sep, '/'), real];
    return resources.some((resource) => grantsOne(ceiling, 'files.read', resource));
  }

  private async consider(id: string, source: FileRecord, file: string): Promise<Seen | undefined> {
    const stats = await stat(path.resolve(this.options.projectDir, file)).catch(() => undefined);
    if (stats === undefined || !stats.isFile()) return undefined;
    const key = `${id} ${file}`;
    const state = `${stats.size} ${stats.mtimeMs}`;
    const before = this.seen.get(key);
    if (before?.state !== state) return { state, isDone: false };
    if (!before.isDone) await this.drop(id, source, { file, stats, mark: `${key} ${state}` });
    return { state, isDone: true };
  }

  /** A file that cannot start a run is reported once and does not stop the others. */
  private async drop(id: string, source: FileRecord, { file, stats, mark: text }: Dropped): Promise<void> {
    const { parts, launcher } = this.options;
    const mark = parts.digest(text);
    if ((await readRecord(parts.records, 'dropped', mark)) !== undefined) return;
    const at = parts.clock.now();
    const came = { path: file, name: path.basename(file), size: stats.size, modifiedAt: isoTime(stats.mtimeMs) };
    const trigger = { type: 'file', id, at: isoTime(at) };
    try {
      await fire(parts, launcher, { source, came, trigger, executionId: `exe_f${mark.slice(0, 40)}` });
    } catch (error) {
      if ((error as { retryable?: boolean }).retryable) throw error;
      this.options.onTrouble(error);
    }
    await parts.records.commit([
      { kind: 'dropped', id: mark, body: JSON.stringify({ file, at }), expiresAt: at + REMEMBERED_MS },
    ]);
  }
}

function tooMany(what: string, pattern: string): NebulaError {
  return new NebulaError('TOO_LARGE', `The file triggers of the project ${what}.`, {
    hint: `The others are not noticed. Narrow '${pattern}', or move files away that were processed.`,
  });
}

/** Patterns and links may lead out of the project. */
function isBelow(root: string, real: string): boolean {
  const relative = path.relative(root, real);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}
