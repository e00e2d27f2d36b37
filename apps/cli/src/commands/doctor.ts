import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { formatSize, NebulaError } from '@nebula/core';
import { workflowIdsOf } from '../api.ts';
import { EXIT } from '../exit-code.ts';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import { connect } from '../remote/connection.ts';
import { readNote, readToken, tokenFile } from '../remote/found-server.ts';
import type { Command, Context, Project } from '../services.ts';
import { column, printable, wrap } from '../terminal/width.ts';
import { plural } from '../views/words.ts';

const NAME_CELLS = 10;

export const execute: Command = async (call) => {
  const project = await call.services.openProject(locationOf(call.options));
  const findings = await checkUp(call, project);
  const isWell = findings.every(({ ok }) => ok);
  print(call, { ok: isWell, checks: findings }, () => findings.flatMap((finding) => findingLines(call, finding)));
  return isWell ? EXIT.completed : EXIT.failed;
};

function findingLines({ io }: Context, { name, ok, message, hint }: Finding): string[] {
  const { colors } = io.out;
  const indent = NAME_CELLS + 2;
  const room = Math.max(20, io.out.columns() - indent);
  const [first = '', ...rest] = wrap(printable(message), room);
  const below = [
    ...rest,
    ...(hint === undefined ? [] : wrap(`→ ${printable(hint)}`, room).map((line) => colors.cyan(line))),
  ];
  return [
    `${ok ? colors.green('✓') : colors.red('✗')} ${column(name, NAME_CELLS)}${first}`,
    ...below.map((line) => ' '.repeat(indent) + line),
  ];
}

export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly hint?: string;
}

/** Less free space may soon stop a busy engine. */
const MIN_FREE_BYTES = 500 * 1024 * 1024;
/** Schedules and time limits depend on the clock. */
const MAX_SKEW_MS = 5_000;
/** A clock before this date is wrong: Nebula is newer. */
const EARLIEST = Date.parse('2026-01-01T00:00:00Z');

const well = (name: string, message: string): Finding => ({ name, ok: true, message });
const ill = (name: string, message: string, hint: string): Finding => ({ name, ok: false, message, hint });

export async function checkUp(context: Context, project: Project): Promise<readonly Finding[]> {
  const { dataDir, server } = project;
  const findings = [checkNode()];
  if (server === undefined) {
    findings.push(well('config', project.configFile ?? 'no nebula.config.*: the defaults apply'));
    findings.push(checkFolder(dataDir), ...checkDisk(dataDir), await checkDatabase(context, project));
    findings.push(...checkToken(dataDir), ...checkSecretsKey(context, dataDir));
  }
  findings.push(...(await checkServer(context, project)));
  return findings;
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const text = `Node.js ${process.versions.node}`;
  const isNew = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);
  return isNew ? well('node', text) : ill('node', text, 'Nebula needs 22.18 or newer');
}

function checkFolder(dataDir: string): Finding {
  if (!existsSync(dataDir)) return well('folder', `${dataDir} is created with the first run`);
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return ill(
      'folder',
      `${dataDir} cannot be written`,
      'give this user write permission, or choose another folder with --data-dir',
    );
  }
  const { mode } = statSync(dataDir);
  if (process.platform !== 'win32' && (mode & 0o007) !== 0) {
    return ill('folder', `${dataDir} can be read by every user of this machine`, `chmod 700 ${dataDir}`);
  }
  return well('folder', dataDir);
}

function checkDisk(dataDir: string): Finding[] {
  let folder = dataDir;
  while (!existsSync(folder) && folder !== path.dirname(folder)) folder = path.dirname(folder);
  try {
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize;
    const text = `${formatSize(free)} free`;
    return [
      free >= MIN_FREE_BYTES
        ? well('disk', text)
        : ill('disk', text, 'free some space: runs stop without it, and continue afterwards'),
    ];
  } catch {
    return [];
  }
}

