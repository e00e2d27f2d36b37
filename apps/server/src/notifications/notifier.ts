/**
 * Sends notifications, in the leader.
 *
 *  N1 A message is the events of a range of the feed. The range is stored before the first attempt, and the cursor moves
 *     when the receiver has accepted it: at least once, and a repetition has the same id.
 *  N2 Events within `gatherMs` after the first one are one message, however many they are, also after a time without a
 *     leader.
 *  N3 A notification that cannot be delivered delays no other one, and no run. It is tried again with growing pauses.
 */
import type { Campaign, Leader, Position } from '@nebula/ports';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { everyRecord, type Read } from '../records.ts';
import { deliver, errorText } from './deliver.ts';
import { collect } from './events.ts';
import { messageOf } from './message.ts';
import type { NotificationRecord, Sending } from './records.ts';

const CHECK_MS = 1_000;
/** The longest time after which a cursor without events is stored: what is read again after a restart. */
const CURSOR_MS = 60_000;

export interface NotifierParts {
  readonly parts: Parts;
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
  private readonly deliveries = new Map<string, Promise<void>>();
  private readonly rounds: PeriodicTask;
  private readonly closing = new AbortController();
  private leadership: Campaign | undefined;
  private inProgress: Promise<void> | undefined;

  constructor(options: NotifierParts) {
    this.options = options;
    const { clock } = options.parts;
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
    await this.inProgress?.catch(() => undefined);
    await Promise.all(this.deliveries.values());
    await this.leadership?.resign();
  }

  private async pass(): Promise<void> {
    const { records } = this.options.parts;
    for await (const record of everyRecord<NotificationRecord>(records, 'notification')) {
      if (!this.rounds.isOpen) return;
      if (record.body.active && !this.deliveries.has(record.id)) await this.check(record);
    }
  }

  private async check(record: Read<NotificationRecord>): Promise<void> {
    const { store, clock } = this.options.parts;
    const { body, id } = record;
    const now = clock.now();
    if (body.sending !== null) {
      if (now >= body.sending.nextTryAt) this.begin(record, body.sending);
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
    if (seen.firstAt !== null && now >= seen.firstAt + body.gatherMs) {
      await this.fix(record, { from: body.cursor, to: seen.scanned, attempts: 0, nextTryAt: now });
    } else if (seen.firstAt === null && seen.scanned !== body.cursor && now - seen.storedAt >= CURSOR_MS) {
      await this.store(record, { cursor: seen.scanned });
    }
  }

  /** Stores the range of a message before its first attempt. */
  private async fix(record: Read<NotificationRecord>, sending: Sending): Promise<void> {
    const stored = await this.store(record, { sending });
    if (stored !== undefined) this.begin(stored, sending);
  }

  private begin(record: Read<NotificationRecord>, sending: Sending): void {
    if (this.deliveries.size >= NOTIFICATION_LIMITS.maxDeliveries) return;
    const delivery = this.send(record, sending)
      .catch((error: unknown) => this.options.onTrouble(error))
      .finally(() => this.deliveries.delete(record.id));
    this.deliveries.set(record.id, delivery);
  }

  private async send(record: Read<NotificationRecord>, sending: Sending): Promise<void> {
    const { parts } = this.options;
    const { id, body } = record;
    const collected = await collect(parts.store, body, sending.from, sending.to);
    const done = { cursor: sending.to, sending: null, lastError: null };
    // All of them were settled or answered meanwhile.
    if (collected.events.length === 0) return void (await this.store(record, done));
    const messageId = `ntf_${parts.digest(`${id} ${sending.from} ${sending.to}`).slice(0, 40)}`;
    const message = messageOf(id, body, messageId, collected, parts.clock.now());
    try {
      await deliver(parts, body, message, this.closing.signal);
    } catch (error) {
      if (this.closing.signal.aborted) return;
      const attempts = sending.attempts + 1;
      const nextTryAt = parts.clock.now() + pauseMs(attempts);
      await this.store(record, { sending: { ...sending, attempts, nextTryAt }, lastError: errorText(error) });
      return;
    }
    await this.store(record, { ...done, lastSentAt: parts.clock.now() });
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

function pauseMs(attempts: number): number {
  const { firstPauseMs, maxPauseMs } = NOTIFICATION_LIMITS;
  return Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(20, attempts - 1));
}
