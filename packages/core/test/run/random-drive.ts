/**
 * Drives a random run through random events, as an engine with a queue and an unreliable world would. After every turn
 * the journal is folded again, a snapshot is written and read, and the oracle checks the turn.
 */
import { expect } from 'vitest';
import {
  type Action,
  compilePlan,
  createCatalog,
  type Entry,
  type Json,
  type Plan,
  type WorkflowDefinition,
} from '../../src/index.ts';
import type { ReadyNode } from '../../src/run/dispatch/dispatch.ts';
import {
  decide,
  decodeSnapshot,
  encodeSnapshot,
  explainNode,
  explainRun,
  foldFrames,
  inlineValue,
  isFinished,
  isParked,
  newRunState,
  newTurn,
  nextReady,
  type Outcome,
  openAttempts,
  type RunState,
  recallDispatched,
  runError,
  type Settlement,
  type Stimulus,
  seal,
  startAttempt,
  wakeTime,
} from '../../src/run.ts';
import { expectSame, testActions } from './drive.ts';
import { Oracle } from './random-oracle.ts';
import { definitionOf, type Happening, idOf, type RandomWorkflow } from './random-workflow.ts';
import { stateFacts } from './state-facts.ts';

const actions: readonly Action[] = [
  ...testActions,
  { id: 'check', version: '1', effect: 'once', run: (): Json => null, verify: () => ({ happened: 'unknown' }) },
];

const ID = 'exe_random';
const WORKER = 'wrk_random';
const RESYNC_MS = 1_000;
const JITTER = 0.5;

export interface DriveHabits {
  /** The slots of the imagined worker. */
  readonly slots: number;
  /** Tasks wait in the queue for a while, and arrive in any order. */
  readonly isLazy: boolean;
}

export class RandomDrive {
  readonly oracle: Oracle;
  private readonly plan: Plan;
  private readonly habits: DriveHabits;
  private state: RunState;
  private readonly frames: { seq: number; at: number; entries: Entry[] }[] = [];
  private queue: ReadyNode[] = [];
  private now = 1_000_000;
  /** Stimuli that wait for the others of their turn. */
  private deferred: Stimulus[] = [];
  /** The journal, folded as far as it was at the last step. */
  private readonly soFar: RunState;
  private draw = 0;

  constructor(workflow: RandomWorkflow, habits: DriveHabits) {
    const definition = { id: 'test', ...definitionOf(workflow) } as unknown as WorkflowDefinition;
    const { plan, problems } = compilePlan(definition, createCatalog(actions, {}));
    if (plan === undefined) throw new Error(problems.map(({ code, message }) => `${code} ${message}`).join('\n'));
    this.plan = plan;
    this.habits = habits;
    this.oracle = new Oracle(workflow);
    this.state = newRunState(plan, ID);
    this.soFar = newRunState(plan, ID);
    this.step([{ type: 'start', input: {}, trigger: null }]);
  }

  get entries(): Entry[] {
    return this.frames.flatMap((frame) => frame.entries);
  }

  happen({ kind, pick, value, joined }: Happening): void {
    this.draw = pick;
    if (kind === 'crash') return this.crash(value);
    if (kind === 'recall') return recallDispatched(this.state);
    if (kind === 'next-timer') this.now = Math.max(this.now, this.oracle.nextTimer() ?? this.now);
    if (kind === 'advance') this.now += [1, 300, 1_000, 2_500, 6_000, 60_000][value] as number;
    const stimulus = this.stimulus(kind, pick, value);
    if (stimulus === undefined) return;
    this.deferred.push(stimulus);
    if (!joined) this.flush();
  }

  flush(): void {
    if (this.deferred.length > 0) this.step(this.deferred.splice(0));
  }

