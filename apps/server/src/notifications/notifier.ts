/**
 * Sends notifications, in the leader.
 *
 *  N1 A message is the events of a range of the feed. The range is stored before the first attempt, and the cursor moves
 *     when the receiver has accepted it: at least once, and a repetition has the same id.
 *  N2 Events within `gatherMs` after the first one are one message, however many they are, also after a time without a
 *     leader.
 *  N3 A notification that cannot be delivered delays no run. It is tried again with growing pauses, after messages that
 *     are sent for the first time. A project has a share of the deliveries at a time, so it delays no other project.
 *  N4 Stuck runs are searched at most once a minute. A record remembers those it has told of until they move. It changes
 *     only while no delivery of it is under way: the end of a delivery must find it unchanged.
 */
import type { Campaign, Leader, Position } from '@nebula/ports';
import { recordEvent } from '../identity/audit.ts';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { NotificationFigures } from '../observability/metrics.ts';
import type { EngineParts } from '../parts.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { everyRecord, type Read } from '../records.ts';
import { deliver, errorText } from './deliver.ts';
import { DeliveryCounts } from './delivery-counts.ts';
import { type Collected, collect, isAbout, MAX_MESSAGE_CHARS } from './events.ts';
import { messageOf } from './message.ts';
import type { NotificationRecord, Sending, StuckEvent } from './records.ts';
import { type FoundRuns, type StuckRun, StuckRuns } from './stuck.ts';
import { channelOf } from './target.ts';

const CHECK_MS = 1_000;
/** The longest time after which a cursor without events is stored: what is read again after a restart. */
const CURSOR_MS = 60_000;
/** The shortest time between two searches for stuck runs. */
const STUCK_MS = 60_000;

export interface NotifierParts {
  readonly parts: EngineParts;
  readonly leader: Leader;
  onTrouble(error: unknown): void;
}

/** The part of the feed after the cursor that was read already. */
interface Seen {
  readonly cursor: Position;
  scanned: Position;
  firstAt: number | null;
  storedAt: number;
}

export class Notifier {
  private readonly options: NotifierParts;
  private readonly seen = new Map<string, Seen>();
  private readonly counts = new DeliveryCounts();
  private readonly deliveries = new Map<string, Promise<void>>();
  /** Deliveries by project. */
  private readonly underWay = new Map<string, number>();
  private readonly due: { readonly record: Read<NotificationRecord>; readonly sending: Sending }[] = [];
  private readonly rounds: PeriodicTask;
  private readonly closing = new AbortController();
  private readonly stuck: StuckRuns;
  /** The shortest time after which a run is stuck, of all notifications; undefined: none asks. */
  private stuckAfterMs: number | undefined;
  private searchedAt = Number.NEGATIVE_INFINITY;
  private leadership: Campaign | undefined;
  private inProgress: Promise<void> | undefined;

  constructor(options: NotifierParts) {
    this.options = options;
    const { clock } = options.parts;
    this.stuck = new StuckRuns(options.parts);
    this.rounds = new PeriodicTask({
      clock,
      everyMs: CHECK_MS,
      onTrouble: options.onTrouble,
      run: () => {
        this.inProgress = this.leadership?.isLeader === true ? this.pass() : Promise.resolve();
        return this.inProgress;
      },
    });
  }

  open(): void {
    this.leadership = this.options.leader.campaign('notifications', () => this.seen.clear());
    this.rounds.open();
  }

  async close(): Promise<void> {
    this.rounds.close();
    this.closing.abort();
    this.stuck.close();
    await this.inProgress?.catch(() => undefined);
    await Promise.all(this.deliveries.values());
    await this.leadership?.resign();
  }

  /** Of this process, since it began; `pending` as of the last pass. */
  figures(): readonly NotificationFigures[] {
    return this.counts.figures();
  }

  private async pass(): Promise<void> {
    const { records } = this.options.parts;
    const stuck = await this.search();
    this.stuckAfterMs = undefined;
    this.counts.beginPass();
    for await (const record of everyRecord<NotificationRecord>(records, 'notification')) {
      if (!this.rounds.isOpen) return void this.due.splice(0);
      const { active, on } = record.body;
      if (!active) continue;
      if (record.body.sending !== null) this.counts.add(record.body, 'pending');
      if (on.includes('failed')) this.stuckAfterMs = Math.min(this.stuckAfterMs ?? Infinity, stuckAfterOf(record.body));
      if (this.deliveries.has(record.id)) continue;
      const known = stuck === undefined ? record : await this.rememberStuck(record, stuck);
      if (known !== undefined) await this.check(known);
    }
    this.beginDue();
  }

