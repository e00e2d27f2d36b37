/**
 * The identity of a desktop server: the holder of its token is its owner. A browser signs in with a code instead, which
 * works once, for a few minutes, and which only the owner can create.
 */
import { randomBytes } from 'node:crypto';
import { NebulaError } from '@nebula/core';
import type { FastifyRequest } from 'fastify';
import { readRecord } from '../records.ts';
import { FailedLogins } from './failed-logins.ts';
import { NOBODY, OWNER, type Principal } from './principal.ts';
import { type OpenedSession, type SessionParts, Sessions } from './sessions.ts';
import { bearerOf, isSameSecret } from './tokens.ts';

/** Time to open a printed address. */
const CODE_MS = 10 * 60_000;
/** The owner would have to type a command for a new one, so it lasts longer than that of a user on a shared server. */
const SESSION_MS = 7 * 24 * 3_600_000;
/** Wrong codes from one address that are counted and audited. */
const MAX_FAILURES = 8;

export class DesktopIdentity {
  readonly sessions: Sessions;
  readonly #parts: SessionParts;
  readonly #failed: FailedLogins;
  readonly #token: string;

  constructor(parts: SessionParts, token: string) {
    this.#parts = parts;
    this.#token = token;
    this.sessions = new Sessions(parts, SESSION_MS);
    this.#failed = new FailedLogins(parts);
  }

  readonly authenticate = async (request: Pick<FastifyRequest, 'headers' | 'method'>): Promise<Principal> => {
    const bearer = bearerOf(request.headers.authorization);
    if (bearer !== undefined) return isSameSecret(bearer, this.#token) ? OWNER : NOBODY;
    const session = await this.sessions.of(request);
    return session !== undefined && session.epoch === this.#epoch() ? OWNER : NOBODY;
  };

  async newCode(): Promise<{ readonly code: string; readonly expiresAt: number }> {
    const { records, clock, digest } = this.#parts;
    const code = randomBytes(24).toString('base64url');
    const expiresAt = clock.now() + CODE_MS;
    await records.commit([{ kind: 'sign-in-code', id: digest(code), body: '{}', expiresAt }]);
    return { code, expiresAt };
  }

  /**
   * Rejects with `LOGIN_FAILED`, and with `TOO_MANY_LOGINS` after many wrong codes. A code has 192 random bits: it cannot
   * be guessed, so a right one is accepted even then, and nobody can lock the owner out. The store finds a code by its
   * hash, so the time of a lookup says nothing about it. Of two browsers with one code, one is signed in.
   */
  async signIn(code: string, ip: string): Promise<OpenedSession> {
    const { records, digest } = this.#parts;
    const id = digest(code);
    const stored = await readRecord(records, 'sign-in-code', id);
    const isTaken =
      stored !== undefined &&
      (await records.commit([{ kind: 'sign-in-code', id, body: null, expected: stored.revision }])).ok;
    if (!isTaken) {
      await this.#failed.count(digest(`sign-in at ${ip}`), MAX_FAILURES);
      throw new NebulaError('LOGIN_FAILED', 'The code is wrong, was used already or has expired.', {
        hint: 'Run `nebula studio` for a new one.',
      });
    }
    return await this.sessions.open(OWNER.name, this.#epoch());
  }

  /** Sessions end when the server gets another token. */
  #epoch(): string {
    return this.#parts.digest(`desktop ${this.#token}`);
  }
}
