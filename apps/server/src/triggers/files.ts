/** Starts runs for new files in folders. Polls, because not every file system reports changes. */
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { NebulaError } from '@nebula/core';
import type { Launcher } from '../launcher.ts';
import { FILE_PATTERN_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { everyRecord, readRecord } from '../records.ts';
import { isoTime } from '../routes/times.ts';
import { filesOf, parseFilePattern } from './file-pattern.ts';
import { fire } from './fire.ts';
import type { FileRecord } from './records.ts';

const LOOK_MS = 1_000;
/** How long a file that started a run is remembered, so that deleting the run does not start it again. */
const REMEMBERED_MS = 400 * 24 * 3_600_000;

export interface FileWatchParts {
  readonly parts: Parts;
  readonly launcher: Launcher;
  readonly projectDir: string;
  isLeader(): boolean;
  onTrouble(error: unknown): void;
}

interface Seen {
  /** Size and time of change. */
  readonly state: string;
  readonly isDone: boolean;
}

interface Dropped {
  readonly file: string;
  readonly stats: Stats;
  readonly mark: string;
}

export class FileWatch {
  private readonly own: FileWatchParts;
  private readonly task: PeriodicTask;
  /** Files as of the last scan: a file that still changes is not taken yet. */
  private seen = new Map<string, Seen>();
  private readonly refused = new Set<string>();

  constructor(own: FileWatchParts) {
    this.own = own;
    const { parts, onTrouble } = own;
    this.task = new PeriodicTask({ clock: parts.clock, everyMs: LOOK_MS, run: () => this.look(), onTrouble });
  }

  open(): void {
    this.task.open();
  }

  close(): void {
    this.task.close();
  }

  private async look(): Promise<void> {
    if (!this.own.isLeader()) return;
    const now = new Map<string, Seen>();
    for await (const { id, body } of everyRecord<FileRecord>(this.own.parts.records, 'file')) {
      for (const file of await this.filesOf(id, body)) {
        const seen = await this.consider(id, body, file);
        if (seen !== undefined) now.set(`${id} ${file}`, seen);
      }
    }
    this.seen = now;
  }

  /** A stored pattern may be invalid under newer rules. It is reported once and does not stop other triggers. */
  private async filesOf(id: string, { path: pattern }: FileRecord): Promise<readonly string[]> {
    try {
      return await this.found(pattern);
    } catch (error) {
      if (!(error instanceof NebulaError)) throw error;
      if (!this.refused.has(id)) this.own.onTrouble(error);
      this.refused.add(id);
      return [];
    }
  }

  private async found(pattern: string): Promise<readonly string[]> {
    const { projectDir } = this.own;
    const isFolder = await stat(path.resolve(projectDir, pattern)).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    const found: string[] = [];
    const root = await realpath(projectDir);
    for await (const file of filesOf(projectDir, parseFilePattern(isFolder ? `${pattern}/*` : pattern))) {
      if (!(await isBelow(root, path.resolve(projectDir, file)))) continue;
      found.push(file);
      if (found.length >= FILE_PATTERN_LIMITS.maxFiles) break;
    }
    return found;
  }

  private async consider(id: string, source: FileRecord, file: string): Promise<Seen | undefined> {
    const stats = await stat(path.resolve(this.own.projectDir, file)).catch(() => undefined);
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
    const { parts, launcher } = this.own;
    const mark = parts.digest(text);
    if ((await readRecord(parts.records, 'dropped', mark)) !== undefined) return;
    const at = parts.clock.now();
    const came = { path: file, name: path.basename(file), size: stats.size, modifiedAt: isoTime(stats.mtimeMs) };
    const trigger = { type: 'file', id, at: isoTime(at) };
    try {
      await fire(parts, launcher, { source, came, trigger, executionId: `exe_f${mark.slice(0, 40)}` });
    } catch (error) {
      if ((error as { retryable?: boolean }).retryable) throw error;
      this.own.onTrouble(error);
    }
    await parts.records.commit([
      { kind: 'dropped', id: mark, body: JSON.stringify({ file, at }), expiresAt: at + REMEMBERED_MS },
    ]);
  }
}

/** Checks the real path of every found file: patterns and links may lead out of the project. */
async function isBelow(root: string, file: string): Promise<boolean> {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) return false;
  const relative = path.relative(root, real);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}
