/** Permits, rates, subscriptions, signals and durations as tables. Called inside a transaction. */
import type { ExecutionId, WorkflowId } from '@nebula/core';
import {
  blockersOf,
  blockingHolder,
  type DurationRow,
  type InboxRow,
  isReleasedAtOnce,
  nextMoment,
  type PermitChanges,
  type PermitHolder,
  type PermitRow,
  type PublishedSignal,
  type RateRequest,
  type SubscriptionChanges,
} from '@nebula/ports';
import { endOfPrefix } from '@nebula/ports/rows';
import type { Statements } from './statements.ts';

interface Waiting {
  readonly asked: number;
  readonly executionId: ExecutionId;
  readonly places: number;
  readonly messageId: string;
  readonly body: string;
}

/** The limit on permits that one change grants; further requests wait for the next release. */
const MAX_GRANTS = 10_000;

export class Permits {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The holder of a permit that the write requires; undefined if the permit is free. */
  inTheWay(executionId: ExecutionId, changes: PermitChanges): PermitHolder | undefined {
    return blockingHolder(executionId, changes, (key) => permitRows(this.#statements, key));
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
      const sql = 'DELETE FROM permits WHERE key = ? AND execution_id = ? AND node = ?';
      if (this.#statements.run(sql, key, executionId, node) > 0) touched.add(key);
    }
    for (const request of requests) {
      if (isReleasedAtOnce(request, changes)) continue;
      const { key, node, limit, messageId, body } = request;
      const added = this.#statements.run(
        `INSERT INTO permits (key, execution_id, node, places, is_held, message_id, body)
         VALUES (?, ?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING`,
        key,
        executionId,
        node,
        limit,
        messageId,
        body,
      );
      if (added > 0) touched.add(key);
    }
    for (const key of touched) this.#grant(key, at, deliver);
    for (const request of requests) {
      if (request.makesRoom === undefined) continue;
      for (const other of blockersOf(executionId, request, permitRows(this.#statements, request.key))) {
        deliver({ executionId: other, ...request.makesRoom }, at);
      }
    }
    return rates.map((rate) => this.#moment(executionId, rate, at));
  }

  #grant(key: string, at: number, deliver: (message: InboxRow, wakeAt: number) => void): void {
    let held = this.#statements.value<number>('SELECT count(*) FROM permits WHERE key = ? AND is_held = 1', key) ?? 0;
    for (let granted = 0; granted < MAX_GRANTS; granted++) {
      const next = this.#statements.first<Waiting>(
        `SELECT asked, execution_id AS executionId, places, message_id AS messageId, body FROM permits
         WHERE key = ? AND is_held = 0 ORDER BY asked LIMIT 1`,
        key,
      );
      if (next === undefined || held >= next.places) return;
      this.#statements.run('UPDATE permits SET is_held = 1 WHERE asked = ?', next.asked);
      held++;
      const { executionId, messageId, body } = next;
      deliver({ executionId, messageId, body }, at);
    }
  }

  #moment(executionId: ExecutionId, rate: RateRequest, now: number): number {
    const given = this.#statements.first<{ ask: string; at: number }>(
      'SELECT ask, at FROM moments WHERE execution_id = ? AND node = ?',
      executionId,
      rate.node,
    );
    if (given?.ask === rate.requestId) return given.at;
    const at = this.#takeMoment(rate, now);
    this.#statements.run(
      'INSERT OR REPLACE INTO moments VALUES (?, ?, ?, ?)',
      executionId,
      rate.node,
      rate.requestId,
      at,
    );
    return at;
  }

  #takeMoment({ key, limit, perMs }: RateRequest, now: number): number {
    const last = this.#statements.first<{ number: number; at: number }>(
      'SELECT number, at FROM rates WHERE key = ? ORDER BY number DESC LIMIT 1',
      key,
    );
    const number = (last?.number ?? 0) + 1;
    const before = this.#statements.value<number>(
      'SELECT at FROM rates WHERE key = ? AND number = ?',
      key,
      number - limit,
    );
    const at = nextMoment(now, perMs, { last: last?.at, before });
    this.#statements.run('INSERT INTO rates VALUES (?, ?, ?, ?)', key, number, at, at + perMs);
    this.#statements.run('DELETE FROM rates WHERE key = ? AND number <= ?', key, number - limit);
    return at;
  }

  forget(executionId: ExecutionId): void {
    this.#statements.run('DELETE FROM moments WHERE execution_id = ?', executionId);
  }

  saveDuration({ workflowId, node, ms }: DurationRow): void {
    this.#statements.run('INSERT OR REPLACE INTO durations VALUES (?, ?, ?)', workflowId, node, ms);
  }

  listen(
    executionId: ExecutionId,
    { at, add = [], remove = [] }: SubscriptionChanges,
    deliver: (message: InboxRow, wakeAt: number) => void,
  ): void {
    for (const node of remove) {
      this.#statements.run('DELETE FROM listeners WHERE execution_id = ? AND node = ?', executionId, node);
    }
    for (const { signal, key, node } of add) {
      const isNew = this.#statements.run(
        `INSERT INTO listeners (signal, key, execution_id, node, is_taken) VALUES (?, ?, ?, ?, 0) ON CONFLICT DO NOTHING`,
        signal,
        key,
        executionId,
        node,
      );
      const kept = isNew === 0 ? undefined : this.#takeBuffered(signal, key, at);
      if (kept === undefined) continue;
      const sql = `UPDATE listeners SET is_taken = 1 WHERE execution_id = ? AND node = ? AND signal = ? AND key = ?`;
      this.#statements.run(sql, executionId, node, signal, key);
      deliver({ executionId, ...kept }, at);
    }
  }

  #takeBuffered(signal: string, key: string, now: number): { messageId: string; body: string } | undefined {
    const kept = this.#statements.first<{ messageId: string; body: string }>(
      `SELECT message_id AS messageId, body FROM signals
       WHERE signal = ? AND key = ? AND body IS NOT NULL AND expires_at > ? ORDER BY arrival LIMIT 1`,
      signal,
      key,
      now,
    );
    if (kept !== undefined) this.#statements.run('UPDATE signals SET body = NULL WHERE message_id = ?', kept.messageId);
    return kept;
  }

  publish(published: PublishedSignal, deliver: (message: InboxRow, wakeAt: number) => void): string | undefined {
    const { signal, key, messageId, body, at, expiresAt } = published;
    this.#statements.run('DELETE FROM signals WHERE expires_at <= ?', at);
    const isNew = this.#statements.run(
      `INSERT INTO signals (message_id, signal, key, body, expires_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      messageId,
      signal,
      key,
      body,
      expiresAt,
    );
    if (isNew === 0) return undefined;
    const subscription = this.#statements.first<{ since: number; executionId: ExecutionId }>(
      `SELECT since, execution_id AS executionId FROM listeners
       WHERE signal = ? AND key = ? AND is_taken = 0 ORDER BY since LIMIT 1`,
      signal,
      key,
    );
    if (subscription === undefined) return undefined;
    this.#statements.run('UPDATE listeners SET is_taken = 1 WHERE since = ?', subscription.since);
    this.#statements.run('UPDATE signals SET body = NULL WHERE message_id = ?', messageId);
    deliver({ executionId: subscription.executionId, messageId, body }, at);
    return subscription.executionId;
  }

  /** Their ids stay, so that a repeated message has no effect. */
  forgetSignals(prefix: string): void {
    this.#statements.run(
      'UPDATE signals SET body = NULL WHERE signal >= ? AND signal < ? AND body IS NOT NULL',
      prefix,
      endOfPrefix(prefix) ?? prefix,
    );
  }

  /** A rate without a request for a whole period has no history that counts. */
  purgeRates(now: number, limit: number): void {
    this.#statements.run(
      'DELETE FROM rates WHERE (key, number) IN (SELECT key, number FROM rates WHERE until <= ? ORDER BY until LIMIT ?)',
      now,
      limit,
    );
  }
}

export function permitRows(statements: Statements, key: string): PermitRow[] {
  return statements
    .all<{ executionId: ExecutionId; node: string; isHeld: number }>(
      `SELECT execution_id AS executionId, node, is_held AS isHeld FROM permits
       WHERE key = ? ORDER BY is_held DESC, asked`,
      key,
    )
    .map((row) => ({ ...row, isHeld: row.isHeld === 1 }));
}

export function durationsOf(statements: Statements, workflowId: WorkflowId): Map<string, number> {
  const sql = 'SELECT node, ms FROM durations WHERE workflow_id = ?';
  const rows = statements.all<{ readonly node: string; readonly ms: number }>(sql, workflowId);
  return new Map(rows.map(({ node, ms }) => [node, ms]));
}
