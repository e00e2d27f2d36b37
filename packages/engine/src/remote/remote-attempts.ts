/**
 * Attempts that remote workers run.
 *
 *   queue ─▶ claim: lease is stored ─▶ turn: `node.started` names it ─▶ work is given out ─▶ extend … ─▶ end
 *
 *  O1 Work is given out once the frame that names its lease is durable. If the worker has gone by then, the attempt is
 *     handed back.
 *  O2 The journal is the fence: a report counts while the journal has the attempt open under this very lease.
 *     `end` resolves when the outcome is durable, and is refused with `STALE_LEASE` otherwise.
 *  O3 An attempt is lost when its lease has passed. Timers of this process notice that at once; after its death the
 *     leases in the store tell the engine that wakes the run.
 *  O4 Leases in memory are for speed. A lease that another process gave out is adopted with its first report.
 */
import {
  compileSchema,
  describeProblems,
  type ExecutionId,
  isMoment,
  type Json,
  NebulaError,
  type NodePath,
  type RunError,
  type SchemaCheck,
  type SchemaProblem,
} from '@nebula/core';
import {
  type Attempt,
  actionWork,
  isFinished,
  type LeaseId,
  type NodeState,
  nodeAt,
  type Outcome,
  type Stimulus,
  stopReason,
} from '@nebula/core/run';
import {
  checkInSlices,
  copyInSlices,
  credentialReader,
  type Foreign,
  type ForeignOutcome,
  later,
  pause,
  secretIn,
  type Timer,
} from '@nebula/ports';
import type {
  ClaimRequest,
  LeaseBeat,
  LeaseLine,
  LeaseState,
  RemoteOutcome,
  RemoteTask,
  RemoteWorkers,
} from '../api.ts';
import { endOf, openTimeLimit, type TimeLimit, timeLimitOf } from '../attempts/attempt-reports.ts';
import { STAYS_UNSIGNED } from '../attempts/callback-signer.ts';
import type { Tasks } from '../attempts/tasks.ts';
import type { EngineContext } from '../context.ts';
import type { NewBlobs } from '../storage/values.ts';
import type { Draft, GrantedAttempt, LiveRun } from '../turn/live-run.ts';
import type { Recovery } from '../turn/recovery.ts';
import { Claims } from './claims.ts';
import { holderOf, isLeaseOf, type Lease, openLease, type ParsedLease, parseLease, staleLease } from './lease.ts';
import { piecesOf } from './log-pieces.ts';

/** Lease ids of earlier versions do not contain the length of the lease. */
const UNRECORDED_LEASE_MS = 30_000;
/** Pause before a run that is being drafted or read is checked again, and the limit on such checks. */
const READ_AGAIN_MS = 5;
const MAX_READS = 1_000;
/** The text logged in one slice (about 10 ms), and the cost of a line besides its text. */
const MAX_SLICE_CHARS = 100_000;
const LINE_COSTS_CHARS = 1_000;
/** The limit on unwritten lines of one request; the buffer of a driver holds several times as many. */
const MAX_LINES_UNWRITTEN = 1_000;

/** A lease that this process watches. */
interface Known {
  readonly lease: Lease;
  readonly holder: string;
  leaseMs: number;
  until: number;
  /** Null: the attempt has no time limit. */
  readonly deadline: { readonly at: number; readonly error: RunError } | null;
  /** Secrets to remove from every report of the worker; read when they are first needed. */
  secrets: Set<string> | undefined;
  timer: Timer | undefined;
}

/** The node whose attempt is open under a lease. */
interface OpenLease {
  readonly lease: Lease;
  readonly run: LiveRun;
  readonly node: NodeState;
}

interface Waiting {
  readonly executionId: ExecutionId;
  decided(isAccepted: boolean): void;
  failed(error: unknown): void;
}

export class RemoteAttempts implements RemoteWorkers {
  private readonly context: EngineContext;
  private readonly recovery: Recovery;
  private readonly claims: Claims;
  private readonly known = new Map<LeaseId, Known>();
  /** The number of known leases per run. */
  private readonly perRun = new Map<ExecutionId, number>();
  private readonly waiting = new Map<Stimulus, Waiting>();
  private isClosed = false;

