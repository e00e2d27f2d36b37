/**
 * `Idempotency-Key`: the same key from the same caller for the same operation is the same request, for a day.
 * What it was answered is kept; who asks while it is under way waits for it.
 */
import type { OperationId } from '@nebula/client/contract';
import { canonicalJson, type Json, NebulaError } from '@nebula/core';
import type { Clock, Digest, Records } from '@nebula/ports';
import type { Call, Reply } from './handler.ts';

const KEPT_MS = 24 * 3_600_000;
const MAX_KEY = 500;

interface Kept {
  /** Of the request. */
  readonly hash: string;
  readonly status: number;
  readonly body: unknown;
}

export class Repeats {
  private readonly records: Records;
  private readonly clock: Clock;
  private readonly digest: Digest;
  private readonly underWay = new Map<string, Promise<Kept>>();

  constructor({ records, clock, digest }: { records: Records; clock: Clock; digest: Digest }) {
    this.records = records;
    this.clock = clock;
    this.digest = digest;
  }

  async once(
    { operation, who, params, query, body }: Pick<Call<OperationId>, 'operation' | 'who' | 'params' | 'query' | 'body'>,
    key: string,
    act: () => Promise<Reply<unknown>>,
  ): Promise<Reply<unknown>> {
    if (key === '' || key.length > MAX_KEY) {
      throw new NebulaError('BODY_INVALID', `An Idempotency-Key has 1 to ${MAX_KEY} characters.`);
    }
    const id = this.digest(JSON.stringify([who.name, operation, key]));
    const hash = this.digest(canonicalJson({ params, query, body: body ?? null } as unknown as Json));
    let known = this.underWay.get(id);
    if (known === undefined) {
      known = this.answered(id, hash, act).finally(() => this.underWay.delete(id));
      this.underWay.set(id, known);
    }
    const kept = await known;
    if (kept.hash !== hash) {
      throw new NebulaError('KEY_REUSED', 'This Idempotency-Key was used for another request.', {
        hint: 'Take a new key for a new request.',
      });
    }
    return { status: kept.status, body: kept.body };
  }

  private async answered(id: string, hash: string, act: () => Promise<Reply<unknown>>): Promise<Kept> {
    const before = await this.records.get('idempotency', id);
    if (before !== undefined) return JSON.parse(before.body) as Kept;
    const { status, body } = await act();
    const kept = { hash, status, body };
    const expiresAt = this.clock.now() + KEPT_MS;
    await this.records.commit([{ kind: 'idempotency', id, body: JSON.stringify(kept), expiresAt }]);
    return kept;
  }
}
