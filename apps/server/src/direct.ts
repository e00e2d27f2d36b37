/**
 * The operations of the contract without HTTP, for a process that owns the data folder: a
 * transport for `NebulaClient` that calls the handlers. Permissions are not checked.
 */
import type { OperationId } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { AuditedCall } from './http/app.ts';
import type { Call, EventStream, Reply } from './http/handler.ts';
import { subjectOf } from './http/subject.ts';
import { OWNER, type Principal } from './identity/principal.ts';
import type { Parts } from './parts.ts';
import { readRecord, type UserRecord } from './records.ts';

/** The arguments of `Transport` in the client. */
interface Input {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

interface Following {
  readonly after?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { executionId: string; node: string; fraction: number; message?: string }) => void;
}

export interface DirectTransport {
  readonly url: string;
  json(operation: OperationId, input: Input): Promise<unknown>;
  bytes(operation: OperationId, input: Input): Promise<Uint8Array>;
  download(operation: OperationId, input: Input): Promise<AsyncIterable<Uint8Array>>;
  follow(operation: OperationId, input: Input, options: Following): AsyncGenerator<unknown>;
  /** Returns a transport that acts as a user. Rejects with `UNKNOWN_USER`. */
  as(userId: string): Promise<DirectTransport>;
}

export type AnyHandler = (call: Call<OperationId>) => Promise<Reply<unknown>>;

export interface DirectParts {
  readonly parts: Parts;
  /** Rejects with `NEEDS_SERVER`. */
  handlerOf(operation: OperationId): Promise<AnyHandler>;
  /** Throws if the request does not match the contract. */
  check(operation: OperationId, input: Readonly<Record<'params' | 'query' | 'body', unknown>>): Promise<void>;
  /** Writes audited operations to the audit log. */
  audit(auditedCall: AuditedCall): Promise<void>;
}

/** The longest interval of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

export function directTransport(directParts: DirectParts, who: Principal = OWNER): DirectTransport {
  const { parts } = directParts;

  const reply = async (operation: OperationId, input: Input, headers: Record<string, string> = {}) => {
    const { params = {}, query = {}, body = {}, signal = new AbortController().signal } = input;
    const handler = await directParts.handlerOf(operation);
    const given = { params: { ...params }, query: { ...query }, body };
    await directParts.check(operation, given);
    const project = (await subjectOf(parts, operation, given))?.project;
    const call = { operation, ...given, who, project, headers, ip: '', isSecure: false, isLocal: true, signal };
    const { status, body: answer, isUnchanged = false } = await handler(call as unknown as Call<OperationId>);
    // As over HTTP, an aborted call gets no response.
    signal.throwIfAborted();
    if (!isUnchanged) await directParts.audit({ operation, who, params, body, answer, project, status });
    return answer;
  };

  return {
    url: '',
    json: reply,
    bytes: async (operation, input) => (await reply(operation, input)) as Uint8Array,
    download: async (operation, input) => (await reply(operation, input)) as AsyncIterable<Uint8Array>,
    async *follow(operation, input, { after, signal, onProgress }) {
      const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after };
      // Without an engine nothing else keeps the process alive until the next event.
      const alive = setInterval(() => {}, LONGEST_MS);
      try {
        const batches = (await reply(operation, { ...input, ...(signal && { signal }) }, headers)) as EventStream;
        for await (const batch of batches) {
          for (const { event, json } of batch) {
            if (event === 'progress') onProgress?.(JSON.parse(json));
            else if (event === undefined) yield JSON.parse(json);
          }
        }
      } catch (error) {
        // As over HTTP, an aborted stream ends.
        if (signal?.aborted !== true) throw error;
      } finally {
        clearInterval(alive);
      }
    },
    async as(userId) {
      const user = await readRecord<UserRecord>(parts.records, 'user', userId);
      if (user === undefined) throw new NebulaError('UNKNOWN_USER', `There is no user '${userId}'.`);
      const { principalOf } = await import('./identity/accounts.ts');
      return directTransport(directParts, principalOf(user));
    },
  };
}