  constructor(context: EngineContext, tasks: Tasks, recovery: Recovery) {
    this.context = context;
    this.recovery = recovery;
    this.claims = new Claims(context, tasks, this);
    context.meter.gauge('workflow.remote_tasks', () => this.known.size);
  }

  openForWork(): void {
    this.claims.openForWork();
  }

  close(): void {
    this.isClosed = true;
    this.claims.close();
    for (const { timer } of this.known.values()) timer?.cancel();
  }

  /** Returns whether remote workers have attempts of the run, as far as this process knows. */
  has(executionId: ExecutionId): boolean {
    return this.perRun.has(executionId);
  }

  running(holder: string): number {
    return this.workOf(holder).length;
  }

  workOf(holder: string): readonly Lease[] {
    const work: Lease[] = [];
    for (const one of this.known.values()) if (one.holder === holder) work.push(one.lease);
    return work;
  }

  claim(request: ClaimRequest): Promise<readonly RemoteTask[]> {
    return this.claims.claim(request);
  }

  /**
   * Opens the attempt under this lease. Returns undefined if its input does not fit the schema: the attempt has failed.
   * The lease is watched while a large input is checked.
   */
  begin(
    lease: Lease,
    until: number,
    { leaseMs }: ClaimRequest,
    granted: GrantedAttempt,
  ): RemoteTask | undefined | Promise<RemoteTask | undefined> {
    const { attempt, at } = granted;
    const known = this.keep(lease, leaseMs, until, at, timeLimitOf(attempt));
    const { input: schema, describeOnly } = attempt.action;
    if (schema === undefined || describeOnly?.includes('input')) return this.task(known, granted, attempt.input);
    const check = compileSchema(schema, { fillDefaults: true });
    const input = check.fills ? copyInSlices(attempt.input, this.context.clock) : attempt.input;
    return input instanceof Promise
      ? input.then((own) => this.checked(known, granted, check, own))
      : this.checked(known, granted, check, input);
  }

  /** Returns undefined if the input does not fit, or the lease passed meanwhile. */
  private checked(
    known: Known,
    granted: GrantedAttempt,
    check: SchemaCheck,
    input: Json,
  ): RemoteTask | undefined | Promise<RemoteTask | undefined> {
    const { lease } = known;
    const taskUnless = (problems: readonly SchemaProblem[] | undefined): RemoteTask | undefined => {
      // The lease may have passed during the check.
      if (!this.known.has(lease.leaseId)) return undefined;
      if (problems === undefined) return this.task(known, granted, input);
      const error = misfitOf(granted.attempt, problems);
      this.context.mailbox.send(lease.executionId, endOf(lease, { status: 'failed', error }, this.context));
      this.forget(lease.leaseId);
      return undefined;
    };
    const problems = checkInSlices(check, input, this.context.clock);
    return problems instanceof Promise ? problems.then(taskUnless) : taskUnless(problems);
  }

  private task({ lease, until, deadline }: Known, { run, attempt, at }: GrantedAttempt, input: Json): RemoteTask {
    const { action, node } = attempt;
    const { tracing, callbackSigner, logs } = this.context;
    const traceparent = tracing.ofAttempt(run.state, node, attempt.attempt);
    const handed = callbackSigner.handOver(run.state, action, input);
    if (handed?.hasUnsigned) {
      logs.append({
        executionId: run.executionId,
        node,
        attempt: attempt.attempt,
        at,
        level: 'warn',
        message: STAYS_UNSIGNED,
      });
    }
    return {
      leaseId: lease.leaseId,
      until,
      action: `${action.id}@${action.version}`,
      input: handed === undefined ? input : handed.input,
      executionId: run.executionId,
      workflowId: run.plan.workflowId,
      version: run.plan.version,
      node,
      attempt: attempt.attempt,
      queuedAt: attempt.queuedAt,
      idempotencyKey: attempt.idempotencyKey,
      deadline: deadline?.at ?? null,
      credentials: Object.keys(attempt.credentials),
      capabilities: attempt.granted,
      ...(traceparent !== undefined && { traceparent }),
    };
  }

  /** Returns the attempt of a worker that disconnected, so that another worker may take it. */
  giveBack(lease: Lease): void {
    this.forget(lease.leaseId);
    this.context.mailbox.send(lease.executionId, endOf(lease, { status: 'returned' }, this.context));
  }

