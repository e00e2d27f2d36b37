/** Branches: which case leads along which edges. */

import type { BranchDefinition, CaseDefinition, EdgeDefinition } from '../../definition/model.ts';
import { edgesAt, predecessorsOf } from '../../graph/index.ts';
import type { DocumentPath } from '../../problem.ts';
import type { Steps } from '../../steps.ts';
import type { NodeReader } from '../node-reader.ts';
import type { BranchCase, BranchWork, Mutable, NodePlan } from '../plan.ts';

/** Cases by value that are compiled between two yields: a microsecond each. One with a test may have a pattern. */
const CASES_PER_STEP = 16;

/** `linkSubject` sets the subject when all nodes exist. */
export function* branchWork(
  reader: NodeReader,
  branch: BranchDefinition,
  edges: readonly EdgeDefinition[],
): Steps<Mutable<BranchWork>> {
  const targetsOf = edgeKeys(reader);
  const on = reader.condition(branch.on, ['branch', 'on']);
  const tests = new CaseTests(reader, branch, edges);
  const cases: BranchCase[] = [];
  const { cases: given } = branch;
  for (const [key, one] of Object.entries(typeof given === 'object' && given !== null ? given : {})) {
    if (Array.isArray(given) || cases.length % CASES_PER_STEP === 0) yield;
    if (!Array.isArray(given)) cases.push({ equals: key, to: targetsOf(one) });
    else {
      const written = one as CaseDefinition;
      cases.push({ ...tests.of(written, ['branch', 'cases', cases.length]), to: targetsOf(written.to) });
    }
  }
  return {
    kind: 'branch',
    on,
    subject: undefined,
    cases,
    otherwise: targetsOf(branch.default),
    many: branch.many ?? false,
  };
}

/** The edge of a case is the first that leads to its target, so it has the target's id as its key. */
function edgeKeys(reader: NodeReader): (targets: unknown) => readonly string[] {
  const { graph } = reader.parts.scope;
  const leads = new Set<string>();
  for (const edge of edgesAt(graph.outgoing, reader.parts.index)) leads.add(graph.ids[graph.edgeTo[edge] ?? 0] ?? '');
  return (targets) => {
    const ids = Array.isArray(targets) ? targets : [targets];
    return [...new Set(ids.filter((id) => leads.has(id)))];
  };
}

/** Compiles the tests of one branch. The edges into the branch are read once, not for each of its cases. */
class CaseTests {
  readonly #reader: NodeReader;
  readonly #branch: BranchDefinition;
  readonly #edges: readonly EdgeDefinition[];
  #before: readonly number[] | undefined;
  #takesErrors: boolean | undefined;

  constructor(reader: NodeReader, branch: BranchDefinition, edges: readonly EdgeDefinition[]) {
    this.#reader = reader;
    this.#branch = branch;
    this.#edges = edges;
  }

  of(one: CaseDefinition, keys: DocumentPath): Omit<BranchCase, 'to'> {
    const { values } = this.#reader;
    const path = [...this.#reader.parts.path, ...keys];
    if (one.error !== undefined) {
      const error = values.errorMatcher(one.error, [...path, 'error']);
      this.#checkErrorReaches([...keys, 'error']);
      return error ? { error } : {};
    }
    if (one.match !== undefined) {
      const match = values.matcher(one.match, [...path, 'match']);
      if (this.#branch.on === undefined) this.#readSubject([...keys, 'match'], 'match');
      return match ? { match } : {};
    }
    const when = this.#reader.condition(one.when, [...keys, 'when']);
    return when ? { when } : {};
  }

  /** The only predecessor of the branch, whose output or error the cases test. */
  #readSubject(keys: DocumentPath, test: string): number | undefined {
    const { index, context, scope } = this.#reader.parts;
    const isFirst = this.#before === undefined;
    this.#before ??= predecessorsOf(scope.graph, index);
    const [only] = this.#before;
    if (only !== undefined && this.#before.length === 1) {
      if (isFirst) this.#reader.addRead({ up: 0, index: only });
      return only;
    }
    if (!context.isGraphWhole) return undefined;
    const count = this.#before.length;
    const message = `'${test}' tests the only predecessor of '${scope.graph.ids[index]}', which has ${count === 0 ? 'none' : `${count} of them`}`;
    const hint = test === 'match' ? "set the value to test with 'on'" : 'let exactly one node lead to the branch';
    this.#reader.error('NO_SUBJECT', message, hint, keys, 'key');
    return undefined;
  }

  #checkErrorReaches(keys: DocumentPath): void {
    const subject = this.#readSubject(keys, 'error');
    if (subject === undefined) return;
    this.#takesErrors ??= takesErrors(this.#reader, this.#edges);
    if (this.#takesErrors || this.#reader.parts.ignoresErrors(subject)) return;
    const { ids } = this.#reader.parts.scope.graph;
    const [from, to] = [ids[subject], ids[this.#reader.parts.index]];
    const message = `'${to}' never runs when '${from}' fails, so no error can match`;
    const hint = `add an edge { from: ${from}, to: ${to}, on: always }`;
    this.#reader.error('NO_ERROR_EDGE', message, hint, keys, 'key');
  }
}

/** Whether an edge into the node is taken when its source fails. */
function takesErrors({ parts: { index, scope } }: NodeReader, edges: readonly EdgeDefinition[]): boolean {
  const { graph } = scope;
  return edgesAt(graph.incoming, index).some((edge) => {
    const origin = graph.edgeOrigin[edge] ?? 0;
    const on = origin < 0 ? undefined : edges[origin]?.on;
    return on === 'error' || on === 'always';
  });
}

/** Runs once all nodes exist. */
export function linkSubject(work: Mutable<BranchWork>, incoming: readonly { readonly from: NodePlan }[]): void {
  const [first] = incoming;
  if (first !== undefined && incoming.every(({ from }) => from === first.from)) work.subject = first.from;
}
