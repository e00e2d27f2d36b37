/**
 * Users, their sessions and API keys. Passwords are stored as argon2id hashes, sessions and keys as hashes of their
 * tokens, so that reading the database gives no access.
 */
import { randomBytes } from 'node:crypto';
import type { Role } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { Clock, Digest, RecordChange, Records } from '@nebula/ports';
import { hash, verify } from '@node-rs/argon2';
import type { FastifyRequest } from 'fastify';
import { changedBySomebody, type Read, readRecord, type UserRecord } from '../records.ts';
import { isAtLeast, NOBODY, type Principal } from './principal.ts';
import { bearerOf, isSameSecret } from './tokens.ts';

const SESSION_MS = 12 * 3_600_000;
export const SESSION_COOKIE = 'nebula_session';
const KEY_PREFIX = 'nbk';

/** How long failed logins are counted. */
export const LOGIN_WINDOW_MS = 15 * 60_000;
/** Failed logins of one name from one address. Guesses from another address do not lock the owner out. */
const MAX_FAILURES = 8;
/** Failed logins from one address for all names, and of one name from all addresses. */
const MAX_BY_ADDRESS = 40;
const MAX_BY_NAME = 200;

interface SessionRecord {
  readonly user: string;
  readonly csrf: string;
  /** The epoch of the user when the session began. */
  readonly epoch: string;
}

export interface KeyRecord {
  readonly name: string;
  readonly owner: string;
  /** The hash of the secret half. */
  readonly hash: string;
  readonly roles: Readonly<Record<string, Role>>;
  readonly scopes: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

interface Failures {
  readonly count: number;
}

export interface AccountParts {
  readonly records: Records;
  readonly clock: Clock;
  readonly digest: Digest;
}

export interface OpenedSession {
  readonly user: string;
  /** The token for the cookie. */
  readonly token: string;
  readonly csrfToken: string;
  readonly expiresAt: number;
}

export class Accounts {
  private readonly parts: AccountParts;

  constructor(parts: AccountParts) {
    this.parts = parts;
  }

  readonly authenticate = async (request: Pick<FastifyRequest, 'headers' | 'method'>): Promise<Principal> => {
    const bearer = bearerOf(request.headers.authorization);
    if (bearer !== undefined) return await this.ofKey(bearer);
    const token = cookieOf(request.headers.cookie, SESSION_COOKIE);
    return token === undefined ? NOBODY : await this.ofSession(token, request);
  };

  private async ofKey(token: string): Promise<Principal> {
    const [prefix, keyId = '', secret = '', more] = token.split('_');
    if (prefix !== KEY_PREFIX || more !== undefined) return NOBODY;
    const { records, digest } = this.parts;
    const key = await readRecord<KeyRecord>(records, 'key', keyId);
    if (key === undefined || !isSameSecret(key.body.hash, digest(secret))) return NOBODY;
    const owner = await readRecord<UserRecord>(records, 'user', key.body.owner);
    // A key of a deleted user with the same id is invalid.
    if (owner === undefined || owner.body.disabled || key.body.createdAt < owner.body.createdAt) return NOBODY;
    const { name, roles, scopes } = key.body;
    return {
      kind: 'key',
      name: `${key.body.owner}/${name}`,
      owner: key.body.owner,
      isAdmin: false,
      roles: within(roles, owner.body),
      scopes,
    };
  }

  private async ofSession(token: string, request: Pick<FastifyRequest, 'headers' | 'method'>): Promise<Principal> {
    const { records, digest } = this.parts;
    const session = await readRecord<SessionRecord>(records, 'session', digest(token));
    if (session === undefined) return NOBODY;
    const user = await readRecord<UserRecord>(records, 'user', session.body.user);
    if (user === undefined || user.body.disabled || user.body.epoch !== session.body.epoch) return NOBODY;
    // A browser also sends the cookie for a foreign page, which cannot know this token.
    const isSafe = request.method === 'GET' || request.method === 'HEAD';
    if (!isSafe && !isSameSecret(session.body.csrf, String(request.headers['x-csrf-token'] ?? ''))) {
      throw new NebulaError('CSRF', 'The request lacks the token of its session.', {
        hint: 'Send the `csrfToken` of the login as X-CSRF-Token.',
      });
    }
    return principalOf(user);
  }

