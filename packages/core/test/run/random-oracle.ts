/**
 * The oracle: what LANGUAGE.md allows a run to do, stated without looking at `src/run`. It reads the journal entry by
 * entry and checks that each was legal at that moment, and after every turn that nothing is left undecided. Naive on
 * purpose: it visits every node and every edge again each time. Long because one reader has to know every kind of
 * entry.
 *
 *  O1 It knows the definition, the stimuli and the entries; never the engine's state or plan.
 *  O2 Where the language leaves a choice (which of two ready nodes first), any choice is legal.
 */
import { expect } from 'vitest';
import { type Entry, RUN_DEFAULTS, type RunError } from '../../src/index.ts';
import { TIMEOUT_MARGIN_MS } from '../../src/run/timers/timers.ts';
import type { Stimulus } from '../../src/run.ts';
import { type Condition, idOf, type RandomEdge, type RandomNode, type RandomWorkflow } from './random-workflow.ts';

type Status =
  | 'pending'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'unknown';

interface Fact {
  readonly index: number;
  readonly plan: RandomNode;
  status: Status;
  /** The handling of a failure, or the reason of a skip. */
  how: string;
  large: boolean;
  error: RunError | undefined;
  attempts: number;
  failures: number;
  lost: number;
  readyAt: number | undefined;
  since: number;
  until: number;
  verified: boolean;
  /** The node was settled in this turn as not happened, and is to be tried again. */
  mayRepeat: boolean;
  input: boolean;
  /** An attempt of it has started. */
  began: boolean;
  /** A taken always edge leads to it, or a taken edge from such a node. */
  cleans: boolean;
  /** The outcome was unknown while the run ended: its edges are those of a cancelled node. */
  asCancelled: boolean;
}

type Cause =
  | { readonly status: 'completed'; readonly value: unknown }
  | { readonly status: 'failed' | 'broken-off'; readonly error: Pick<RunError, 'code'> & Partial<RunError> }
  | { readonly status: 'returned' };

export interface Step {
  readonly stimuli: readonly Stimulus[];
  readonly entries: readonly Entry[];
  readonly aborted: readonly string[];
  readonly now: number;
  readonly jitter: number;
  /** Every node that could start was offered a slot. */
  readonly isEager: boolean;
  readonly slots: number;
}

const FINAL: readonly Status[] = ['completed', 'failed', 'skipped', 'cancelled'];
const MAX_DELAY_MS = 5 * 60_000;

export class Oracle {
  readonly workflow: RandomWorkflow;
  readonly facts: Fact[];
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled' | 'timed-out' = 'pending';
  error: RunError | undefined;
  /** `isBare`: without the rest of its finally. */
  stopping:
    | { status: string; error: RunError | null; since: number; isBare?: boolean; isCancelled?: boolean }
    | undefined;
  private deferred: RunError | undefined;
  private totalRetries = 0;
  private activeSince = 0;
  private now = 0;
  private readonly levels: number[];
  private causes = new Map<number, Cause[]>();
  private step!: Step;

  constructor(workflow: RandomWorkflow) {
    this.workflow = workflow;
    this.facts = workflow.nodes.map((plan, index) => ({ ...blank(), index, plan, attempts: 0 }));
    this.levels = [];
    workflow.nodes.forEach((_, index) => {
      const above = this.into(index).map(({ from }) => (this.levels[from] as number) + 1);
      this.levels.push(Math.max(0, ...above));
    });
  }

  get isFinished(): boolean {
    return this.status !== 'pending' && this.status !== 'running';
  }

  observe(step: Step): void {
    this.now = step.now;
    this.step = step;
    for (const fact of this.facts) fact.mayRepeat = false;
    this.causes = this.causesOf(step);
    const answered = this.running()
      .filter((fact) => step.stimuli.some((stimulus) => reports(stimulus, fact)))
      .map((fact) => ({ fact, attempt: fact.attempts }));
    for (const entry of step.entries) {
      this.read(entry);
      this.follow();
    }
    for (const { fact, attempt } of answered) {
      const isOpen = fact.status === 'running' && fact.attempts === attempt;
      expect(isOpen, `${idOf(fact.index)} was answered and is still open`).toBe(false);
    }
    this.expectNothingLeft();
  }

