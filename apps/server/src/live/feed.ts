/**
 * The live stream of timeline events: one reader of the store's feed for all followers.
 *
 *  F1 A follower gets every event after its starting point once, in order: past events from the store, then new ones
 *     from the reader.
 *  F2 A slow follower costs a bounded buffer and does not slow others: it falls behind and reads the events that it
 *     missed from the store, at its own pace.
 *  F3 An event is decoded and encoded once for all followers.
 *
 *  F4 The stream of one run ends when the run has ended, all its events are delivered and no request that could reopen it
 *     waits in its inbox. Its last event is `end`, without an id.
 *
 * A follower is either *behind*, and reads the store from its own cursor, or *level*, and gets the frames that the reader
 * finds. It becomes level synchronously when its cursor reaches the reader's, so no event is lost in between.
 */
import { type Entry, type FinalRunStatus, timelineOf } from '@nebula/core';
import type { Engine } from '@nebula/engine';
import {
  type Clock,
  comparePositions,
  FEED_START,
  type FrameRow,
  type Inbox,
  type Journal,
  type Position,
  parsePosition,
  type Store,
} from '@nebula/ports';
import type { EventStream, StreamEvent } from '../http/handler.ts';
import { RequestPacer } from '../http/request-pacer.ts';
import { LIVE_LIMITS } from '../limits.ts';
import { breathe, CatchUpPages } from './catch-up.ts';

/** Frames per read of the store. */
const PAGE = 500;
/** Hints within this time cause one read. */
const GATHER_MS = 15;
/** The longest delay of an event when its hint is lost. */
const POLL_MS = 1_000;
const BUFFER = LIVE_LIMITS.maxBuffered;
const TROUBLE_MS = 500;
/** The cost of handing a frame to one follower, as the number of bytes that decode in the same time. */
const HANDED_BYTES = 64;

export interface FeedParts {
  /** Omitted if the engine is in another process, whose frames are read from the store. */
  readonly engine?: Engine;
  readonly store: Pick<Journal, 'feed' | 'frames' | 'lastPosition'> & Pick<Inbox, 'inbox'> & Pick<Store, 'watch'>;
  readonly clock: Clock;
  onTrouble(error: unknown): void;
}

export interface Interest {
  /** One run only. */
  readonly executionId?: string;
  /** Selects runs; called once per run. */
  readonly wants?: (executionId: string) => Promise<boolean>;
  /** Only events of runs, and of nodes that begin to wait for a person; no others of nodes, and no progress. */
  readonly isOfRuns?: boolean;
  /** An event id: events after it. `now`: no past events. Omitted: from the beginning. */
  readonly after?: string;
  readonly signal: AbortSignal;
}

interface FeedCursor {
  readonly position: Position;
  readonly index: number;
}

interface FeedEvent extends StreamEvent {
  readonly executionId: string;
  /** The event ends the run with this status, or reopens it (`null`). */
  readonly endStatus?: FinalRunStatus | null;
  readonly isOfRun?: boolean;
}

/** A frame with its events, which are decoded on first use and shared by all followers. */
interface Decoded {
  readonly row: FrameRow;
  readonly isDecoded: boolean;
  readonly events: () => readonly (FeedEvent & { readonly index: number })[];
}

interface Listener {
  readonly executionId: string | undefined;
  readonly wants: Interest['wants'];
  readonly known: Map<string, boolean>;
  readonly isOfRuns: boolean;
  buffer: FeedEvent[];
  /** The position of the last buffered event. */
  cursor: FeedCursor;
  /** The last frame that was read, for a single run. */
  seq: number;
  /** The status with which the followed run ended; null while it runs. */
  endStatus: FinalRunStatus | null;
  isLevel: boolean;
  wake: (() => void) | undefined;
}

export class Feed {
  private readonly parts: FeedParts;
  private readonly listeners = new Set<Listener>();
  private readonly level = new Map<string | undefined, Set<Listener>>();
  private readonly stops: (() => void)[] = [];
  private readonly replays = new CatchUpPages<readonly Decoded[]>();
  private readonly wakes = new RequestPacer(LIVE_LIMITS.maxWokenPerTurn);
  private tail: Position = FEED_START;
  private isReading = false;
  private isHinted = false;
  private isClosed = false;

  constructor(parts: FeedParts) {
    this.parts = parts;
  }

  async open(): Promise<void> {
    const { engine, store } = this.parts;
    this.tail = await store.lastPosition();
    this.stops.push(
      store.watch(() => this.hint()),
      engine?.on((event) => {
        if (event.type === 'changed' || event.type === 'timeline') this.hint();
        else if (event.type === 'progress') this.tellProgress(event);
      }) ?? (() => undefined),
    );
    this.pollLater();
  }