  /** Rejects with `LOGIN_FAILED`, `TOO_MANY_LOGINS`. */
  async login(name: string, password: string, ip: string): Promise<OpenedSession> {
    const { records, clock, digest } = this.parts;
    const [own, address, anywhere] = [`user ${name} at ${ip}`, `ip ${ip}`, `user ${name}`].map((text) => digest(text));
    await this.countAttempt(own as string, MAX_FAILURES);
    await this.countAttempt(address as string, MAX_BY_ADDRESS);
    await this.countAttempt(anywhere as string, MAX_BY_NAME);
    const user = await readRecord<UserRecord>(records, 'user', name);
    // Takes the same time for unknown names as for known ones.
    const isRight = await verifyPassword(user?.body.password ?? null, password);
    if (user === undefined || user.body.disabled || !isRight) {
      throw new NebulaError('LOGIN_FAILED', 'The name or the password is wrong.');
    }
    const token = randomBytes(32).toString('base64url');
    const csrfToken = randomBytes(32).toString('base64url');
    const expiresAt = clock.now() + SESSION_MS;
    const body: SessionRecord = { user: name, csrf: csrfToken, epoch: user.body.epoch };
    await records.commit([
      { kind: 'session', id: digest(token), body: JSON.stringify(body), expiresAt },
      { kind: 'login', id: own as string, body: null },
    ]);
    for (const id of [address, anywhere]) await this.giveBack(id as string);
    return { user: name, token, csrfToken, expiresAt };
  }

  /**
   * Changes the password of a signed-in user. Every other session of the user ends; that of the cookie goes on. Rejects with
   * `LOGIN_FAILED`, `TOO_MANY_LOGINS`, `NOT_ALLOWED`.
   */
  async changeOwnPassword(
    userId: string,
    { current, password, epoch }: { readonly current: string; readonly password: string; readonly epoch: string },
    cookie: string | undefined,
  ): Promise<void> {
    const { records, digest } = this.parts;
    const guesses = digest(`own password of ${userId}`);
    await this.countAttempt(guesses, MAX_FAILURES);
    const user = await readRecord<UserRecord>(records, 'user', userId);
    if (!(await verifyPassword(user?.body.password ?? null, current)) || user === undefined) {
      throw new NebulaError('LOGIN_FAILED', 'The current password is wrong.');
    }
    const body: UserRecord = { ...user.body, password: await hashPassword(password), epoch };
    const token = cookieOf(cookie, SESSION_COOKIE);
    const session =
      token === undefined ? undefined : await readRecord<SessionRecord>(records, 'session', digest(token));
    const outcome = await records.commit([
      { kind: 'user', id: userId, body: JSON.stringify(body), expected: user.revision },
      { kind: 'login', id: guesses, body: null },
      ...(token === undefined || session === undefined ? [] : [this.sessionWith(digest(token), session.body, epoch)]),
    ]);
    if (!outcome.ok) throw changedBySomebody(userId);
  }

  /** The session as one of the user's new epoch; it lasts as long as a new one. */
  private sessionWith(id: string, session: SessionRecord, epoch: string): RecordChange {
    const expiresAt = this.parts.clock.now() + SESSION_MS;
    return { kind: 'session', id, body: JSON.stringify({ ...session, epoch } satisfies SessionRecord), expiresAt };
  }

  async logout(cookie: string | undefined): Promise<void> {
    const token = cookieOf(cookie, SESSION_COOKIE);
    if (token === undefined) return;
    await this.parts.records.commit([{ kind: 'session', id: this.parts.digest(token), body: null }]);
  }

