/**
 * The attempts that this process runs.
 *
 *  A1 An attempt reports exactly once; later outcomes of the same call are dropped.
 *  A2 A slot is taken from the moment an attempt is decided until it has reported.
 *  A3 Time limits of running attempts are watched here; the timers of the journal cover a dead worker.
 */

import { type ExecutionId, isJsonObject, type Json, type JsonObject, type NodePath, type RunError } from '@nebula/core';
import {
  type Abort,
  type Attempt,
  actionWork,
  grantTo,
  idempotencyKey,
  inlineValue,
  isFinished,
  type NodeState,
  type OpenAttempt,
  type Outcome,
  openAttempts,
  pathOf,
  type Settlement,
  type Stimulus,
  toVerify,
} from '@nebula/core/run';
import {
  credentialReader,
  type Delivery,
  type InvocationOutcome,
  pause,
  type Sandbox,
  type Timer,
} from '@nebula/ports';
import type { EngineContext } from '../context.ts';
import type { WorkflowFigures } from '../observe/metrics.ts';
import type { NewBlobs } from '../storage/values.ts';
import type { LiveRun } from '../turn/live-run.ts';
import { endOf, timeLimitOf } from './attempt-reports.ts';
import { STAYS_UNSIGNED } from './callback-signer.ts';

type Invocation = Parameters<Sandbox['run']>[0];

interface Live {
  readonly key: string;
  readonly executionId: ExecutionId;
  readonly node: NodePath;
  readonly attempt: number;
  readonly effect: Attempt['effect'];
  readonly delivery: Delivery;
  readonly controller: AbortController;
  readonly startedAt: number;
  readonly figures: WorkflowFigures;
  timer: Timer | undefined;
  /** True if this process asked the attempt to stop because it shuts down. */
  isHandedBack: boolean;
}

export class Attempts {
  private readonly context: EngineContext;
  private readonly live = new Map<string, Live>();
  private readonly verifying = new Set<string>();
  private reserved = 0;
  private emptyWaiters: (() => void)[] = [];

  constructor(context: EngineContext) {
    this.context = context;
    context.meter.gauge('workflow.parallel_tasks', () => this.live.size);
  }

  get size(): number {
    return this.live.size;
  }

  free(): number {
    return this.context.concurrency - this.live.size - this.reserved;
  }

  reserve(): void {
    this.reserved++;
  }

  unreserve(): void {
    this.reserved--;
  }

  begin(run: LiveRun, attempt: Attempt, delivery: Delivery, startedAt: number): void {
    this.reserved--;
    const { clock, effects, queue, sandbox } = this.context;
    const { executionId } = run;
    const live: Live = {
      key: keyOf(executionId, attempt.node, attempt.attempt),
      executionId,
      node: attempt.node,
      attempt: attempt.attempt,
      effect: attempt.effect,
      delivery,
      controller: new AbortController(),
      startedAt,
      figures: run.figuresIn(this.context.meter),
      timer: undefined,
      isHandedBack: false,
    };
    this.live.set(live.key, live);
    const limit = timeLimitOf(attempt);
    if (limit !== null) {
      live.timer = clock.timer(limit.limitMs, () => {
        live.controller.abort(new Error(limit.error.message));
        this.report(live, { status: 'broken-off', error: limit.error });
      });
    }
    const invocation = this.invocation(run, attempt, live.controller.signal, {
      onProgress: (fraction, message) => effects.progress(executionId, attempt.node, fraction, message),
      onHeartbeat: () => void queue.extend(delivery),
    });
    sandbox.run(invocation).then(
      (outcome) => this.ended(live, outcome),
      (error: unknown) => this.ended(live, { status: 'failed', error: sandboxFault(error) }),
    );
  }

  /** Returns an attempt that is journalled as started but does not begin. */
  giveBack({ executionId }: LiveRun, { node, attempt }: Attempt, delivery: Delivery): void {
    this.reserved--;
    const { mailbox, queue } = this.context;
    queue.ack(delivery);
    mailbox.send(executionId, endOf({ executionId, node, attempt }, { status: 'returned' }, this.context));
  }

