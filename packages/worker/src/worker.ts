/**
 * A worker outside the server: announces its actions, takes work, and runs it in a sandbox of its own.
 *
 *  1 It claims no more than it has room for, and holds one request open while it waits.
 *  2 Whatever it has taken is told about: done, failed, handed back, or that nobody knows. Only a dead process tells nothing.
 *  3 To stop, it first tells the server, which ends its waiting claim: nothing is given to one that leaves.
 */
import { type AnswerOf, ApiError, createClient, type NebulaClient } from '@nebula/client';
import { type Action, NebulaError } from '@nebula/core';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import type { Sandbox } from '@nebula/ports';
import { type ClaimedWork, LeasedAttempt } from './attempt.ts';
import { pause } from './pause.ts';

export interface WorkerOptions {
  /** Where the server is, e.g. `http://127.0.0.1:7777`. */
  readonly server: string;
  readonly token?: string;
  /** Actions that the worker can run. */
  readonly actions: readonly Action[];
  /** The project of the server for which it works; left out: the only one of its token. */
  readonly project?: string;
  /** The worker gets nodes whose labels are among these. */
  readonly labels?: readonly string[];
  /** Attempts at the same time. */
  readonly concurrency?: number;
  /** Names it in lists; one that is made up when left out. */
  readonly workerId?: string;
  /** Paths of files and programs start here. */
  readonly projectDir?: string;
  /** Silent for so long, it has lost its work. */
  readonly leaseMs?: number;
  readonly sandbox?: Sandbox;
  readonly fetch?: typeof fetch;
  readonly onEvent?: (event: WorkerEvent) => void;
}

export type WorkerEvent =
  | { readonly type: 'ready'; readonly workerId: string }
  /** The server has the action itself, in another version: the worker gets no work for it. */
  | { readonly type: 'refused'; readonly action: string; readonly message: string }
  | { readonly type: 'started'; readonly work: ClaimedWork }
  | { readonly type: 'ended'; readonly work: ClaimedWork; readonly outcome: string }
  /** Something that is tried again. */
  | { readonly type: 'trouble'; readonly error: unknown };

export interface Worker {
  readonly workerId: string;
  /** Takes work until it is stopped. Rejects when the server refuses it for good. */
  run(): Promise<void>;
  /**
   * Takes no more. What may be repeated is handed back at once; what may not gets `graceMs` to end. Resolves when
   * everything has been told.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

type AnnouncedWorker = AnswerOf<'registerWorker'>;

const DEFAULTS = { concurrency: 4, leaseMs: 30_000, waitMs: 20_000, graceMs: 10_000 } as const;
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** How long the server may take to end a claim of a worker that leaves. */
const LEAVE_MS = 5_000;

export function createWorker(options: WorkerOptions): Worker {
  return new HttpWorker(options);
}

class HttpWorker implements Worker {
  readonly workerId: string;
  private readonly options: WorkerOptions;
  private readonly client: NebulaClient;
  private readonly sandbox: Sandbox;
  private readonly actions: ReadonlyMap<string, Action>;
  private readonly attempts = new Set<LeasedAttempt>();
  /** Aborted when no more work is wanted; `cut` when not even an answer is waited for. */
  private readonly stopping = new AbortController();
  private readonly cut = new AbortController();
  private running: Promise<void> | undefined;
  private onRoom: (() => void) | undefined;

  constructor(options: WorkerOptions) {
    this.options = options;
    this.workerId = options.workerId ?? `worker-${crypto.randomUUID().slice(0, 13)}`;
    const { server, token, fetch: own } = options;
    this.client = createClient({ url: server, retries: 0, ...(token && { token }), ...(own && { fetch: own }) });
    this.sandbox = options.sandbox ?? createInProcessSandbox({ projectDir: options.projectDir ?? process.cwd() });
    this.actions = new Map(options.actions.map((action) => [`${action.id}@${action.version}`, action]));
    if (this.actions.size === 0) {
      throw new NebulaError('NO_ACTIONS', 'A worker needs actions to run.', {
        hint: 'createWorker({ actions: [myAction], … })',
      });
    }
  }

  run(): Promise<void> {
    this.running ??= this.loop();
    return this.running;
  }

