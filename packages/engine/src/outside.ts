/**
 * Attempts that workers of other processes run.
 *
 *   queue ─▶ claim: lease is stored ─▶ turn: `node.started` names it ─▶ work is given out ─▶ extend … ─▶ end
 *
 *  O1 Work is given out once the frame that names its lease is durable. Whoever has gone away meanwhile gets none: it is
 *     handed back.
 *  O2 The journal is the fence: what is told of an attempt counts while the journal has it open under this very lease.
 *     `end` resolves when the outcome is durable, and is refused with `STALE_LEASE` otherwise.
 *  O3 An attempt is lost when its lease has passed. Timers here notice that at once; what they do not live to see, the
 *     rows of the store tell whoever looks at the run next.
 *  O4 What is in memory is for speed. A lease that another process gave out is adopted when something is heard of it.
 */
import {
  type Action,
  actionWork,
  compileSchema,
  describePath,
  hold,
  isFinished,
  isMoment,
  type Json,
  NebulaError,
  type NodeState,
  nodeAt,
  type Outcome,
  type RunError,
  type Stimulus,
  stopReason,
  timeoutError,
  timeoutsOf,
} from '@nebula/core';
import {
  type Clock,
  credentialDoor,
  type Delivery,
  type Digest,
  type Foreign,
  type ForeignOutcome,
  type Logs,
  type Queue,
  type Random,
  type Sandbox,
  type Secrets,
  type Store,
  secretIn,
  type Timer,
} from '@nebula/ports';
import type { ClaimRequest, LeaseBeat, LeaseLine, LeaseState, Outside, OutsideOutcome, OutsideWork } from './api.ts';
import { Claims } from './claims.ts';
import { holderOf, isHeldBy, type Lease, type LeaseId, openLease, parseLease, staleLease } from './lease.ts';
import type { Claim, Draft, GrantedAttempt, LiveRun } from './live-run.ts';
import type { Meter } from './metrics.ts';
import type { Runs } from './runs.ts';
import type { Tracing } from './tracing.ts';
import type { Values } from './values.ts';

const DEFAULT_LEASE_MS = 30_000;
/** How soon to look again at a run that is in the middle of something, and how often. */
const LOOK_AGAIN_MS = 5;
const MAX_LOOKS = 1_000;
/** Text that is taken in one go: some 10 ms. A line costs this much besides its text. */
const MAX_SLICE_CHARS = 100_000;
const LINE_COSTS_CHARS = 1_000;
/** Of one request; the buffer of a driver holds several times as many. */
const MAX_LINES_UNWRITTEN = 1_000;

export interface OutsideParts {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  readonly logs: Logs;
  readonly sandbox: Sandbox;
  readonly secrets?: Pick<Secrets, 'get'>;
  readonly runs: Runs;
  readonly values: Values;
  readonly meter: Meter;
  readonly tracing: Tracing;
  post(run: LiveRun, stimulus: Stimulus): void;
  /** For the next turn: starts it under its lease, or says that it cannot be. */
  offer(delivery: Delivery, claim: Claim): void;
  /** Reads what another engine wrote to it; false when it could not look. */
  catchUp(run: LiveRun): Promise<boolean>;
  report(executionId: string, stimulus: Stimulus): void;
  onProgress(executionId: string, node: string, fraction: number, message: string | undefined): void;
  onTrouble(error: unknown): void;
  /** A run need not stay in memory for its leases any more. */
  onRest(executionId: string): void;
}

/** A lease that this process has heard of. */
interface Known {
  readonly lease: Lease;
  readonly holder: string;
  leaseMs: number;
  until: number;
  readonly deadline: number | null;
  readonly deadlineError: RunError | undefined;
  /** What must not be in anything that it tells; read when it is needed. */
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
  readonly executionId: string;
  decided(isAccepted: boolean): void;
  failed(error: unknown): void;
}

export class OutsideAttempts implements Outside {
  private readonly parts: OutsideParts;
  private readonly claims: Claims;
  private readonly known = new Map<string, Known>();
  /** How many leases of each run are known. */
  private readonly perRun = new Map<string, number>();
  private readonly waiting = new Map<Stimulus, Waiting>();
  private isClosed = false;

  constructor(parts: OutsideParts) {
    this.parts = parts;
    this.claims = new Claims({
      ...parts,
      begin: (lease, until, request, granted) => this.begin(lease, until, request, granted),
      giveBack: (lease) => {
        this.forget(lease.leaseId);
        this.report(lease, { status: 'returned' });
      },
    });
    parts.meter.gauge('workflow.outside_tasks', () => this.known.size);
  }

  openForWork(): void {
    this.claims.openForWork();
  }

  close(): void {
    this.isClosed = true;
    this.claims.close();
    for (const { timer } of this.known.values()) timer?.cancel();
  }