  /** Everything is answered, time passes, unknown outcomes are settled: the run must end. */
  drain(): void {
    this.flush();
    for (let round = 0; !isFinished(this.state.phase.status); round++) {
      expect(round, 'the run ends').toBeLessThan(400);
      this.draw = round;
      const [open] = openAttempts(this.state);
      const [unknown] = [...this.state.unknown].filter(({ phase }) => phase.status === 'unknown');
      if (open !== undefined) this.step([this.ended(open.node, open.attempt, completed(round))]);
      else if (unknown !== undefined && round % 2 === 0) {
        this.step([this.settle(unknown.plan.id, { happened: true, output: { v: 5 } })]);
      } else {
        const at = wakeTime(this.state, this.now, RESYNC_MS);
        if (at === null) {
          expect(this.state.unknown.size, 'only an unknown outcome parks a run').toBeGreaterThan(0);
          continue;
        }
        this.now = Math.max(this.now, at);
        this.step([{ type: 'wake', lost: [], jitter: JITTER }]);
      }
    }
  }

  private stimulus(kind: Happening['kind'], pick: number, value: number): Stimulus | undefined {
    const open = openAttempts(this.state);
    const one = open[pick % open.length];
    switch (kind) {
      case 'complete':
        return one && this.ended(one.node, one.attempt, completed(value));
      case 'fail-user':
        return one && this.ended(one.node, one.attempt, failed(value < 3 ? 'A' : 'B', 'USER'));
      case 'fail-system':
        return one && this.ended(one.node, one.attempt, failed(value < 3 ? 'A' : 'B', 'SYSTEM'));
      case 'break-off':
        return one && this.ended(one.node, one.attempt, { ...failed('ABORTED', 'USER'), status: 'broken-off' });
      case 'hand-back':
        return one && this.ended(one.node, one.attempt, { status: 'returned' });
      case 'lose-worker':
        return { type: 'wake', lost: open.filter((_, index) => (index + pick) % 3 > 0), jitter: JITTER };
      case 'stale':
        return this.ended(idOf(pick % this.oracle.facts.length), value, completed(value));
      case 'cancel':
        return pick % 4 === 0 ? { type: 'cancel', reason: 'enough' } : undefined;
      case 'settle':
        return this.settlement(pick, value);
      case 'retry':
        return { type: 'retry' };
      default:
        return { type: 'wake', lost: [], jitter: JITTER };
    }
  }

  /** A settlement of an unknown node if there is one, else of any node: then it must change nothing. */
  private settlement(pick: number, value: number): Stimulus {
    const unknown = [...this.state.unknown];
    const node = unknown[pick % unknown.length]?.plan.id ?? idOf(pick % this.oracle.facts.length);
    const settlements: Settlement[] = [
      { happened: true, output: { v: 5 } },
      { happened: false, then: 'retry' },
      { happened: false, then: 'fail' },
      { happened: 'unknown' },
    ];
    const settlement = settlements[value % settlements.length] as Settlement;
    const stimulus = this.settle(node, settlement);
    if (value < 4 && settlement.happened !== 'unknown') return stimulus;
    // The finding of `verify` may be about an earlier attempt.
    const attempt = (this.oracle.facts[Number(node.slice(1))]?.attempts ?? 0) - (pick % 5 === 0 ? 1 : 0);
    return { ...stimulus, by: 'verify', attempt };
  }

  private settle(node: string, settlement: Settlement): Extract<Stimulus, { type: 'settle' }> {
    return { type: 'settle', node, by: 'person', settlement };
  }

  private ended(node: string, attempt: number, outcome: Outcome): Stimulus {
    return { type: 'ended', node, attempt, outcome, jitter: JITTER };
  }

  /** The process dies, or another one wrote: the state comes from the journal, or from a snapshot of it. */
  private crash(value: number): void {
    this.flush();
    const text = encodeSnapshot(this.state);
    this.state = value % 2 === 0 ? this.folded() : (decodeSnapshot(this.plan, ID, text) as RunState);
    if (value > 3) return;
    this.queue = [];
    this.step([{ type: 'wake', lost: openAttempts(this.state), jitter: JITTER }]);
  }