  async stop({ graceMs = DEFAULTS.graceMs }: { readonly graceMs?: number } = {}): Promise<void> {
    if (!this.stopping.signal.aborted) {
      this.stopping.abort();
      this.onRoom?.();
      const leaving = this.client.call('deleteWorker', { params: { workerId: this.workerId } });
      await Promise.race([leaving.catch((error) => this.trouble(error)), pause(LEAVE_MS)]);
      void pause(LEAVE_MS, this.cut.signal).then(() => this.cut.abort());
    }
    await this.running?.catch(() => undefined);
    this.cut.abort();
    await Promise.all([...this.attempts].map((attempt) => attempt.handBack(graceMs)));
  }

  private async loop(): Promise<void> {
    const { concurrency = DEFAULTS.concurrency } = this.options;
    if (await this.untilDone(() => this.register())) {
      this.options.onEvent?.({ type: 'ready', workerId: this.workerId });
    }
    while (!this.stopping.signal.aborted) {
      const free = concurrency - this.attempts.size;
      if (free <= 0) await new Promise<void>((resolve) => (this.onRoom = resolve));
      else await this.untilDone(() => this.claim(free));
    }
  }

  /** Tried again until the server answers; false when the worker was stopped first. */
  private async untilDone(work: () => Promise<void>): Promise<boolean> {
    for (
      let pauseMs: number = PAUSE_MIN_MS;
      !this.stopping.signal.aborted;
      pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)
    ) {
      try {
        await work();
        return true;
      } catch (error) {
        if (this.stopping.signal.aborted) return false;
        if (error instanceof ApiError && error.code === 'UNKNOWN_WORKER') await this.register().catch(() => undefined);
        else if (error instanceof ApiError && !error.retryable && error.status < 500) throw error;
        this.trouble(error);
        await pause(pauseMs, this.stopping.signal);
      }
    }
    return false;
  }

  private async register(): Promise<void> {
    const { labels = [], actions, project } = this.options;
    const own = { ...(project !== undefined && { project }), labels: [...labels] };
    const body = { workerId: this.workerId, ...own, actions: actions.map(description) };
    // A server of an older release refuses all or nothing, and lists nothing.
    const { refused = [] } = (await this.client.call('registerWorker', { body })) as Partial<AnnouncedWorker>;
    for (const { action, message } of refused) this.options.onEvent?.({ type: 'refused', action, message });
  }

  private async claim(max: number): Promise<void> {
    const { leaseMs = DEFAULTS.leaseMs } = this.options;
    const { work } = await this.client.call('claimWork', {
      params: { workerId: this.workerId },
      body: { max, lease: `${leaseMs}ms`, wait: `${DEFAULTS.waitMs}ms` },
      waitMs: DEFAULTS.waitMs,
      signal: this.cut.signal,
    });
    for (const one of work) this.begin(one);
  }

  private begin(work: ClaimedWork): void {
    const { leaseMs = DEFAULTS.leaseMs, onEvent } = this.options;
    const { client, sandbox } = this;
    const action = this.actionOf(work.action);
    const attempt = new LeasedAttempt({
      client,
      sandbox,
      work,
      action,
      leaseMs,
      onTrouble: (error) => this.trouble(error),
    });
    this.attempts.add(attempt);
    // Taken while it was being stopped: nothing of it has begun.
    const ended = this.stopping.signal.aborted || action === undefined ? attempt.return() : attempt.run();
    if (!this.stopping.signal.aborted) onEvent?.({ type: 'started', work });
    void ended.then((outcome) => {
      this.attempts.delete(attempt);
      this.onRoom?.();
      onEvent?.({ type: 'ended', work, outcome });
    });
  }

  /** The server may ask for an older minor version than the one that is here. */
  private actionOf(reference: string): Action | undefined {
    const exact = this.actions.get(reference);
    if (exact !== undefined) return exact;
    const [id, version = ''] = reference.split('@');
    return this.options.actions.find((one) => one.id === id && one.version.split('.')[0] === version.split('.')[0]);
  }

  private trouble(error: unknown): void {
    this.options.onEvent?.({ type: 'trouble', error });
  }
}

function description({ id, version, title, description: text, input, output, effect, describeOnly = [] }: Action) {
  // A schema that only describes may refuse what the real one takes: the server must not hold anybody to it.
  const isHeld = (side: 'input' | 'output'): boolean => !describeOnly.includes(side);
  return {
    id,
    version,
    // One that depends on the input is decided on by the server, which cannot ask: it is taken at its worst.
    effect: typeof effect === 'string' ? effect : ('once' as const),
    ...(title !== undefined && { title }),
    ...(text !== undefined && { description: text }),
    ...(input !== undefined && isHeld('input') && { input }),
    ...(output !== undefined && isHeld('output') && { output }),
  };
}
