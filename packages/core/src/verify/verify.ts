/**
 * Finds valid but pointless constructs before anything runs. Every report is certain: a node that "can never run" never
 * runs. Anything uncertain is not reported.
 */
import type { WorkflowDefinition } from '../definition/model.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { Steps } from '../steps.ts';
import { checkDeadlocks } from './deadlocks.ts';
import { checkEffects } from './effects.ts';
import { checkFailureEdges } from './failure-edges.ts';
import { checkFailureNode } from './failure-node.ts';
import { checkGrants } from './grants.ts';
import { checkTimeLimits } from './limits.ts';
import { checkLoops } from './loops.ts';
import { checkReach } from './reach.ts';
import { checkTypes } from './type-mismatches.ts';
import { checkVariables } from './variables.ts';
import { trustedScope, type Verification } from './verification.ts';
import { checkWaits } from './waiting.ts';
import type { Ways } from './ways.ts';

/** Requires a workflow without errors and all of its graphs. */
export function* verify(
  definition: WorkflowDefinition,
  graphs: readonly GraphRecord[],
  find: Verification['find'],
  problems: ProblemList,
): Steps<void> {
  const graphOf = new Map(graphs.map((record) => [record.scope, record]));
  const verification: Verification = { definition, graphs, graphOf, find, problems };
  const ways = new Map<GraphRecord, Ways>();
  for (const record of graphs) {
    const place = { scope: trustedScope(graphOf, record.scope), input: definition.input };
    ways.set(record, yield* checkReach(verification, record, place));
    yield;
    checkFailureEdges(verification, record);
    yield;
    yield* checkTypes(verification, record, place);
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
  checkEffects(verification, ways);
  yield;
  checkVariables(verification);
  checkFailureNode(verification);
}
