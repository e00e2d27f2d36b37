/**
 * The engine of a server, as far as commands use one: they start runs there, watch them and wait for them. The server
 * goes on with its runs whether anybody looks or not; closing this only ends the looking.
 *
 *  1 A run is followed from when it is started here or waited for, once, until it has ended or this is closed.
 *  2 Every event is told once: those that `timeline` has given before a run is followed are not told again.
 *  3 Executions that run for nodes of a followed run are followed, too.
 */
import type { NebulaClient } from '@nebula/client';
import { isJsonObject, NebulaError, type RunDocument, type TimelineEvent } from '@nebula/core';
import type { Explanation, LiveEvent, Settled } from '@nebula/engine';
import type { RunningEngine } from '../services.ts';
import { asked, found } from './connection.ts';
import { remoteDesk, timelineEvent, untilThere } from './desk.ts';

/** One request waits so long; then the next one does. */
const WAIT_SECONDS = 30;
/** So long a server may be away, for example to be started again. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1_000;
/** Events come a little later than the answer that says where they have led. */
const LAST_EVENTS_MS = 1_000;
const QUIET_MS = 100;

const ENDS: ReadonlySet<string> = new Set([
  'WorkflowCompleted',
  'WorkflowFailed',
  'WorkflowCancelled',
  'WorkflowTimedOut',
]);
/** After these a run is not what its events alone would make of it. */
const TURNS: ReadonlySet<string> = new Set(['WorkflowReopened', 'CompensationStarted']);

/** `onAway` is given the way to say that the server does not answer just now. */
export function remoteEngine(client: NebulaClient, onAway: (tell: (error: unknown) => void) => void): RunningEngine {
  const following = new Following(client);
  onAway((error) => following.away(error));
  const desk = remoteDesk(client);
  return {
    ...desk,
    async timeline(executionId) {
      const events = await desk.timeline(executionId);
      following.known(executionId, events.length);
      return events;
    },
    open: async () => undefined,
    async register(definition, project) {
      // Whoever runs a file once does not mean its triggers.
      const body = { definition, activate: false, ...(project !== undefined && { project }) };
      const { workflowId, version, created } = await asked(client.call('registerWorkflow', { body }));
      return { workflowId, version, created };
    },
    async start(workflowId, version, { input, executionId, idempotencyKey } = {}) {
      const body = {
        workflowId,
        ...(version !== undefined && { version }),
        ...(input !== undefined && { input }),
        ...(executionId !== undefined && { executionId }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      };
      const started = await asked(client.call('startExecution', { body }));
      if (started.executionId === executionId) following.follow(executionId);
      return started.executionId;
    },
    settled(executionId) {
      following.follow(executionId);
      return following.settled(executionId);
    },
    async isResting(executionId) {
      return (await found(client.call('awaitRest', { params: { executionId } })))?.resting ?? false;
    },
    peek: (executionId) => following.documents.get(executionId),
    on: (listener) => following.on(listener),
    metrics: () => ({ counters: {}, gauges: {}, histograms: {} }),
    async close() {
      following.close();
    },
  };
}

class Following {
  readonly documents = new Map<string, RunDocument>();
  readonly #client: NebulaClient;
  readonly #listeners = new Set<(event: LiveEvent) => void>();
  readonly #told = new Map<string, number>();
  readonly #followed = new Set<string>();
  /** Runs whose end has been told. */
  readonly #over = new Set<string>();
  readonly #stop = new AbortController();

  constructor(client: NebulaClient) {
    this.#client = client;
  }

  on(listener: (event: LiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop.abort();
  }

  away(error: unknown): void {
    this.#tell({ type: 'trouble', error });
  }

  known(executionId: string, events: number): void {
    if (!this.#followed.has(executionId)) this.#told.set(executionId, events);
  }

  follow(executionId: string): void {
    if (this.#followed.has(executionId)) return;
    this.#followed.add(executionId);
    this.#hear(executionId).catch((error: unknown) => {
      this.#followed.delete(executionId);
      if (!this.#stop.signal.aborted) this.#tell({ type: 'trouble', error });
    });
  }

  async #hear(executionId: string): Promise<void> {
    const { signal } = this.#stop;
    let toSkip = this.#told.get(executionId) ?? 0;
    // A child is asked for before it is there.
    await untilThere(this.#client, executionId, signal);
    const onProgress = (progress: { executionId: string; node: string; fraction: number; message?: string }): void =>
      this.#tell({ type: 'progress', ...progress });
    for await (const event of this.#client.events(executionId, { signal, onProgress })) {
      const own = timelineEvent(event);
      const isNew = toSkip <= 0;
      toSkip--;
      await this.#take(executionId, own, isNew);
    }
  }

  async #take(executionId: string, event: TimelineEvent, isNew: boolean): Promise<void> {
    if (event.type === 'ChildRequested' && isJsonObject(event.details)) this.follow(String(event.details.executionId));
    if (isNew) await this.#pass(executionId, event);
    if (ENDS.has(event.type)) this.#over.add(executionId);
    else if (event.type === 'WorkflowReopened') this.#over.delete(executionId);
  }

  async #pass(executionId: string, event: TimelineEvent): Promise<void> {
    const document = ENDS.has(event.type) || TURNS.has(event.type) ? await this.#document(executionId) : undefined;
    this.#tell({ type: 'timeline', executionId, event });
    this.#tell({ type: 'changed', executionId });
    if (document !== undefined && document.finishedAt !== null) this.#tell({ type: 'finished', executionId, document });
  }

  async #document(executionId: string): Promise<RunDocument | undefined> {
    const document = await found(this.#client.call('getExecution', { params: { executionId } }));
    if (document !== undefined) this.documents.set(executionId, document as RunDocument);
    return document as RunDocument | undefined;
  }

  async settled(executionId: string): Promise<Settled> {
    const { signal } = this.#stop;
    let patienceMs = PATIENCE_MS;
    while (!signal.aborted) {
      try {
        const query = { wait: `${WAIT_SECONDS}s` };
        const waitMs = WAIT_SECONDS * 1_000;
        const rest = await asked(this.#client.call('awaitRest', { params: { executionId }, query, waitMs, signal }));
        patienceMs = PATIENCE_MS;
        const document = rest.settled ? await this.#document(executionId) : undefined;
        if (document === undefined) continue;
        await this.#lastEvents(executionId, rest.parked);
        if (!rest.parked) return { parked: false, document };
        const inside = await Promise.all(rest.inside.map((one) => this.settled(one)));
        return { parked: true, document, waitingFor: rest.waitingFor as unknown as Explanation[], inside };
      } catch (error) {
        if (signal.aborted) break;
        patienceMs -= PAUSE_MS;
        if (!(error instanceof NebulaError && error.retryable) || patienceMs < 0) throw error;
        this.#tell({ type: 'trouble', error });
        await pause(PAUSE_MS, signal);
      }
    }
    throw new NebulaError('ENGINE_CLOSED', 'nobody looks at the server any more');
  }

  /** Whoever watches sees how it came to this before being told that it has. */
  async #lastEvents(executionId: string, isParked: boolean): Promise<void> {
    if (isParked) return await pause(QUIET_MS, this.#stop.signal);
    for (let waitedMs = 0; waitedMs < LAST_EVENTS_MS && !this.#over.has(executionId); waitedMs += QUIET_MS / 5) {
      await pause(QUIET_MS / 5, this.#stop.signal);
    }
  }

  #tell(event: LiveEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
