/** Permits, rates, subscriptions, signals, and the rows of the output cache. */
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

interface Permit extends PermitRequest {
  readonly executionId: ExecutionId;
  isHeld: boolean;
}

export class MemoryPermits {
  /** Permits by key, in the order of the requests. */
  readonly #permits = new Map<string, Permit[]>();
  /** The newest moments of each key, as many as its limit. */
  readonly #rates = new Map<string, number[]>();
  /** The moment granted to the last request, by execution and node. */
  readonly #moments = new Map<string, Map<string, { readonly requestId: string; readonly at: number }>>();
  readonly cache = new Map<string, CacheRow>();
  #subscriptions: (Subscription & { readonly executionId: ExecutionId; isTaken: boolean })[] = [];
  #signals: PublishedSignal[] = [];
  readonly #published = new Set<string>();

  /** The holder of a permit that the write requires; undefined if the permit is free. */
  inTheWay(executionId: ExecutionId, changes: PermitChanges): PermitHolder | undefined {
    return blockingHolder(executionId, changes, (key) => this.rows(key));
  }

  /** Returns the granted moments of its rates. */
  change(
    executionId: ExecutionId,
    changes: PermitChanges,
    deliver: (message: InboxRow, wakeAt: number) => void,
  ): number[] {
    const { at, releases = [], requests = [], rates = [] } = changes;
    const touched = new Set<string>();
    for (const { key, node } of releases) {
      const left = this.#at(key).filter((permit) => permit.executionId !== executionId || permit.node !== node);
      if (left.length === 0) this.#permits.delete(key);
      else this.#permits.set(key, left);
      touched.add(key);
    }
    for (const request of requests) {
      if (isReleasedAtOnce(request, changes)) continue;
      const permits = this.#at(request.key);
      if (permits.some((permit) => permit.executionId === executionId && permit.node === request.node)) continue;
      this.#permits.set(request.key, [...permits, { ...request, executionId, isHeld: false }]);
      touched.add(request.key);
    }
    for (const key of touched) this.#grant(key, at, deliver);
    for (const request of requests) {
      if (request.makesRoom === undefined) continue;
      for (const other of blockersOf(executionId, request, this.rows(request.key))) {
        deliver({ executionId: other, ...request.makesRoom }, at);
      }
    }
    return rates.map((rate) => this.#moment(executionId, rate, at));
  }

  #moment(executionId: ExecutionId, rate: RateRequest, now: number): number {
    const given = this.#moments.get(executionId) ?? new Map();
    this.#moments.set(executionId, given);
    const last = given.get(rate.node);
    if (last?.requestId === rate.requestId) return last.at;
    const newest = this.#rates.get(rate.key) ?? [];
    const at = nextMoment(now, rate.perMs, { last: newest.at(-1), before: newest.at(-rate.limit) });
    this.#rates.set(rate.key, [...newest, at].slice(-rate.limit));
    given.set(rate.node, { requestId: rate.requestId, at });
    return at;
  }

  forget(executionId: ExecutionId): void {
    this.#moments.delete(executionId);
  }

  #grant(key: string, at: number, deliver: (message: InboxRow, wakeAt: number) => void): void {
    const permits = this.#at(key);
    let held = permits.filter(({ isHeld }) => isHeld).length;
    for (const permit of permits) {
      if (permit.isHeld) continue;
      if (held >= permit.limit) return;
      permit.isHeld = true;
      held++;
      const { executionId, messageId, body } = permit;
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

  forgetSignals(prefix: string): void {
    this.#signals = this.#signals.filter(({ signal }) => !signal.startsWith(prefix));
  }

  rows(key: string): PermitRow[] {
    return this.#at(key)
      .map(({ executionId, node, isHeld }) => ({ executionId, node, isHeld }))
      .sort((a, b) => Number(b.isHeld) - Number(a.isHeld));
  }

  #at(key: string): Permit[] {
    return this.#permits.get(key) ?? [];
  }
}

function sameWait(a: { signal: string; key: string }, b: { signal: string; key: string }): boolean {
  return a.signal === b.signal && a.key === b.key;
}