  close(): void {
    this.isClosed = true;
    for (const stop of this.stops.splice(0)) stop();
    for (const listener of this.listeners) listener.wake?.();
  }

  /** The number of followers. */
  get size(): number {
    return this.listeners.size;
  }

  async *follow({ executionId, wants, isOfRuns = false, after, signal }: Interest): EventStream {
    const listener: Listener = {
      executionId,
      wants,
      known: new Map(),
      isOfRuns,
      buffer: [],
      cursor: cursorAfter(after),
      seq: 0,
      endStatus: null,
      isLevel: false,
      wake: undefined,
    };
    this.listeners.add(listener);
    const onAbort = (): void => listener.wake?.();
    signal.addEventListener('abort', onAbort);
    try {
      await this.moveCursor(listener, after === 'now');
      while (!signal.aborted && !this.isClosed) {
        if (listener.buffer.length > 0) {
          yield listener.buffer.splice(0);
        } else if (!listener.isLevel) {
          await this.catchUp(listener);
        } else if (executionId !== undefined && listener.endStatus !== null) {
          if (await this.mayReopen(executionId, listener, signal)) continue;
          yield [{ event: 'end', json: JSON.stringify({ executionId, status: listener.endStatus }) }];
          return;
        } else {
          await new Promise<void>((resolve) => {
            listener.wake = resolve;
          });
          listener.wake = undefined;
          // One event wakes every follower of all runs.
          await this.wakes.take();
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.leaveBehind(listener);
      this.listeners.delete(listener);
    }
  }

  /**
   * Returns whether the ended run that a level follower has read may go on. A request that waits in the inbox may reopen
   * it. A request that left the inbox was taken by a frame, so the reader has to deliver all frames there are by then.
   */
  private async mayReopen(executionId: string, listener: Listener, signal: AbortSignal): Promise<boolean> {
    const { store } = this.parts;
    const isOver = (): boolean => signal.aborted || this.isClosed;
    if ((await store.inbox(executionId)).length > 0) {
      if (!isOver()) await this.pause(listener, POLL_MS);
      return true;
    }
    const last = await store.lastPosition();
    while (comparePositions(this.tail, last) < 0 && listener.buffer.length === 0) {
      if (isOver()) return true;
      this.hint();
      await this.pause(listener, GATHER_MS);
    }
    return listener.buffer.length > 0 || listener.endStatus === null;
  }

  /** Waits until the follower is woken, or for this time. */
  private async pause(listener: Listener, ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.parts.clock.timer(ms, resolve, { background: true });
      listener.wake = () => {
        timer.cancel();
        resolve();
      };
    });
    listener.wake = undefined;
  }

  /** `now` is the end. A position beyond the end is of another history, e.g. before a backup was restored, and also is the end. */
  private async moveCursor(listener: Listener, isNow: boolean): Promise<void> {
    if (!isNow && comparePositions(listener.cursor.position, this.tail) <= 0) return;
    const last = await this.parts.store.lastPosition();
    if (isNow || comparePositions(listener.cursor.position, last) > 0) listener.cursor = whole(last);
  }

  /** Reads one page of the past. The follower is level if nothing is left and the reader has not moved meanwhile. */
  private async catchUp(listener: Listener): Promise<void> {
    const { executionId, cursor, seq } = listener;
    const { store } = this.parts;
    const { tail } = this;
    // The follower may have got only a part of the cursor's frame.
    const inclusive = Number.isFinite(cursor.index);
    const { position: after } = cursor;
    const page = await this.replays.read(
      executionId === undefined ? ` ${after} ${inclusive}` : `${executionId} ${seq}`,
      tail,
      async () =>
        (executionId === undefined
          ? await store.feed({ after, inclusive, limit: PAGE })
          : await store.frames(executionId, seq, PAGE)
        ).map(decoded),
      // A new run can have the id of a deleted one.
      (rows) => (executionId !== undefined || rows.length < PAGE ? 'last' : 'whole'),
    );
    await this.take(listener, page, cursor);
    const last = page.at(-1)?.row;
    if (last !== undefined) listener.seq = last.seq;
    if (last !== undefined && comparePositions(last.position, after) >= 0) listener.cursor = whole(last.position);
    // Everything up to the tail was read, and the reader delivers the rest. If the tail has moved, read again.
    if (page.length === PAGE || tail !== this.tail) return;
    if (comparePositions(listener.cursor.position, tail) < 0) listener.cursor = whole(tail);
    this.join(listener);
  }

