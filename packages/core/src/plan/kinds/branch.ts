/** Compiles branches: which case takes which edges. */
import type { BranchDefinition, CaseDefinition, EdgeDefinition } from '../../definition/model.ts';
import { edgesAt } from '../../graph/index.ts';
import type { DocumentPath } from '../../problem.ts';
import { isJsonObject } from '../../value.ts';
import type { NodeReader } from '../node-reader.ts';
import type { BranchCase, BranchWork, Mutable, NodePlan } from '../plan.ts';

/** `linkSubject` sets the subject when all nodes exist. */
export function branchWork(
  reader: NodeReader,
  branch: BranchDefinition,
  edges: readonly EdgeDefinition[],
): Mutable<BranchWork> {
  const targetsOf = edgeKeys(reader);
  const { cases } = branch;
  return {
    kind: 'branch',
    on: reader.condition(branch.on, ['branch', 'on']),
    subject: undefined,
    cases: Array.isArray(cases)
      ? (cases as readonly CaseDefinition[]).map((one, index) => ({
          ...caseTest(reader, one, ['branch', 'cases', index], branch, edges),
          to: targetsOf(one.to),
        }))
      : Object.entries(isJsonObject(cases) ? cases : {}).map(([value, to]) => ({ equals: value, to: targetsOf(to) })),
    otherwise: targetsOf(branch.default),
    many: branch.many ?? false,
  };
}

/** The edge of a case is the first edge to its target, so its key is the target's id. */
function edgeKeys(reader: NodeReader): (targets: unknown) => readonly string[] {
  const { graph } = reader.parts.scope;
  const leads = new Set<string>();
  for (const edge of edgesAt(graph.outgoing, reader.parts.index))
    leads.add(graph.ids[graph.edgeTo[edge] as number] ?? '');
  return (targets) => {
    const ids = Array.isArray(targets) ? targets : [targets];
    return [...new Set(ids.filter((id) => leads.has(id)))];
  };
}

function caseTest(
  reader: NodeReader,
  one: CaseDefinition,
  keys: DocumentPath,
  branch: BranchDefinition,
  edges: readonly EdgeDefinition[],
): Omit<BranchCase, 'to'> {
  const { values } = reader.parts.context;
  const path = [...reader.parts.path, ...keys];
  if (one.error !== undefined) {
    const error = values.errorMatcher(one.error, [...path, 'error']);
    checkErrorReaches(reader, [...keys, 'error'], edges);
    return error ? { error } : {};
  }
  if (one.match !== undefined) {
    const match = values.matcher(one.match, [...path, 'match']);
    if (branch.on === undefined) readSubject(reader, [...keys, 'match'], 'match');
    return match ? { match } : {};
  }
  const when = reader.condition(one.when, [...keys, 'when']);
  return when ? { when } : {};
}

/** The only predecessor of the branch, whose output or error the cases test. */
function readSubject(reader: NodeReader, keys: DocumentPath, test: string): number | undefined {
  const { index, context } = reader.parts;
  const before = predecessors(reader);
  const [only] = before;
  if (only !== undefined && before.length === 1) {
    reader.addRead({ up: 0, index: only });
    return only;
  }
  if (!context.isGraphWhole) return undefined;
  const id = reader.parts.scope.graph.ids[index];
  const message = `'${test}' tests the only predecessor of '${id}', which has ${before.length === 0 ? 'none' : `${before.length} of them`}`;
  const hint = test === 'match' ? "set the value to test with 'on'" : 'let exactly one node lead to the branch';
  reader.error('NO_SUBJECT', message, hint, keys, 'key');
  return undefined;
}

function predecessors(reader: NodeReader): number[] {
  const { graph } = reader.parts.scope;
  return [...new Set([...edgesAt(graph.incoming, reader.parts.index)].map((edge) => graph.edgeFrom[edge] as number))];
}

function checkErrorReaches(reader: NodeReader, keys: DocumentPath, edges: readonly EdgeDefinition[]): void {
  const subject = readSubject(reader, keys, 'error');
  if (subject === undefined) return;
  const { index, scope } = reader.parts;
  const { graph } = scope;
  const takesErrors = [...edgesAt(graph.incoming, index)].some((edge) => {
    const origin = graph.edgeOrigin[edge] as number;
    const on = origin < 0 ? undefined : edges[origin]?.on;
    return on === 'error' || on === 'always';
  });
  if (takesErrors || reader.parts.ignoresErrors(subject)) return;
  const [from, to] = [graph.ids[subject], graph.ids[index]];
  const message = `'${to}' never runs when '${from}' fails, so no error can match`;
  reader.error('NO_ERROR_EDGE', message, `add an edge { from: ${from}, to: ${to}, on: always }`, keys, 'key');
}

/** Runs once all nodes exist. */
export function linkSubject(work: Mutable<BranchWork>, incoming: readonly { readonly from: NodePlan }[]): void {
  const [first] = incoming;
  if (first !== undefined && incoming.every(({ from }) => from === first.from)) work.subject = first.from;
}
