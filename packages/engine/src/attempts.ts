/**
 * The attempts that this process runs.
 *
 *  A1 An attempt reports exactly once; whatever comes later from the same call is dropped.
 *  A2 A slot is taken from the moment an attempt is decided until it has reported.
 *  A3 Time limits of running attempts are watched here; the journal's timers are the net for a dead worker.
 */
import {
  type Abort,
  type Attempt,
  actionWork,
  grantTo,
  type Held,
  hold,
  idempotencyKey,
  isFinished,
  isJsonObject,
  type Json,
  type JsonObject,
  type NodeState,
  type OpenAttempt,
  type Outcome,
  openAttempts,
  pathOf,
  type RunError,
  type Settlement,
  type Stimulus,
  timeoutError,
  toVerify,
} from '@nebula/core';
import {
  type Clock,
  credentialDoor,
  type Delivery,
  type InvocationOutcome,
  type Logs,
  type Queue,
  type Random,
  type Sandbox,
  type Secrets,
  type Timer,
} from '@nebula/ports';
import type { LiveRun } from './live-run.ts';
import type { Meter } from './metrics.ts';
import type { Tracing } from './tracing.ts';
import type { Values } from './values.ts';

interface Live {
  readonly key: string;
  readonly executionId: string;
  readonly attempt: Attempt;
  readonly delivery: Delivery;
  readonly controller: AbortController;
  readonly startedAt: number;
  timer: Timer | undefined;
  /** Set when this process asked it to stop because it shuts down. */
  isHandedBack: boolean;
}

export interface AttemptsParts {
  readonly sandbox: Sandbox;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly random: Random;
  readonly logs: Logs;
  readonly secrets?: Pick<Secrets, 'get'>;
  readonly values: Values;
  readonly meter: Meter;
  readonly tracing: Tracing;
  readonly workerId: string;
  readonly concurrency: number;
  report(executionId: string, stimulus: Stimulus): void;
  /** Something that is tried again. */
  onTrouble(error: unknown): void;
  onProgress(executionId: string, node: string, fraction: number, message: string | undefined): void;
}

export class Attempts {
  private readonly parts: AttemptsParts;
  private readonly live = new Map<string, Live>();
  private readonly verifying = new Set<string>();
  private reserved = 0;
  private emptyWaiters: (() => void)[] = [];

  constructor(parts: AttemptsParts) {
    this.parts = parts;
    parts.meter.gauge('workflow.parallel_tasks', () => this.live.size);
  }

  get size(): number {
    return this.live.size;
  }

  free(): number {
    return this.parts.concurrency - this.live.size - this.reserved;
  }

  reserve(): void {
    this.reserved++;
  }

  unreserve(): void {
    this.reserved--;
  }

  begin(run: LiveRun, attempt: Attempt, delivery: Delivery, startedAt: number): void {
    this.reserved--;
    const live: Live = {
      key: keyOf(run.executionId, attempt.node, attempt.attempt),
      executionId: run.executionId,
      attempt,
      delivery,
      controller: new AbortController(),
      startedAt,
      timer: undefined,
      isHandedBack: false,
    };
    this.live.set(live.key, live);
    this.watchLimits(live);
    this.parts.sandbox.run(this.invocation(live, run)).then(
      (outcome) => this.ended(live, outcome),
      (error: unknown) => this.ended(live, { status: 'failed', error: sandboxFault(error) }),
    );
  }

  /** It is not begun after all. */
  giveBack({ executionId }: LiveRun, { node, attempt }: Attempt, delivery: Delivery): void {
    this.reserved--;
    this.parts.queue.ack(delivery);
    const jitter = this.parts.random.fraction();
    this.parts.report(executionId, { type: 'ended', node, attempt, outcome: { status: 'returned' }, jitter });
  }

  private invocation(live: Live, { plan: { workflowId }, state, project }: LiveRun): Parameters<Sandbox['run']>[0] {
    const { attempt, executionId, controller } = live;
    const { logs, clock, secrets, tracing } = this.parts;
    const { node, attempt: number } = attempt;
    const traceparent = tracing.ofAttempt(state, node, number);
    return {
      action: attempt.action,
      input: attempt.input,
      granted: attempt.granted,
      executionId,
      workflowId,
      node,
      attempt: number,
      idempotencyKey: attempt.idempotencyKey,
      ...(traceparent !== undefined && { traceparent }),
      signal: controller.signal,
      credential: credentialDoor(secrets, project, attempt.credentials),
      onLog: (level, message, fields) =>
        logs.append({
          executionId,
          node,
          attempt: number,
          at: clock.now(),
          level,
          message,
          ...(fields === undefined ? {} : { fields }),
        }),
      onProgress: (fraction, message) => this.parts.onProgress(executionId, node, fraction, message),
      onHeartbeat: () => void this.parts.queue.extend(live.delivery),
    };
  }

