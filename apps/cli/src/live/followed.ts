/**
 * Follows one run: shows its events and log lines as they arrive, through the streaming operations.
 *
 *  1 Events are streamed from the beginning of the run; the first `known` ones are skipped.
 *  2 The view shows the document of the run, which is read after events.
 *  3 Every line after the start of following is shown once; lines that the stream missed at the end
 *     are read.
 *  4 A line of an attempt is shown after the start of that attempt. Lines have their own stream, which is faster.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NebulaClient } from '@nebula/client';
import { isFinalEvent, type RunDocument, type TimelineEvent } from '@nebula/core';
import type { StoredLogLine } from '@nebula/ports';
import { findBareRun, timelineEvent } from '../runs.ts';
import type { LiveView } from './live-view.ts';
import type { ShownRun } from './shown-run.ts';

const LOG_PAGE = 1_000;
/** How long to wait for the last events, which arrive after the response that reports the end. */
const LAST_EVENTS_MS = 1_000;
const QUIET_MS = 100;
const LOOK_MS = 10;

/** The delay between an event and the read of the run, which then covers later events, too. */
const READ_MS = 40;
/** Reading takes a tenth of the time at most, however large the run is: the same process may run it. */
const PAUSE_FACTOR = 9;

interface Progress {
  readonly node: string;
  readonly fraction: number;
  readonly message?: string;
}

export interface FollowedOptions {
  readonly hasLogs: boolean;
  /** The number of events of the run that the view has. */
  readonly known: number;
}

export class Followed {
  readonly #api: NebulaClient;
  readonly #run: ShownRun;
  readonly #view: LiveView;
  readonly #stop = new AbortController();
  readonly #events: Promise<void>;
  readonly #lines: Promise<void> | undefined;
  #position = 0;
  /** The newest attempt of each node whose start was sent. */
  readonly #started = new Map<string, number>();
  /** Lines of attempts whose start was not sent yet. */
  #early: StoredLogLine[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isStale = false;
  /** The time of the newest end event. */
  #endedAt = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(api: NebulaClient, run: ShownRun, view: LiveView, { hasLogs, known }: FollowedOptions) {
    this.#api = api;
    this.#run = run;
    this.#view = view;
    // The command waits for the end of a run even when the run cannot be followed.
    this.#events = this.#followEvents(known)
      .catch(() => undefined)
      .finally(() => {
        this.#isOver = true;
      });
    if (run.document !== undefined) this.#readSoon();
    this.#lines = hasLogs ? this.#followLines().catch(() => undefined) : undefined;
  }

  /** Waits for the last event of an ended run, or briefly for those of a parked one. */
  async caughtUp({ finishedAt }: RunDocument): Promise<void> {
    const waitMs = finishedAt === null ? QUIET_MS : LAST_EVENTS_MS;
    const isThere = (): boolean => finishedAt !== null && this.#endedAt >= Date.parse(finishedAt);
    for (let waitedMs = 0; waitedMs < waitMs && !isThere() && !this.#isOver; waitedMs += LOOK_MS) {
      await sleep(LOOK_MS);
    }
  }

  /** Shows the remaining lines. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#events;
    if (this.#lines === undefined) return;
    await this.#lines;
    await this.#showLines().catch(() => undefined);
    this.#releaseLines(() => true);
  }

  async #followEvents(known: number): Promise<void> {
    const { signal } = this.#stop;
    const onProgress = ({ node, fraction, message }: Progress): void =>
      this.#run.hint(node, { fraction, ...(message !== undefined && { message }) });
    let toSkip = known;
    for await (const sent of this.#api.events(this.#run.executionId, { signal, onProgress })) {
      const event = timelineEvent(sent);
      if (toSkip-- <= 0) await this.#show(event);
      if (event.type === 'NodeStarted' && event.node !== null) this.#noteStart(event.node, event.details.attempt);
      if (isFinalEvent(event)) this.#endedAt = event.at;
    }
  }

  async #show(event: TimelineEvent): Promise<void> {
    // Lines have their own stream, so those before the end are read and shown before the end event.
    if (isFinalEvent(event) && this.#lines !== undefined) {
      await this.#showLines();
      this.#releaseLines(() => true);
    }
    this.#view.event(this.#run, event);
    this.#readSoon();
  }

  #readSoon(): void {
    this.#isStale = true;
    this.#timer ??= setTimeout(() => void this.#read(), READ_MS);
  }

  async #read(): Promise<void> {
    const begun = performance.now();
    this.#isStale = false;
    const document = await findBareRun(this.#api, this.#run.executionId).catch(() => undefined);
    if (this.#stop.signal.aborted) return;
    if (document !== undefined && this.#run.isOpen) this.#run.show(document);
    const pauseMs = Math.max(READ_MS, (performance.now() - begun) * PAUSE_FACTOR);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isStale) this.#readSoon();
    }, pauseMs);
  }

  async #followLines(): Promise<void> {
    const { executionId, document } = this.#run;
    if (document !== undefined) this.#position = (await this.#readLines()).at(-1)?.position ?? 0;
    const { signal } = this.#stop;
    for await (const line of this.#api.logs(executionId, { level: 'info', after: this.#position, signal })) {
      this.#showLine(storedLine(executionId, line));
    }
  }

  async #showLines(): Promise<void> {
    for (const line of await this.#readLines()) this.#showLine(line);
  }

  #showLine(line: StoredLogLine): void {
    if (line.position <= this.#position) return;
    this.#position = line.position;
    if (this.#isEarly(line)) this.#early.push(line);
    else this.#view.log(this.#run, line);
  }

  #isEarly({ node, attempt }: StoredLogLine): boolean {
    return node !== null && attempt !== null && attempt > (this.#started.get(node) ?? 0);
  }

  #noteStart(node: string, attempt: number): void {
    this.#started.set(node, attempt);
    if (this.#early.length > 0) this.#releaseLines((line) => !this.#isEarly(line));
  }

  #releaseLines(isDue: (line: StoredLogLine) => boolean): void {
    const due = this.#early.filter(isDue);
    this.#early = this.#early.filter((line) => !due.includes(line));
    for (const line of due) this.#view.log(this.#run, line);
  }

  async #readLines(): Promise<StoredLogLine[]> {
    const { executionId } = this.#run;
    const query = { level: 'info' as const, limit: LOG_PAGE, after: this.#position };
    const page = await this.#api.call('listLogs', { params: { executionId }, query });
    return page.items.map((line) => storedLine(executionId, line));
  }
}

export function storedLine(executionId: string, line: { readonly at: string }): StoredLogLine {
  return { ...line, executionId, at: Date.parse(line.at) } as StoredLogLine;
}
