/**
 * Nodes that run as executions of their own. The parent's journal has the child's id before the child exists, so a
 * second start has no effect. The child sends its result back as a message.
 */

import { assert, type RunError } from '../../error.ts';
import type { ExecutionId, NodePath } from '../../ids.ts';
import type { ChildWork } from '../../plan/plan.ts';
import { isJsonObject } from '../../value.ts';
import { completeNode, endCancelled, failAttempt, failNode } from '../decide/advance.ts';
import { evaluated, inputOf } from '../decide/evaluate.ts';
import type { ChildResult, Stimulus } from '../decide/stimulus.ts';
import { type ChildStart, emit, type Turn } from '../decide/turn.ts';
import { inlineValue, type StoredValue } from '../journal/stored-value.ts';
import { RunScope } from '../state/expression-scope.ts';
import { isStopped, nodeAt, pathOf } from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';
import { isToBeUndone } from '../undo/transactions.ts';

/** The limit on nested executions. */
const MAX_DEPTH = 32;

export function requestChild(turn: Turn, node: NodeState, work: ChildWork): void {
  const { state } = turn;
  const depth = (state.parent?.depth ?? 0) + 1;
  if (depth > MAX_DEPTH) return failNode(turn, node, tooDeep());
  const input = inputOf(turn, node, 'workflow.input', work.input);
  if (input === undefined) return;
  const attempt = node.attempts + 1;
  const again = node.child !== undefined;
  const executionId = node.child ?? turn.newId();
  const { workflowId, launchPlan, version, bound } = work;
  emit(turn, {
    type: 'child.requested',
    node: pathOf(node),
    attempt,
    executionId,
    ...(workflowId === undefined ? {} : { workflowId }),
    ...(launchPlan === undefined ? {} : { launchPlan }),
    ...(version === undefined ? {} : { version }),
    input: turn.store(input),
    ...(again && { again }),
  });
  const child = { executionId, workflowId, launchPlan, version, input, depth, attempt, again, bound };
  turn.children.push({ node: pathOf(node), ...child });
}

/** A child that was requested and has not ended. */
export interface OpenChild extends Omit<ChildStart, 'input'> {
  readonly input: StoredValue;
  /**
   * Set if the child must end because the parent's node ends. `compensate`: whether the child undoes its completed
   * nodes.
   */
  readonly stop: { readonly compensate: boolean } | null;
}

export function openChildren(state: RunState): OpenChild[] {
  return Array.from(state.children, (node) => openChildOf(state, node));
}

/** The child, if the node still waits for it. */
export function openChild(state: RunState, path: NodePath, executionId: ExecutionId): OpenChild | undefined {
  const node = nodeAt(state, path);
  if (node?.phase.status !== 'child' || node.phase.executionId !== executionId) return undefined;
  return openChildOf(state, node);
}

function openChildOf(state: RunState, node: NodeState): OpenChild {
  const { phase, plan } = node;
  assert(phase.status === 'child' && plan.work.kind === 'child', `'${pathOf(node)}' has a child`);
  const { workflowId, launchPlan, version, bound } = plan.work;
  const { executionId, attempt, again = false, stopping } = phase;
  const isOver = stopping !== undefined || isStopped(state, node);
  return {
    node: pathOf(node),
    executionId,
    workflowId,
    launchPlan,
    version,
    input: node.input ?? inlineValue({}),
    depth: (state.parent?.depth ?? 0) + 1,
    attempt,
    again,
    bound,
    stop: isOver ? { compensate: isToBeUndone(state, node) } : null,
  };
}

export function childEnded(turn: Turn, { node: path, executionId, result }: Stimulus & { type: 'child' }): void {
  const node = nodeAt(turn.state, path);
  if (node?.phase.status !== 'child' || node.phase.executionId !== executionId) return;
  const { work } = node.plan;
  if (result.status !== 'completed') {
    if (isStopped(turn.state, node)) return endCancelled(turn, node);
    const { stopping } = node.phase;
    if (stopping?.cancelled === true) return endCancelled(turn, node, stopping.error);
    return failAttempt(turn, node, stopping?.error ?? childError(result, executionId));
  }
  if (work.kind !== 'child' || work.output === undefined) return completeNode(turn, node, turn.store(result.output));
  const { output } = work;
  const mapped = evaluated(turn, node, 'workflow.output', () => {
    const iteration = { index: 0, output: result.output };
    const scope = RunScope.afterIteration(turn.state, node, turn.lookup, iteration).at(node, 'workflow.output');
    return turn.store(output.evaluate(scope, turn.budgets.next()));
  });
  if (mapped !== undefined) completeNode(turn, node, mapped);
}

/**
 * The error of a failed child. For a failure several executions below, the message names the root cause and its depth.
 */
function childError({ error, status, notStarted }: ChildResult, executionId: ExecutionId): RunError {
  if (notStarted && error !== null) return { ...error, details: { executionId, notStarted } };
  const cause = error ?? { code: 'CHILD_FAILED', kind: 'USER' as const, message: `It ended as ${status}.` };
  const { node, details, ...rest } = cause;
  const below = isJsonObject(details) && isJsonObject(details.cause) ? details : undefined;
  const { message = cause.message } = (below?.cause ?? {}) as { message?: string };
  const depth = 1 + (typeof below?.depth === 'number' ? below.depth : 0);
  const where = node === undefined ? '' : ` in '${node}'`;
  const how = depth === 1 ? '' : `, ${depth} executions below this one`;
  return {
    ...rest,
    message: `Execution ${executionId} ended as ${status}${where}${how}: ${message}`,
    details: {
      executionId,
      ...(node === undefined ? {} : { childNode: node }),
      depth,
      cause: below?.cause ?? { executionId, message, ...(details === undefined ? {} : { details }) },
    },
  };
}

function tooDeep(): RunError {
  return {
    code: 'NESTING_TOO_DEEP',
    kind: 'USER',
    message: `Executions are nested deeper than ${MAX_DEPTH}. Does the workflow start itself?`,
  };
}
