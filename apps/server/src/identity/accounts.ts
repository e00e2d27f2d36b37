/**
 * Users and API keys. Passwords are stored as argon2id hashes, keys as hashes of their tokens, so that reading the
 * database gives no access.
 */
import { randomBytes } from 'node:crypto';
import type { Role } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { hash, verify } from '@node-rs/argon2';
import type { FastifyRequest } from 'fastify';
import { changedBySomebody, type Read, readRecord, type UserRecord } from '../records.ts';
import { FailedLogins } from './failed-logins.ts';
import { isAtLeast, NOBODY, type Principal } from './principal.ts';
import { type OpenedSession, type SessionParts, Sessions } from './sessions.ts';
import { bearerOf, isSameSecret } from './tokens.ts';

const KEY_PREFIX = 'nbk';
const SESSION_MS = 12 * 3_600_000;

/** Failed logins of one name from one address. Guesses from another address do not lock the owner out. */
const MAX_FAILURES = 8;
/** Failed logins from one address for all names, and of one name from all addresses. */
const MAX_BY_ADDRESS = 40;
const MAX_BY_NAME = 200;

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

export class Accounts {
  private readonly parts: SessionParts;
  private readonly failed: FailedLogins;
  readonly sessions: Sessions;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.failed = new FailedLogins(parts);
    this.sessions = new Sessions(parts, SESSION_MS);
  }

  readonly authenticate = async (request: Pick<FastifyRequest, 'headers' | 'method'>): Promise<Principal> => {
    const bearer = bearerOf(request.headers.authorization);
    if (bearer !== undefined) return await this.ofKey(bearer);
    const session = await this.sessions.of(request);
    if (session === undefined) return NOBODY;
    const user = await readRecord<UserRecord>(this.parts.records, 'user', session.user);
    if (user === undefined || user.body.disabled || user.body.epoch !== session.epoch) return NOBODY;
    return principalOf(user);
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

  /** Rejects with `LOGIN_FAILED`, `TOO_MANY_LOGINS`. */
  async login(name: string, password: string, ip: string): Promise<OpenedSession> {
    const { records, digest } = this.parts;
    const [own, address, anywhere] = [`user ${name} at ${ip}`, `ip ${ip}`, `user ${name}`].map((text) => digest(text));
    await this.failed.count(own as string, MAX_FAILURES);
    await this.failed.count(address as string, MAX_BY_ADDRESS);
    await this.failed.count(anywhere as string, MAX_BY_NAME);
    const user = await readRecord<UserRecord>(records, 'user', name);
    // Takes the same time for unknown names as for known ones.
    const isRight = await verifyPassword(user?.body.password ?? null, password);
    if (user === undefined || user.body.disabled || !isRight) {
      throw new NebulaError('LOGIN_FAILED', 'The name or the password is wrong.');
    }
    const session = await this.sessions.open(name, user.body.epoch, { kind: 'login', id: own as string, body: null });
    for (const id of [address, anywhere]) await this.failed.giveBack(id as string);
    return session;
  }

  /**
   * Changes the password of a signed-in user. Every other session of the user ends; that of the request goes on. Rejects with
   * `LOGIN_FAILED`, `TOO_MANY_LOGINS`, `NOT_ALLOWED`.
   */
  async changeOwnPassword(
    userId: string,
    { current, password, epoch }: { readonly current: string; readonly password: string; readonly epoch: string },
    headers: Parameters<Sessions['close']>[0],
  ): Promise<void> {
    const { records, digest } = this.parts;
    const guesses = digest(`own password of ${userId}`);
    await this.failed.count(guesses, MAX_FAILURES);
    const user = await readRecord<UserRecord>(records, 'user', userId);
    if (!(await verifyPassword(user?.body.password ?? null, current)) || user === undefined) {
      throw new NebulaError('LOGIN_FAILED', 'The current password is wrong.');
    }
    const body: UserRecord = { ...user.body, password: await hashPassword(password), epoch };
    const outcome = await records.commit([
      { kind: 'user', id: userId, body: JSON.stringify(body), expected: user.revision },
      { kind: 'login', id: guesses, body: null },
      ...(await this.sessions.continued(headers, epoch)),
    ]);
    if (!outcome.ok) throw changedBySomebody(userId);
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