  /** Whether something of the run is out, as far as is known here. */
  has(executionId: string): boolean {
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

  claim(request: ClaimRequest): Promise<readonly OutsideWork[]> {
    return this.claims.claim(request);
  }

  /** The attempt is open under this lease. */
  private begin(
    lease: Lease,
    until: number,
    request: ClaimRequest,
    { run, attempt, at }: GrantedAttempt,
  ): OutsideWork | undefined {
    const { action, node, attemptMs, totalMs, totalLeftMs } = attempt;
    const input = checkedInput(action, attempt.input, node);
    if ('error' in input) {
      this.report(lease, { status: 'failed', error: input.error });
      return undefined;
    }
    const isTotal = totalLeftMs !== null && (attemptMs === null || totalLeftMs < attemptMs);
    const traceparent = this.parts.tracing.ofAttempt(run.state, node, attempt.attempt);
    const limitMs = isTotal ? totalLeftMs : attemptMs;
    const deadline = limitMs === null ? null : at + Math.max(0, limitMs);
    this.keep({
      lease,
      holder: holderOf(lease),
      leaseMs: request.leaseMs,
      until,
      deadline,
      deadlineError: isTotal ? timeoutError('total', totalMs, node) : timeoutError('attempt', attemptMs, node),
      secrets: undefined,
      timer: undefined,
    });
    return {
      leaseId: lease.leaseId,
      until,
      action: `${action.id}@${action.version}`,
      input: input.value,
      executionId: run.executionId,
      workflowId: run.plan.workflowId,
      version: run.plan.version,
      node,
      attempt: attempt.attempt,
      queuedAt: attempt.queuedAt,
      idempotencyKey: attempt.idempotencyKey,
      deadline,
      credentials: Object.keys(attempt.credentials),
      capabilities: attempt.granted,
      ...(traceparent !== undefined && { traceparent }),
    };
  }

  private keep(known: Known): Known {
    const { executionId, leaseId } = known.lease;
    if (!this.known.has(leaseId)) this.perRun.set(executionId, (this.perRun.get(executionId) ?? 0) + 1);
    this.known.set(leaseId, known);
    this.watch(known);
    return known;
  }

  private forget(leaseId: string): void {
    const known = this.known.get(leaseId);
    if (known === undefined) return;
    known.timer?.cancel();
    this.known.delete(leaseId);
    const { executionId } = known.lease;
    const left = (this.perRun.get(executionId) ?? 1) - 1;
    if (left > 0) return void this.perRun.set(executionId, left);
    this.perRun.delete(executionId);
    this.parts.onRest(executionId);
  }

  private watch(known: Known): void {
    const { clock } = this.parts;
    const { until, deadline } = known;
    known.timer?.cancel();
    if (this.isClosed) return;
    const at = deadline === null ? until : Math.min(until, deadline);
    known.timer = clock.timer(Math.max(0, at - clock.now()), () => void this.due(known), { background: true });
  }

  /** Its time is up, or that of its lease. */
  private async due(known: Known): Promise<void> {
    const { store, clock, random, report } = this.parts;
    const { lease, deadline, deadlineError } = known;
    if (deadline !== null && deadlineError !== undefined && clock.now() >= deadline) {
      this.report(lease, { status: 'broken-off', error: deadlineError });
      return this.forget(lease.leaseId);
    }
    if (clock.now() < known.until) return this.watch(known);
    try {
      const live = await store.liveWorkers([lease.worker], clock.now());
      if (this.known.get(lease.leaseId) !== known) return;
      // It was extended meanwhile, or the clock went back.
      if (clock.now() < known.until) return this.watch(known);
      // Another process has extended it, and watches it now.
      if (live.size === 0) {
        const { node, attempt, worker } = lease;
        report(lease.executionId, { type: 'wake', lost: [{ node, attempt, worker }], jitter: random.fraction() });
      }
      this.forget(lease.leaseId);
    } catch (error) {
      this.parts.onTrouble(error);
      // The rows of the store are looked at when the run is woken.
      this.forget(lease.leaseId);
    }
  }

  private report({ executionId, node, attempt, worker }: Lease, outcome: Outcome): void {
    const jitter = this.parts.random.fraction();
    this.parts.report(executionId, { type: 'ended', node, attempt, worker, outcome, jitter });
  }

  async extend(leaseId: string, { leaseMs, progress, message }: LeaseBeat = {}, by?: string): Promise<LeaseState> {
    const { lease, run, node } = await this.open(leaseId, by);
    const known = this.adopt(lease, run, node);
    known.leaseMs = leaseMs ?? known.leaseMs;
    await this.prolong(known);
    if (progress !== undefined) {
      const foreign = await this.foreignOf(known, run, node);
      const told = message === undefined ? undefined : this.parts.sandbox.admitLine(foreign, { message });
      this.parts.onProgress(lease.executionId, lease.node, progress, told?.message);
    }
    return { until: known.until, cancel: stopReason(run.state, node) };
  }

  async log(leaseId: string, lines: readonly LeaseLine[], by?: string): Promise<LeaseState> {
    const { logs, clock } = this.parts;
    const { lease, run, node } = await this.open(leaseId, by);
    const known = this.adopt(lease, run, node);
    const { executionId, attempt } = lease;
    const unreadable = lines.findIndex(({ at }) => at !== undefined && !isMoment(at));
    if (unreadable >= 0) throw noMoment(unreadable);
    const foreign = await this.foreignOf(known, run, node);
    let costs = 0;
    let waiting = 0;
    for (const { at = clock.now(), level = 'info', ...line } of lines) {
      const clean = this.parts.sandbox.admitLine(foreign, line);
      logs.append({ executionId, node: lease.node, attempt, at, level, ...clean });
      // Lines that come faster than they are written would push others out of the buffer.
      if (++waiting >= MAX_LINES_UNWRITTEN) {
        waiting = 0;
        await logs.flush();
      }
      costs += LINE_COSTS_CHARS + line.message.length;
      if (costs < MAX_SLICE_CHARS) continue;
      costs = 0;
      // Others have their turn between slices.
      await new Promise<void>((resolve) => clock.soon(resolve));
    }
    // Who speaks is alive.
    await this.prolong(known);
    return { until: known.until, cancel: stopReason(run.state, node) };
  }

  async credential(leaseId: string, alias: string, by?: string): Promise<string> {
    const { lease, run, node } = await this.open(leaseId, by);
    const known = this.adopt(lease, run, node);
    const { action, credentials } = actionWork(node);
    if (action.credentials?.includes(alias) === false) {
      throw new NebulaError('CREDENTIAL_NOT_DECLARED', `${action.id} does not declare the credential '${alias}'.`);
    }
    const value = await credentialDoor(this.parts.secrets, run.project, credentials)(alias);
    (await this.secretsOf(known, run, node)).add(value);
    return value;
  }

  async end(leaseId: string, told: OutsideOutcome, by?: string): Promise<void> {
    const { store } = this.parts;
    const { lease, run, node } = await this.open(leaseId, by);
    const known = this.adopt(lease, run, node);
    // The work is done: whatever time storing its outcome takes is not the attempt's.
    known.timer?.cancel();
    try {
      const outcome = await this.outcomeOf(known, run, node, told);
      while (!(await this.decided(lease, outcome))) {
        // On a store of one's own the memory is never behind the journal.
        if (store.exclusive) throw staleLease();
        await this.open(leaseId, by);
      }
    } catch (error) {
      if (this.known.get(lease.leaseId) === known) this.watch(known);
      throw error;
    }
    this.parts.meter.add('workflow.node.executed');
    this.forget(lease.leaseId);
  }

  async stopReason(executionId: string, path: string): Promise<string | null> {
    const run = await this.parts.runs.loadWritten(executionId);
    if (run === undefined) return null;
    await this.parts.catchUp(run).finally(() => this.parts.onRest(executionId));
    const node = nodeAt(run.state, path);
    return node === undefined || isFinished(run.state.status) ? null : stopReason(run.state, node);
  }

  private async outcomeOf(known: Known, run: LiveRun, node: NodeState, told: OutsideOutcome): Promise<Outcome> {
    const { sandbox, values } = this.parts;
    if (told.status === 'returned') return told;
    const admitted = sandbox.admit(await this.foreignOf(known, run, node), foreignOutcome(told));
    if (admitted.status !== 'completed') {
      return { status: told.status === 'unknown' ? 'broken-off' : 'failed', error: admitted.error };
    }
    const output = hold(admitted.output);
    if (values.isLarge(output)) await values.spill(known.lease.executionId, output);
    return { status: 'completed', output };
  }

  /** Whether the outcome was taken, once that is durable. */
  private async decided(lease: Lease, outcome: Outcome): Promise<boolean> {
    const { runs, random, post } = this.parts;
    const { executionId, node, attempt, worker } = lease;
    const run = await runs.loadWritten(executionId);
    if (run === undefined) return false;
    const stimulus: Stimulus = { type: 'ended', node, attempt, worker, outcome, jitter: random.fraction() };
    return await new Promise((resolve, reject) => {
      this.waiting.set(stimulus, { executionId, decided: resolve, failed: reject });
      post(run, stimulus);
    });
  }

  /** A draft is durable, or came to nothing. */
  onDecided({ stimuli, refused }: Draft): void {
    if (this.waiting.size === 0) return;
    for (const stimulus of stimuli) {
      this.waiting.get(stimulus)?.decided(!refused.has(stimulus));
      this.waiting.delete(stimulus);
    }
  }

  /** What was told of a run cannot be written here. Without `executionId`: of any. */
  onFault(error: unknown, executionId?: string): void {
    for (const [stimulus, one] of [...this.waiting]) {
      if (executionId !== undefined && one.executionId !== executionId) continue;
      this.waiting.delete(stimulus);
      one.failed(error);
    }
  }

  /** The node whose open attempt the lease is of. Rejects with `STALE_LEASE`. */
  private async open(leaseId: string, by = ''): Promise<OpenLease> {
    const lease = parseLease(leaseId);
    if (lease === undefined) throw staleLease();
    try {
      const open = await this.look(lease, by);
      if (open !== undefined) return open;
    } catch (error) {
      this.parts.onRest(lease.executionId);
      throw error;
    }
    const known = this.known.get(leaseId);
    if (known !== undefined && isHeldBy(known.lease, by, this.parts.digest)) this.forget(leaseId);
    // It may have been read for nothing else.
    this.parts.onRest(lease.executionId);
    throw staleLease();
  }

  private async look(lease: LeaseId, by: string): Promise<OpenLease | undefined> {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const run = await this.parts.runs.loadWritten(lease.executionId);
      if (run === undefined) return undefined;
      const isNew = await this.parts.catchUp(run);
      const node = nodeAt(run.state, lease.node);
      const open = node && openLease(lease, by, node, this.parts.digest);
      if (node !== undefined && open !== undefined) return { lease: open, run, node };
      // What has been decided and is not written yet may come to nothing.
      if (isNew && run.draft === null && !run.isBusy) return undefined;
      await new Promise<void>((resolve) => this.parts.clock.timer(LOOK_AGAIN_MS, resolve));
    }
    return undefined;
  }