  /** Undefined between two searches. */
  private async search(): Promise<FoundRuns | undefined> {
    const now = this.options.parts.clock.now();
    if (this.stuckAfterMs === undefined || now - this.searchedAt < STUCK_MS) return undefined;
    this.searchedAt = now;
    return await this.stuck.find(this.stuckAfterMs);
  }

  /** Adds runs that are stuck now, and removes those that have moved. Undefined if the record was changed meanwhile. */
  private async rememberStuck(
    record: Read<NotificationRecord>,
    found: FoundRuns,
  ): Promise<Read<NotificationRecord> | undefined> {
    const { store, clock } = this.options.parts;
    const { body } = record;
    const isAsked = body.on.includes('failed');
    const runs = isAsked ? found.runs.filter(({ since }) => clock.now() - since >= stuckAfterOf(body)) : [];
    const before = body.stuck ?? [];
    const now = new Map(runs.map((run) => [keyOf(run), run]));
    // Runs that were told of keep their places: one that is dropped and found again would be told of again.
    const heads = await store.heads([...before, ...runs.map(({ run }) => run)].map(({ executionId }) => executionId));
    const isUnmoved = ({ executionId, seq }: StuckEvent): boolean => heads.get(executionId) === seq;
    const after = before.filter((event) => now.delete(event.key) || (isAsked && !found.isComplete && isUnmoved(event)));
    const kept = after.length;
    for (const [key, run] of now) {
      if (after.length >= NOTIFICATION_LIMITS.maxStuckRuns) break;
      if (!(await isAbout(store, body, run.run))) continue;
      after.push(stuckEvent(key, run, heads.get(run.run.executionId) ?? 0, clock.now()));
    }
    const isSame = kept === before.length && after.length === kept;
    return isSame ? record : await this.store(record, { stuck: after });
  }

  private async check(record: Read<NotificationRecord>): Promise<void> {
    const { store, clock } = this.options.parts;
    const { body, id } = record;
    const now = clock.now();
    if (body.sending !== null) {
      if (now >= body.sending.nextTryAt) this.due.push({ record, sending: body.sending });
      return;
    }
    const before = this.seen.get(id);
    const seen: Seen =
      before?.cursor === body.cursor
        ? before
        : { cursor: body.cursor, scanned: body.cursor, firstAt: null, storedAt: now };
    this.seen.set(id, seen);
    const { events, end } = await collect(store, body, seen.scanned);
    seen.scanned = end;
    seen.firstAt ??= events[0]?.at ?? null;
    const stuck = body.stuck?.filter(({ isTold }) => !isTold) ?? [];
    const firstAt = Math.min(seen.firstAt ?? Infinity, ...stuck.map(({ at }) => at));
    if (now >= firstAt + body.gatherMs) {
      const range = { from: body.cursor, to: seen.scanned, attempts: 0, nextTryAt: now };
      await this.fix(record, stuck.length === 0 ? range : { ...range, stuck: stuck.map(({ key }) => key) });
    } else if (seen.firstAt === null && seen.scanned !== body.cursor && now - seen.storedAt >= CURSOR_MS) {
      await this.store(record, { cursor: seen.scanned });
    }
  }

  /** Stores the range of a message before its first attempt. */
  private async fix(record: Read<NotificationRecord>, sending: Sending): Promise<void> {
    const stored = await this.store(record, { sending });
    if (stored !== undefined) this.due.push({ record: stored, sending });
  }

  /** Begins the deliveries that are due, as far as there is room; the others are found again in the next pass. */
  private beginDue(): void {
    const due = this.due.splice(0);
    due.sort(
      (a, b) =>
        Math.min(a.sending.attempts, 1) - Math.min(b.sending.attempts, 1) || a.sending.nextTryAt - b.sending.nextTryAt,
    );
    for (const { record, sending } of due) {
      const { project } = record.body;
      const ofProject = this.underWay.get(project) ?? 0;
      if (this.deliveries.size >= NOTIFICATION_LIMITS.maxDeliveries) return;
      if (ofProject >= NOTIFICATION_LIMITS.maxDeliveriesOfProject) continue;
      this.underWay.set(project, ofProject + 1);
      const delivery = this.send(record, sending)
        .catch((error: unknown) => this.options.onTrouble(error))
        .finally(() => {
          this.deliveries.delete(record.id);
          this.underWay.set(project, (this.underWay.get(project) ?? 1) - 1);
        });
      this.deliveries.set(record.id, delivery);
    }
  }

