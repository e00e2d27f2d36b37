/**
 * The responses of `/health` and `/ready`.
 *
 *  H1 `/health` is about the process alone (liveness): it fails only if a restart helps.
 *  H2 `/ready` is about everything that the server needs (readiness): while it fails, a load balancer uses another
 *  server.
 *  H3 Both are public: they cost one small write every few seconds, however often they are called, and show only codes.
 */
import { NebulaError } from '@nebula/core';
import type { EngineHealth } from '@nebula/engine';
import type { Clock, Records, Store } from '@nebula/ports';
import type { EventLoop } from './event-loop.ts';

/** A successful probe is reused for this long. */
const PROBE_FRESH_MS = 5_000;
/** A failed probe is repeated by the next request, but not more often than this. */
const PROBE_AGAIN_MS = 500;
const PROBE_LIMIT_MS = 2_000;
/** The engine extends its lease every ten seconds: three extensions were missed. */
const WRITE_OVERDUE_MS = 35_000;
/** The leader looks at the schedules every five seconds. */
const CHECK_OVERDUE_MS = 60_000;

export interface SchedulerHealth {
  readonly role: 'leads' | 'follows' | 'off';
  /** When the leader last checked all schedules. */
  readonly checkedAt: number | null;
  /** The error of the last look; null: none. */
  readonly trouble: unknown;
}

export interface HealthParts {
  readonly clock: Clock;
  readonly store: Pick<Store, 'lastPosition'>;
  readonly records: Pick<Records, 'commit'>;
  readonly loop: Pick<EventLoop, 'stalledMs'>;
  engine(): EngineHealth;
  scheduler(): SchedulerHealth;
  isClosing(): boolean;
}

export interface HealthAnswer {
  readonly status: 200 | 503;
  readonly body: Readonly<Record<string, unknown>>;
}

export class Health {
  private readonly parts: HealthParts;
  private probe: { readonly at: number; readonly trouble: string | null } | undefined;
  private probing: Promise<string | null> | undefined;

  constructor(parts: HealthParts) {
    this.parts = parts;
  }

  alive(): HealthAnswer {
    const stalledMs = this.parts.loop.stalledMs();
    if (stalledMs > 0) return { status: 503, body: { status: 'stalled', stalledMs } };
    return { status: 200, body: { status: this.parts.isClosing() ? 'closing' : 'ok' } };
  }

  async ready(): Promise<HealthAnswer> {
    const { engine, scheduler, isClosing } = this.parts;
    const troubles: Record<string, string> = {};
    if (isClosing()) troubles.server = 'it is closing';
    else {
      const store = await this.storeTrouble();
      if (store !== null) troubles.store = store;
    }
    const ofEngine = this.engineTrouble(engine());
    if (ofEngine !== null) troubles.engine = ofEngine;
    const health = scheduler();
    const ofScheduler = isClosing() ? null : this.schedulerTrouble(health);
    if (ofScheduler !== null) troubles.scheduler = ofScheduler;
    const isReady = Object.keys(troubles).length === 0;
    return {
      status: isReady ? 200 : 503,
      body: { status: isReady ? 'ready' : 'not ready', troubles, engine: engine().phase, scheduler: health.role },
    };
  }

  private engineTrouble({ phase, wroteAt, trouble }: EngineHealth): string | null {
    if (phase !== 'open') return phase === 'new' ? 'it is not open yet' : `it is ${phase}`;
    if (trouble !== null) return `its operations fail with ${codeOf(trouble)}`;
    const silentMs = this.parts.clock.now() - (wroteAt ?? Number.NEGATIVE_INFINITY);
    return silentMs > WRITE_OVERDUE_MS ? 'it has not written for too long' : null;
  }

  private schedulerTrouble({ role, checkedAt, trouble }: SchedulerHealth): string | null {
    if (role === 'off') return 'it is off';
    if (role === 'follows') return null;
    if (trouble !== null) return `its last check failed with ${codeOf(trouble)}`;
    const isOverdue = checkedAt !== null && this.parts.clock.now() - checkedAt > CHECK_OVERDUE_MS;
    return isOverdue ? 'it has not checked the schedules for too long' : null;
  }

  /** Concurrent requests share one probe. */
  private async storeTrouble(): Promise<string | null> {
    const { probe } = this;
    const age = this.parts.clock.now() - (probe?.at ?? Number.NEGATIVE_INFINITY);
    if (probe !== undefined && age < (probe.trouble === null ? PROBE_FRESH_MS : PROBE_AGAIN_MS)) return probe.trouble;
    this.probing ??= this.tried().then((trouble) => {
      this.probe = { at: this.parts.clock.now(), trouble };
      this.probing = undefined;
      return trouble;
    });
    return this.probing;
  }

  /** Writes, because a store on a full disk can still be read. */
  private async tried(): Promise<string | null> {
    const { clock, store, records } = this.parts;
    let late = (): void => {};
    const timer = clock.timer(PROBE_LIMIT_MS, () => late(), { background: true });
    const tooLate = new Promise<string>((resolve) => {
      late = () => resolve('it takes too long to answer');
    });
    const probe = async (): Promise<null> => {
      await store.lastPosition();
      await records.commit([{ kind: 'probe', id: 'ready', body: '{}', expiresAt: clock.now() + PROBE_FRESH_MS }]);
      return null;
    };
    try {
      return await Promise.race([probe(), tooLate]);
    } catch (error) {
      return `it fails with ${codeOf(error)}`;
    } finally {
      timer.cancel();
    }
  }
}

/** The message is in the log only. */
function codeOf(error: unknown): string {
  return error instanceof NebulaError ? error.code : 'INTERNAL';
}
