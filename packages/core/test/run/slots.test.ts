import { describe, expect, it } from 'vitest';
import { decide, NULL_VALUE, newRunState, newTurn, nextReady, recallDispatched, startAttempt } from '../../src/run.ts';
import { drive, planOf } from './drive.ts';

describe('slots', () => {
  it('[RUN-54] a recalled task that arrives nevertheless does not exceed maxParallelism', () => {
    const nodes = { a: {}, b: {}, urgent: { priority: 9, needs: ['first'] }, first: { priority: 8 } };
    const state = newRunState(planOf({ config: { maxParallelism: 2 }, nodes }), 'exe_1');
    const turn = newTurn(state, 1_000, () => null);
    decide(turn, { type: 'start', input: {}, trigger: null });
    const early = nextReady(state, 10);
    expect(early.map(({ node }) => node)).toEqual(['first', 'a']);
    startAttempt(turn, 'first', 1, 'w');
    const outcome = { status: 'completed', output: NULL_VALUE } as const;
    decide(turn, { type: 'ended', node: 'first', attempt: 1, outcome, jitter: 0 });
    recallDispatched(state);
    expect(nextReady(state, 10).map(({ node }) => node)).toEqual(['urgent', 'a']);
    recallDispatched(state);
    expect(nextReady(state, 1).map(({ node }) => node)).toEqual(['urgent']);
    const started = ['b', 'a', 'urgent'].filter((node) => startAttempt(turn, node, 1, 'w') !== undefined);
    expect(started).toEqual(['b', 'urgent']);
    expect(state.running.size).toBe(2);
  });

  it('[RUN-54] a task that was called back does not pass a level', () => {
    const nodes = { a: {}, b: {}, c: { needs: ['a'], join: 'any' } };
    const run = drive({ config: { mode: 'levels' }, nodes }).complete('a');
    const turn = newTurn(run.state, run.now, () => null);
    expect(startAttempt(turn, 'c', 1, 'w')).toBeUndefined();
  });

  it('[RUN-55] the abort of an attempt that the journal has closed is marked as over; that of one asked to stop is not', () => {
    const over = (run: ReturnType<typeof drive>, ms: number) => {
      const turn = newTurn(run.state, run.now + ms, () => null);
      decide(turn, { type: 'wake', lost: [], jitter: 0 });
      return turn.aborts.map(({ node, isOver }) => [node, isOver]);
    };
    expect(over(drive({ nodes: { a: { timeout: '1s' } } }), 2_000)).toEqual([['a', true]]);
    expect(over(drive({ config: { timeout: '1s' }, nodes: { a: {} } }), 1_000)).toEqual([['a', false]]);
    expect(over(drive({ nodes: { a: {} } }).cancel(), 5_000)).toEqual([['a', true]]);
  });
});
