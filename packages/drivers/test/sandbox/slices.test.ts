/**
 * A clock that moves with every look makes each value take as long as a large one. The action converts its input: an input
 * that is small, and that only the sandbox looks at, needs no look at the clock.
 */
import type { Action } from '@nebula/core';
import { makeInvocation } from '@nebula/ports/conformance';
import { describe, expect, test } from 'vitest';
import { realClock } from '../../src/real/index.ts';
import { createInProcessSandbox } from '../../src/sandbox-inprocess/index.ts';

const steps: string[] = [];
const action: Action = {
  id: 'test.action',
  version: '1',
  effect: 'pure',
  parseInput: (input) => input,
  run: () => {
    steps.push('run');
    return { done: true };
  },
};

function sandboxWith(stepMs: number, onTurn: () => void = () => {}) {
  let now = 0;
  steps.length = 0;
  const clock = {
    ...realClock,
    now: () => (now += stepMs),
    soon: (callback: () => void) => {
      steps.push('turn');
      onTurn();
      realClock.soon(callback);
    },
  };
  return createInProcessSandbox({ projectDir: process.cwd(), clock });
}

describe('large values', () => {
  test('[SBX-52] the event loop runs before the action and after it', async () => {
    expect(await sandboxWith(10).run(makeInvocation(action))).toEqual({ status: 'completed', output: { done: true } });
    expect(steps).toEqual(['turn', 'turn', 'run', 'turn', 'turn']);
    await sandboxWith(1).run(makeInvocation(action));
    expect(steps).toEqual(['run']);
  });

  test('[SBX-52] the event loop runs before an action without a conversion, if its input is large', async () => {
    const { parseInput: _, ...plain } = action;
    const input = Array.from({ length: 5_000 }, () => 0);
    expect(await sandboxWith(10).run(makeInvocation(plain, { input }))).toMatchObject({ status: 'completed' });
    expect(steps.indexOf('run')).toBeGreaterThan(1);
  });

  test('[SBX-52] an attempt that is aborted before its action runs has not started', async () => {
    const controller = new AbortController();
    const sandbox = sandboxWith(10, () => controller.abort(new Error('stop')));
    const outcome = await sandbox.run(makeInvocation(action, { signal: controller.signal }));
    expect(outcome).toMatchObject({ status: 'aborted', error: { details: { started: false } } });
    expect(steps).toEqual(['turn', 'turn']);
  });
});