  /** `since`: when the attempt began. */
  private keep(lease: Lease, leaseMs: number, until: number, since: number, limit: TimeLimit | null): Known {
    const { executionId, leaseId } = lease;
    const known: Known = {
      lease,
      holder: holderOf(lease),
      leaseMs,
      until,
      deadline: limit && { at: since + limit.limitMs, error: limit.error },
      secrets: undefined,
      timer: undefined,
    };
    if (!this.known.has(leaseId)) this.perRun.set(executionId, (this.perRun.get(executionId) ?? 0) + 1);
    this.known.set(leaseId, known);
    this.watch(known);
    return known;
  }

  private forget(leaseId: LeaseId): void {
    const known = this.known.get(leaseId);
    if (known === undefined) return;
    known.timer?.cancel();
    this.known.delete(leaseId);
    const { executionId } = known.lease;
    const left = (this.perRun.get(executionId) ?? 1) - 1;
    if (left > 0) return void this.perRun.set(executionId, left);
    this.perRun.delete(executionId);
    this.context.effects.released(executionId);
  }

  private watch(known: Known): void {
    const { clock } = this.context;
    const { until, deadline } = known;
    known.timer?.cancel();
    if (this.isClosed) return;
    const at = Math.min(until, deadline?.at ?? until);
    known.timer = clock.timer(Math.max(0, at - clock.now()), () => void this.due(known), { background: true });
  }

  /** Handles an attempt whose time limit or lease has passed. */
  private async due(known: Known): Promise<void> {
    const { store, clock, random, mailbox, effects } = this.context;
    const { lease, deadline } = known;
    if (deadline !== null && clock.now() >= deadline.at) {
      const end = endOf(lease, { status: 'broken-off', error: deadline.error }, this.context);
      mailbox.send(lease.executionId, end);
      return this.forget(lease.leaseId);
    }
    if (clock.now() < known.until) return this.watch(known);
    try {
      const live = await store.liveWorkers([lease.worker], clock.now());
      if (this.known.get(lease.leaseId) !== known) return;
      // The lease was extended during the query, or the clock went back.
      if (clock.now() < known.until) return this.watch(known);
      // A lease that is live in the store was extended by another process, which now watches it.
      if (live.size === 0) {
        const { node, attempt, worker } = lease;
        mailbox.send(lease.executionId, { type: 'wake', lost: [{ node, attempt, worker }], jitter: random.fraction() });
      }
    } catch (error) {
      effects.trouble(error);
      // The waker checks the leases in the store when the run is woken.
    }
    this.forget(lease.leaseId);
  }

  async extend(leaseId: string, { leaseMs, progress, message }: LeaseBeat = {}, by?: string): Promise<LeaseState> {
    const { lease, run, node } = await this.open(leaseId, by);
    const known = this.adopt(lease, run, node);
    known.leaseMs = leaseMs ?? known.leaseMs;
    await this.prolong(known);
    if (progress !== undefined) {
      const foreign = await this.foreignOf(known, run, node);
      const line = message === undefined ? undefined : this.context.sandbox.admitLine(foreign, { message });
      this.context.effects.progress(lease.executionId, lease.node, progress, line?.message);
    }
    return { holder: known.holder, until: known.until, cancel: stopReason(run.state, node) };
  }

  async log(leaseId: string, lines: readonly LeaseLine[], by?: string): Promise<LeaseState> {
    const { logs, clock, sandbox } = this.context;
    const { lease, run, node } = await this.open(leaseId, by);
    const known = this.adopt(lease, run, node);
    const unreadable = lines.findIndex(({ at }) => at !== undefined && !isMoment(at));
    if (unreadable >= 0) throw noMoment(unreadable);
    const foreign = await this.foreignOf(known, run, node);
    const { executionId, node: path, attempt } = lease;
    let costs = 0;
    let waiting = 0;
    for (const { at = clock.now(), level = 'info', ...line } of lines) {
      const { message: text, ...more } = sandbox.admitLine(foreign, line);
      for (const message of piecesOf(text)) {
        logs.append({ executionId, node: path, attempt, at, level, message, ...more });
        // Lines that arrive faster than they are written would push others out of the buffer.
        if (++waiting >= MAX_LINES_UNWRITTEN) {
          waiting = 0;
          await logs.flush();
        }
        costs += LINE_COSTS_CHARS + message.length;
        if (costs < MAX_SLICE_CHARS) continue;
        costs = 0;
        await pause(clock);
      }
    }
    // A worker that logs is alive.
    await this.prolong(known);
    return { holder: known.holder, until: known.until, cancel: stopReason(run.state, node) };
  }

