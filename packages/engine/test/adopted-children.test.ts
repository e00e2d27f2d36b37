import { compilePlan, createCatalog, type WorkflowDefinition } from '@nebula/core';
import { foldFrames, NULL_VALUE, newRunState } from '@nebula/core/run';
import { expect, it } from 'vitest';
import { Children } from '../src/start/children.ts';
import { LiveRun } from '../src/turn/live-run.ts';

const definition = {
  id: 'parent',
  nodes: { one: { workflow: { id: 'kid', mode: 'child' } }, two: { workflow: { id: 'kid', mode: 'child' } } },
} as unknown as WorkflowDefinition;

it('[ENG-295] a child that only a draft names is not started when the search for missing children is repeated', async () => {
  const { plan } = compilePlan(definition, createCatalog([]));
  if (plan === undefined) throw new Error('the definition does not compile');
  const state = newRunState(plan, 'exe_parent');
  const start = {
    type: 'run.started',
    format: 1,
    workflowId: 'parent',
    version: 1,
    input: NULL_VALUE,
    trigger: null,
  } as const;
  const child = { type: 'child.requested', attempt: 1, workflowId: 'kid', input: NULL_VALUE } as const;
  foldFrames(state, [{ seq: 1, at: 1, entries: [start, { ...child, node: 'one', executionId: 'exe_one' }] }]);
  const run = new LiveRun(state, 'idle', 'default');
  const journal = newRunState(plan, 'exe_parent');
  foldFrames(journal, [{ seq: 1, at: 1, entries: [start, { ...child, node: 'one', executionId: 'exe_one' }] }]);

  let isReachable = false;
  const started: string[] = [];
  const context = {
    store: {
      known: async () => {
        if (!isReachable) throw new Error('the store does not answer');
        return new Set();
      },
    },
    values: { read: async () => null },
    selection: { include: () => undefined },
    tracing: { ofAttempt: () => undefined },
    lifecycle: { isOpen: true },
    effects: { released: () => undefined, trouble: () => undefined },
  };
  const starts = {
    start: async (_workflow: string, _version: number, { executionId }: { executionId: string }) => {
      started.push(executionId);
    },
  };
  const executions = { loaded: async () => ({ state: journal, inbox: [] }) };
  const children = new Children(context as never, { starts, executions, launchPlan: undefined } as never);
  Object.assign(children, { cancelUnlessWanted: async () => undefined });

  const adopt = children.adoption(run);
  await expect(adopt()).rejects.toThrow('does not answer');
  // A draft of the run names another child. Its frame is not durable.
  foldFrames(state, [{ seq: 2, at: 2, entries: [{ ...child, node: 'two', executionId: 'exe_two' }] }]);
  isReachable = true;
  await adopt();
  await new Promise((resolve) => setImmediate(resolve));
  expect(started).toEqual(['exe_one']);
});
