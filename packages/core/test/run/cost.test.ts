/** Costs that grow with the number of nodes, iterations or retries, and no faster. */
import { describe, expect, it } from 'vitest';
import type { RunError } from '../../src/index.ts';
import { evolve } from '../../src/run/evolve/evolve.ts';
import {
  blobsToDecide,
  decide,
  NULL_VALUE,
  newRunState,
  newTurn,
  nextReady,
  type RunState,
  seal,
  startAttempt,
  wakeTime,
} from '../../src/run.ts';
import { drive, planOf } from './drive.ts';

describe('cost', () => {
  it('[RUN-75] timers of an endless run do not pile up', () => {
    const plan = planOf({
      config: { timeout: '365d' },
      nodes: { a: { timeout: { attempt: '1d', total: '300d' }, retry: { attempts: 1_000_000, delay: '1s' } } },
    });
    const state = newRunState(plan, 'exe_1');
    const error: RunError = { code: 'X', kind: 'USER', message: 'x' };
    const at = (now: number, ...stimuli: Parameters<typeof decide>[1][]): void => {
      const turn = newTurn(state, now, () => null);
      for (const stimulus of stimuli) decide(turn, stimulus);
      for (const { node, attempt } of nextReady(state, 1)) startAttempt(turn, node, attempt, 'w');
      seal(turn);
    };
    at(0, { type: 'start', input: {}, trigger: null });
    for (let attempt = 1; attempt <= 5_000; attempt++) {
      const now = attempt * 1_000;
      at(now, { type: 'ended', node: 'a', attempt, outcome: { status: 'failed', error }, jitter: 0 });
      at(now + 1_000, { type: 'wake', lost: [], jitter: 0 });
    }
    expect(state.timers.size).toBeLessThan(2_000);
    expect(wakeTime(state, 5_001_000, 1e12)).toBe(5_001_000 + 86_400_000 + 1_000);
  });

  it('[RUN-69] the edges out of one node are decided in time that grows with their number', () => {
    const count = 20_000;
    const nodes: Record<string, Record<string, unknown>> = { a: {} };
    for (let n = 0; n < count; n++) nodes[`n${n}`] = {};
    const edges = Array.from({ length: count }, (_, n) => ({ from: 'a', to: `n${n}`, when: 'false' }));
    const state = newRunState(planOf({ nodes, edges }), 'exe_1');
    const turn = newTurn(state, 1, () => null);
    decide(turn, { type: 'start', input: {}, trigger: null });
    nextReady(state, 1);
    startAttempt(turn, 'a', 1, 'w');
    // The journal's list of dead edges, watched: looking through it for every edge would be 20,000 × 20,000.
    let looks = 0;
    const { includes } = Array.prototype;
    Array.prototype.includes = function (...args) {
      if (this.length > 1_000) looks++;
      return includes.apply(this, args);
    };
    try {
      const outcome = { status: 'completed', output: NULL_VALUE } as const;
      decide(turn, { type: 'ended', node: 'a', attempt: 1, outcome, jitter: 0 });
    } finally {
      Array.prototype.includes = includes;
    }
    expect(state.phase.status).toBe('completed');
    expect(looks).toBe(0);
  });

  it('[RUN-93] looking for large values that an end will need stays near it', () => {
    const nodes: Record<string, Record<string, unknown>> = {};
    for (let n = 0; n < 1_000; n++) nodes[`n${n}`] = n === 0 ? {} : { needs: [`n${n - 1}`] };
    const run = drive({ nodes }, { input: 'x' });
    let looks = 0;
    for (const node of run.plan.root.nodes) {
      const { outgoing } = node;
      Object.defineProperty(node, 'outgoing', { get: () => ++looks && outgoing });
    }
    const outcome = { status: 'completed', output: NULL_VALUE } as const;
    blobsToDecide(run.state, [{ type: 'ended', node: 'n0', attempt: 1, outcome, jitter: 0 }]);
    expect(looks).toBeLessThan(200);
  });

  it('[RUN-145] undone nodes are found in time that grows with the number of nodes', () => {
    const count = 3_000;
    const undo = { compensate: { action: 'look@1', with: {} } };
    const nodes: Record<string, Record<string, unknown>> = {};
    for (let n = 0; n < count; n++) nodes[`n${n}`] = n === 0 ? undo : { needs: [`n${n - 1}`], ...undo };
    const run = drive({ nodes }, { foldEvery: Number.POSITIVE_INFINITY });
    for (let n = 0; n < count - 1; n++) run.complete(`n${n}`);
    run.fail(`n${count - 1}`);
    for (let n = count - 2; n >= 0; n--) run.complete(`~undo/n${n}`);
    expect(run.retry().running()).toEqual(['n0']);
  });

  it('[RUN-145] 150,000 things that were undone are noted', () => {
    const { state } = drive({ nodes: { a: {} } });
    const undone = Array.from({ length: 150_000 }, (_, at) => ({ path: `p${at}` }));
    // Set by hand: running and undoing them one by one would take long.
    state.root.undoing = {
      undoItems: undone,
      nodes: undone.map(() => ({ phase: { status: 'completed' } })),
    } as unknown as RunState['root'];
    evolve(state, { type: 'run.finished', status: 'failed' }, 0);
    expect(state.undone).toHaveLength(undone.length);
  });
});
