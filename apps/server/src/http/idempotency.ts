/**
 * `Idempotency-Key`: the same key from the same caller for the same operation is the same request, for a day.
 *
 *  I1 The answer of the first request is stored; a repeat that arrives while the first is under way waits for it.
 *  I2 An execution that the request starts has an id derived from the key (`repeatId`), so a repeat cannot start it twice
 *     even if the process dies, or the caller disconnects, before the answer is stored.
 *  I3 An answer to a caller that has disconnected is not stored; that the key was used is.
 */
import type { OperationId } from '@nebula/client/contract';
import { canonicalJson, type Json, NebulaError } from '@nebula/core';
import type { Clock, Digest, Records } from '@nebula/ports';
import type { Call, Reply } from './handler.ts';

const ANSWER_RETENTION_MS = 24 * 3_600_000;
const MAX_KEY = 500;

interface StoredAnswer {
  /** Of the request. */
  readonly hash: string;
  /** Null: the caller disconnected before the answer. */
  readonly answer: Pick<Reply<unknown>, 'status' | 'body'> | null;
}

interface UnderWay {
  readonly hash: string;
  readonly answer: Promise<StoredAnswer['answer']>;
}

type IdempotentCall = Pick<Call<OperationId>, 'operation' | 'who' | 'params' | 'query' | 'body' | 'signal'>;

export class IdempotentRequests {
  private readonly records: Records;
  private readonly clock: Clock;
  private readonly digest: Digest;
  private readonly underWay = new Map<string, UnderWay>();

  constructor({ records, clock, digest }: { records: Records; clock: Clock; digest: Digest }) {
    this.records = records;
    this.clock = clock;
    this.digest = digest;
  }

  async once(
    call: IdempotentCall,
    key: string,
    act: (repeatId: string) => Promise<Reply<unknown>>,
  ): Promise<Pick<Reply<unknown>, 'status' | 'body'>> {
    if (key === '' || key.length > MAX_KEY) {
      throw new NebulaError('BODY_INVALID', `An Idempotency-Key has 1 to ${MAX_KEY} characters.`, {
        hint: 'Use a random key for each new request.',
      });
    }
    const { operation, who, params, query, body } = call;
    const id = this.digest(JSON.stringify([who.name, operation, key]));
    const hash = this.digest(canonicalJson({ params, query, body: body ?? null } as unknown as Json));
    for (;;) {
      const other = this.underWay.get(id);
      if (other === undefined) return await this.first(id, hash, call, act);
      if (other.hash !== hash) throw keyReused();
      const answer = await other.answer;
      if (answer !== null) return answer;
    }
  }

  private async first(
    id: string,
    hash: string,
    call: IdempotentCall,
    act: (repeatId: string) => Promise<Reply<unknown>>,
  ): Promise<Pick<Reply<unknown>, 'status' | 'body'>> {
    let said: Reply<unknown> | undefined;
    const hear = async (): Promise<StoredAnswer['answer']> => {
      const before = await this.records.get('idempotency', id);
      const known = before === undefined ? undefined : (JSON.parse(before.body) as StoredAnswer);
      if (known !== undefined && known.hash !== hash) throw keyReused();
      if (known?.answer != null) return known.answer;
      said = await act(this.digest(`${id} ${hash}`));
      const kept: StoredAnswer = {
        hash,
        answer: call.signal.aborted ? null : { status: said.status, body: said.body },
      };
      const expiresAt = this.clock.now() + ANSWER_RETENTION_MS;
      await this.records.commit([{ kind: 'idempotency', id, body: JSON.stringify(kept), expiresAt }]);
      return kept.answer;
    };
    const answer = hear().finally(() => this.underWay.delete(id));
    this.underWay.set(id, { hash, answer });
    return (await answer) ?? (said as Reply<unknown>);
  }
}

function keyReused(): NebulaError {
  return new NebulaError('KEY_REUSED', 'This Idempotency-Key was used for another request.', {
    hint: 'Use a new key for a new request.',
  });
}
