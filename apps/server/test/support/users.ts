/** People of a server that has users, and requests in their name. */
import type { Role } from '@nebula/client/contract';
import { hashPassword } from '../../src/identity/accounts.ts';
import type { ProjectRecord, UserRecord } from '../../src/records.ts';
import type { Booted } from './boot.ts';

export const PASSWORD = 'correct horse battery staple';

let hashed: Promise<string> | undefined;

export interface Person {
  readonly admin?: boolean;
  readonly disabled?: boolean;
  readonly roles?: Readonly<Record<string, Role>>;
}

/** Adds a user as an administrator would, before there is one. */
export async function addUser({ parts }: Booted, id: string, person: Person = {}): Promise<void> {
  hashed ??= hashPassword(PASSWORD);
  const body: UserRecord = {
    name: id,
    password: await hashed,
    admin: person.admin ?? false,
    disabled: person.disabled ?? false,
    roles: person.roles ?? {},
    epoch: `epoch-of-${id}`,
    createdAt: 0,
  };
  await parts.records.commit([{ kind: 'user', id, body: JSON.stringify(body) }]);
}

export async function addProject({ parts }: Booted, id: string): Promise<void> {
  const body: ProjectRecord = { name: id, createdAt: 0 };
  await parts.records.commit([{ kind: 'project', id, body: JSON.stringify(body) }]);
}

export type Headers = Readonly<Record<string, string>>;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it as they please.
  readonly json: any;
}

export interface Ask {
  readonly headers?: Headers;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Buffer;
}

export async function ask({ server }: Booted, line: string, { headers = {}, body, raw }: Ask = {}): Promise<Answer> {
  const [method, url] = line.split(' ') as ['GET', string];
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const answer = await server.inject({
    method,
    url,
    headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(payload !== undefined && { payload }),
  });
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, json: parsed(answer.body) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Headers for requests after signing in. */
export async function signIn(booted: Booted, user: string, password = PASSWORD): Promise<Headers> {
  const answer = await ask(booted, 'POST /api/v1/login', { body: { user, password } });
  if (answer.status !== 200) throw new Error(`${user} cannot sign in: ${answer.text}`);
  const [pair = ''] = String(answer.headers['set-cookie']).split(';');
  const [name = '', value = ''] = pair.split('=');
  // Injected requests come to port 80, and the name of the cookie has the port.
  const cookie = `${name}=${value}; ${name.replace(/80$/, new URL(booted.server.url).port)}=${value}`;
  return { cookie, 'x-csrf-token': answer.json.csrfToken };
}