  private watchLimits(live: Live): void {
    const { attemptMs, totalMs, totalLeftMs, node } = live.attempt;
    if (attemptMs === null && totalLeftMs === null) return;
    const isTotal = totalLeftMs !== null && (attemptMs === null || totalLeftMs < attemptMs);
    const delayMs = Math.max(0, isTotal ? totalLeftMs : (attemptMs as number));
    live.timer = this.parts.clock.timer(delayMs, () => {
      const error = isTotal ? timeoutError('total', totalMs, node) : timeoutError('attempt', attemptMs, node);
      live.controller.abort(new Error(error.message));
      this.report(live, { status: 'broken-off', error });
    });
  }

  private ended(live: Live, outcome: InvocationOutcome): void {
    if (this.live.get(live.key) !== live) return;
    if (outcome.status === 'completed') return this.completed(live, outcome.output);
    const { error } = outcome;
    if (outcome.status === 'aborted') return this.report(live, this.aborted(live, error));
    // The request went out and no answer came back: the action itself cannot say whether it took effect.
    const isUnknown = says(error, 'outcome', 'unknown');
    this.report(live, { status: isUnknown ? 'broken-off' : 'failed', error });
  }

  private completed(live: Live, output: Json): void {
    const held = hold(output);
    if (!this.parts.values.isLarge(held)) {
      this.report(live, { status: 'completed', output: held });
      return;
    }
    // The work is done: whatever time storing its output takes is not the attempt's.
    live.timer?.cancel();
    this.spillOutput(live, held, SPILL_RETRY_MIN_MS);
  }

  /** A full disk must not cost an output that is there: it is kept and tried again until it is stored. */
  private spillOutput(live: Live, held: Held, pauseMs: number): void {
    const { values, clock } = this.parts;
    values.spill(live.executionId, held).then(
      () => this.report(live, { status: 'completed', output: held }),
      (error: unknown) => {
        this.parts.onTrouble(error);
        clock.timer(pauseMs, () => {
          if (this.live.get(live.key) !== live) return;
          this.spillOutput(live, held, Math.min(2 * pauseMs, SPILL_RETRY_MAX_MS));
        });
      },
    );
  }

  private aborted(live: Live, error: RunError): Outcome {
    if (says(error, 'started', false)) return { status: 'returned' };
    const mayRepeat = live.attempt.effect !== 'once';
    return live.isHandedBack && mayRepeat ? { status: 'returned' } : { status: 'broken-off', error };
  }

  private report(live: Live, outcome: Outcome): void {
    if (this.live.get(live.key) !== live) return;
    const { node, attempt } = live.attempt;
    const jitter = this.parts.random.fraction();
    this.parts.report(live.executionId, { type: 'ended', node, attempt, outcome, jitter });
    this.letGo(live);
  }

  private letGo(live: Live): void {
    const { clock, queue, meter } = this.parts;
    this.live.delete(live.key);
    live.timer?.cancel();
    queue.ack(live.delivery);
    meter.add('workflow.node.executed');
    meter.observe('workflow.node.duration_ms', clock.now() - live.startedAt);
    if (this.live.size === 0) for (const resolve of this.emptyWaiters.splice(0)) resolve();
  }

  /** `isOver`: the journal has closed it. Whether it ends or not, nobody waits for it and its slot is free. */
  abort(executionId: string, { node, attempt, reason, isOver }: Abort): void {
    const live = this.live.get(keyOf(executionId, node, attempt));
    if (live === undefined) return;
    live.controller.abort(new Error(reason));
    if (isOver) this.letGo(live);
  }

  /** Runs of which something runs here. */
  executionIds(): Set<string> {
    return new Set(Array.from(this.live.values(), ({ executionId }) => executionId));
  }

  has(executionId: string, node: string, attempt: number): boolean {
    return this.live.has(keyOf(executionId, node, attempt));
  }

  /**
   * After the journal was read again. Open attempts of this worker that it does not know of: their frame was written, but
   * its answer never came. Attempts that it runs and the journal has closed, or wants stopped: another engine heard why.
   */
  reconcile(run: LiveRun, post: (stimulus: Stimulus) => void): void {
    const { workerId, random } = this.parts;
    const { executionId } = run;
    const open = openAttempts(run.state).filter(({ worker }) => worker === workerId);
    const lost: OpenAttempt[] = [];
    for (const { isStopped, ...attempt } of open) {
      const live = this.live.get(keyOf(executionId, attempt.node, attempt.attempt));
      if (live === undefined) lost.push(attempt);
      else if (isStopped) live.controller.abort(new Error('the run is being stopped'));
    }
    if (lost.length > 0) post({ type: 'wake', lost, jitter: random.fraction() });
    const keys = new Set(open.map(({ node, attempt }) => keyOf(executionId, node, attempt)));
    for (const live of [...this.live.values()]) {
      if (live.executionId !== executionId || keys.has(live.key)) continue;
      live.controller.abort(new Error('the attempt was given up'));
      this.letGo(live);
    }
  }

