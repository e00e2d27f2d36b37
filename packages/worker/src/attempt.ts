/**
 * One attempt under a lease.
 *
 *  1. The lease is extended while the attempt runs; if the lease is lost, or the run cancels it, the action is aborted.
 *  2. The outcome is reported until the server has accepted it or no longer wants it.
 *  3. Log lines are sent in batches, and before the outcome.
 */
import { type AnswerOf, ApiError, type NebulaClient } from '@nebula/client';
import type { Action, Capabilities, Json, RunError } from '@nebula/core';
import type { InvocationOutcome, LogLevel, Sandbox } from '@nebula/ports';
import { pause } from './pause.ts';

/** Time for which log lines are collected. */
const LOG_EVERY_MS = 500;
const MAX_LINES = 1_000;
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;

export type ClaimedWork = AnswerOf<'claimWork'>['work'][number];

export interface AttemptParts {
  readonly client: NebulaClient;
  readonly sandbox: Sandbox;
  readonly work: ClaimedWork;
  /** Undefined: this worker does not have the action. */
  readonly action: Action | undefined;
  readonly leaseMs: number;
  onTrouble(error: unknown): void;
}

interface Line {
  readonly at: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: Record<string, Json>;
}

type Report =
  | { readonly operation: 'completeLease'; readonly body: { readonly output: Json } }
  | { readonly operation: 'failLease'; readonly body: FailBody };

interface FailBody {
  readonly code: string;
  readonly message: string;
  readonly kind: 'USER' | 'SYSTEM';
  readonly details?: Json;
  readonly outcome: 'failed' | 'unknown' | 'returned';
}

export class LeasedAttempt {
  private readonly parts: AttemptParts;
  private readonly controller = new AbortController();
  private readonly over = new AbortController();
  private readonly ended: Promise<string>;
  private end!: (outcome: string) => void;
  private lines: Line[] = [];
  private sending: Promise<void> = Promise.resolve();
  private logTimer: NodeJS.Timeout | undefined;
  private progress: { readonly progress: number; readonly message?: string } | undefined;
  private onProgress: (() => void) | undefined;
  private leaseUntil: number;
  private isLost = false;
  private isHandedBack = false;

