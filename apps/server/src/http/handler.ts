/** A route as its handler sees it: a typed call goes in, a reply comes out. */
import type { Readable } from 'node:stream';
import type { AnswerOf, BodyOf, OperationId, ParamsOf, QueryOf } from '@nebula/client/contract';
import type { Principal } from '../identity/principal.ts';

export interface Call<K extends OperationId> {
  readonly operation: K;
  readonly params: ParamsOf<K>;
  readonly query: QueryOf<K>;
  readonly body: BodyOf<K>;
  readonly who: Principal;
  /** The project that the thing belongs to, where the operation concerns one thing. */
  readonly project: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly ip: string;
  /** The request came over HTTPS, to this server or to a trusted proxy. */
  readonly isSecure: boolean;
  /** The call comes from the owner of the data folder, not over HTTP. */
  readonly isLocal?: true;
  /** Derived from the caller's `Idempotency-Key`: an execution started under it is started once. */
  readonly repeatId?: string;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

export interface Reply<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** The call changed nothing that is audited. Over HTTP it is in the audit log nevertheless. */
  readonly isUnchanged?: boolean;
}

/** One event of a stream, encoded once for all who listen. */
export interface StreamEvent {
  /** The position to resume from. Events without an id are hints and are not repeated. */
  readonly id?: string;
  readonly event?: string;
  readonly json: string;
}

/** Batches, so that many events cost one write. */
export type EventStream = AsyncIterable<readonly StreamEvent[]>;

type Body<K extends OperationId> = K extends 'followExecution' | 'followLogs' | 'followAll'
  ? EventStream
  : K extends 'getBlob'
    ? Uint8Array
    : K extends 'createBackup' | 'downloadLogs'
      ? Readable
      : AnswerOf<K>;

export type Handler<K extends OperationId> = (call: Call<K>) => Promise<Reply<Body<K>>>;

export type Handlers = { readonly [K in OperationId]: Handler<K> };

export function reply<B>(status: number, body: B, headers?: Readonly<Record<string, string>>): Reply<B> {
  return headers === undefined ? { status, body } : { status, body, headers };
}

export const ok = <B>(body: B, headers?: Readonly<Record<string, string>>): Reply<B> => reply(200, body, headers);
export const created = <B>(body: B): Reply<B> => reply(201, body);
export const gone = (): Reply<null> => reply(204, null);
