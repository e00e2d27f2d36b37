/** Counts failed logins, so that passwords and codes cannot be guessed and the audit log cannot be flooded. */
import { NebulaError } from '@nebula/core';
import { readRecord } from '../records.ts';
import type { SessionParts } from './sessions.ts';

/** How long failed logins are counted. */
export const LOGIN_WINDOW_MS = 15 * 60_000;

interface Failures {
  readonly count: number;
}

export class FailedLogins {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Rejects with `TOO_MANY_LOGINS` from `limit` on. Counts before a password is checked, so concurrent guesses all count. */
  async count(id: string, limit: number): Promise<void> {
    for (;;) {
      const before = await readRecord<Failures>(this.#parts.records, 'login', id);
      const count = before?.body.count ?? 0;
      if (count >= limit) {
        throw new NebulaError('TOO_MANY_LOGINS', 'There were too many failed logins.', {
          hint: 'Try again in a quarter of an hour.',
        });
      }
      if (await this.#set(id, count + 1, before?.revision ?? 0)) return;
    }
  }

  /** Takes back the count of a successful login. */
  async giveBack(id: string): Promise<void> {
    for (;;) {
      const before = await readRecord<Failures>(this.#parts.records, 'login', id);
      if (before === undefined || (await this.#set(id, before.body.count - 1, before.revision))) return;
    }
  }

  async #set(id: string, count: number, expected: number): Promise<boolean> {
    const { records, clock } = this.#parts;
    const body = JSON.stringify({ count } satisfies Failures);
    const expiresAt = clock.now() + LOGIN_WINDOW_MS;
    return (await records.commit([{ kind: 'login', id, body, expected, expiresAt }])).ok;
  }
}