  /** The token for a page that was reloaded: only a page of this server with the cookie can read the response. */
  async csrfTokenOf(cookie: string | undefined): Promise<string | undefined> {
    const token = cookieOf(cookie, SESSION_COOKIE);
    if (token === undefined) return undefined;
    return (await readRecord<SessionRecord>(this.parts.records, 'session', this.parts.digest(token)))?.body.csrf;
  }

  /** Counts the try before the password is checked, so that concurrent guesses all count. */
  private async countAttempt(id: string, limit: number): Promise<void> {
    for (;;) {
      const before = await readRecord<Failures>(this.parts.records, 'login', id);
      const count = before?.body.count ?? 0;
      if (count >= limit) {
        throw new NebulaError('TOO_MANY_LOGINS', 'There were too many failed logins.', {
          hint: 'Try again in a quarter of an hour.',
        });
      }
      if (await this.setCount(id, count + 1, before?.revision ?? 0)) return;
    }
  }

  /** Takes back the count of a successful login. */
  private async giveBack(id: string): Promise<void> {
    for (;;) {
      const before = await readRecord<Failures>(this.parts.records, 'login', id);
      if (before === undefined || (await this.setCount(id, before.body.count - 1, before.revision))) return;
    }
  }

  private async setCount(id: string, count: number, expected: number): Promise<boolean> {
    const { records, clock } = this.parts;
    const body = JSON.stringify({ count } satisfies Failures);
    const expiresAt = clock.now() + LOGIN_WINDOW_MS;
    return (await records.commit([{ kind: 'login', id, body, expected, expiresAt }])).ok;
  }

  async newKey(
    key: Omit<KeyRecord, 'hash' | 'createdAt'>,
  ): Promise<{ readonly keyId: string; readonly token: string; readonly record: KeyRecord }> {
    const { records, clock, digest } = this.parts;
    const keyId = randomBytes(9).toString('hex');
    const secret = randomBytes(32).toString('hex');
    const record: KeyRecord = { ...key, hash: digest(secret), createdAt: clock.now() };
    const { expiresAt } = key;
    const expiry = expiresAt === null ? {} : { expiresAt };
    await records.commit([
      { kind: 'key', id: keyId, body: JSON.stringify(record), expected: 0, ...expiry },
      { kind: 'key-of', id: keyOf(key.owner, keyId), body: JSON.stringify({ keyId }), ...expiry },
    ]);
    return { keyId, token: `${KEY_PREFIX}_${keyId}_${secret}`, record };
  }

  hash(password: string): Promise<string> {
    return hashPassword(password);
  }
}

/** Keyed by owner, so that the keys of one user are found without a scan. User ids have no spaces. */
export const keyOf = (owner: string, keyId: string): string => `${owner} ${keyId}`;

export function principalOf({ id, body }: Read<UserRecord>): Principal {
  return { kind: 'user', name: id, isAdmin: body.admin, roles: body.roles, scopes: null };
}

/** Limits the roles of a key to the current roles of its owner. */
function within(roles: KeyRecord['roles'], owner: UserRecord): Record<string, Role> {
  const allowed: Record<string, Role> = {};
  for (const [project, role] of Object.entries(roles)) {
    const own = owner.admin ? 'owner' : Object.hasOwn(owner.roles, project) ? owner.roles[project] : undefined;
    if (own !== undefined) allowed[project] = isAtLeast(own, role) ? role : own;
  }
  return allowed;
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key, value] = part.trim().split('=');
    if (key === name) return value;
  }
  return undefined;
}

const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

let nobodys: Promise<string> | undefined;

export function hashPassword(password: string): Promise<string> {
  return hash(password, PARAMETERS);
}

/** Takes the same time without a stored hash. */
async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  nobodys ??= hashPassword('nobody has this password');
  const isRight = await verify(stored ?? (await nobodys), password);
  return isRight && stored !== null;
}
