/** The peers, what each of them needs, and where it keeps what must not be lost. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { postgres, redis, restate, type ServerKind } from './servers.ts';

export interface Entry {
  readonly title: string;
  readonly durability: string;
  /** The first one gives the version. */
  readonly packages: readonly string[];
  readonly server: ServerKind | null;
}

export const CATALOG: Readonly<Record<string, Entry>> = {
  nebula: { title: 'Nebula', durability: 'SQLite WAL, synchronous=FULL', packages: [], server: null },
  restate: {
    title: 'Restate',
    durability: 'RocksDB WAL, fsync',
    packages: ['@restatedev/restate-server', '@restatedev/restate-sdk', '@restatedev/restate-sdk-clients'],
    server: restate,
  },
  dbos: {
    title: 'DBOS',
    durability: 'PostgreSQL, fsync, synchronous_commit',
    packages: ['@dbos-inc/dbos-sdk'],
    server: postgres,
  },
  bullmq: {
    title: 'BullMQ flows',
    durability: 'Redis, AOF always',
    packages: ['bullmq', 'ioredis'],
    server: redis,
  },
  openworkflow: {
    title: 'openworkflow',
    durability: 'PostgreSQL, fsync, synchronous_commit',
    packages: ['openworkflow', 'postgres'],
    server: postgres,
  },
};

/** How to install what a peer lacks; null if all is there. */
export function missing({ packages, server }: Entry): string | null {
  if (packages.some((name) => !existsSync(manifestOf(name)))) return 'npm ci --prefix bench/peers';
  return server?.missing() ?? null;
}

export function versionOf({ packages: [first] }: Entry): string | null {
  if (first === undefined) return null;
  return (JSON.parse(readFileSync(manifestOf(first), 'utf8')) as { version: string }).version;
}

function manifestOf(name: string): string {
  return path.join(import.meta.dirname, 'node_modules', name, 'package.json');
}
