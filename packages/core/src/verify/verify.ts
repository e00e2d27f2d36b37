/**
 * Finds valid but pointless constructs before anything runs. Every report is certain: a node that "can never run" never
 * runs. Anything uncertain is not reported.
 */

import type { WorkflowDefinition } from '../definition/model.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import type { GraphRecord } from '../plan/context.ts';
import { type GraphPlan, innerGraph, type NodePlan } from '../plan/plan.ts';
import type { Steps } from '../steps.ts';
import { checkDeadlocks } from './deadlocks.ts';
import { checkEffects } from './effects.ts';
import { checkGrants } from './grants.ts';
import { checkTimeLimits } from './limits.ts';
import { checkLoops } from './loops.ts';
import { checkReach } from './reach.ts';
import type { Reachability } from './reachability.ts';
import { checkTypes } from './type-mismatches.ts';
import { checkVariables } from './variables.ts';
import { edgePathOf, trustedScope, type Verification } from './verification.ts';
import { checkWaits } from './waiting.ts';

/** Requires a workflow without errors and all of its graphs. */
export function* verify(
  definition: WorkflowDefinition,
  graphs: readonly GraphRecord[],
  find: Verification['find'],
  problems: ProblemList,
): Steps<void> {
  const graphOf = new Map(graphs.map((record) => [record.scope, record]));
  const verification: Verification = { definition, graphs, graphOf, find, problems };
  const reachability = new Map<GraphRecord, Reachability>();
  for (const record of graphs) {
    const context = { scope: trustedScope(graphOf, record.scope), input: definition.input };
    reachability.set(record, yield* checkReach(verification, record, context));
    yield;
    for (const node of record.plan.nodes) checkErrorCases(verification, record, node);
    yield;
    yield* checkTypes(verification, record, context);
    yield;
    checkLoops(verification, record);
    yield;
    checkTimeLimits(verification, record);
    yield;
    yield* checkGrants(verification, record);
    yield;
    checkWaits(verification, record);
    yield;
    checkDeadlocks(verification, record);
  }
  yield;
  checkEffects(verification, reachability);
  yield;
  checkVariables(verification);
  checkFailureNode(verification);
  checkDefaultRetry(verification);
}

/** Reports error cases that are reached only through an always edge: the run fails in spite of them. */
function checkErrorCases(verification: Verification, record: GraphRecord, node: NodePlan): void {
  const { work } = node;
  if (work.kind !== 'branch' || !work.cases.some(({ error }) => error !== undefined)) return;
  const { subject } = work;
  if (subject === undefined || subject.onError === 'ignore') return;
  if (subject.outgoing.some(({ on }) => on === 'error')) return;
  const edge = node.incoming.find(({ on }) => on === 'always');
  if (edge === undefined) return;
  verification.problems.warning({
    code: 'ALWAYS_HANDLES_NOTHING',
    message: `the error cases of '${node.id}' do not handle a failure of '${subject.id}': after an always edge, the run still fails`,
    hint: `add { from: ${subject.id}, to: ${node.id}, on: error }, or set onError: ignore on '${subject.id}'`,
    path: edgePathOf(record, edge),
  });
}

/** Finds a failure node in a workflow that never fails. */
function checkFailureNode({ definition, graphs, problems }: Verification): void {
  const { failureNode, onFailure, timeout } = definition.config ?? {};
  const root = graphs.find(({ source }) => source.depth === 0 && source.outer === undefined)?.plan;
  if (failureNode === undefined || onFailure !== 'ignore' || timeout !== undefined || root === undefined) return;
  if ((root.output !== undefined && !root.output.constant) || canHalt(root)) return;
  problems.warning({
    code: 'NEVER_RUNS',
    message: `'${failureNode}' can never run: with onFailure: ignore the workflow does not fail`,
    hint: 'remove the failure node, or use another onFailure',
    path: ['config', 'failureNode'],
  });
}

/** Finds a default retry that no node has: it applies to action nodes and compensations. */
function checkDefaultRetry({ definition, graphs, problems }: Verification): void {
  if (definition.config?.retry === undefined) return;
  const nodes = graphs.flatMap(({ plan }) => plan.nodes);
  if (nodes.length === 0 || nodes.some(({ work, compensate }) => work.kind === 'action' || compensate !== undefined))
    return;
  const isReturned = nodes.some(({ work }) => work.kind === 'dynamic');
  problems.warning({
    code: 'UNUSED_RETRY',
    message: `config.retry applies to action nodes, and the workflow has none${isReturned ? ' besides those of returned graphs' : ''}`,
    hint: 'set retry on the nodes that should be tried again',
    path: ['config', 'retry'],
    at: 'key',
  });
}

/** Whether some node, at any depth, can fail the run regardless of the failure policy. */
function canHalt(graph: GraphPlan | undefined): boolean {
  return (graph?.nodes ?? []).some(
    ({ onError, work }) =>
      onError === 'halt' || work.kind === 'terminate' || work.kind === 'dynamic' || canHalt(innerGraph(work)),
  );
}
