/** Edges and joins that do not do after a failure what they seem to be for. */
import type { GraphRecord } from '../plan/context.ts';
import type { EdgePlan, NodePlan } from '../plan/plan.ts';
import { edgePathOf, nodePath, type Verification } from './verification.ts';
import type { Ways } from './ways.ts';

export function checkFailureEdges(verification: Verification, record: GraphRecord, ways: Ways): void {
  for (const node of record.plan.nodes) {
    checkJoin(verification, record, node, ways);
    checkErrorCases(verification, record, node);
  }
}

/** `needs: [try, fallback]` with `join: all`: after the failure that the one is for, the other bars the node. */
function checkJoin(verification: Verification, record: GraphRecord, node: NodePlan, ways: Ways): void {
  if (node.join !== 'all' || node.sources < 2) return;
  const sources = new Set(node.incoming.map(({ from }) => from));
  for (const tried of sources) {
    if (tried.onError === 'ignore' || takesFailureOf(node, tried)) continue;
    const fallback = [...sources].find((source) => source !== tried && ways.needsFailure(source, tried));
    if (fallback === undefined) continue;
    verification.problems.warning({
      code: 'JOIN_AFTER_FAILURE',
      message: `'${node.id}' is skipped when '${tried.id}' fails, although '${fallback.id}' runs only then: join: all tolerates no failed step`,
      hint: `to go on after whichever worked, write join: any; else remove '${fallback.id}' from what it waits for`,
      path: nodePath(record, node),
      at: 'key',
    });
    return;
  }
}

/** An edge from the one to the other is taken when it fails. */
function takesFailureOf(node: NodePlan, source: NodePlan): boolean {
  return node.incoming.some(({ from, on }) => from === source && (on === 'error' || on === 'always'));
}

/** Cases for errors that only an always edge brings: the run fails in spite of them. */
function checkErrorCases(verification: Verification, record: GraphRecord, node: NodePlan): void {
  const { work } = node;
  if (work.kind !== 'branch' || !work.cases.some(({ error }) => error !== undefined)) return;
  const { subject } = work;
  if (subject === undefined || subject.onError === 'ignore') return;
  if (subject.outgoing.some(({ on }) => on === 'error')) return;
  const edge = node.incoming.find(({ on }) => on === 'always') as EdgePlan | undefined;
  if (edge === undefined) return;
  verification.problems.warning({
    code: 'ALWAYS_HANDLES_NOTHING',
    message: `the cases of '${node.id}' for errors do not handle a failure of '${subject.id}': an edge on always leaves the run failed`,
    hint: `add { from: ${subject.id}, to: ${node.id}, on: error }, or write onError: ignore at '${subject.id}'`,
    path: edgePathOf(record, edge),
  });
}
