/** Finds edges that do not handle failures although they seem to. */
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan } from '../plan/plan.ts';
import { edgePathOf, type Verification } from './verification.ts';

export function checkFailureEdges(verification: Verification, record: GraphRecord): void {
  for (const node of record.plan.nodes) checkErrorCases(verification, record, node);
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
