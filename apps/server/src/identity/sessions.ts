/**
 * Sessions of browsers: a cookie that scripts cannot read, and a token that foreign pages cannot know. Only hashes are
 * stored, so that reading the database gives no access.
 */
import { randomBytes } from 'node:crypto';
import { NebulaError } from '@nebula/core';
import type { Clock, Digest, RecordChange, Records } from '@nebula/ports';
import type { FastifyRequest } from 'fastify';
import { readRecord } from '../records.ts';
import { isSameSecret } from './tokens.ts';

const COOKIE = 'nebula_session';

interface SessionRecord {
  readonly user: string;
  readonly csrf: string;
  /** The epoch of the user when the session began: with another one the session is over. */
  readonly epoch: string;
}

export interface OpenedSession {
  readonly user: string;
  /** The token for the cookie. */
  readonly token: string;
  readonly csrfToken: string;
  readonly expiresAt: number;
}

export interface SessionParts {
  readonly records: Records;
  readonly clock: Clock;
  readonly digest: Digest;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export class Sessions {
  readonly #parts: SessionParts;
  readonly #lifetimeMs: number;

  constructor(parts: SessionParts, lifetimeMs: number) {
    this.#parts = parts;
    this.#lifetimeMs = lifetimeMs;
  }

  /** The change that stores the session is committed with the caller's own. */
  async open(user: string, epoch: string, ...also: Parameters<Records['commit']>[0]): Promise<OpenedSession> {
    const { records, clock, digest } = this.#parts;
    const token = randomBytes(32).toString('base64url');
    const csrfToken = randomBytes(32).toString('base64url');
    const expiresAt = clock.now() + this.#lifetimeMs;
    const body: SessionRecord = { user, csrf: csrfToken, epoch };
    await records.commit([{ kind: 'session', id: digest(token), body: JSON.stringify(body), expiresAt }, ...also]);
    return { user, token, csrfToken, expiresAt };
  }

  /** The session of a request. Throws `CSRF` if the request changes something and lacks the session's token. */
  async of({ headers, method }: Pick<FastifyRequest, 'headers' | 'method'>): Promise<SessionRecord | undefined> {
    const session = await this.#read(headers);
    if (session === undefined) return undefined;
    // A browser also sends the cookie for a foreign page, which cannot know this token.
    const isSafe = method === 'GET' || method === 'HEAD';
    if (!isSafe && !isSameSecret(session.csrf, String(headers['x-csrf-token'] ?? ''))) {
      throw new NebulaError('CSRF', 'The request lacks the token of its session.', {
        hint: 'Send the `csrfToken` of the login as X-CSRF-Token.',
      });
    }
    return session;
  }

  /** The change that makes the session of a request one of the user's new epoch; it lasts as long as a new one. */
  async continued(headers: Headers, epoch: string): Promise<RecordChange[]> {
    const token = cookieOf(headers);
    const session = await this.#read(headers);
    if (token === undefined || session === undefined) return [];
    const expiresAt = this.#parts.clock.now() + this.#lifetimeMs;
    const body = JSON.stringify({ ...session, epoch } satisfies SessionRecord);
    return [{ kind: 'session', id: this.#parts.digest(token), body, expiresAt }];
  }

  async close(headers: Headers): Promise<void> {
    const token = cookieOf(headers);
    if (token === undefined) return;
    await this.#parts.records.commit([{ kind: 'session', id: this.#parts.digest(token), body: null }]);
  }

  /** The token for a page that was reloaded: only a page of this server with the cookie can read the response. */
  async csrfTokenOf(headers: Headers): Promise<string | undefined> {
    return (await this.#read(headers))?.csrf;
  }

  async #read(headers: Headers): Promise<SessionRecord | undefined> {
    const token = cookieOf(headers);
    if (token === undefined) return undefined;
    return (await readRecord<SessionRecord>(this.#parts.records, 'session', this.#parts.digest(token)))?.body;
  }
}

/** Ports of one host share their cookies, so the name has the port. */
export function cookieName({ host }: Headers): string {
  const port = /:(\d+)$/.exec(String(host ?? ''))?.[1];
  return port === undefined ? COOKIE : `${COOKIE}_${port}`;
}

function cookieOf(headers: Headers): string | undefined {
  const name = cookieName(headers);
  for (const part of String(headers['cookie'] ?? '').split(';')) {
    const [key, value] = part.trim().split('=');
    if (key === name) return value;
  }
  return undefined;
}