  /** Decodes large frames a few at a time. */
  private async take(listener: Listener, page: readonly Decoded[], after: FeedCursor): Promise<void> {
    let bytes = 0;
    for (const frame of page) {
      const { executionId, position, entries } = frame.row;
      if (comparePositions(position, after.position) < 0) {
        if (listener.executionId !== undefined && mayEndRun(entries)) note(listener, frame.events());
        continue;
      }
      if (listener.isOfRuns && !mayConcernRun(entries)) continue;
      const known = listener.wants === undefined ? true : listener.known.get(executionId);
      if (!(known ?? (await this.isWanted(listener, executionId)))) continue;
      if (!frame.isDecoded) bytes += entries.length;
      note(listener, frame.events());
      for (const event of frame.events()) {
        if (listener.isOfRuns && event.isOfRun !== true) continue;
        if (isAfter({ position, index: event.index }, after)) listener.buffer.push(event);
      }
      if (bytes < LIVE_LIMITS.maxDecodedBytesPerTurn) continue;
      bytes = 0;
      await breathe();
    }
  }

  private join(listener: Listener): void {
    listener.isLevel = true;
    const own = this.level.get(listener.executionId) ?? new Set();
    own.add(listener);
    this.level.set(listener.executionId, own);
  }

  private leaveBehind(listener: Listener): void {
    listener.isLevel = false;
    const own = this.level.get(listener.executionId);
    own?.delete(listener);
    if (own?.size === 0) this.level.delete(listener.executionId);
  }

  private hint(): void {
    if (this.isHinted || this.isClosed) return;
    this.isHinted = true;
    this.parts.clock.timer(
      GATHER_MS,
      () => {
        this.isHinted = false;
        void this.read();
      },
      { background: true },
    );
  }

  private pollLater(): void {
    const timer = this.parts.clock.timer(
      POLL_MS,
      () => {
        if (this.isClosed) return;
        this.hint();
        this.pollLater();
      },
      { background: true },
    );
    this.stops[2] = () => timer.cancel();
  }

  /** Delivers new frames. One pass at a time; a hint during a pass causes one more. */
  private async read(): Promise<void> {
    if (this.isReading) {
      this.hint();
      return;
    }
    this.isReading = true;
    try {
      for (;;) {
        if (this.level.size === 0) {
          const last = await this.parts.store.lastPosition();
          // A follower that became level meanwhile expects all frames beyond the tail.
          if (this.level.size > 0) continue;
          if (comparePositions(last, this.tail) > 0) this.tail = last;
          return;
        }
        const rows = await this.parts.store.feed({ after: this.tail, limit: PAGE });
        let bytes = 0;
        for (const row of rows) {
          await this.handOn(row);
          bytes += row.entries.length + HANDED_BYTES * this.listeners.size;
          if (bytes < LIVE_LIMITS.maxDecodedBytesPerTurn) continue;
          bytes = 0;
          await breathe();
        }
        if (rows.length < PAGE) return;
      }
    } catch (error) {
      this.parts.onTrouble(error);
      this.parts.clock.timer(TROUBLE_MS, () => this.hint(), { background: true });
    } finally {
      this.isReading = false;
    }
  }

  private async handOn(row: FrameRow): Promise<void> {
    const isOfRun = mayConcernRun(row.entries);
    const isFor = (listener: Listener): boolean => isOfRun || !listener.isOfRuns;
    // A follower may become level while another one is awaited.
    for (;;) {
      const unasked = [...(this.level.get(undefined) ?? [])].find(
        (listener) => listener.wants && isFor(listener) && !listener.known.has(row.executionId),
      );
      if (unasked === undefined) break;
      await this.isWanted(unasked, row.executionId);
    }
    // No await from here on: every level follower has got all frames up to the tail.
    this.tail = row.position;
    const own = this.level.get(row.executionId);
    const all = this.level.get(undefined);
    if (own === undefined && all === undefined) return;
    // A frame of nodes alone is not decoded for followers of runs.
    const isDecoded = own !== undefined || [...(all ?? [])].some(isFor);
    const events = isDecoded ? eventsOf(row) : [];
    const ofRun = isOfRun ? events.filter((event) => event.isOfRun) : [];
    for (const listener of own ?? []) this.give(listener, row.position, events);
    for (const listener of all ?? []) {
      const isWanted = listener.wants === undefined || listener.known.get(row.executionId) === true;
      const given = listener.isOfRuns ? ofRun : events;
      if (isWanted && (given.length > 0 || !listener.isOfRuns)) {
        this.give(listener, row.position, given);
      } else if (comparePositions(listener.cursor.position, row.position) < 0) listener.cursor = whole(row.position);
    }
  }