  /** One that another process gave out, or this one before it was started anew. */
  private adopt(lease: Lease, run: LiveRun, node: NodeState): Known {
    const known = this.known.get(lease.leaseId);
    if (known !== undefined) return known;
    const { attemptMs } = timeoutsOf(node);
    const since = node.phase.status === 'running' ? node.phase.since : run.lastAt;
    const leaseMs = lease.leaseMs ?? DEFAULT_LEASE_MS;
    return this.keep({
      lease,
      holder: holderOf(lease),
      leaseMs,
      until: this.parts.clock.now() + leaseMs,
      deadline: attemptMs === null ? null : since + attemptMs,
      deadlineError: timeoutError('attempt', attemptMs, lease.node),
      secrets: undefined,
      timer: undefined,
    });
  }

  private async prolong(known: Known): Promise<void> {
    const { store, clock } = this.parts;
    const until = clock.now() + known.leaseMs;
    await store.heartbeat([{ worker: known.lease.worker, expiresAt: until }]);
    known.until = until;
    if (this.known.get(known.lease.leaseId) === known) this.watch(known);
  }

  private async foreignOf(known: Known, run: LiveRun, node: NodeState): Promise<Foreign> {
    const secrets = [...(await this.secretsOf(known, run, node))];
    return { action: actionWork(node).action, node: known.lease.node, secrets };
  }

