import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { extractBackup } from '@nebula/drivers/backup';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Booted, boot, memoryKeeping, sqliteKeeping, TOKEN } from './support/boot.ts';
import { addUser, ask, signIn } from './support/users.ts';
import { echo } from './support/workflows.ts';

let folder: string;
let booted: Booted;
let remove: () => Promise<void>;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'nebula-server-backup-'));
  const opened = await sqliteKeeping();
  booted = await boot({ keeping: opened.keeping });
  remove = opened.remove;
});
afterEach(async () => {
  await booted.close();
  await remove();
  await rm(folder, { recursive: true, force: true });
});

async function bytesOf(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('a backup over HTTP', () => {
  it('[SRV-800] is a complete backup, and is audited', async () => {
    const { client } = booted;
    await client.call('registerWorkflow', { body: { definition: echo() } });
    await client.call('startExecution', { body: { workflowId: 'echo' }, query: { wait: '10s' } });
    const file = path.join(folder, 'b.tar');
    await writeFile(file, await bytesOf(await client.backup()));
    const manifest = await extractBackup(file, { fileFor: () => undefined });
    expect(manifest).toMatchObject({ executions: 1, workflows: 1 });
    const { items } = await client.call('listAudit', { query: { limit: 1 } });
    expect(items).toMatchObject([{ operation: 'createBackup', who: 'owner', outcome: 200 }]);
  });

  it('[SRV-801] is for administrators only, and never contains the key of secrets', async () => {
    await expect(booted.client.backup({ withKey: true })).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
    const users = await boot({ users: true });
    try {
      await addUser(users, 'olga', { roles: { default: 'owner' } });
      const answer = await ask(users, 'POST /api/v1/backup', { headers: await signIn(users, 'olga'), body: {} });
      expect([answer.status, answer.json.code]).toEqual([403, 'NOT_ALLOWED']);
      expect((await ask(users, 'POST /api/v1/backup', { body: {} })).status).toBe(401);
    } finally {
      await users.close();
    }
  });

  it('[SRV-802] one runs at a time; a caller that leaves ends its own', async () => {
    const held = booted.parts.backups?.create({ withKey: false })[Symbol.asyncIterator]();
    await held?.next();
    await expect(booted.client.backup()).rejects.toMatchObject({ code: 'BACKUP_RUNNING', problem: { status: 409 } });
    await held?.return?.();
    await expect.poll(async () => (await bytesOf(await booted.client.backup())).length).toBeGreaterThan(1_000);
    const leaving = new AbortController();
    const call = fetch(`${booted.server.url}/api/v1/backup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: '{}',
      signal: leaving.signal,
    });
    leaving.abort();
    await expect(call).rejects.toThrow();
    await expect
      .poll(async () => (await bytesOf(await booted.client.backup().catch(() => [] as never))).length)
      .toBeGreaterThan(1_000);
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-803] a failure in the middle breaks the download off', async () => {
    const backups = {
      async *create() {
        yield new Uint8Array(100_000);
        throw new Error('the disk is gone');
      },
    };
    const broken = await boot({ keeping: { ...memoryKeeping(), backups } });
    try {
      await expect(bytesOf(await broken.client.backup())).rejects.toThrow();
    } finally {
      await broken.close();
    }
  });

  it('[SRV-804] data in drivers of the configuration is refused', async () => {
    const { backups: _, ...keeping } = memoryKeeping();
    const other = await boot({ keeping });
    try {
      await expect(other.client.backup()).rejects.toMatchObject({ code: 'BACKUP_UNSUPPORTED' });
    } finally {
      await other.close();
    }
  });
});