  /** The next moment at which the run acts by itself. */
  nextTimer(): number | undefined {
    if (this.isFinished) return undefined;
    const times = this.facts.flatMap((fact) => this.timersOf(fact));
    const { timeoutMs } = this.workflow;
    if (this.stopping === undefined) {
      if (timeoutMs !== undefined) times.push(this.activeSince + timeoutMs);
    } else if (this.running().some((fact) => this.isStopped(fact))) {
      times.push(this.stopping.since + RUN_DEFAULTS.cancelGraceMs);
    }
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** A worker or `verify` has something to do. */
  isActive(): boolean {
    if (this.isFinished) return false;
    const toVerify = this.facts.some((f) => f.status === 'unknown' && f.plan.action === 'check' && !f.verified);
    const startable = this.facts.some((f) => f.status === 'queued' && this.isLevel(f) && !this.isStopped(f));
    return this.running().length > 0 || toVerify || startable;
  }

  running(): Fact[] {
    return this.facts.filter(({ status }) => status === 'running');
  }

  private timersOf(fact: Fact): number[] {
    const { attemptMs, queuedMs, totalMs } = fact.plan;
    const times: number[] = [];
    const add = (from: number, ms: number | undefined): void => {
      if (ms !== undefined) times.push(from + ms);
    };
    if (fact.status === 'running') {
      add(fact.since + TIMEOUT_MARGIN_MS, attemptMs);
      add((fact.readyAt as number) + TIMEOUT_MARGIN_MS, totalMs);
    } else if (!this.isStopped(fact) && (fact.status === 'queued' || fact.status === 'waiting')) {
      if (fact.status === 'queued') add(fact.since, queuedMs);
      else times.push(fact.until);
      add(fact.readyAt as number, totalMs);
    }
    return times;
  }

  /** Possible causes for each running attempt: reports, and its time limits. */
  private causesOf({ stimuli, now }: Step): Map<number, Cause[]> {
    const causes = new Map<number, Cause[]>();
    for (const fact of this.running()) {
      const list: Cause[] = [];
      for (const stimulus of stimuli) {
        if (!reports(stimulus, fact)) continue;
        if (stimulus.type === 'ended') list.push(causeOf(stimulus.outcome));
        else list.push({ status: 'broken-off', error: { code: 'WORKER_LOST', kind: 'SYSTEM' } });
      }
      const { attemptMs, totalMs } = fact.plan;
      const isOver = (from: number, ms: number | undefined): boolean =>
        ms !== undefined && from + ms + TIMEOUT_MARGIN_MS <= now;
      const timeout = (limit: string): Cause => ({
        status: 'broken-off',
        error: { code: 'TIMEOUT', kind: 'USER', details: { limit } },
      });
      if (isOver(fact.since, attemptMs)) list.push(timeout('attempt'));
      if (isOver(fact.readyAt as number, totalMs)) list.push(timeout('total'));
      list.push({ status: 'broken-off', error: { code: 'CANCELLED', kind: 'USER' } });
      causes.set(fact.index, list);
    }
    return causes;
  }

  private read(entry: Entry): void {
    expect(this.isFinished && entry.type !== 'run.reopened', `${entry.type} after the end`).toBe(false);
    switch (entry.type) {
      case 'run.started':
        expect(this.status).toBe('pending');
        this.status = 'running';
        this.activeSince = this.now;
        return;
      case 'node.scheduled':
        expect(new Set(entry.nodes).size).toBe(entry.nodes.length);
        for (const node of entry.nodes) this.queue(this.fact(node));
        return;
      case 'node.started':
        return this.started(this.fact(entry.node), entry);
      case 'node.completed':
        return this.completed(this.fact(entry.node), entry);
      case 'node.retrying':
        return this.retrying(this.fact(entry.node), entry);
      case 'node.returned':
        expect(this.isStopped(this.fact(entry.node))).toBe(false);
        expect(this.caused(this.fact(entry.node), 'returned')).toBeDefined();
        return this.enterQueue(this.fact(entry.node));
      case 'node.failed':
        return this.failed(this.fact(entry.node), entry);
      case 'node.unhandled':
        return this.unhandled(this.fact(entry.node), entry.handling);
      case 'node.skipped':
        for (const node of entry.nodes) {
          this.skipped(this.fact(node), entry.why);
          this.follow();
        }
        return;
      case 'node.cancelled':
        return this.cancelled(this.fact(entry.node));
      case 'node.unknown': {
        const fact = this.fact(entry.node);
        expect(isOnce(fact)).toBe(true);
        if (fact.status === 'unknown') {
          expect(this.stopping !== undefined && !fact.asCancelled, 'said once more where the run ends').toBe(true);
        } else {
          expect(this.caused(fact, 'broken-off', entry.error)).toBeDefined();
          fact.verified = false;
        }
        fact.status = 'unknown';
        if (this.stopping !== undefined) fact.asCancelled = true;
        return;
      }
      case 'node.settled':
        return this.settled(this.fact(entry.node), entry);
      case 'run.stopping':
        return this.stop(entry);
      case 'run.finished':
        return this.finished(entry);
      case 'run.reopened':
        return this.reopened(entry.nodes);
      default:
        expect.fail(`${entry.type} in a workflow of actions only`);
    }
  }

  private queue(fact: Fact): void {
    expect(fact.status, `${idOf(fact.index)} is scheduled once`).not.toBe('queued');
    this.expectReady(fact);
    this.enterQueue(fact);
  }

  private enterQueue(fact: Fact): void {
    fact.readyAt ??= this.now;
    fact.since = this.now;
    fact.status = 'queued';
  }

  private expectReady(fact: Fact): void {
    const id = idOf(fact.index);
    expect(this.isStopped(fact), `${id} is ready while the run is being stopped`).toBe(false);
    if (fact.status === 'queued') return;
    if (fact.status === 'waiting') return expect(fact.until, `${id} waits`).toBeLessThanOrEqual(this.now);
    if (fact.status === 'unknown') return expect(fact.mayRepeat, `${id} may be repeated`).toBe(true);
    expect(fact.status, `${id} has run`).toBe('pending');
    if (this.stopping !== undefined) expect(this.underWay(), `${id} is first in the finally`).toEqual([]);
    expect(this.join(fact), `join of ${id}`).toBe('satisfied');
    expect(fact.plan.enabled, `${id} is enabled`).toBe(true);
    expect(this.holds(fact.plan.when, this.into(fact.index)[0]?.from), `when of ${id}`).toBe(true);
  }

  private started(fact: Fact, entry: Extract<Entry, { type: 'node.started' }>): void {
    const id = idOf(fact.index);
    this.expectReady(fact);
    expect(this.running().length, `attempts under way with ${id}`).toBeLessThan(this.parallelism());
    expect(this.isLevel(fact), `level of ${id}`).toBe(true);
    expect(entry.attempt).toBe(fact.attempts + 1);
    expect(fact.plan.brokenParameters, `${id} has parameters`).toBe(false);
    expect(entry.input !== undefined, `${id} has its parameters with the first attempt only`).toBe(!fact.input);
    if (this.isOver(fact.readyAt, fact.plan.totalMs)) expect.fail(`${id} starts after its total limit`);
    fact.input = true;
    fact.readyAt ??= this.now;
    fact.attempts++;
    fact.since = this.now;
    fact.began = true;
    fact.status = 'running';
  }

  private completed(fact: Fact, entry: Extract<Entry, { type: 'node.completed' }>): void {
    const value = entry.output?.value ?? null;
    if (fact.how === 'happened') expect(value).toEqual({ v: 5 });
    else {
      const cause = this.caused(fact, 'completed');
      expect(cause).toBeDefined();
      expect(value).toEqual((cause as { value: unknown }).value);
    }
    fact.large = isLarge(value);
    fact.how = '';
    fact.status = 'completed';
  }

  private retrying(fact: Fact, { error, until }: Extract<Entry, { type: 'node.retrying' }>): void {
    const cause = this.caused(fact, 'failed', error) ?? this.caused(fact, 'broken-off', error);
    expect(cause).toBeDefined();
    if (cause?.status === 'broken-off') expect(isOnce(fact), 'nothing repeats a once attempt').toBe(false);
    // A cancel or settlement draws no jitter: then a jittered delay is the whole one.
    const delays = [this.step.jitter, 1].map((jitter) => this.delay(fact, error, jitter));
    expect(delays, `${idOf(fact.index)} may be retried after ${error.code}`).toContain(until - this.now);
    if (error.code === 'WORKER_LOST') fact.lost++;
    else fact.failures++;
    this.totalRetries++;
    fact.until = until;
    fact.status = 'waiting';
  }

  /** Undefined if there is no retry. */
  private delay(fact: Fact, error: RunError, jitter: number): number | undefined {
    const { retry } = fact.plan;
    if (this.isStopped(fact) || this.totalRetries >= (this.workflow.maxTotalRetries ?? 1e9)) return undefined;
    const isLost = error.code === 'WORKER_LOST';
    if (retry?.on !== undefined && !isLost && !retry.on.includes(error.code)) return undefined;
    if (error.code === 'TIMEOUT' && (error.details as { limit: string }).limit !== 'attempt') return undefined;
    const failures = 1 + (isLost ? fact.lost : fact.failures);
    const allowed = isLost ? (retry?.lost ?? 10) : (retry?.attempts ?? 1) - 1;
    if (failures > allowed) return undefined;
    const nth = isLost ? failures - 1 : failures;
    if (nth === 0) return 0;
    const { initialMs, multiplier, policy } = retry ?? { initialMs: 1_000, multiplier: 2, policy: 'exponential' };
    if (policy === 'fixed') return initialMs;
    const grown = Math.min(MAX_DELAY_MS, initialMs * multiplier ** (nth - 1));
    return Math.round(policy === 'exponential' ? grown : grown * jitter);
  }

  private failed(fact: Fact, entry: Extract<Entry, { type: 'node.failed' }>): void {
    const id = idOf(fact.index);
    const { error } = entry;
    expect(error.node).toBe(id);
    this.expectFailure(fact, error);
    const isOfEdge = fact.status === 'pending' && this.into(fact.index).some((one) => this.edge(one) === 'broken');
    const wasStopped = this.isStopped(fact) && fact.status !== 'pending';
    fact.status = 'failed';
    fact.error = error;
    fact.how = entry.handling;
    const legal = [this.handling(fact, error, wasStopped)];
    // An earlier failure is about to end the run, and this one, which follows from it, ends nothing.
    const isAfterFatal = this.facts.some((one) => one !== fact && one.how === 'fatal' && one.status === 'failed');
    if (isOfEdge && isAfterFatal && legal[0] === 'fatal') legal[0] = this.cleanup(fact);
    expect(legal, `handling of ${id}`).toContain(entry.handling);
    if (entry.handling === 'deferred') this.deferred ??= error;
  }

  private expectFailure(fact: Fact, error: RunError): void {
    const id = idOf(fact.index);
    if (error.code.startsWith('EXPRESSION_')) {
      const isEdge = fact.status === 'pending' && this.into(fact.index).some((one) => this.edge(one) === 'broken');
      if (isEdge) return;
      if (fact.plan.when === 'broken') return expect(this.join(fact)).toBe('satisfied');
      expect(fact.plan.brokenParameters, `${id} fails for a reason`).toBe(true);
      return this.expectReady(fact);
    }
    if (fact.status === 'unknown' && !fact.mayRepeat) return expect(fact.how).toBe('fail');
    if (fact.status === 'running') {
      const isBroken = this.caused(fact, 'broken-off', error) !== undefined;
      if (isBroken) expect(isOnce(fact) || this.isStopped(fact), `${id} was cut off`).toBe(false);
      else expect(this.caused(fact, 'failed', error), `${id} fails by ${error.code}`).toBeDefined();
      return expect(this.delay(fact, error, 1), `${id} is not retried`).toBeUndefined();
    }
    expect(error.code).toBe('TIMEOUT');
    const { limit } = error.details as { limit: string };
    expect(['queued', 'total']).toContain(limit);
    if (limit === 'queued') expect(fact.status === 'queued' && this.isOver(fact.since, fact.plan.queuedMs)).toBe(true);
    else expect(this.isOver(fact.readyAt, fact.plan.totalMs)).toBe(true);
    expect(this.isStopped(fact)).toBe(false);
  }

  private isOver(from: number | undefined, ms: number | undefined): boolean {
    return from !== undefined && ms !== undefined && from + ms <= this.now;
  }

  private handling(fact: Fact, error: RunError, wasStopped: boolean): string {
    const isHandled = this.outOf(fact.index).some((one) => {
      const isTaken = one.on === 'error' && matches(one, error) && this.condition(one) === true;
      return isTaken && !isPassedOver(this.facts[one.to] as Fact);
    });
    if (isHandled) return 'handled';
    if (fact.plan.onError === 'ignore') return 'ignored';
    return this.byPolicy(fact, wasStopped);
  }

  private byPolicy(fact: Fact, wasStopped: boolean): string {
    if (wasStopped) return this.workflow.onFailure === 'ignore' ? 'tolerated' : 'fatal';
    if (this.stopping !== undefined) return this.cleanup(fact);
    if (fact.plan.onError === 'halt' || this.workflow.onFailure === 'fail-fast') return 'fatal';
    return this.workflow.onFailure === 'finish-running' ? 'deferred' : 'tolerated';
  }

  /** The policy does not apply to the failure of a node with `halt`. */
  private cleanup({ plan }: Fact): string {
    return this.workflow.onFailure === 'ignore' && plan.onError !== 'halt' ? 'tolerated' : 'deferred';
  }

  /** All targets of its error edges were skipped. */
  private unhandled(fact: Fact, handling: string): void {
    expect(fact.how, `${idOf(fact.index)} was handled`).toBe('handled');
    const targets = this.outOf(fact.index)
      .filter((one) => one.on === 'error' && this.edge(one) === true)
      .map(({ to }) => this.facts[to] as Fact);
    expect(targets.length).toBeGreaterThan(0);
    expect(targets.every(isPassedOver), `what handles ${idOf(fact.index)}`).toBe(true);
    expect(handling).toBe(fact.plan.onError === 'ignore' ? 'ignored' : this.byPolicy(fact, false));
    fact.how = handling === 'ignored' ? 'left' : handling;
    if (handling !== 'deferred') return;
    this.deferred ??= fact.error;
    // Nodes that its always edges made ready wait for the finally now.
    for (const one of this.facts) {
      if (one.status === 'queued' && !one.began && this.join(one) === 'open')
        Object.assign(one, { status: 'pending', readyAt: undefined });
    }
  }

  /** The node does not begin any more, and is asked to stop if it runs. */
  private isStopped(fact: Fact): boolean {
    return this.stopping !== undefined && (!fact.cleans || this.stopping.isBare === true);
  }

  /** Nodes that must end before the finally begins. */
  private underWay(): Fact[] {
    return this.open().filter((f) => this.isStopped(f) && f.status !== 'pending' && f.status !== 'unknown');
  }

  /** Marks the targets of always edges. */
  private follow(): void {
    for (let isNews = true; isNews; ) {
      isNews = false;
      for (const fact of this.facts) {
        // A node that has begun ignores later edges: an always edge does not spare it any more.
        if (fact.cleans || fact.began || FINAL.includes(fact.status)) continue;
        fact.cleans = this.into(fact.index).some(
          (one) => this.edge(one) === true && (one.on === 'always' || (this.facts[one.from] as Fact).cleans),
        );
        isNews ||= fact.cleans;
      }
    }
  }

  private skipped(fact: Fact, why: string): void {
    const id = idOf(fact.index);
    if (this.stopping !== undefined) expect(this.underWay(), `${id} waits for its turn`).toEqual([]);
    expect(fact.status).toBe('pending');
    expect(this.join(fact), `join of ${id}`).toBe(why === 'dead' ? 'dead' : why === 'failure' ? 'lost' : 'satisfied');
    if (why === 'disabled') expect(fact.plan.enabled).toBe(false);
    if (why === 'when') {
      expect(fact.plan.enabled).toBe(true);
      expect(this.holds(fact.plan.when, this.into(fact.index)[0]?.from)).toBe(false);
    }
    if (why === 'when' || why === 'disabled') expect(this.isStopped(fact)).toBe(false);
    fact.how = why;
    fact.status = 'skipped';
  }

  private cancelled(fact: Fact): void {
    expect(this.isStopped(fact), 'cancelled one by one while stopping only').toBe(true);
    if (fact.status === 'unknown') expect(fact.mayRepeat).toBe(true);
    else if (fact.status === 'running') {
      const cause = this.caused(fact, 'returned') ?? this.caused(fact, 'broken-off');
      expect(cause).toBeDefined();
      if (cause?.status === 'broken-off') expect(isOnce(fact)).toBe(false);
    } else if (fact.status === 'pending') expect(this.join(fact)).toBe('satisfied');
    else expect(fact.began, 'what has not begun is cancelled without a word').toBe(true);
    fact.status = 'cancelled';
  }

  private settled(fact: Fact, entry: Extract<Entry, { type: 'node.settled' }>): void {
    expect(fact.status).toBe('unknown');
    const said = this.step.stimuli.flatMap((one) =>
      one.type === 'settle' && one.node === idOf(fact.index) && (one.attempt ?? fact.attempts) === fact.attempts
        ? [one.settlement]
        : [],
    );
    expect(
      said.some(({ happened, ...rest }) => {
        const outcome =
          happened === true ? 'happened' : happened === 'unknown' ? 'unknown' : 'then' in rest && rest.then;
        return outcome === entry.outcome;
      }),
    ).toBe(true);
    if (entry.outcome === 'unknown') fact.verified = true;
    else if (entry.outcome === 'retry') {
      fact.mayRepeat = true;
      if (entry.by === 'person') fact.readyAt = undefined;
    } else fact.how = entry.outcome;
  }

  private stop(entry: Extract<Entry, { type: 'run.stopping' }>): void {
    if (entry.finally === false) return this.skipFinally(entry);
    if (entry.cancelRequested === true) return this.noteCancel(entry);
    const { status, error } = entry;
    expect(this.stopping, 'stopped once').toBeUndefined();
    if (status === 'failed') {
      const fatal = this.facts.filter((fact) => fact.how === 'fatal' && fact.status === 'failed');
      expect(fatal.length).toBeLessThanOrEqual(1);
      expect(error).toEqual(fatal[0]?.error ?? this.deferred);
      if (fatal.length === 0) expect(this.isFinallyDue(), 'independent nodes finish first').toBe(true);
    } else if (status === 'timed-out') {
      expect(this.isOver(this.activeSince, this.workflow.timeoutMs)).toBe(true);
    } else {
      expect(status).toBe('cancelled');
      expect(this.step.stimuli.some((one) => one.type === 'cancel')).toBe(true);
    }
    this.follow();
    this.stopping = { status, error, since: this.now };
    const kept = this.mayClean();
    for (const fact of this.facts) {
      if (fact.began || FINAL.includes(fact.status) || fact.status === 'unknown') continue;
      if (fact.cleans || kept.has(fact.index)) Object.assign(fact, { status: 'pending', readyAt: undefined });
      else fact.status = 'cancelled';
    }
    for (const fact of this.running()) if (!fact.cleans) expect(this.step.aborted).toContain(idOf(fact.index));
  }

  /** The first cancel of a run that is ending for another reason. */
  private noteCancel({ status, error }: Extract<Entry, { type: 'run.stopping' }>): void {
    expect(this.step.stimuli.some((one) => one.type === 'cancel')).toBe(true);
    expect([status, error]).toEqual([this.stopping?.status, this.stopping?.error]);
    expect(status === 'cancelled' || this.stopping?.isCancelled === true, 'cancelled before').toBe(false);
    if (this.stopping !== undefined) this.stopping.isCancelled = true;
  }

  /** The second cancel. */
  private skipFinally({ status, error }: Extract<Entry, { type: 'run.stopping' }>): void {
    expect(this.step.stimuli.some((one) => one.type === 'cancel')).toBe(true);
    expect([status, error]).toEqual([this.stopping?.status, this.stopping?.error]);
    expect(status === 'cancelled' || this.stopping?.isCancelled === true, 'cancelled before').toBe(true);
    if (this.stopping !== undefined) Object.assign(this.stopping, { isBare: true, since: this.now });
    for (const fact of this.open()) if (!fact.began && fact.status !== 'unknown') fact.status = 'cancelled';
    for (const fact of this.running()) expect(this.step.aborted).toContain(idOf(fact.index));
  }

  /** Nodes that have not begun, and that an always edge out of a node under way, or a cleanup, may reach. */
  private mayClean(): Set<number> {
    const kept = new Set<number>();
    for (let before = -1; before !== kept.size; ) {
      before = kept.size;
      for (const { from, to, on } of this.workflow.edges) {
        const source = this.facts[from] as Fact;
        const isOpen = !FINAL.includes(source.status);
        const leads = kept.has(from) || source.cleans || (isOpen && source.began && on === 'always');
        if (leads && !(this.facts[to] as Fact).began && !FINAL.includes((this.facts[to] as Fact).status)) kept.add(to);
      }
    }
    return kept;
  }

  private finished(entry: Extract<Entry, { type: 'run.finished' }>): void {
    expect(this.running()).toEqual([]);
    if (this.stopping !== undefined) {
      expect(
        this.open().filter(({ status }) => status !== 'unknown'),
        'its finally is over',
      ).toEqual([]);
      expect(entry.status).toBe(this.stopping.status);
      expect(entry.error ?? null).toEqual(this.stopping.error);
    } else {
      expect(this.open()).toEqual([]);
      if (this.deferred !== undefined) expect(entry).toMatchObject({ status: 'failed', error: this.deferred });
      else if (this.workflow.output === 'broken') expect(entry.status).toBe('failed');
      else {
        expect(entry.status).toBe('completed');
        expect(Object.keys((entry.output?.value ?? {}) as object).sort()).toEqual(this.ends());
      }
    }
    for (const fact of this.open()) if (fact.status !== 'unknown') fact.status = 'cancelled';
    this.status = entry.status;
    this.error = entry.error;
    this.stopping = undefined;
  }

  private ends(): string[] {
    return this.facts
      .filter((fact) => fact.status === 'completed' && this.outOf(fact.index).length === 0)
      .map((fact) => idOf(fact.index))
      .sort();
  }

  private reopened(nodes: readonly string[]): void {
    expect(this.isFinished).toBe(true);
    const again = new Set(this.facts.filter((f) => isUnhandled(f) || f.status === 'cancelled'));
    for (let before = -1; before !== again.size; ) {
      before = again.size;
      for (const { from, to } of this.workflow.edges) {
        const target = this.facts[to] as Fact;
        if (again.has(this.facts[from] as Fact) && target.status === 'skipped') again.add(target);
      }
    }
    const cleaned = this.workflow.edges
      .filter(({ from, on }) => on === 'always' && again.has(this.facts[from] as Fact))
      .map(({ to }) => this.facts[to] as Fact)
      .filter(({ began, status }) => began && FINAL.includes(status));
    for (let fact = cleaned.pop(); fact !== undefined; fact = cleaned.pop()) {
      again.add(fact);
      for (const { to } of this.outOf(fact.index)) {
        const target = this.facts[to] as Fact;
        if (FINAL.includes(target.status)) cleaned.push(target);
      }
    }
    expect([...nodes].sort()).toEqual([...again].map((fact) => idOf(fact.index)).sort());
    for (const fact of again) Object.assign(fact, blank());
    for (const fact of this.facts) {
      fact.asCancelled = false;
      if (!FINAL.includes(fact.status) && !fact.began) fact.cleans = false;
    }
    this.follow();
    this.status = 'running';
    this.error = undefined;
    this.deferred = undefined;
    this.totalRetries = 0;
    this.activeSince = this.now;
  }

  /**
   * Returns whether an edge out of an ended node is taken, or dead by choice (false) or failure; undefined if it is
   * open.
   */
  private edge(one: RandomEdge): boolean | 'broken' | 'failure' | undefined {
    const from = this.facts[one.from] as Fact;
    const isForFailures = one.on === 'error' || one.on === 'always';
    const lost = isForFailures ? false : 'failure';
    if (from.asCancelled) return one.on === 'always' ? this.condition(one, 'cancelled') : lost;
    switch (from.status) {
      case 'completed':
        if (one.on === 'error' || (one.on === 'result' && !from.large)) return false;
        return this.condition(one);
      case 'failed':
        if (isForFailures && from.how !== 'ignored') {
          return matches(one, from.error as RunError) ? this.condition(one) : false;
        }
        if (from.how !== 'ignored') return lost;
        if (one.on === 'result') return false;
        if (one.on !== 'error') return this.condition(one);
        return matches(one, from.error as RunError) && this.condition(one) === 'broken' ? 'broken' : false;
      case 'skipped':
        if (from.how === 'failure') return lost;
        if (from.how !== 'disabled' || (one.on !== 'success' && one.on !== 'always')) return false;
        return this.condition(one);
      case 'cancelled':
        return one.on === 'always' && from.began ? this.condition(one) : lost;
      default:
        return undefined;
    }
  }

  private condition({ when, from }: RandomEdge, as?: Status): boolean | 'broken' {
    return this.holds(when, from, as);
  }

  private holds(condition: Condition | undefined, source: number | undefined, as?: Status): boolean | 'broken' {
    const from = as === undefined ? (this.facts[source ?? 0] as Fact) : { status: as, large: false };
    switch (condition) {
      case undefined:
      case 'true':
        return true;
      case 'false':
        return false;
      case 'broken':
        return 'broken';
      case 'source-completed':
      case 'upstream-success':
        return from.status === 'completed';
      case 'source-large':
        return from.status === 'completed' && from.large;
    }
  }

  /** Several edges from one node count as one, taken if any of them is. */
  private join(fact: Fact): 'open' | 'satisfied' | 'dead' | 'lost' {
    const sources = [...new Set(this.into(fact.index).map(({ from }) => from))];
    if (sources.length === 0) return 'satisfied';
    const verdicts = sources.map((from) => {
      const between = this.into(fact.index).filter((one) => one.from === from);
      const edges = between.map((one) => this.edge(one));
      if (edges.includes(true) && this.isHolding(this.facts[from] as Fact)) return undefined;
      return edges.find((one) => one === true) ?? edges.find((one) => one === 'failure') ?? edges[0];
    });
    const taken = verdicts.filter((one) => one === true).length;
    const isOpen = verdicts.includes(undefined);
    const isLost = verdicts.includes('failure');
    if (fact.plan.join === 'ended') return isOpen ? 'open' : 'satisfied';
    if (fact.plan.join === 'all') return isLost ? 'lost' : isOpen ? 'open' : taken > 0 ? 'satisfied' : 'dead';
    if (taken >= (fact.plan.join === 'any' ? 1 : fact.plan.join)) return 'satisfied';
    return isOpen ? 'open' : isLost ? 'lost' : 'dead';
  }

  private expectNothingLeft(): void {
    if (this.isFinished) {
      for (const { status } of this.facts) expect([...FINAL, 'unknown']).toContain(status);
      return;
    }
    expect(this.status).toBe('running');
    const due = this.nextTimer();
    if (due !== undefined) expect(due, 'no timer is overdue').toBeGreaterThan(this.now);
    if (this.stopping !== undefined) {
      const isLeft = ({ status }: Fact): boolean => status !== 'pending' && status !== 'unknown';
      expect(this.open().filter(isLeft).length, 'a stopped run ends').toBeGreaterThan(0);
      if (this.underWay().length > 0) return;
    }
    expect(this.open().length, 'a run in which all is done ends').toBeGreaterThan(0);
    const asked = this.step.stimuli.map(({ type }) => type);
    const isCancelled = this.stopping === undefined && asked.includes('cancel') && !asked.includes('retry');
    expect(isCancelled, 'cancel is heard').toBe(false);
    expect(this.isFinallyDue(), 'the finally begins').toBe(false);
    for (const fact of this.facts) this.expectSettled(fact);
    this.expectUrgentFirst();
  }

  /**
   * The nodes that started in this turn were as urgent as those that still wait; a failed start may have made others
   * ready late.
   */
  private expectUrgentFirst(): void {
    const { entries, isEager } = this.step;
    if (!isEager || this.workflow.mode !== 'parallel' || entries.some(({ type }) => type === 'node.failed')) return;
    const started = entries.flatMap((entry) => (entry.type === 'node.started' ? [this.fact(entry.node)] : []));
    const least = Math.min(...started.map(({ plan }) => plan.priority));
    for (const { status, plan, index } of this.facts) {
      if (status === 'queued') expect(plan.priority, `${idOf(index)} is more urgent`).toBeLessThanOrEqual(least);
    }
  }

  /** With finish-running: joins do not count the taken edges of the unhandled failure before the run ends. */
  private isHolding({ status, how }: Fact): boolean {
    return status === 'failed' && how === 'deferred' && this.stopping === undefined;
  }

  /** The node waits for the finally of an unhandled failure, and for nothing else. */
  private isHeld(fact: Fact): boolean {
    if (fact.status !== 'pending' || this.join(fact) !== 'open') return false;
    const sources = this.into(fact.index).map(({ from }) => this.facts[from] as Fact);
    return sources.every((source) => FINAL.includes(source.status) || this.isHeld(source));
  }

  /** Everything else has ended. */
  private isFinallyDue(): boolean {
    const open = this.open();
    return this.stopping === undefined && open.length > 0 && open.every((one) => this.isHeld(one));
  }

  private expectSettled(fact: Fact): void {
    const id = idOf(fact.index);
    if (fact.status === 'pending') {
      const isOpen = this.into(fact.index).some((one) => this.edge(one) === undefined);
      const join = this.join(fact);
      // In a finally: ready, but not reached by an always edge yet.
      if (join !== 'satisfied' || !this.isStopped(fact) || !isOpen) expect(join, `${id} is still pending`).toBe('open');
      // Edges after the last one that `any` or a number needs are ignored.
      const ignoresMore = join === 'satisfied' && fact.plan.join !== 'all' && fact.plan.join !== 'ended';
      const edges = ignoresMore ? [] : this.into(fact.index);
      for (const one of edges) expect(this.edge(one), `an edge into ${id}`).not.toBe('broken');
    }
    if (fact.status === 'queued' && this.step.isEager && this.isLevel(fact)) {
      const limit = Math.min(this.parallelism(), this.step.slots);
      expect(this.running().length, `${id} waits for a slot`).toBeGreaterThanOrEqual(limit);
    }
  }

  private caused(fact: Fact, status: Cause['status'], error?: RunError): Cause | undefined {
    if (fact.status !== 'running') return undefined;
    return this.causes.get(fact.index)?.find((cause) => {
      if (cause.status !== status) return false;
      if (error === undefined || !('error' in cause)) return true;
      return cause.error.code === error.code;
    });
  }

  private isLevel(fact: Fact): boolean {
    if (this.workflow.mode !== 'levels' || this.stopping !== undefined) return true;
    const level = this.levels[fact.index] as number;
    return this.open().every((one) => (this.levels[one.index] as number) >= level || this.isHeld(one));
  }

  private parallelism(): number {
    return this.workflow.mode === 'sequential' ? 1 : this.workflow.maxParallelism;
  }

  private open(): Fact[] {
    return this.facts.filter(({ status }) => !FINAL.includes(status));
  }

  private into(index: number): RandomEdge[] {
    return this.workflow.edges.filter(({ to }) => to === index);
  }

  private outOf(index: number): RandomEdge[] {
    return this.workflow.edges.filter(({ from }) => from === index);
  }

  private fact(id: string): Fact {
    return this.facts[Number(id.slice(1))] as Fact;
  }
}

function blank(): Omit<Fact, 'index' | 'plan' | 'attempts'> {
  return {
    status: 'pending',
    how: '',
    large: false,
    error: undefined,
    failures: 0,
    lost: 0,
    readyAt: undefined,
    since: 0,
    until: 0,
    verified: false,
    mayRepeat: false,
    input: false,
    began: false,
    cleans: false,
    asCancelled: false,
  };
}

/** A failure that is neither handled nor ignored. */
function isUnhandled({ status, how }: Fact): boolean {
  return status === 'failed' && ['deferred', 'tolerated', 'fatal'].includes(how);
}

/** Skipped, so the node handles no failure. */
function isPassedOver({ status, how }: Fact): boolean {
  return status === 'skipped' && how !== 'disabled';
}

function isOnce({ plan }: Fact): boolean {
  return plan.action === 'pay' || plan.action === 'check';
}

function isLarge(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { v: number }).v > 2;
}

function matches({ match }: RandomEdge, { code, kind }: RunError): boolean {
  return match === undefined || (match === 'code-A' ? code === 'A' : kind === 'SYSTEM');
}

function reports(stimulus: Stimulus, { index, attempts }: Fact): boolean {
  if (stimulus.type === 'ended') return stimulus.node === idOf(index) && stimulus.attempt === attempts;
  if (stimulus.type !== 'wake') return false;
  return stimulus.lost.some(({ node, attempt }) => node === idOf(index) && attempt === attempts);
}

function causeOf(outcome: Extract<Stimulus, { type: 'ended' }>['outcome']): Cause {
  switch (outcome.status) {
    case 'completed':
      return { status: 'completed', value: outcome.output.value ?? null };
    case 'returned':
      return outcome;
    default:
      return { status: outcome.status, error: outcome.error };
  }
}
