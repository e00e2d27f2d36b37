/** Permits, rates, listeners and signals, and the rows of the output cache. */
import type { ExecutionId } from '@nebula/core';
import {
  blockersOf,
  blockingHolder,
  type CacheRow,
  type InboxRow,
  isReleasedAtOnce,
  nextMoment,
  type PermitChanges,
  type PermitHolder,
  type PermitRequest,
  type PermitRow,
  type PublishedSignal,
  type RateRequest,
  type Subscription,
  type SubscriptionChanges,
} from '@nebula/ports';

interface Place extends PermitRequest {
  readonly executionId: ExecutionId;
  isHeld: boolean;
}

export class MemoryPermits {
  /** By key, in the order of asking. */
  readonly #places = new Map<string, Place[]>();
  /** By key, the newest moments, as many as the limit counts. */
  readonly #rates = new Map<string, number[]>();
  /** By execution and node, the moment that was granted to the last ask. */
  readonly #moments = new Map<string, Map<string, { readonly ask: string; readonly at: number }>>();
  readonly cache = new Map<string, CacheRow>();
  #subscriptions: (Subscription & { readonly executionId: ExecutionId; isTaken: boolean })[] = [];
  #signals: PublishedSignal[] = [];
  readonly #published = new Set<string>();

  /** The holder of a place that the write requires; undefined when the write may have it. */
  inTheWay(executionId: ExecutionId, changes: PermitChanges): PermitHolder | undefined {
    return blockingHolder(executionId, changes, (key) => this.rows(key));
  }

  /** Returns the granted moments of its rates. */
  change(
    executionId: ExecutionId,
    changes: PermitChanges,
    deliver: (message: InboxRow, wakeAt: number) => void,
  ): number[] {
    const { at, releases = [], asks = [], rates = [] } = changes;
    const touched = new Set<string>();
    for (const { key, node } of releases) {
      const left = this.#at(key).filter((place) => place.executionId !== executionId || place.node !== node);
      if (left.length === 0) this.#places.delete(key);
      else this.#places.set(key, left);
      touched.add(key);
    }
    for (const ask of asks) {
      if (isReleasedAtOnce(ask, changes)) continue;
      const places = this.#at(ask.key);
      if (places.some((place) => place.executionId === executionId && place.node === ask.node)) continue;
      this.#places.set(ask.key, [...places, { ...ask, executionId, isHeld: false }]);
      touched.add(ask.key);
    }
    for (const key of touched) this.#grant(key, at, deliver);
    for (const ask of asks) {
      if (ask.makesRoom === undefined) continue;
      for (const other of blockersOf(executionId, ask, this.rows(ask.key))) {
        deliver({ executionId: other, ...ask.makesRoom }, at);
      }
    }
    return rates.map((rate) => this.#moment(executionId, rate, at));
  }

  #moment(executionId: ExecutionId, rate: RateRequest, now: number): number {
    const given = this.#moments.get(executionId) ?? new Map();
    this.#moments.set(executionId, given);
    const last = given.get(rate.node);
    if (last?.ask === rate.ask) return last.at;
    const newest = this.#rates.get(rate.key) ?? [];
    const at = nextMoment(now, rate.perMs, { last: newest.at(-1), before: newest.at(-rate.limit) });
    this.#rates.set(rate.key, [...newest, at].slice(-rate.limit));
    given.set(rate.node, { ask: rate.ask, at });
    return at;
  }

  forget(executionId: ExecutionId): void {
    this.#moments.delete(executionId);
  }

  #grant(key: string, at: number, deliver: (message: InboxRow, wakeAt: number) => void): void {
    const places = this.#at(key);
    let held = places.filter(({ isHeld }) => isHeld).length;
    for (const place of places) {
      if (place.isHeld) continue;
      if (held >= place.limit) return;
      place.isHeld = true;
      held++;
      const { executionId, messageId, body } = place;
      deliver({ executionId, messageId, body }, at);
    }
  }

  listen(
    executionId: ExecutionId,
    { at, add = [], remove = [] }: SubscriptionChanges,
    deliver: (message: InboxRow, wakeAt: number) => void,
  ): void {
    const isGone = new Set(remove);
    this.#subscriptions = this.#subscriptions.filter((one) => one.executionId !== executionId || !isGone.has(one.node));
    for (const subscription of add) {
      const { signal, key, node } = subscription;
      if (
        this.#subscriptions.some(
          (one) => one.executionId === executionId && sameWait(one, subscription) && one.node === node,
        )
      )
        continue;
      const kept = this.#signals.find((one) => one.signal === signal && one.key === key && one.expiresAt > at);
      this.#signals = this.#signals.filter((one) => one !== kept && one.expiresAt > at);
      this.#subscriptions.push({ ...subscription, executionId, isTaken: kept !== undefined });
      if (kept !== undefined) deliver({ executionId, messageId: kept.messageId, body: kept.body }, at);
    }
  }

  publish(published: PublishedSignal, deliver: (message: InboxRow, wakeAt: number) => void): string | undefined {
    const { messageId, body, at } = published;
    if (this.#published.has(messageId)) return undefined;
    this.#published.add(messageId);
    const subscription = this.#subscriptions.find((one) => !one.isTaken && sameWait(one, published));
    if (subscription === undefined) {
      this.#signals.push(published);
      return undefined;
    }
    subscription.isTaken = true;
    deliver({ executionId: subscription.executionId, messageId, body }, at);
    return subscription.executionId;
  }

  rows(key: string): PermitRow[] {
    return this.#at(key)
      .map(({ executionId, node, isHeld }) => ({ executionId, node, isHeld }))
      .sort((a, b) => Number(b.isHeld) - Number(a.isHeld));
  }

  #at(key: string): Place[] {
    return this.#places.get(key) ?? [];
  }
}

function sameWait(a: { signal: string; key: string }, b: { signal: string; key: string }): boolean {
  return a.signal === b.signal && a.key === b.key;
}