  private async send(record: Read<NotificationRecord>, sending: Sending): Promise<void> {
    const { parts } = this.options;
    const { id, body } = record;
    const keys = new Set(sending.stuck);
    const collected = withStuck(
      await collect(parts.store, body, sending.from, sending.to),
      body.stuck?.filter(({ key }) => keys.has(key)) ?? [],
    );
    const stuck = body.stuck?.map((event) => (keys.has(event.key) ? { ...event, isTold: true } : event));
    const done = { cursor: sending.to, sending: null, lastError: null, ...(stuck !== undefined && { stuck }) };
    // All of them were settled or answered, or have moved, meanwhile.
    if (collected.events.length === 0) return void (await this.store(record, done));
    const content = [id, sending.from, sending.to, ...(sending.stuck ?? [])].join(' ');
    const messageId = `ntf_${parts.digest(content).slice(0, 40)}`;
    const message = messageOf(id, body, messageId, collected, { now: parts.clock.now(), publicUrl: parts.publicUrl });
    let remark: string | null;
    try {
      remark = await deliver(parts, body, message, this.closing.signal);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      this.counts.add(body, 'failed');
      if (sending.attempts === 0) await this.audit(record, 'notificationFailing', errorText(error));
      const attempts = sending.attempts + 1;
      const nextTryAt = parts.clock.now() + pauseMs(attempts);
      await this.store(record, { sending: { ...sending, attempts, nextTryAt }, lastError: errorText(error) });
      return;
    }
    this.counts.add(body, 'sent');
    if (sending.attempts > 0) await this.audit(record, 'notificationRecovered', null);
    await this.store(record, { ...done, lastError: remark, lastSentAt: parts.clock.now() });
  }

  /** A channel begins to fail, or works again. */
  private async audit({ id, body }: Read<NotificationRecord>, operation: string, error: string | null): Promise<void> {
    const details = { channel: channelOf(body), ...(error !== null && { error }) };
    await recordEvent(this.options.parts, { operation, target: id, project: body.project, details });
  }

  /** Undefined if the notification was changed or removed meanwhile: it is read again. */
  private async store(
    { id, body, revision }: Read<NotificationRecord>,
    change: Partial<NotificationRecord>,
  ): Promise<Read<NotificationRecord> | undefined> {
    const { records, clock } = this.options.parts;
    const changed = { ...body, ...change };
    const outcome = await records.commit([
      { kind: 'notification', id, body: JSON.stringify(changed), expected: revision },
    ]);
    return outcome.ok ? { id, body: changed, revision: outcome.revision, updatedAt: clock.now() } : undefined;
  }
}

function stuckAfterOf({ stuckAfterMs = NOTIFICATION_LIMITS.stuckAfterMs }: NotificationRecord): number {
  return stuckAfterMs;
}

function keyOf({ run, cause }: StuckRun): string {
  return `${run.executionId} ${cause}`;
}

function stuckEvent(key: string, { run, cause, since, node, message }: StuckRun, seq: number, now: number): StuckEvent {
  return {
    key,
    seq,
    isTold: false,
    kind: 'stuck',
    executionId: run.executionId,
    workflowId: run.workflowId,
    node,
    at: now,
    durationMs: Math.max(0, now - since),
    code: `STUCK_${cause.toUpperCase().replace('-', '_')}`,
    message: message.slice(0, MAX_MESSAGE_CHARS),
    place: null,
  };
}

function withStuck({ events, counts, end }: Collected, stuck: readonly StuckEvent[]): Collected {
  const shown = stuck.map(({ key: _, seq: __, isTold: ___, ...event }) => event);
  return { events: [...events, ...shown], counts: { ...counts, stuck: shown.length }, end };
}

function pauseMs(attempts: number): number {
  const { firstPauseMs, maxPauseMs } = NOTIFICATION_LIMITS;
  return Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(20, attempts - 1));
}
