/** Files that are put into folders start runs. Folders are looked into, since not every file system tells of changes. */
import { createHash } from 'node:crypto';
import { glob, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Timer } from '@nebula/ports';
import type { Launcher } from '../launcher.ts';
import type { Parts } from '../parts.ts';
import { parsed, readRecord } from '../records.ts';
import { isoTime } from '../routes/times.ts';
import { fire } from './fire.ts';
import type { FileRecord } from './records.ts';

const LOOK_MS = 1_000;
const MAX_FILES = 10_000;
/** What has started a run is remembered as long as this, so that deleting the run does not start it again. */
const REMEMBERED_MS = 400 * 24 * 3_600_000;

export interface FileWatchParts {
  readonly parts: Parts;
  readonly launcher: Launcher;
  readonly projectDir: string;
  isLeader(): boolean;
  onTrouble(error: unknown): void;
}

export class FileWatch {
  private readonly own: FileWatchParts;
  private timer: Timer | undefined;
  private isOpen = false;
  /** Size and time of files as they were at the last look: who still writes is waited for. */
  private seen = new Map<string, string>();

  constructor(own: FileWatchParts) {
    this.own = own;
  }

  open(): void {
    this.isOpen = true;
    this.later();
  }

  close(): void {
    this.isOpen = false;
    this.timer?.cancel();
  }

  private later(): void {
    if (!this.isOpen) return;
    this.timer = this.own.parts.clock.timer(
      LOOK_MS,
      () => {
        this.look()
          .catch((error: unknown) => this.own.onTrouble(error))
          .finally(() => this.later());
      },
      { background: true },
    );
  }

  private async look(): Promise<void> {
    if (!this.own.isLeader()) return;
    const rows = await this.own.parts.records.list('file', { limit: 1_000 });
    const now = new Map<string, string>();
    for (const row of rows) {
      const { id, body } = parsed<FileRecord>(row);
      for (const file of await this.filesOf(body)) await this.consider(id, body, file, now);
    }
    this.seen = now;
  }

  private async filesOf({ path: pattern }: FileRecord): Promise<string[]> {
    const { projectDir } = this.own;
    const isFolder = await stat(path.resolve(projectDir, pattern)).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    const found: string[] = [];
    for await (const file of glob(isFolder ? `${pattern}/*` : pattern, { cwd: projectDir })) {
      found.push(file);
      if (found.length >= MAX_FILES) break;
    }
    return found;
  }

  private async consider(id: string, source: FileRecord, file: string, now: Map<string, string>): Promise<void> {
    const { parts, launcher, projectDir } = this.own;
    const stats = await stat(path.resolve(projectDir, file)).catch(() => undefined);
    if (stats === undefined || !stats.isFile()) return;
    const state = `${stats.size} ${stats.mtimeMs}`;
    const key = `${id} ${file}`;
    now.set(key, state);
    if (this.seen.get(key) !== state) return;
    const mark = createHash('sha256').update(`${key} ${state}`).digest('hex');
    if ((await readRecord(parts.records, 'dropped', mark)) !== undefined) return;
    const at = parts.clock.now();
    const came = { path: file, name: path.basename(file), size: stats.size, modifiedAt: isoTime(stats.mtimeMs) };
    const trigger = { type: 'file', id, at: isoTime(at) };
    await fire(parts, launcher, { source, came, trigger, executionId: `exe_f${mark.slice(0, 40)}` });
    await parts.records.commit([
      { kind: 'dropped', id: mark, body: JSON.stringify({ file, at }), expiresAt: at + REMEMBERED_MS },
    ]);
  }
}
