/** The way of signals: each signal taken from an inbox ends one wait, is buffered, or is refused; nothing more. */
import type { Entry, Json, JsonObject } from '@nebula/core';
import type { SentSignal } from './answered.ts';

export class Signals {
  private readonly complain: (what: string) => void;
  /** Numbers of signals by message. */
  private readonly numbers = new Map<string, number>();
  /** How often a signal was put into an inbox, and how often it ended a wait. */
  private readonly arrived = new Map<string, number>();
  private readonly heard = new Map<string, number>();
  /** Numbers of published signals, which any run may take, and how often each ended a wait. */
  private readonly published = new Map<number, number>();
  /** Names and keys of signals, by number. */
  private readonly signals = new Map<number, SentSignal>();
  /** How often a signal was buffered. */
  private readonly kept = new Map<string, number>();
  /** Names and keys of published signals, by message. */
  private readonly names = new Map<string, string>();

  constructor(complain: (what: string) => void) {
    this.complain = complain;
  }

  sent(executionId: string, messageId: string, { signal, key, payload }: JsonObject): void {
    const number = numberIn(payload);
    if (number === undefined) return;
    this.numbers.set(messageId, number);
    this.signals.set(number, { signal: String(signal), key: String(key ?? '') });
    add(this.arrived, `${executionId} ${number}`);
  }

  /** A signal that names no run was published. */
  onPublished(messageId: string, { signal, key, payload }: JsonObject): void {
    this.names.set(messageId, `${signal} ${key}`);
    const number = numberIn(payload);
    if (number === undefined) return;
    this.numbers.set(messageId, number);
    this.signals.set(number, { signal: String(signal), key: String(key ?? '') });
    this.published.set(number, 0);
  }

  /** The signal with this payload; undefined if the payload is of another event. */
  sentWith(payload: Json): SentSignal | undefined {
    return this.signals.get(numberIn(payload) ?? 0);
  }

  isPublished(messageId: string, signal: string, key: string): boolean {
    return this.names.get(messageId) === `${signal} ${key}`;
  }

  /** A frame is written, and these messages are gone from the inbox. */
  taken(executionId: string, messageIds: readonly string[], entries: readonly Entry[]): void {
    // A signal that arrives with the end of a run is too late.
    if (entries.some(({ type }) => type === 'run.finished')) return;
    const found = JSON.stringify(entries);
    const isRefused = entries.some(({ type }) => type === 'signal.refused');
    for (const messageId of messageIds) {
      const number = this.numbers.get(messageId);
      if (number === undefined || isRefused || found.includes(`"signal":${number}`) || found.includes('"blob"'))
        continue;
      this.complain(`${executionId} has taken signal ${number}, and it is nowhere`);
    }
  }

  /** A signal that no node waits for is buffered, once. */
  buffered(executionId: string, payload: Json): void {
    const number = numberIn(payload);
    if (number === undefined) return;
    const name = `${executionId} ${number}`;
    add(this.kept, name);
    const published = this.published.get(number);
    const arrived = published === undefined ? (this.arrived.get(name) ?? 0) : 1;
    const isHeard = (published ?? this.heard.get(name) ?? 0) >= arrived;
    if (isHeard || (this.kept.get(name) ?? 0) > arrived)
      this.complain(`signal ${number} of ${executionId} is buffered more often than it came`);
  }

  /** A wait has ended with this output. */
  ended(executionId: string, output: Json): void {
    const number = numberIn((output as { payload?: Json } | null)?.payload);
    if (number === undefined) return;
    const times = this.published.get(number);
    if (times !== undefined) {
      this.published.set(number, times + 1);
      if (times > 0) this.complain(`the published signal ${number} ended a second wait, in ${executionId}`);
      return;
    }
    const name = `${executionId} ${number}`;
    add(this.heard, name);
    if ((this.heard.get(name) ?? 0) > (this.arrived.get(name) ?? 0))
      this.complain(`signal ${number} of ${executionId} ended more waits than it came`);
  }
}

function numberIn(payload: Json | undefined): number | undefined {
  const { signal } = (payload ?? {}) as { signal?: number };
  return signal;
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
