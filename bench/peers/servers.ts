/** The servers of the peers: where they are installed, and how to start a private one in strict durability. */
import { chownSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import type { Server } from './peer.ts';
import { finish, freePort, type Started, start, untilReady } from './processes.ts';

export interface RunningServer {
  readonly server: Server;
  readonly started: Started;
}

export interface ServerKind {
  /** How to get what is missing; null if it is there. */
  missing(): string | null;
  /** In an empty folder of its own. */
  start(folder: string): Promise<RunningServer>;
}

const POSTGRES_HOMES = '/usr/lib/postgresql/*/bin';

export const postgres: ServerKind = {
  missing: () => (findProgram('initdb', POSTGRES_HOMES) ? null : 'apt-get install --no-install-recommends postgresql'),
  async start(folder) {
    const bin = path.dirname(findProgram('initdb', POSTGRES_HOMES)!);
    const log = path.join(folder, 'postgres.log');
    const data = path.join(folder, 'data');
    const port = await freePort();
    mkdirSync(data);
    const user = unprivileged(data);
    const as = (program: string, args: string[]): [string, string[]] =>
      user === null ? [path.join(bin, program), args] : ['setpriv', [...user, path.join(bin, program), ...args]];
    const initArgs = ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C'];
    await finish(...as('initdb', initArgs), log);
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      shared_buffers: '512MB',
      max_wal_size: '8GB',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    /** SIGQUIT ends it and all its processes at once. */
    const started = start(...as('postgres', ['-D', data, '-p', String(port), ...args]), { log, endBy: 'SIGQUIT' });
    await untilReady(started, async () => {
      await finish(path.join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], log);
      return true;
    });
    return { started, server: { pid: started.child.pid!, url: `postgresql://postgres@127.0.0.1:${port}` } };
  },
};

export const redis: ServerKind = {
  missing: () => (findProgram('redis-server') ? null : 'apt-get install --no-install-recommends redis-server'),
  async start(folder) {
    const port = await freePort();
    const settings = {
      port: String(port),
      bind: '127.0.0.1',
      dir: folder,
      save: '',
      appendonly: 'yes',
      appendfsync: 'always',
      /** A rewrite in the middle would only cost it time. */
      'auto-aof-rewrite-percentage': '0',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const log = path.join(folder, 'redis.log');
    const started = start(findProgram('redis-server')!, args, { log, endBy: 'SIGKILL' });
    await untilReady(started, () => answers(port, 'PING\r\n', '+PONG'));
    return { started, server: { pid: started.child.pid!, url: `redis://127.0.0.1:${port}` } };
  },
};

const RESTATE = `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;

export const restate: ServerKind = {
  missing: () => (existsSync(path.join(import.meta.dirname, RESTATE)) ? null : 'npm ci --prefix bench/peers'),
  async start(folder) {
    const [node, ingress, admin] = await Promise.all([freePort(), freePort(), freePort()]);
    const log = path.join(folder, 'restate.log');
    const args = ['--no-logo', '--listen-mode', 'tcp', '--base-dir', path.join(folder, 'data')];
    const env = {
      ...process.env,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
    };
    const started = start(path.join(import.meta.dirname, RESTATE), args, { log, endBy: 'SIGKILL', env });
    const url = `http://127.0.0.1:${ingress}`;
    const adminUrl = `http://127.0.0.1:${admin}`;
    await untilReady(started, async () => (await fetch(`${adminUrl}/health`)).ok);
    await untilReady(started, async () => (await fetch(`${url}/restate/health`)).ok);
    return { started, server: { pid: started.child.pid!, url, adminUrl } };
  },
};

/** Searches the PATH, and folders like `homes`. */
function findProgram(name: string, homes?: string): string | undefined {
  const folders = [...(homes === undefined ? [] : globSync(homes)), ...(process.env.PATH ?? '').split(path.delimiter)];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

/** PostgreSQL refuses to run as root: the arguments of setpriv that make it the user of its package. */
function unprivileged(data: string): string[] | null {
  if (process.getuid?.() !== 0) return null;
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .match(/^postgres:.*$/m)?.[0]
      .split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error('PostgreSQL needs the user postgres to run as root');
  chownSync(data, Number(uid), Number(gid));
  return ['--reuid', uid, '--regid', gid, '--init-groups'];
}

async function answers(port: number, request: string, reply: string): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1');
  socket.write(request);
  try {
    for await (const chunk of socket) return String(chunk).startsWith(reply);
    return false;
  } finally {
    socket.destroy();
  }
}
