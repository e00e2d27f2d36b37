/** Probes of the budgets of backups. */
import { virtualClock } from '@nebula/drivers/memory';
import { expect } from 'vitest';
import type { Parts } from '../../src/parts.ts';
import { backupRoutes } from '../../src/routes/backup.ts';
import { memoryKeeping, sqliteKeeping } from '../support/boot.ts';

/** Whether so many backups of one folder can be made at the same time. */
async function backups(size: number): Promise<boolean> {
  const { keeping, remove } = await sqliteKeeping();
  const { backups: made } = keeping;
  if (made === undefined) throw new Error('a data folder can be backed up');
  const running = Array.from({ length: size }, () => made.create({ withKey: false })[Symbol.asyncIterator]());
  try {
    const begun = await Promise.allSettled(running.map((one) => one.next()));
    return begun.every(({ status }) => status === 'fulfilled');
  } finally {
    for (const one of running) await one.return?.();
    await remove();
  }
}

/** Whether a download survives a pause of its caller. */
async function survivesPause(ms: number): Promise<boolean> {
  const clock = virtualClock();
  const create = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield new Uint8Array(1_000_000);
  };
  const { createBackup } = backupRoutes({ ...memoryKeeping(), backups: { create }, clock } as unknown as Parts);
  const call = { body: {}, signal: new AbortController().signal } as unknown as Parameters<typeof createBackup>[0];
  const { body: download } = await createBackup(call);
  download.on('error', () => undefined);
  download.read(0);
  await expect.poll(() => download.readableLength).toBeGreaterThan(0);
  await clock.advance(ms - 1);
  const isAlive = !download.destroyed;
  download.destroy();
  return isAlive;
}

export const BACKUP_PROBES = { 'backup.total': backups, 'backup.stall': survivesPause };