  private give(listener: Listener, position: Position, events: readonly FeedEvent[]): void {
    if (!listener.isLevel) return;
    // The follower may have read this frame from the store before it became level, or follows from a later one on. Its page
    // may also be older than the cursor, so an end of the run, or its reopening, counts in any case.
    if (comparePositions(position, listener.cursor.position) <= 0) {
      note(listener, events);
      if (listener.endStatus !== null) listener.wake?.();
      return;
    }
    if (listener.buffer.length + events.length > BUFFER && listener.buffer.length > 0) {
      this.leaveBehind(listener);
      return;
    }
    listener.buffer.push(...events);
    note(listener, events);
    listener.cursor = whole(position);
    listener.wake?.();
  }

  private async isWanted({ wants, known }: Listener, executionId: string): Promise<boolean> {
    if (wants === undefined) return true;
    const before = known.get(executionId);
    if (before !== undefined) return before;
    const isWanted = await wants(executionId);
    if (known.size >= 10_000) known.clear();
    known.set(executionId, isWanted);
    return isWanted;
  }

  /** Delivers progress to current followers; progress is not stored. */
  private tellProgress(event: { executionId: string; node: string; fraction: number; message?: string }): void {
    const { executionId } = event;
    const listeners = [...(this.level.get(executionId) ?? []), ...(this.level.get(undefined) ?? [])];
    if (listeners.length === 0) return;
    const { node, fraction, message } = event;
    const json = JSON.stringify({ executionId, node, fraction, ...(message !== undefined && { message }) });
    for (const listener of listeners) {
      if (listener.isOfRuns) continue;
      if (listener.wants !== undefined && listener.known.get(executionId) !== true) continue;
      if (listener.buffer.length >= BUFFER) continue;
      listener.buffer.push({ event: 'progress', json, executionId });
      listener.wake?.();
    }
  }
}

/** A cheap test of encoded entries, which also lets through entries with such a text in a value. */
function mayEndRun(entries: string): boolean {
  return entries.includes('run.finished') || entries.includes('run.reopened');
}

/** Events of nodes that begin to wait for a person. */
const BEGINS_TASK: ReadonlySet<string> = new Set(['NodeWaiting', 'NodeUnknown']);

/** A cheap test, as `mayEndRun`. */
function mayConcernRun(entries: string): boolean {
  return entries.includes('"run.') || entries.includes('"node.waiting"') || entries.includes('"node.unknown"');
}

function note(listener: Listener, events: readonly FeedEvent[]): void {
  for (const { endStatus } of events) if (endStatus !== undefined) listener.endStatus = endStatus;
}

/** The id of an event is `<position>.<index>`: the position of its frame, and its number in the frame. */
function cursorAfter(id = ''): FeedCursor {
  return parseEventId(id) ?? whole(FEED_START);
}

function parseEventId(id: string): FeedCursor | undefined {
  const [, text = '', index] = /^([^.]*)(?:\.(\d{1,9}))?$/.exec(id) ?? [];
  const position = parsePosition(text);
  if (position === undefined) return undefined;
  return index === undefined ? whole(position) : { position, index: Number(index) };
}

/** The position after all events of a frame. */
function whole(position: Position): FeedCursor {
  return { position, index: Number.POSITIVE_INFINITY };
}

export function isEventId(id: string): boolean {
  return parseEventId(id) !== undefined;
}

function isAfter(one: FeedCursor, other: FeedCursor): boolean {
  return (comparePositions(one.position, other.position) || one.index - other.index) > 0;
}

function decoded(row: FrameRow): Decoded {
  let made: ReturnType<Decoded['events']> | undefined;
  return {
    row,
    get isDecoded() {
      return made !== undefined;
    },
    events: () => {
      made ??= eventsOf(row);
      return made;
    },
  };
}

function eventsOf({ executionId, seq, at, position, entries }: FrameRow): (FeedEvent & { readonly index: number })[] {
  const decoded = (JSON.parse(entries) as readonly Entry[]).flatMap((entry) => {
    const endStatus = entry.type === 'run.finished' ? entry.status : entry.type === 'run.reopened' ? null : undefined;
    return timelineOf(entry, at).map((event) => ({ ...event, ...(endStatus !== undefined && { endStatus }) }));
  });
  return decoded.map((event, index) => {
    const id = `${position}.${index}`;
    const { type, node, details, endStatus } = event;
    const json = JSON.stringify({ id, executionId, seq, at: new Date(event.at).toISOString(), type, node, details });
    const isOfRun = node === null || BEGINS_TASK.has(type);
    return { id, json, executionId, index, isOfRun, ...(endStatus !== undefined && { endStatus }) };
  });
}
