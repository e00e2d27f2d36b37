/** A run in the core alone, without engine, store or clock: every ready node begins at once. */
import { compilePlan, createCatalog, type Json, type RunError, type WorkflowDefinition } from '@nebula/core';
import {
  decide,
  documentOf,
  inlineValue,
  newRunState,
  newTurn,
  nextReady,
  openAttempts,
  type RunState,
  resumeTurn,
  type Stimulus,
  seal,
  startAttempt,
} from '@nebula/core/run';
import type { WorkflowKeys } from './interpreter.ts';

const CATALOG = createCatalog([{ id: 'do', version: '1', effect: 'idempotent', run: () => null }], {});
const SLOTS = 1_000;
const JITTER = 0.5;

export class CoreRun {
  private readonly state: RunState;
  private readonly attempts = new Map<string, number>();
  private readonly isSuspended: boolean;
  private now = 1_000_000;

  /** `isSuspended`: every turn is suspended after each of its steps. */
  constructor(definition: WorkflowKeys, input: Json, isSuspended = false) {
    this.isSuspended = isSuspended;
    const { plan, problems } = compilePlan({ id: 'test', ...definition } as unknown as WorkflowDefinition, CATALOG);
    if (plan === undefined) throw new Error(problems.map(({ code, message }) => `${code} ${message}`).join('\n'));
    this.state = newRunState(plan, 'exe_test');
    this.step({ type: 'start', input, trigger: { type: 'manual' } });
  }

  get status(): string {
    return this.state.phase.status;
  }

  running(): string[] {
    return openAttempts(this.state).map(({ node }) => node);
  }

  statuses(): Record<string, string> {
    const { nodes } = documentOf(this.state, () => null);
    return Object.fromEntries(Object.entries(nodes).map(([path, { status }]) => [path, status]));
  }

  complete(node: string, output: Json): void {
    this.ended(node, { status: 'completed', output: inlineValue(output) });
  }

  fail(node: string, error: RunError): void {
    this.ended(node, { status: 'failed', error });
  }

  breakOff(node: string): void {
    this.ended(node, { status: 'broken-off', error: { code: 'ABORTED', kind: 'USER', message: 'aborted' } });
  }

  loseWorker(): void {
    this.step({ type: 'wake', lost: openAttempts(this.state), jitter: JITTER });
  }

  advance(ms: number): void {
    this.now += ms;
    this.step({ type: 'wake', lost: [], jitter: JITTER });
  }

  cancel(): void {
    this.step({ type: 'cancel', reason: 'because' });
  }

  private ended(node: string, outcome: Extract<Stimulus, { type: 'ended' }>['outcome']): void {
    const attempt = this.attempts.get(node);
    if (attempt === undefined) throw new Error(`'${node}' was never started`);
    this.step({ type: 'ended', node, attempt, outcome, jitter: JITTER });
  }

  private step(stimulus: Stimulus): void {
    const turn = newTurn(
      this.state,
      this.now,
      () => null,
      () => 'exe_child',
    );
    turn.mustPause = () => this.isSuspended;
    decide(turn, stimulus);
    while (turn.isSuspended) resumeTurn(turn);
    for (let ready = nextReady(this.state, SLOTS); ready.length > 0; ready = nextReady(this.state, SLOTS)) {
      for (const { node, attempt } of ready) {
        const started = startAttempt(turn, node, attempt, 'wrk_test');
        if (started !== undefined) this.attempts.set(node, started.attempt);
        while (turn.isSuspended) resumeTurn(turn);
      }
    }
    seal(turn);
    if (turn.entries.length > 0) this.state.seq++;
  }
}
