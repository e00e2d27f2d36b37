import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ExecutionId, NodePath, WorkflowId } from '../src/index.ts';
import { isLeaseId, type LeaseId, type NodeState, nodeAt, pathOf, type RunState } from '../src/run.ts';

describe('ids', () => {
  it('of one kind are not accepted for another kind', () => {
    const check = (state: RunState, node: NodeState, executionId: ExecutionId, workflowId: WorkflowId) => {
      const path = pathOf(node);
      nodeAt(state, path);
      // @ts-expect-error an execution is not a node
      nodeAt(state, executionId);
      // @ts-expect-error a workflow is not a node
      nodeAt(state, workflowId);
      // @ts-expect-error a run is not a node, wherever its id comes from
      nodeAt(state, state.executionId);
      // @ts-expect-error a node is not an execution
      executionId = path;
      // @ts-expect-error a workflow is not an execution
      executionId = workflowId;
      // @ts-expect-error they are never equal
      return executionId === path;
    };
    expectTypeOf(check).parameter(2).toExtend<string>();
    expectTypeOf<NodePath>().not.toExtend<ExecutionId>();
    expectTypeOf<ExecutionId>().not.toExtend<WorkflowId>();
    expectTypeOf<LeaseId>().not.toExtend<ExecutionId>();
  });

  it('are texts for everybody else', () => {
    const text: string = 'exe_1' satisfies ExecutionId;
    const id: ExecutionId = text;
    expectTypeOf(id).toExtend<string>();
    expect(JSON.stringify({ id })).toBe('{"id":"exe_1"}');
  });

  it('of a lease come from a check', () => {
    const text: string = 'lse_1~30000.exe_1.1.a';
    // @ts-expect-error a text that was not checked
    const unchecked: LeaseId = text;
    expect(isLeaseId(unchecked)).toBe(true);
    expect(isLeaseId('exe_1')).toBe(false);
  });
});