  /** Actions that can tell whether they took effect are asked, before a person is. */
  verifyUnknown(run: LiveRun): void {
    // A run that has ended hears no answer; a retry brings it back, and the question with it.
    if (isFinished(run.state.status)) return;
    for (const node of toVerify(run.state)) {
      const path = pathOf(node);
      const attempt = node.attempts;
      const key = keyOf(run.executionId, path, attempt);
      if (this.verifying.has(key)) continue;
      this.verifying.add(key);
      void this.verify(run, node, path).then((settlement) => {
        this.verifying.delete(key);
        this.parts.report(run.executionId, { type: 'settle', node: path, by: 'verify', attempt, settlement });
      });
    }
  }

  private async verify(run: LiveRun, node: NodeState, path: string): Promise<Settlement> {
    const { executionId, plan, state } = run;
    const { clock, logs, sandbox, secrets, tracing, values } = this.parts;
    const { action, granted, credentials } = actionWork(node);
    const attempt = node.attempts;
    const traceparent = tracing.ofAttempt(state, path, attempt);
    const controller = new AbortController();
    let timer: Timer | undefined;
    const tooLate = new Promise<Settlement>((resolve) => {
      timer = clock.timer(VERIFY_LIMIT_MS, () => {
        controller.abort(new Error('verify took too long'));
        resolve({ happened: 'unknown' });
      });
    });
    try {
      if (node.input?.blob !== undefined) await values.fetch(executionId, [node.input.blob]);
      const input = node.input?.blob === undefined ? (node.input?.value ?? null) : values.lookup(node.input.blob);
      const verifying = sandbox.verify({
        action,
        input,
        granted: grantTo(state, granted),
        executionId,
        workflowId: plan.workflowId,
        node: path,
        attempt,
        idempotencyKey: idempotencyKey(state, path),
        ...(traceparent !== undefined && { traceparent }),
        signal: controller.signal,
        credential: credentialDoor(secrets, run.project, credentials),
        onLog: (level, message, fields) =>
          logs.append({ executionId, node: path, attempt, at: clock.now(), level, message, ...(fields && { fields }) }),
        onProgress: () => {},
        onHeartbeat: () => {},
      });
      const verification = await Promise.race([verifying, tooLate]);
      return verification.happened === false ? { happened: false, then: 'retry' } : verification;
    } catch {
      return { happened: 'unknown' };
    } finally {
      timer?.cancel();
    }
  }

  /** Shutting down: what may be repeated is handed back at once, what may not gets `graceMs` to finish. */
  async handBack(graceMs: number): Promise<void> {
    for (const live of [...this.live.values()]) {
      live.isHandedBack = true;
      if (live.attempt.effect !== 'once') live.controller.abort(new Error('the worker shuts down'));
    }
    await this.emptyWithin(graceMs);
    for (const live of [...this.live.values()]) live.controller.abort(new Error('the worker shuts down'));
    await this.emptyWithin(Math.min(graceMs, ABORT_WAIT_MS));
    for (const live of [...this.live.values()]) this.report(live, this.aborted(live, SHUTDOWN));
  }

  private emptyWithin(ms: number): Promise<void> {
    if (this.live.size === 0 || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.parts.clock.timer(ms, resolve);
      this.emptyWaiters.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

const SPILL_RETRY_MIN_MS = 100;
const SPILL_RETRY_MAX_MS = 5_000;

/** How long `verify` may take; then a person is asked. */
const VERIFY_LIMIT_MS = 60_000;

/** How long an aborted attempt may take to end when the process stops. */
const ABORT_WAIT_MS = 200;

const SHUTDOWN: RunError = {
  code: 'SHUTDOWN',
  kind: 'SYSTEM',
  message: 'The process was stopped before this attempt ended.',
};

function keyOf(executionId: string, node: string, attempt: number): string {
  return `${executionId}:${node}:${attempt}`;
}

function says(error: RunError, key: string, value: Json): boolean {
  return isJsonObject(error.details ?? null) && (error.details as JsonObject)[key] === value;
}

function sandboxFault(error: unknown): RunError {
  return { code: 'SANDBOX_FAILED', kind: 'SYSTEM', message: `The sandbox failed: ${String(error)}` };
}
