/**
 * One WebSocket for all live updates of the page.
 *
 *  1 A subscription outlives its connection: after a break it continues behind the last event that it received.
 *  2 Events of a subscription arrive once and in order.
 *  3 The connection exists while there is a subscription.
 */
import type { LiveEvent, LogLine, Progress } from '@nebula/client';

export type Interest =
  | { readonly executionId: string; readonly after?: string }
  /** `runs`: no events of nodes, except of those that begin to wait for a person. */
  | { readonly project?: string; readonly workflowId?: string; readonly level?: 'runs'; readonly after?: string }
  | {
      readonly executionId: string;
      readonly logs: true;
      readonly node?: string;
      readonly level?: string;
      readonly after?: number;
    };

export interface Listener {
  onEvents?(events: readonly LiveEvent[]): void;
  onLines?(lines: readonly LogLine[]): void;
  onProgress?(progress: Progress): void;
  /** Events from now on arrive, and earlier ones may have been missed: what was read before may be out of date. */
  onGap?(): void;
  /** The run has ended, and so has the subscription. */
  onEnd?(): void;
  onProblem?(problem: { readonly code: string; readonly detail: string }): void;
}

export type Connection = 'idle' | 'connecting' | 'live' | 'lost';

interface Subscription {
  readonly interest: Interest;
  readonly listener: Listener;
  last: string | number | undefined;
}

/** A message of the server. */
interface Incoming {
  readonly subscription?: string;
  readonly events?: readonly LiveEvent[];
  readonly lines?: readonly LogLine[];
  readonly progress?: Progress;
  readonly end?: unknown;
  readonly problem?: { readonly code: string; readonly detail: string };
}

/** The part of a WebSocket that is used, for tests. */
export type Socket = Pick<WebSocket, 'send' | 'close' | 'onopen' | 'onmessage' | 'onclose'>;

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** The connection is kept this long without a subscription: a page that changes subscribes again. */
const LINGER_MS = 2_000;

export class LiveUpdates {
  readonly #open: () => Socket;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #watchers = new Set<() => void>();
  #socket: Socket | undefined;
  #connection: Connection = 'idle';
  #lastName = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(open: () => Socket) {
    this.#open = open;
  }

  get connection(): Connection {
    return this.#connection;
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Returns a function that ends the subscription. */
  subscribe(interest: Interest, listener: Listener): () => void {
    const name = `s${++this.#lastName}`;
    this.#subscriptions.set(name, { interest, listener, last: interest.after });
    if (this.#socket === undefined) this.#connect();
    else if (this.#connection === 'live') this.#ask(name);
    return () => this.#end(name);
  }

  /** Connects at once instead of after the pause: the network or the session is back. */
  retryNow(): void {
    if (this.#connection !== 'lost') return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  #end(name: string): void {
    if (!this.#subscriptions.delete(name)) return;
    if (this.#connection === 'live') this.#send({ unsubscribe: name });
    if (this.#subscriptions.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#closeIfUnused(), LINGER_MS);
  }

  #closeIfUnused(): void {
    if (this.#subscriptions.size > 0) return;
    const socket = this.#socket;
    this.#socket = undefined;
    this.#become('idle');
    socket?.close();
  }

  #connect(): void {
    clearTimeout(this.#timer);
    this.#become('connecting');
    const socket = this.#open();
    this.#socket = socket;
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      this.#pauseMs = FIRST_PAUSE_MS;
      this.#become('live');
      for (const [name, { last, listener }] of [...this.#subscriptions]) {
        this.#ask(name);
        if (last === 'now') listener.onGap?.();
      }
    };
    socket.onmessage = ({ data }: MessageEvent) => {
      if (socket === this.#socket) this.#receive(JSON.parse(String(data)) as Incoming);
    };
    socket.onclose = () => {
      if (socket === this.#socket) this.#reconnect();
    };
  }

  #reconnect(): void {
    this.#socket = undefined;
    if (this.#subscriptions.size === 0) return this.#become('idle');
    this.#become('lost');
    this.#timer = setTimeout(() => this.#connect(), this.#pauseMs);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, 2 * this.#pauseMs);
  }

  #ask(name: string): void {
    const subscription = this.#subscriptions.get(name);
    if (subscription === undefined) return;
    const { interest, last } = subscription;
    this.#send({ subscribe: name, ...interest, ...(last !== undefined && { after: last }) });
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #receive({ subscription: name = '', events, lines, progress, end, problem }: Incoming): void {
    const subscription = this.#subscriptions.get(name);
    if (subscription === undefined) return;
    const { listener } = subscription;
    if (events !== undefined) {
      subscription.last = events.at(-1)?.id ?? subscription.last;
      listener.onEvents?.(events);
    }
    if (lines !== undefined) {
      subscription.last = lines.at(-1)?.position ?? subscription.last;
      listener.onLines?.(lines);
    }
    if (progress !== undefined) listener.onProgress?.(progress);
    if (problem !== undefined) {
      this.#subscriptions.delete(name);
      listener.onProblem?.(problem);
    }
    if (end !== undefined) {
      this.#subscriptions.delete(name);
      listener.onEnd?.();
    }
  }

  #become(connection: Connection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    for (const watcher of this.#watchers) watcher();
  }
}
