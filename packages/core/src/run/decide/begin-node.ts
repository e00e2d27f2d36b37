/** Nodes that need no worker: their work is decided at once, in the turn in which they begin. */

import { type RunError, unreachable } from '../../error.ts';
import { ExpressionError, isTrue } from '../../expression/index.ts';
import type { NodePath } from '../../ids.ts';
import { type BranchCase, type BranchWork, caseKeys, type SetWork, type TerminateWork } from '../../plan/plan.ts';
import { isJsonObject, type Json } from '../../value.ts';
import { requestChild } from '../composite/children.ts';
import { openGroup, openLoop, openOnce } from '../composite/composite.ts';
import { NULL_VALUE, resolveValue, type StoredValue } from '../journal/stored-value.ts';
import type { RunScope } from '../state/expression-scope.ts';
import { pathOf, stateIn } from '../state/selectors.ts';
import type { NodeState } from '../state/state.ts';
import { wait } from '../waits/waits.ts';
import { completeNode, failNode, stop } from './advance.ts';
import { evaluated } from './evaluate.ts';
import type { Turn } from './turn.ts';

export function beginNode(turn: Turn, node: NodeState): void {
  const { work } = node.plan;
  switch (work.kind) {
    case 'branch':
      return branch(turn, node, work);
    case 'set':
      return assign(turn, node, work);
    case 'terminate':
      return terminate(turn, node, work);
    case 'forEach':
    case 'while':
    case 'retryUntil':
      return openLoop(turn, node);
    case 'group':
      return openGroup(turn, node);
    case 'inline':
      return openOnce(turn, node, work);
    case 'merge':
      return merge(turn, node, work.of);
    case 'wait':
      return wait(turn, node, work);
    case 'child':
      return requestChild(turn, node, work);
    case 'action':
    case 'dynamic':
      throw new Error(`a node of kind ${work.kind} does not begin here`);
    default:
      return unreachable(work);
  }
}

function branch(turn: Turn, node: NodeState, work: BranchWork): void {
  const taken = evaluated(turn, node, 'branch', (scope) => decision(turn, node, work, scope));
  if (taken === undefined) return;
  const isCase = caseKeys(work);
  const dead = node.plan.outgoing.filter(({ key }) => isCase.has(key) && !taken.has(key)).map(({ key }) => key);
  const ids = node.plan.outgoing.filter(({ key }) => taken.has(key)).map(({ to }) => to.id);
  completeNode(turn, node, turn.store({ taken: ids }), { dead });
}

/** A value that lacks a member read by an expression fits no case and takes the default, if there is one. */
function decision(turn: Turn, node: NodeState, work: BranchWork, scope: RunScope): ReadonlySet<string> {
  try {
    return casesTaken(turn, node, work, scope);
  } catch (error) {
    if (error instanceof ExpressionError && error.isMissing && work.otherwise.length > 0)
      return new Set(work.otherwise);
    throw error;
  }
}

function casesTaken(turn: Turn, node: NodeState, work: BranchWork, scope: RunScope): Set<string> {
  const budget = turn.budgets.next();
  const subject = work.subject === undefined ? undefined : stateIn(node.scope, work.subject);
  const on = work.on?.evaluate(scope, budget) ?? resolveValue(subject?.output, turn.lookup);
  const error = subject?.phase.status === 'failed' ? subject.phase.error : null;
  const taken = new Set<string>();
  let isAny = false;
  for (const one of work.cases) {
    if (!fits(one, on, error)) continue;
    isAny = true;
    for (const key of one.to) taken.add(key);
    if (!work.many) break;
  }
  if (!isAny) for (const key of work.otherwise) taken.add(key);
  return taken;

  function fits(
    { equals, when, match, error: matchError }: BranchCase,
    value: Json,
    failure: RunError | null,
  ): boolean {
    if (equals !== undefined) return textOf(value) === equals;
    if (when !== undefined) return isTrue(when.evaluate(scope, budget));
    if (match !== undefined) return match.matches(value, budget);
    return failure !== null && (matchError?.matches(failure, budget) ?? true);
  }
}

/** Keys of cases are text, whatever the type of the value. */
function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function assign(turn: Turn, node: NodeState, { values }: SetWork): void {
  const assigned = evaluated(turn, node, 'set', (scope) =>
    Array.from(values, ([name, value]) => [name, value.evaluate(scope, turn.budgets.next())] as const),
  );
  if (assigned === undefined) return;
  const vars: Record<string, StoredValue> = Object.create(null);
  for (const [name, value] of assigned) vars[name] = turn.store(value);
  completeNode(turn, node, turn.store(Object.fromEntries(assigned)), { vars });
}

function terminate(turn: Turn, node: NodeState, { status, output, error }: TerminateWork): void {
  const given = output ?? error;
  const value = evaluated(turn, node, 'with', (scope) => given?.evaluate(scope, turn.budgets.next()) ?? null);
  if (value === undefined) return;
  // The run is already ending: in its finally, a terminate as failed counts as a cleanup that fails.
  if (status === 'failed' && turn.state.stopping !== null)
    return failNode(turn, node, terminationError(value, pathOf(node)));
  completeNode(turn, node, NULL_VALUE);
  if (status === 'completed') stop(turn, 'completed', null, { output: turn.store(value), from: node });
  else stop(turn, 'failed', terminationError(value, pathOf(node)), { from: node });
}

function terminationError(value: Json, node: NodePath): RunError {
  const given = isJsonObject(value) ? value : { message: value };
  const { code, message, details } = given;
  return {
    code: typeof code === 'string' ? code : 'TERMINATED',
    kind: 'USER',
    message: typeof message === 'string' ? message : 'The workflow ended itself as failed.',
    node,
    ...(details === undefined ? {} : { details }),
  };
}

/**
 * Completes with the output of the split, which has the results of its iterations, or fails with the failure of the
 * split.
 */
function merge(turn: Turn, node: NodeState, of: string): void {
  const split = node.scope.nodes[node.scope.graph.indexOf.get(of) ?? -1];
  if (split?.phase.status === 'failed' && split.phase.handling === 'handled')
    return failNode(turn, node, split.phase.error);
  completeNode(turn, node, turn.store({ aggregated: resolveValue(split?.output, turn.lookup) ?? [] }));
}