  async credential(leaseId: string, alias: string, by?: string): Promise<string> {
    const { lease, run, node } = await this.open(leaseId, by);
    const known = this.adopt(lease, run, node);
    const { action, credentials } = actionWork(node);
    if (action.credentials?.includes(alias) === false) {
      throw new NebulaError('CREDENTIAL_NOT_DECLARED', `${action.id} does not declare the credential '${alias}'.`);
    }
    const value = await credentialReader(this.context.secrets, run.project, credentials)(alias);
    (await this.secretsOf(known, run, node)).add(value);
    return value;
  }

  async end(leaseId: string, reported: RemoteOutcome, by?: string): Promise<void> {
    const { store, meter, clock } = this.context;
    const { lease, run, node } = await this.open(leaseId, by);
    const startedAt = node.phase.status === 'running' ? node.phase.since : clock.now();
    const known = this.adopt(lease, run, node);
    // The action has completed: the time that storing its outcome takes does not count against the limit.
    known.timer?.cancel();
    try {
      const outcome = await this.outcomeOf(known, run, node, reported);
      while (!(await this.decided(lease, outcome))) {
        // With an exclusive store, the memory of an engine is never behind the journal.
        if (store.exclusive) throw staleLease();
        await this.open(leaseId, by);
      }
    } catch (error) {
      if (this.known.get(lease.leaseId) === known) this.watch(known);
      throw error;
    }
    const figures = run.figuresIn(meter);
    meter.add('workflow.node.executed', 1, figures);
    meter.observe('workflow.node.duration_ms', Math.max(0, clock.now() - startedAt), figures);
    this.forget(lease.leaseId);
  }

  async stopReason(executionId: ExecutionId, path: NodePath): Promise<string | null> {
    const run = await this.context.runs.loadWritten(executionId);
    if (run === undefined) return null;
    await this.recovery.catchUp(run).finally(() => this.context.effects.released(executionId));
    const node = nodeAt(run.state, path);
    return node === undefined || isFinished(run.state.phase.status) ? null : stopReason(run.state, node);
  }

  private async outcomeOf(known: Known, run: LiveRun, node: NodeState, reported: RemoteOutcome): Promise<Outcome> {
    const { sandbox, values } = this.context;
    if (reported.status === 'returned') return reported;
    const admitted = await sandbox.admit(await this.foreignOf(known, run, node), foreignOutcome(reported));
    if (admitted.status !== 'completed') {
      return { status: reported.status === 'unknown' ? 'broken-off' : 'failed', error: admitted.error };
    }
    const blobs: NewBlobs = [];
    const output = values.store(admitted.output, blobs);
    await values.put(known.lease.executionId, blobs);
    return { status: 'completed', output };
  }

  /** Resolves once the outcome is durable; true if it was accepted. */
  private async decided(lease: Lease, outcome: Outcome): Promise<boolean> {
    const { runs, mailbox } = this.context;
    const { executionId } = lease;
    const run = await runs.loadWritten(executionId);
    if (run === undefined) return false;
    const stimulus = endOf(lease, outcome, this.context);
    return await new Promise((resolve, reject) => {
      this.waiting.set(stimulus, { executionId, decided: resolve, failed: reject });
      mailbox.post(run, stimulus);
    });
  }

  /** Answers the waiting reports: the draft is durable, or changed nothing. */
  onDecided({ stimuli, refused }: Draft): void {
    if (this.waiting.size === 0) return;
    for (const stimulus of stimuli) {
      this.waiting.get(stimulus)?.decided(!refused.includes(stimulus));
      this.waiting.delete(stimulus);
    }
  }

  /**
   * Fails the waiting reports of a run, or without `executionId` of all runs: this process cannot write their outcomes.
   */
  onFault(error: unknown, executionId?: ExecutionId): void {
    for (const [stimulus, one] of [...this.waiting]) {
      if (executionId !== undefined && one.executionId !== executionId) continue;
      this.waiting.delete(stimulus);
      one.failed(error);
    }
  }