  private step(stimuli: readonly Stimulus[]): void {
    const turn = newTurn(this.state, this.now, () => null);
    for (const stimulus of stimuli) decide(turn, stimulus);
    this.enqueue();
    for (let task = this.poll(); task !== undefined; task = this.poll()) {
      if (startAttempt(turn, task.node, task.attempt, WORKER) === undefined || !this.habits.isLazy) this.enqueue();
    }
    seal(turn);
    const entries = JSON.parse(JSON.stringify(turn.entries)) as Entry[];
    if (entries.length > 0) this.frames.push({ seq: ++this.state.seq, at: this.now, entries });
    this.oracle.observe({
      stimuli,
      entries,
      aborted: turn.aborts.map(({ node }) => node),
      now: this.now,
      jitter: JITTER,
      isEager: !this.habits.isLazy,
      slots: this.habits.slots,
    });
    this.expectConsistent();
  }

  private enqueue(): void {
    for (const task of nextReady(this.state, this.habits.slots)) {
      if (this.queue.some(({ node, attempt }) => node === task.node && attempt === task.attempt)) continue;
      this.queue.push(task);
    }
  }

  private poll(): ReadyNode | undefined {
    if (openAttempts(this.state).length >= this.habits.slots) return undefined;
    if (!this.habits.isLazy) return this.queue.shift();
    this.draw = (this.draw * 7 + 3) % 1_009;
    if (this.draw % 3 === 0) return undefined;
    return this.queue.splice(this.draw % Math.max(1, this.queue.length), 1)[0];
  }

  private folded(): RunState {
    return foldFrames(newRunState(this.plan, ID), this.frames);
  }

  private expectConsistent(): void {
    const { state, oracle, now } = this;
    const facts = JSON.stringify(stateFacts(state));
    const wakeAt = wakeTime(state, now, RESYNC_MS);
    const restored = decodeSnapshot(this.plan, ID, encodeSnapshot(state)) as RunState;
    foldFrames(this.soFar, this.frames.slice(this.soFar.seq));
    for (const other of [this.soFar, restored]) {
      expectSame(JSON.stringify(stateFacts(other)), facts);
      expectSame(wakeTime(other, now, RESYNC_MS), wakeAt);
    }
    for (const { index, status } of oracle.facts) expectSame(state.root.nodes[index]?.phase.status, status);
    expectSame(state.root.nodes.length, oracle.facts.length);
    expectSame(state.phase.status, oracle.status);
    const error = runError(state);
    if (error !== null || oracle.error !== undefined) expect(error ?? undefined).toEqual(oracle.error);
    this.expectAwake(wakeAt);
    const explained = explainRun(state, now);
    expectSame(explained.reasons.length > 0, true, 'the run is explained');
    for (const { index } of oracle.facts) {
      const { reasons = [] } = explainNode(state, idOf(index), now) ?? {};
      expectSame(reasons.length > 0, true, 'the node is explained');
    }
  }

  private expectAwake(wakeAt: number | null): void {
    const { oracle, state, now } = this;
    const timer = oracle.nextTimer();
    if (timer !== undefined) expect(wakeAt ?? Number.POSITIVE_INFINITY, 'the next timer').toBeLessThanOrEqual(timer);
    if (oracle.isActive()) expect(wakeAt ?? Number.POSITIVE_INFINITY, 'resync').toBeLessThanOrEqual(now + RESYNC_MS);
    if (timer === undefined && !oracle.isActive()) expect(wakeAt, 'nothing to wake for').toBeNull();
    const parked = isParked(state, now);
    if (!oracle.isFinished && wakeAt === null) expect(parked, 'nothing moves it').toBe(true);
    if (oracle.isFinished || oracle.isActive()) expect(parked, 'something moves it').toBe(false);
  }
}

function completed(value: number): Outcome {
  return { status: 'completed', output: inlineValue(value % 6 === 5 ? null : { v: value % 6 }) };
}

function failed(code: string, kind: 'USER' | 'SYSTEM'): Extract<Outcome, { status: 'failed' }> {
  return { status: 'failed', error: { code, kind, message: `it is ${code}` } };
}
