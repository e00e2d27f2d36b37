/** The operations of the contract as an object: every operation by its id with `call`, the common ones as methods. */
import type { AnswerOf, BodyOf, OperationId, ParamsOf, QueryOf } from './contract/index.ts';
import { type HttpOptions, HttpTransport } from './http.ts';
import type { LiveEvent, LogLine } from './live.ts';
import type { FollowOptions, RequestInput, Transport } from './transport.ts';

export type ClientOptions = HttpOptions;

type Wanted<T, Name extends string> =
  Record<never, never> extends T ? { readonly [N in Name]?: T } : { readonly [N in Name]: T };

export type CallOptions<K extends OperationId> = Wanted<ParamsOf<K>, 'params'> &
  Wanted<QueryOf<K>, 'query'> &
  Wanted<BodyOf<K>, 'body'> &
  Pick<RequestInput, 'idempotencyKey' | 'ifMatch' | 'signal' | 'waitMs'>;

export interface StartRunOptions {
  readonly input?: unknown;
  readonly version?: number;
  readonly executionId?: string;
  /** Starts with the same key return the same execution, permanently. */
  readonly idempotencyKey?: string;
}

export interface LogOptions extends Pick<QueryOf<'followLogs'>, 'node' | 'level' | 'after'> {
  readonly signal?: AbortSignal;
}

/** A started run. */
export interface RunHandle {
  readonly executionId: string;
  /** Waits for the end of the run. Rejects only when the server does, or when the signal aborts. */
  result(options?: { readonly signal?: AbortSignal }): Promise<AnswerOf<'getResult'>>;
  events(options?: FollowOptions): AsyncGenerator<LiveEvent>;
}

/** Resolves to the run; its result and events can be requested immediately. */
export type StartedRun = Promise<RunHandle> & Pick<RunHandle, 'result' | 'events'>;

/** The maximum wait of one request; further requests follow. */
const WAIT_SECONDS = 30;

export class NebulaClient {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  get url(): string {
    return this.transport.url;
  }

  call<K extends OperationId>(
    operation: K,
    ...[options]: Record<never, never> extends CallOptions<K> ? [options?: CallOptions<K>] : [options: CallOptions<K>]
  ): Promise<AnswerOf<K>> {
    return this.transport.json(operation, (options ?? {}) as RequestInput) as Promise<AnswerOf<K>>;
  }

  /**
   * Starts the active version of a workflow. The run is durable when the promise resolves; `start(id).result()` also
   * waits for its end.
   */
  start(workflowId: string, { idempotencyKey, ...options }: StartRunOptions = {}): StartedRun {
    const body = { workflowId, ...options, ...(idempotencyKey !== undefined && { idempotencyKey }) };
    const run = this.call('startExecution', { body } as CallOptions<'startExecution'>).then(({ executionId }) =>
      this.run(executionId),
    );
    return Object.assign(run, {
      result: async (how?: Parameters<RunHandle['result']>[0]) => await (await run).result(how),
      async *events(how?: FollowOptions) {
        yield* (await run).events(how);
      },
    });
  }

  /** A handle of an existing run. */
  run(executionId: string): RunHandle {
    return {
      executionId,
      result: (options) => this.result(executionId, options?.signal),
      events: (options) => this.events(executionId, options),
    };
  }

  private async result(executionId: string, signal?: AbortSignal): Promise<AnswerOf<'getResult'>> {
    for (;;) {
      const result = await this.call('getResult', {
        params: { executionId },
        query: { wait: `${WAIT_SECONDS}s` },
        waitMs: WAIT_SECONDS * 1_000,
        ...(signal && { signal }),
      });
      if (result.ended) return result;
    }
  }

  /** The past events of a run, then new ones as they occur. */
  events(executionId: string, options: FollowOptions = {}): AsyncGenerator<LiveEvent> {
    return this.follow<LiveEvent>('followExecution', { params: { executionId } }, options);
  }

  allEvents(
    options: FollowOptions & { readonly project?: string; readonly workflowId?: string } = {},
  ): AsyncGenerator<LiveEvent> {
    const { project, workflowId, ...rest } = options;
    return this.follow<LiveEvent>('followAll', { query: { project, workflowId } }, rest);
  }

  /** The past log lines of a run and its actions, then new ones; `after` is the position of a line. */
  logs(executionId: string, options: LogOptions = {}): AsyncGenerator<LogLine> {
    const { node, level, after, signal } = options;
    const rest = { ...(after !== undefined && { after: String(after) }), ...(signal && { signal }) };
    return this.follow<LogLine>('followLogs', { params: { executionId }, query: { node, level } }, rest);
  }

  private follow<Event>(operation: OperationId, input: RequestInput, options: FollowOptions): AsyncGenerator<Event> {
    return this.transport.follow(operation, input, options) as AsyncGenerator<Event>;
  }

  blob(executionId: string, sha256: string): Promise<Uint8Array> {
    return this.transport.bytes('getBlob', { params: { executionId, sha256 } });
  }

  /** The bytes of a backup of all data, as they arrive. Complete only if its last file, the manifest, arrived. */
  backup(body: BodyOf<'createBackup'> = {}, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.transport.download('createBackup', { body, ...(signal && { signal }) });
  }

  /** All items of a list, page by page. */
  async *all<K extends ListOperation>(operation: K, options: CallOptions<K>): AsyncGenerator<ItemOf<K>> {
    let cursor: string | undefined;
    do {
      const { query } = options as { query?: Record<string, unknown> };
      const input = { ...options, query: { ...query, ...(cursor !== undefined && { cursor }) } };
      const page = (await this.transport.json(operation, input as RequestInput)) as {
        items: ItemOf<K>[];
        next: string | null;
      };
      yield* page.items;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }
}

type ListOperation = {
  [K in OperationId]: QueryOf<K> extends { cursor?: string } ? K : never;
}[OperationId];
type ItemOf<K extends OperationId> = AnswerOf<K> extends { items: (infer I)[] } ? I : never;

export function createClient(options: ClientOptions): NebulaClient {
  return new NebulaClient(new HttpTransport(options));
}
