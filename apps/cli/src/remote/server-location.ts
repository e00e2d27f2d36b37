/**
 * The server that a command talks to, if any: `--server`, else `--context`, else `$NEBULA_SERVER`, else the current
 * context. With `--data-dir` or `$NEBULA_DATA_DIR` there is none. Its token: `--token`, else `$NEBULA_TOKEN`, else that
 * of the context, else the token file of the server that works on the local data folder.
 */
import { NebulaError } from '@nebula/core';
import type { ProjectOptions, ServerLocation } from '../services.ts';
import type { Io } from '../terminal/io.ts';
import { type Contexts, contextNamed, LOCAL, readContexts } from './contexts.ts';
import { readNote, readToken } from './found-server.ts';

/** `dataDir`: the folder in which its server would leave its token. */
export async function serverLocation(
  io: Io,
  options: ProjectOptions,
  dataDir: string,
): Promise<ServerLocation | undefined> {
  if (options.mayBeServer !== true) return undefined;
  const { server, context } = options;
  if (options.dataDir !== undefined && (server ?? context) !== undefined) {
    throw new NebulaError(
      'USAGE',
      `--data-dir and --${server === undefined ? 'context' : 'server'} exclude each other`,
    );
  }
  if (options.dataDir !== undefined || context === LOCAL) return undefined;
  const named = await namedServer(io, server, context);
  if (named === undefined) return undefined;
  const token = nonEmpty(options.token) ?? nonEmpty(io.env.NEBULA_TOKEN) ?? named.token ?? tokenOf(dataDir, named.url);
  return { url: named.url, token, isDefault: (server ?? context) === undefined };
}

interface Named {
  readonly url: string;
  readonly token: string | undefined;
}

async function namedServer(io: Io, server?: string, context?: string): Promise<Named | undefined> {
  const asked = server ?? (context === undefined ? nonEmpty(io.env.NEBULA_SERVER) : undefined);
  if (asked !== undefined) {
    const url = serverUrl(asked);
    return { url, token: tokenAt(await readContexts(io), url) };
  }
  if (context === undefined && nonEmpty(io.env.NEBULA_DATA_DIR) !== undefined) return undefined;
  const saved = await readContexts(io);
  const name = context ?? saved.current;
  if (name === null) return undefined;
  const { url, token } = contextNamed(saved, name);
  return { url, token };
}

function tokenAt({ contexts }: Contexts, url: string): string | undefined {
  return Object.values(contexts).find((one) => one.url === url)?.token;
}

function tokenOf(dataDir: string, url: string): string | undefined {
  const note = readNote(dataDir);
  return note !== undefined && isSameAddress(note.url, url) ? readToken(dataDir) : undefined;
}

/** People type `localhost` for the address that the server has noted. */
function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  const name = ({ hostname }: URL): string => (hostname === 'localhost' ? '127.0.0.1' : hostname);
  return a.port === b.port && name(a) === name(b);
}

/** The URL with its scheme, without a trailing slash. */
export function serverUrl(text: string): string {
  const whole = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.hostname !== '' &&
    url.username === '' &&
    url.search === ''
  ) {
    return (url.origin + url.pathname).replace(/\/+$/, '');
  }
  throw new NebulaError('USAGE', `'${text}' is not the address of a server`, { hint: 'e.g. http://127.0.0.1:7777' });
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