  /** Finds the node whose attempt is open under the lease. Rejects with `STALE_LEASE`. */
  private async open(leaseId: string, by = ''): Promise<OpenLease> {
    const lease = parseLease(leaseId);
    if (lease === undefined) throw staleLease();
    try {
      const open = await this.findOpen(lease, by);
      if (open !== undefined) return open;
    } catch (error) {
      this.context.effects.released(lease.executionId);
      throw error;
    }
    const known = this.known.get(lease.leaseId);
    if (known !== undefined && isLeaseOf(known.lease, by, this.context.digest)) this.forget(lease.leaseId);
    // The run may have been loaded only for this lease.
    this.context.effects.released(lease.executionId);
    throw staleLease();
  }

  private async findOpen(lease: ParsedLease, by: string): Promise<OpenLease | undefined> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const run = await this.context.runs.loadWritten(lease.executionId);
      if (run === undefined) return undefined;
      const isNewest = await this.recovery.catchUp(run);
      const node = nodeAt(run.state, lease.node);
      const open = node && openLease(lease, by, node, this.context.digest);
      if (node !== undefined && open !== undefined) return { lease: open, run, node };
      // A draft that closed the attempt may be dropped.
      if (isNewest && run.mode === 'idle') return undefined;
      await later(this.context.clock, READ_AGAIN_MS);
    }
    return undefined;
  }

  /** Watches a lease from now on that another process handed out, or this one before a restart. */
  private adopt(lease: Lease, run: LiveRun, node: NodeState): Known {
    const known = this.known.get(lease.leaseId);
    if (known !== undefined) return known;
    const since = node.phase.status === 'running' ? node.phase.since : run.lastAt;
    const leaseMs = lease.leaseMs ?? UNRECORDED_LEASE_MS;
    const until = this.context.clock.now() + leaseMs;
    return this.keep(lease, leaseMs, until, since, openTimeLimit(node, lease.node, since));
  }

  private async prolong(known: Known): Promise<void> {
    const { store, clock } = this.context;
    const until = clock.now() + known.leaseMs;
    await store.heartbeat([{ worker: known.lease.worker, expiresAt: until }]);
    known.until = until;
    if (this.known.get(known.lease.leaseId) === known) this.watch(known);
  }

  private async foreignOf(known: Known, run: LiveRun, node: NodeState): Promise<Foreign> {
    const { action } = actionWork(node);
    const { values, callbackSigner } = this.context;
    const input = callbackSigner.signs(run.state) ? await values.read(run.executionId, node.input) : null;
    const handed = callbackSigner.handOver(run.state, action, input);
    const secrets = [...(await this.secretsOf(known, run, node)), ...(handed?.secrets ?? [])];
    return { action, node: known.lease.node, secrets, ...(handed && { conceal: handed.conceal }) };
  }

  /** All secrets of the node, because after a restart it is not known which of them were handed out. */
  private async secretsOf(known: Known, { project }: LiveRun, node: NodeState): Promise<Set<string>> {
    if (known.secrets !== undefined) return known.secrets;
    const { credentials } = actionWork(node);
    const names = Object.values(credentials);
    const { secrets } = this.context;
    const values =
      secrets === undefined ? [] : await Promise.all(names.map((name) => secretIn(secrets, project, name)));
    known.secrets ??= new Set(values.filter((value) => value !== undefined));
    return known.secrets;
  }
}

function foreignOutcome(reported: Exclude<RemoteOutcome, { status: 'returned' }>): ForeignOutcome {
  return reported.status === 'completed' ? reported : { status: 'failed', error: reported.error };
}

function misfitOf({ action, node }: Attempt, problems: readonly SchemaProblem[]): RunError {
  const reported = describeProblems(problems, 'the input');
  const message = `input of ${action.id}@${action.version} does not fit its schema: ${reported}`;
  return { code: 'INPUT_INVALID', kind: 'USER', message, node };
}

function noMoment(index: number): NebulaError {
  return new NebulaError('TIME_INVALID', `Line ${index + 1} has a time that no date can hold.`, {
    hint: 'Give a moment between 1970 and 9999, without leap seconds, or leave it out.',
  });
}
