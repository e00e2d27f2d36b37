/**
 * Workers outside that want work, and what waits for them.
 *
 *  1 Those who have waited longest are served first; a claim that waits is a listener, and nothing else.
 *  2 Nothing is taken from the queue before the engine begins to work: it would be handed back, and taken again, for ever.
 *  3 A lease is stored before the journal names it.
 *  4 Whoever has gone away by the time the frame is durable is given nothing, nor is a lease that has passed by then: it
 *    is handed back.
 */
import { HERE } from '@nebula/core';
import type { Clock, Delivery, Digest, Queue, Random, Store } from '@nebula/ports';
import type { ClaimRequest, OutsideWork } from './api.ts';
import { LEASE_PREFIX, type Lease, newLease } from './lease.ts';
import type { Claim, GrantedAttempt } from './live-run.ts';

/** How long a claimed task may be on its way through a turn; after that nobody waits for it. */
const GRANT_MS = 30_000;

/** What workers may take depends on the project, too. Names of projects have no blanks. */
export function routeIn(project: string, route: string): string {
  return route === HERE ? HERE : `${project} ${route}`;
}

export interface ClaimsParts {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  /** For the next turn: starts it under its lease, or says that it cannot be. */
  offer(delivery: Delivery, claim: Claim): void;
  /** The attempt is open under this lease; undefined when it is not for giving out. */
  begin(lease: Lease, until: number, request: ClaimRequest, granted: GrantedAttempt): OutsideWork | undefined;
  giveBack(lease: Lease): void;
}

interface Given {
  readonly lease: Lease;
  readonly work: OutsideWork;
}

interface Waiter {
  readonly request: ClaimRequest;
  take(deliveries: readonly Delivery[]): void;
}

export class Claims {
  private readonly parts: ClaimsParts;
  private readonly waiters = new Set<Waiter>();
  private readonly unhear: () => void;
  private isOpen = false;
  private isClosed = false;

  constructor(parts: ClaimsParts) {
    this.parts = parts;
    this.unhear = parts.queue.onAvailable((routes) => {
      if (this.waiters.size > 0 && routes.some((route) => route !== HERE)) this.serve();
    });
  }

  openForWork(): void {
    this.isOpen = true;
    this.serve();
  }

  close(): void {
    this.isClosed = true;
    this.unhear();
    for (const waiter of [...this.waiters]) waiter.take([]);
  }

  async claim(request: ClaimRequest): Promise<readonly OutsideWork[]> {
    const { clock } = this.parts;
    const until = clock.now() + (request.waitMs ?? 0);
    for (;;) {
      const deliveries = await this.deliveries(request, until);
      if (deliveries.length === 0) return [];
      const given = await this.grant(request, deliveries);
      if (given.length > 0 && request.signal?.aborted) {
        for (const { lease } of given) this.parts.giveBack(lease);
        return [];
      }
      if (given.length > 0 || clock.now() >= until) return given.map(({ work }) => work);
    }
  }

  /** What waits for such a worker, as soon as there is something. */
  private deliveries(request: ClaimRequest, until: number): Promise<readonly Delivery[]> {
    const { clock } = this.parts;
    const { signal } = request;
    if (this.isClosed || signal?.aborted) return Promise.resolve([]);
    return new Promise((resolve) => {
      const take = (deliveries: readonly Delivery[]): void => {
        if (!this.waiters.delete(waiter)) return;
        timer.cancel();
        signal?.removeEventListener('abort', giveUp);
        resolve(deliveries);
      };
      const giveUp = (): void => take([]);
      const waiter: Waiter = { request, take };
      this.waiters.add(waiter);
      const timer = clock.timer(Math.max(0, until - clock.now()), giveUp, { background: true });
      signal?.addEventListener('abort', giveUp);
      this.serve();
    });
  }

  /** Those who have waited longest are served first. */
  private serve(): void {
    const { queue } = this.parts;
    if (!this.isOpen) return;
    for (const waiter of [...this.waiters]) {
      const routes = queue.routes().filter((text) => {
        const blank = text.indexOf(' ');
        return text !== HERE && waiter.request.serves(text.slice(blank + 1), text.slice(0, blank));
      });
      if (routes.length === 0) continue;
      const deliveries = queue.poll(waiter.request.max, routes);
      if (deliveries.length > 0) waiter.take(deliveries);
    }
  }

  private async grant(request: ClaimRequest, deliveries: readonly Delivery[]): Promise<Given[]> {
    const { store, queue, clock, random, digest } = this.parts;
    const until = clock.now() + request.leaseMs;
    const { leaseMs, holder: worker = '', principal = '' } = request;
    const named = deliveries.map((delivery) => ({
      delivery,
      lease: newLease(random.id(LEASE_PREFIX), delivery.task, leaseMs, { worker, principal }, digest),
    }));
    try {
      // Before the journal names it: whoever looks at the run then must find that it is good.
      await store.heartbeat(named.map(({ lease }) => ({ worker: lease.worker, expiresAt: until })));
    } catch (error) {
      for (const delivery of deliveries) queue.nack(delivery, 0);
      throw error;
    }
    const granted = await Promise.all(
      named.map(async ({ delivery, lease }) => {
        const work = await this.throughTurn(delivery, lease, until, request);
        return work && { lease, work };
      }),
    );
    return granted.filter((given) => given !== undefined);
  }

  private throughTurn(
    delivery: Delivery,
    lease: Lease,
    until: number,
    request: ClaimRequest,
  ): Promise<OutsideWork | undefined> {
    const { clock, offer } = this.parts;
    return new Promise((resolve) => {
      let isAwaited = true;
      const settle = (work: OutsideWork | undefined): void => {
        isAwaited = false;
        timer.cancel();
        resolve(work);
      };
      const timer = clock.timer(GRANT_MS, () => settle(undefined), { background: true });
      offer(delivery, {
        worker: lease.worker,
        refused: () => settle(undefined),
        given: (granted) => {
          const isWanted = isAwaited && !this.isClosed && !request.signal?.aborted && clock.now() < until;
          if (!isWanted) this.parts.giveBack(lease);
          settle(isWanted ? this.parts.begin(lease, until, request, granted) : undefined);
        },
      });
    });
  }
}