async function checkDatabase({ services }: Context, project: Project): Promise<Finding> {
  try {
    const session = await services.openApi(project, 'read');
    try {
      const workflows = await workflowIdsOf(session.api);
      const { items } = await session.api.call('listExecutions', { query: { limit: 1 } });
      const runs = items.length === 0 ? 'no runs yet' : 'with runs';
      return well('database', `readable: ${plural(workflows.length, 'workflow')}, ${runs}`);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    if (error.code === 'DATA_DIR_MISSING') return well('database', 'it is created with the first run');
    return ill('database', error.message, error.hint ?? 'see the message');
  }
}

function checkToken(dataDir: string): Finding[] {
  const file = tokenFile(dataDir);
  if (!existsSync(file)) return [];
  if (readToken(dataDir) === undefined) {
    return [
      ill('token', `${file} holds no token, or cannot be read`, 'delete it: the next `nebula serve` creates a new one'),
    ];
  }
  return [checkPrivate('token', file)];
}

function checkSecretsKey({ io }: Context, dataDir: string): Finding[] {
  const sealed = path.join(dataDir, 'secrets.json');
  const key = path.join(dataDir, 'secrets.key');
  if (!existsSync(sealed)) return [];
  if (io.env.NEBULA_SECRETS_KEY) return [well('secrets', 'sealed under $NEBULA_SECRETS_KEY')];
  const named = io.env.NEBULA_SECRETS_KEY_FILE || undefined;
  if (named !== undefined && existsSync(named)) return [checkPrivate('secrets', named)];
  if (existsSync(key)) return [checkPrivate('secrets', key)];
  return [
    ill(
      'secrets',
      `${sealed} exists, but its key does not`,
      'put secrets.key back beside it, or set $NEBULA_SECRETS_KEY or $NEBULA_SECRETS_KEY_FILE',
    ),
  ];
}

function checkPrivate(name: string, file: string): Finding {
  const isOpen = process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0;
  return isOpen
    ? ill(name, `${file} can be read by others`, `chmod 600 ${file}`)
    : well(name, `${file}, private to you`);
}

async function checkServer({ io }: Context, { dataDir, server }: Project): Promise<Finding[]> {
  const note = server === undefined ? readNote(dataDir) : undefined;
  const url = server?.url ?? note?.url;
  if (url === undefined)
    return [checkClock(io.now()), well('server', 'no server is running on this folder; `nebula serve` starts one')];
  const token = server === undefined ? readToken(dataDir) : server.token;
  const client = connect({ url, token });
  try {
    const { version, preset } = await client.call('getInfo');
    const clock = await serverClock(url, io.now);
    const found = well('server', `${url}: Nebula ${version}, ${preset}`);
    const me = await client.call('getMe').then(
      ({ user }) => well('access', `you are ${user}`),
      (error: NebulaError) => ill('access', error.message, error.hint ?? 'give another token'),
    );
    return [clock, found, me];
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    const hint =
      note === undefined
        ? (error.hint ?? 'check the address')
        : 'it ended unexpectedly; `nebula serve` starts it again';
    return [checkClock(io.now()), ill('server', error.message, hint)];
  }
}

function checkClock(now: number): Finding {
  const text = new Date(now).toISOString();
  return now > EARLIEST ? well('clock', text) : ill('clock', `it shows ${text}`, 'set the clock of this machine');
}

/** Compares clocks by the `Date` header, which is cut to seconds. */
async function serverClock(url: string, now: () => number): Promise<Finding> {
  const before = now();
  const response = await fetch(`${url}/health`).catch(() => undefined);
  const theirs = Date.parse(response?.headers.get('date') ?? '');
  const after = now();
  const skewMs = Math.max(0, before - 1_000 - theirs, theirs - after);
  if (Number.isNaN(theirs) || skewMs <= MAX_SKEW_MS) return checkClock(after);
  return ill(
    'clock',
    `this clock and the server's differ by ${Math.round(skewMs / 1_000)}s`,
    'synchronize both with a time server (NTP)',
  );
}