  constructor(parts: AttemptParts) {
    this.parts = parts;
    this.leaseUntil = Date.now() + parts.leaseMs;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  /** Resolves with the kind of outcome. Never rejects. */
  async run(): Promise<string> {
    const { sandbox, work, action } = this.parts;
    if (action === undefined) return this.return();
    void this.beat();
    const { executionId, workflowId, node, attempt, idempotencyKey, traceparent } = work;
    const outcome = await sandbox.run({
      action,
      input: work.input as Json,
      granted: (work.capabilities ?? {}) as Capabilities,
      executionId,
      workflowId,
      node,
      attempt,
      idempotencyKey,
      ...(traceparent !== undefined && { traceparent }),
      signal: this.controller.signal,
      credential: (alias) => this.credential(alias),
      onLog: (level, message, fields) => this.log(level, message, fields),
      onProgress: (progress, message) => {
        this.progress = { progress, ...(message !== undefined && { message }) };
        this.onProgress?.();
      },
      onHeartbeat: () => {},
    });
    return this.tell(this.reportOf(outcome, action));
  }

  /** Returns the lease without starting the attempt. */
  return(): Promise<string> {
    return this.tell(failed({ code: 'RETURNED', kind: 'SYSTEM', message: 'The worker is stopping.' }, 'returned'));
  }

  /** The worker is stopping: a repeatable attempt is aborted immediately, any other after the grace period. */
  async handBack(graceMs: number): Promise<void> {
    const { action, work } = this.parts;
    this.isHandedBack = true;
    if (effectOf(action, work.input as Json) === 'once')
      await Promise.race([this.ended, pause(graceMs, this.over.signal)]);
    this.controller.abort(new Error('the worker is stopping'));
    await Promise.race([this.ended, pause(graceMs, this.over.signal)]);
  }

  private async credential(alias: string): Promise<string> {
    const { client, work } = this.parts;
    const { value } = await client.call('revealCredential', { params: { leaseId: work.leaseId, alias } });
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  private reportOf(outcome: InvocationOutcome, action: Action): Report {
    if (outcome.status === 'completed') return { operation: 'completeLease', body: { output: outcome.output } };
    const { error } = outcome;
    const details = (error.details ?? {}) as { readonly outcome?: unknown; readonly started?: unknown };
    if (outcome.status === 'failed') return failed(error, details.outcome === 'unknown' ? 'unknown' : 'failed');
    const mayRepeat = effectOf(action, this.parts.work.input as Json) !== 'once';
    if (details.started === false || (this.isHandedBack && mayRepeat)) return failed(error, 'returned');
    return failed(error, 'unknown');
  }

  private async tell(report: Report): Promise<string> {
    clearTimeout(this.logTimer);
    this.flush();
    await this.sending;
    const outcome = await this.telling(report);
    this.over.abort();
    this.end(outcome);
    return outcome;
  }

  private async telling(report: Report): Promise<string> {
    const { client, work, onTrouble } = this.parts;
    const params = { leaseId: work.leaseId };
    for (let pauseMs = PAUSE_MIN_MS; !this.isLost; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
      try {
        if (report.operation === 'completeLease') await client.call('completeLease', { params, body: report.body });
        else await client.call('failLease', { params, body: report.body });
        return report.operation === 'completeLease' ? 'completed' : report.body.outcome;
      } catch (error) {
        if (isStale(error)) return 'lost';
        onTrouble(error);
        if (isRefused(error)) {
          // The server rejected the outcome itself (usually because of its size); report that instead.
          if (report.operation === 'failLease') return 'lost';
          const message = `The server rejected the output: ${error.message}`;
          return this.telling(failed({ code: 'OUTPUT_REFUSED', kind: 'USER', message }, 'failed'));
        }
        await pause(pauseMs);
      }
    }
    return 'lost';
  }

  /** Sends heartbeats at a third of the lease, and soon after there is progress to report. */
  private async beat(): Promise<void> {
    const { client, work, leaseMs, onTrouble } = this.parts;
    const { signal } = this.over;
    while (!signal.aborted) {
      await this.untilBeat(leaseMs / 3);
      if (signal.aborted) return;
      const { progress } = this;
      this.progress = undefined;
      try {
        const asked = Date.now();
        const { cancel } = await client.call('extendLease', {
          params: { leaseId: work.leaseId },
          body: { lease: `${leaseMs}ms`, ...progress },
          signal,
        });
        this.leaseUntil = asked + leaseMs;
        if (cancel !== null) this.controller.abort(new Error(cancel));
      } catch (error) {
        if (signal.aborted) return;
        if (isStale(error)) return this.lose('the lease was lost');
        onTrouble(error);
        if (Date.now() >= this.leaseUntil) return this.lose('the lease expired while the server was unreachable');
      }
    }
  }

  private lose(reason: string): void {
    this.isLost = true;
    this.controller.abort(new Error(reason));
  }

  private async untilBeat(ms: number): Promise<void> {
    const sooner = new AbortController();
    this.onProgress = () => void pause(LOG_EVERY_MS, this.over.signal).then(() => sooner.abort());
    await pause(
      Math.min(ms, Math.max(0, this.leaseUntil - Date.now())) || ms,
      AbortSignal.any([this.over.signal, sooner.signal]),
    );
    this.onProgress = undefined;
  }

  private log(level: LogLevel, message: string, fields: Readonly<Record<string, Json>> | undefined): void {
    this.lines.push({ at: new Date().toISOString(), level, message, ...(fields && { fields }) });
    if (this.lines.length >= MAX_LINES) this.flush();
    else this.logTimer ??= setTimeout(() => this.flush(), LOG_EVERY_MS);
  }

  /** Errors are ignored: logs must not fail an attempt. */
  private flush(): void {
    clearTimeout(this.logTimer);
    this.logTimer = undefined;
    const lines = this.lines.splice(0);
    if (lines.length === 0) return;
    const { client, work, onTrouble } = this.parts;
    this.sending = this.sending
      .then(() => client.call('logLease', { params: { leaseId: work.leaseId }, body: { lines } }))
      .then(
        () => undefined,
        (error: unknown) => onTrouble(error),
      );
  }
}

const CODE = /^[A-Z][A-Z0-9_]{0,99}$/;

function failed({ code, kind, message, details }: RunError, outcome: FailBody['outcome']): Report {
  const body = {
    code: CODE.test(code) ? code : 'ACTION_FAILED',
    kind,
    message: CODE.test(code) ? message : `${code}: ${message}`,
    outcome,
    ...(details !== undefined && { details }),
  };
  return { operation: 'failLease', body };
}

function effectOf(action: Action | undefined, input: Json): string {
  const { effect = 'once' } = action ?? {};
  try {
    return typeof effect === 'function' ? effect(input) : effect;
  } catch {
    return 'once';
  }
}

function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/** True when a retry cannot succeed. */
function isRefused(error: unknown): error is ApiError {
  return (
    error instanceof ApiError && !error.retryable && error.status >= 400 && error.status < 500 && error.status !== 429
  );
}
