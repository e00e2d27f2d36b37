/**
 * Remote workers that wait for tasks, and how they claim them.
 *
 *  1 The worker that has waited longest is served first; a waiting claim is a listener, and nothing else.
 *  2 No task is taken from the queue before the engine is open: it would be handed back and taken again for ever.
 *  3 A lease is stored before the journal names it.
 *  4 If the worker has disconnected, or the lease has expired, by the time the frame is durable, the task is handed
 *    back.
 */
import { HERE, LEASE_PREFIX } from '@nebula/core/run';
import type { Delivery } from '@nebula/ports';
import type { ClaimRequest, RemoteTask } from '../api.ts';
import type { Tasks } from '../attempts/tasks.ts';
import type { EngineContext } from '../context.ts';
import type { GrantedAttempt } from '../turn/live-run.ts';
import { type Lease, newLease } from './lease.ts';

/** How long a claim waits for its turn of the loop. */
const GRANT_MS = 30_000;

/** The leases under which attempts are open. */
export interface Leases {
  /** Returns undefined if the attempt is not handed out. */
  begin(
    lease: Lease,
    until: number,
    request: ClaimRequest,
    granted: GrantedAttempt,
  ): RemoteTask | undefined | Promise<RemoteTask | undefined>;
  giveBack(lease: Lease): void;
}

interface GrantedTask {
  readonly lease: Lease;
  readonly work: RemoteTask;
}

interface Waiter {
  readonly request: ClaimRequest;
  take(deliveries: readonly Delivery[]): void;
}

export class Claims {
  private readonly context: EngineContext;
  private readonly tasks: Tasks;
  private readonly leases: Leases;
  private readonly waiters = new Set<Waiter>();
  private readonly unhear: () => void;
  private isOpen = false;
  private isClosed = false;

  constructor(context: EngineContext, tasks: Tasks, leases: Leases) {
    this.context = context;
    this.tasks = tasks;
    this.leases = leases;
    this.unhear = context.queue.onAvailable((routes) => {
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

  async claim(request: ClaimRequest): Promise<readonly RemoteTask[]> {
    const { clock } = this.context;
    const until = clock.now() + (request.waitMs ?? 0);
    for (;;) {
      const deliveries = await this.deliveries(request, until);
      if (deliveries.length === 0) return [];
      const given = await this.grant(request, deliveries);
      if (given.length > 0 && request.signal?.aborted) {
        for (const { lease } of given) this.leases.giveBack(lease);
        return [];
      }
      if (given.length > 0 || clock.now() >= until) return given.map(({ work }) => work);
    }
  }

  /** Resolves with tasks that fit the request, as soon as there are any. */
  private deliveries(request: ClaimRequest, until: number): Promise<readonly Delivery[]> {
    const { clock } = this.context;
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

  private serve(): void {
    const { queue } = this.context;
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

  private async grant(request: ClaimRequest, deliveries: readonly Delivery[]): Promise<GrantedTask[]> {
    const { store, queue, clock, random, digest } = this.context;
    const until = clock.now() + request.leaseMs;
    const { leaseMs, holder: worker = '', principal = '' } = request;
    const named = deliveries.map((delivery) => ({
      delivery,
      lease: newLease(random.id(LEASE_PREFIX), delivery.task, leaseMs, { worker, principal }, digest),
    }));
    try {
      // The lease is stored before the journal names it: an engine that then reads the run must find it live.
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
  ): Promise<RemoteTask | undefined> {
    const { clock } = this.context;
    return new Promise((resolve) => {
      let isAwaited = true;
      const answer = (work: RemoteTask | undefined | Promise<RemoteTask | undefined>): void => {
        isAwaited = false;
        timer.cancel();
        resolve(work);
      };
      const timer = clock.timer(GRANT_MS, () => answer(undefined), { background: true });
      this.tasks.claim(delivery, {
        worker: lease.worker,
        refused: () => answer(undefined),
        granted: (granted) => {
          const isWanted = isAwaited && !this.isClosed && !request.signal?.aborted && clock.now() < until;
          if (!isWanted) this.leases.giveBack(lease);
          answer(isWanted ? this.leases.begin(lease, until, request, granted) : undefined);
        },
      });
    });
  }
}