  private invocation(
    { executionId, plan: { workflowId }, state, project }: LiveRun,
    attempt: Pick<Attempt, 'node' | 'attempt' | 'action' | 'input' | 'granted' | 'credentials' | 'idempotencyKey'>,
    signal: AbortSignal,
    { onProgress, onHeartbeat }: Pick<Invocation, 'onProgress' | 'onHeartbeat'>,
  ): Invocation {
    const { node, attempt: number, action, input, granted, credentials, idempotencyKey } = attempt;
    const { clock, logs, secrets, tracing, callbackSigner } = this.context;
    const traceparent = tracing.ofAttempt(state, node, number);
    const of = { executionId, node, attempt: number };
    const handed = callbackSigner.handOver(state, action, input);
    if (handed?.hasUnsigned) logs.append({ ...of, at: clock.now(), level: 'warn', message: STAYS_UNSIGNED });
    return {
      executionId,
      node,
      attempt: number,
      action,
      input: handed === undefined ? input : handed.input,
      secrets: handed?.secrets,
      conceal: handed?.conceal,
      granted,
      workflowId,
      idempotencyKey,
      traceparent,
      signal,
      credential: credentialReader(secrets, project, credentials),
      onLog: (level, message, fields) =>
        logs.append({ ...of, at: clock.now(), level, message, ...(fields && { fields }) }),
      onProgress,
      onHeartbeat,
    };
  }

  private ended(live: Live, outcome: InvocationOutcome): void {
    if (this.live.get(live.key) !== live) return;
    if (outcome.status === 'completed') {
      const { output } = outcome;
      if (this.context.values.isInline(output)) {
        return this.report(live, { status: 'completed', output: inlineValue(output) });
      }
      // The action has completed: the time that storing its output takes does not count against the limit.
      live.timer?.cancel();
      // An output that cannot be encoded has taken effect all the same: a `once` action is not repeated.
      return void this.spill(live, output).catch((error: unknown) => {
        this.report(live, { status: 'broken-off', error: sandboxFault(error) });
      });
    }
    const { error } = outcome;
    if (outcome.status === 'aborted') return this.report(live, this.aborted(live, error));
    // The request went out and no answer came back: the action cannot tell whether it took effect.
    const isUnknown = says(error, 'outcome', 'unknown');
    this.report(live, { status: isUnknown ? 'broken-off' : 'failed', error });
  }

  /** Encodes a large output in its own turn of the event loop, and stores it. */
  private async spill(live: Live, output: Json): Promise<void> {
    const { values, clock } = this.context;
    await pause(clock, 'turn');
    if (this.live.get(live.key) !== live) return;
    const blobs: NewBlobs = [];
    const stored = values.store(output, blobs);
    this.storeOutput(live, { status: 'completed', output: stored }, blobs, SPILL_RETRY_MIN_MS);
  }

  /** An output is not lost to a full disk: storing it is repeated until it succeeds. */
  private storeOutput(live: Live, outcome: Outcome, blobs: NewBlobs, pauseMs: number): void {
    const { values, clock, effects } = this.context;
    values.put(live.executionId, blobs).then(
      () => this.report(live, outcome),
      (error: unknown) => {
        effects.trouble(error);
        clock.timer(pauseMs, () => {
          if (this.live.get(live.key) !== live) return;
          this.storeOutput(live, outcome, blobs, Math.min(2 * pauseMs, SPILL_RETRY_MAX_MS));
        });
      },
    );
  }

  private aborted(live: Live, error: RunError): Outcome {
    if (says(error, 'started', false)) return { status: 'returned' };
    const mayRepeat = live.effect !== 'once';
    return live.isHandedBack && mayRepeat ? { status: 'returned' } : { status: 'broken-off', error };
  }

  private report(live: Live, outcome: Outcome): void {
    if (this.live.get(live.key) !== live) return;
    this.context.mailbox.send(live.executionId, endOf(live, outcome, this.context));
    this.release(live);
  }

  private release(live: Live): void {
    const { clock, queue, meter } = this.context;
    this.live.delete(live.key);
    live.timer?.cancel();
    queue.ack(live.delivery);
    meter.add('workflow.node.executed', 1, live.figures);
    meter.observe('workflow.node.duration_ms', clock.now() - live.startedAt, live.figures);
    if (this.live.size === 0) for (const resolve of this.emptyWaiters.splice(0)) resolve();
  }

  /** `isOver`: the journal has closed the attempt. Its slot is free even if the action does not end. */
  abort(executionId: ExecutionId, { node, attempt, reason, isOver }: Abort): void {
    const live = this.live.get(keyOf(executionId, node, attempt));
    if (live === undefined) return;
    live.controller.abort(new Error(reason));
    if (isOver) this.release(live);
  }

