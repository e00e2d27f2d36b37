/** Probes of file triggers: a scan of a folder under a lowered limit; true when every file starts a run. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BudgetName } from '../../src/budgets.ts';
import { Launcher } from '../../src/launcher.ts';
import { FileWatch } from '../../src/triggers/files.ts';
import { boot } from '../support/boot.ts';
import { echo } from '../support/workflows.ts';

const FILES = 3;

async function areNoticed(limits: { maxEntries: number; maxFiles: number }): Promise<boolean> {
  const projectDir = await mkdtemp(path.join(tmpdir(), 'nebula-watch-'));
  const booted = await boot();
  try {
    const { parts, client } = booted;
    await client.call('registerWorkflow', {
      body: { definition: echo('drop', { triggers: [{ file: { path: '*' } }] }) },
    });
    for (let at = 0; at < FILES; at++) await writeFile(path.join(projectDir, `${at}`), 'x');
    const own = { parts, launcher: new Launcher(parts), projectDir, limits, isLeader: () => true };
    const watch = new FileWatch({ ...own, onTrouble: () => undefined }) as unknown as { scan(): Promise<void> };
    for (let scan = 0; scan < 2; scan++) await watch.scan();
    return (await parts.store.list({ limit: 10 })).rows.length === FILES;
  } finally {
    await booted.close();
    await rm(projectDir, { recursive: true, force: true });
  }
}

export const WATCH_PROBES = {
  'watch.files': (isOver) => areNoticed({ maxEntries: 100, maxFiles: isOver ? FILES - 1 : FILES }),
  'watch.names': (isOver) => areNoticed({ maxEntries: isOver ? FILES - 1 : FILES, maxFiles: 100 }),
} as const satisfies Partial<Record<BudgetName, (isOver: boolean) => Promise<boolean>>>;
