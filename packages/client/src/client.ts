/** The operations of the contract as an object: every operation by its id with `call`, the common ones as methods. */
import type { AnswerOf, BodyOf, OperationId, ParamsOf, QueryOf } from './contract/index.ts';
import { ResultTimeoutError } from './errors.ts';
import { type HttpOptions, HttpTransport } from './http.ts';
import type { LiveEvent, LogLine } from './live.ts';
import type { FollowOptions, RequestInput, Transport } from './transport.ts';
import type { InputOf, OutputOf, ResultOf, TypedWorkflow } from './typed-workflow.ts';

export type ClientOptions = HttpOptions;

type Wanted<T, Name extends string> =
  Record<never, never> extends T ? { readonly [N in Name]?: T } : { readonly [N in Name]: T };

export type CallOptions<K extends OperationId> = Wanted<ParamsOf<K>, 'params'> &
  Wanted<QueryOf<K>, 'query'> &
  Wanted<BodyOf<K>, 'body'> &
  Pick<RequestInput, 'idempotencyKey' | 'ifMatch' | 'signal' | 'waitMs'>;

export type StartRunOptions<W extends TypedWorkflow = TypedWorkflow> = Wanted<InputOf<W>, 'input'> & {
  readonly version?: number;
  readonly executionId?: string;
  /** Starts with the same key return the same execution, permanently. */
  readonly idempotencyKey?: string;
};

export interface ResultOptions {
  readonly signal?: AbortSignal;
  /** The longest wait; then `result` rejects with a `ResultTimeoutError`, and the run goes on. Default: no limit. */
  readonly timeoutMs?: number;
}

export interface LogOptions extends Pick<QueryOf<'followLogs'>, 'node' | 'level' | 'after'> {
  readonly signal?: AbortSignal;
}

/** A started run. */
export interface RunHandle<Output = unknown> {
  readonly executionId: string;
  /** Waits for the end of the run. Rejects only when the server does, or when the signal aborts or the time is over. */
  result(options?: ResultOptions): Promise<ResultOf<Output>>;
  /** The events of the run until its end: past ones, then new ones. */
  events(options?: FollowOptions): AsyncGenerator<LiveEvent>;
}

/** Resolves to the run; its result and events can be requested immediately. */
export type StartedRun<Output = unknown> = Promise<RunHandle<Output>> & Pick<RunHandle<Output>, 'result' | 'events'>;

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
   * Starts the active version of a workflow, given by its id or as the value of `workflow()`, which types the input and the
   * output; `start<typeof trip>('trip', …)` needs its type only. The run is durable when the promise resolves;
   * `start(…).result()` also waits for its end.
   */
  start<W extends TypedWorkflow = TypedWorkflow>(
    workflow: W | string,
    ...[options]: Record<never, never> extends StartRunOptions<W>
      ? [options?: StartRunOptions<W>]
      : [options: StartRunOptions<W>]
  ): StartedRun<OutputOf<W>> {
    const workflowId = typeof workflow === 'string' ? workflow : workflow.id;
    const body = { workflowId, ...options };
    const run = this.call('startExecution', { body } as CallOptions<'startExecution'>).then(({ executionId }) =>
      this.run<W>(executionId),
    );
    return Object.assign(run, {
      result: async (how?: ResultOptions) => await (await run).result(how),
      async *events(how?: FollowOptions) {
        yield* (await run).events(how);
      },
    });
  }

  /** A handle of an existing run; `run<typeof trip>(id)` types its output. */
  run<W extends TypedWorkflow = TypedWorkflow>(executionId: string): RunHandle<OutputOf<W>> {
    return {
      executionId,
      result: (options) => this.result(executionId, options) as Promise<ResultOf<OutputOf<W>>>,
      events: (options) => this.events(executionId, options),
    };
  }

  private async result(executionId: string, { signal, timeoutMs }: ResultOptions = {}): Promise<AnswerOf<'getResult'>> {
    const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
    for (;;) {
      const waitMs = Math.max(0, Math.min(WAIT_SECONDS * 1_000, until - Date.now()));
      const result = await this.call('getResult', {
        params: { executionId },
        query: { wait: `${waitMs}ms` },
        waitMs,
        ...(signal && { signal }),
      });
      if (result.ended) return result;
      if (Date.now() >= until) throw new ResultTimeoutError(executionId, timeoutMs as number);
    }
  }

  /**
   * The events of a run: past ones, then new ones until its end. The iterator finishes after the last event of an ended
   * run. A run that is retried or replayed later has further events: follow it again, `after` the last one.
   */
  events(executionId: string, options: FollowOptions = {}): AsyncGenerator<LiveEvent> {
    return this.follow<LiveEvent>('followExecution', { params: { executionId } }, options);
  }

  /** `level`: `runs` leaves out the events of nodes, except of those that begin to wait for a person or a signal. */
  allEvents(
    options: FollowOptions & Pick<QueryOf<'followAll'>, 'project' | 'workflowId' | 'level'> = {},
  ): AsyncGenerator<LiveEvent> {
    const { project, workflowId, level, ...rest } = options;
    return this.follow<LiveEvent>('followAll', { query: { project, workflowId, level } }, rest);
  }

  /**
   * The past log lines of a run and its actions, then new ones; finishes after the last line of the ended run. `after` is
   * the position of a line.
   */
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

  /** The whole log of a run as text, as it arrives. */
  logText(executionId: string, query: QueryOf<'downloadLogs'> = {}): Promise<AsyncIterable<Uint8Array>> {
    return this.transport.download('downloadLogs', { params: { executionId }, query });
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