  /** Runs with attempts in this process. */
  executionIds(): Set<ExecutionId> {
    return new Set(Array.from(this.live.values(), ({ executionId }) => executionId));
  }

  has(executionId: ExecutionId, node: NodePath, attempt: number): boolean {
    return this.live.has(keyOf(executionId, node, attempt));
  }

  /**
   * Compares the attempts of this process with a journal that was read again. An open attempt of this worker that does
   * not run here is lost: its frame was written, but the answer of the store did not arrive. An attempt that runs here
   * but is closed in the journal, or stopped by another engine, is aborted.
   */
  reconcile(run: LiveRun, post: (stimulus: Stimulus) => void): void {
    const { workerId, random } = this.context;
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
      this.release(live);
    }
  }

  /** Calls `verify` of actions that have one before a person is asked. */
  verifyUnknown(run: LiveRun): void {
    // A finished run takes no settlement; after a retry `verify` is called again.
    if (isFinished(run.state.phase.status)) return;
    for (const node of toVerify(run.state)) {
      const path = pathOf(node);
      const attempt = node.attempts;
      const key = keyOf(run.executionId, path, attempt);
      if (this.verifying.has(key)) continue;
      this.verifying.add(key);
      void this.verify(run, node, path).then((settlement) => {
        this.verifying.delete(key);
        this.context.mailbox.send(run.executionId, { type: 'settle', node: path, by: 'verify', attempt, settlement });
      });
    }
  }

  private async verify(run: LiveRun, node: NodeState, path: NodePath): Promise<Settlement> {
    const { executionId, state } = run;
    const { clock, sandbox, values } = this.context;
    const { action, granted, credentials } = actionWork(node);
    const controller = new AbortController();
    let timer: Timer | undefined;
    const tooLate = new Promise<Settlement>((resolve) => {
      timer = clock.timer(VERIFY_LIMIT_MS, () => {
        controller.abort(new Error('verify took too long'));
        resolve({ happened: 'unknown' });
      });
    });
    try {
      const input = await values.read(executionId, node.input);
      const attempt = {
        node: path,
        attempt: node.attempts,
        action,
        input,
        granted: grantTo(state, granted),
        credentials,
        idempotencyKey: idempotencyKey(state, path),
      };
      const unheard = { onProgress: () => {}, onHeartbeat: () => {} };
      const verifying = sandbox.verify(this.invocation(run, attempt, controller.signal, unheard));
      const verification = await Promise.race([verifying, tooLate]);
      return verification.happened === false ? { happened: false, then: 'retry' } : verification;
    } catch {
      return { happened: 'unknown' };
    } finally {
      timer?.cancel();
    }
  }

  /** Shutdown: attempts that may be repeated are handed back at once, the others get `graceMs` to finish. */
  async handBack(graceMs: number): Promise<void> {
    for (const live of [...this.live.values()]) {
      live.isHandedBack = true;
      if (live.effect !== 'once') live.controller.abort(new Error('the worker shuts down'));
    }
    await this.emptyWithin(graceMs);
    for (const live of [...this.live.values()]) live.controller.abort(new Error('the worker shuts down'));
    await this.emptyWithin(Math.min(graceMs, ABORT_WAIT_MS));
    for (const live of [...this.live.values()]) this.report(live, this.aborted(live, SHUTDOWN));
  }

  private emptyWithin(ms: number): Promise<void> {
    if (this.live.size === 0 || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.context.clock.timer(ms, resolve);
      this.emptyWaiters.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

const SPILL_RETRY_MIN_MS = 100;
const SPILL_RETRY_MAX_MS = 5_000;

/** The time limit of `verify`; then a person is asked. */
const VERIFY_LIMIT_MS = 60_000;

/** The time that an aborted attempt gets to end when the process stops. */
const ABORT_WAIT_MS = 200;

const SHUTDOWN: RunError = {
  code: 'SHUTDOWN',
  kind: 'SYSTEM',
  message: 'The process was stopped before this attempt ended.',
};

function keyOf(executionId: ExecutionId, node: NodePath, attempt: number): string {
  return `${executionId}:${node}:${attempt}`;
}

function says(error: RunError, key: string, value: Json): boolean {
  return isJsonObject(error.details ?? null) && (error.details as JsonObject)[key] === value;
}

function sandboxFault(error: unknown): RunError {
  return { code: 'SANDBOX_FAILED', kind: 'SYSTEM', message: `The sandbox failed: ${String(error)}` };
}