  /** All that the node may have: nobody remembers over a restart what of it was handed out. */
  private async secretsOf(known: Known, { project }: LiveRun, node: NodeState): Promise<Set<string>> {
    if (known.secrets !== undefined) return known.secrets;
    const { credentials } = actionWork(node);
    const names = Object.values(credentials);
    const { secrets } = this.parts;
    const values =
      secrets === undefined ? [] : await Promise.all(names.map((name) => secretIn(secrets, project, name)));
    known.secrets ??= new Set(values.filter((value) => value !== undefined));
    return known.secrets;
  }
}

function foreignOutcome(told: Exclude<OutsideOutcome, { status: 'returned' }>): ForeignOutcome {
  return told.status === 'completed' ? told : { status: 'failed', error: told.error };
}

/** With defaults filled in. What a richer schema checks is the worker's business. */
function checkedInput(
  { input: schema, describeOnly, id, version }: Action,
  given: Json,
  node: string,
): { readonly value: Json } | { readonly error: RunError } {
  if (schema === undefined || describeOnly?.includes('input')) return { value: given };
  const value = structuredClone(given);
  const problems = compileSchema(schema, { fillDefaults: true }).problems(value) ?? [];
  if (problems.length === 0) return { value };
  const told = problems.map(({ path, message }) => `${describePath(path, 'the input')} ${message}`).join('; ');
  const message = `input of ${id}@${version} does not fit its schema: ${told}`;
  return { error: { code: 'INPUT_INVALID', kind: 'USER', message, node } };
}

function noMoment(index: number): NebulaError {
  return new NebulaError('TIME_INVALID', `Line ${index + 1} has a time that no date can hold.`, {
    hint: 'Give a moment between 1970 and 9999, without leap seconds, or leave it out.',
  });
}
