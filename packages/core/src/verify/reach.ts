/** Reports nodes that can never run, edges and cases that are never taken, and joins that never fire. */
import type { GraphRecord } from '../plan/context.ts';
import type { EdgePlan, NodePlan } from '../plan/plan.ts';
import type { SchemaContext } from '../plan/value-schema.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import { type Chance, type Chances, chancesOf } from './cases.ts';
import { constantTruth } from './constant.ts';
import { canFit, canFitError, misfitOf, undeclaredIn } from './fit.ts';
import { endsScope, Reachability, type Vetoed } from './reachability.ts';
import { edgePathOf, isFailureNode, matchOf, nodePath, trustedOutput, type Verification } from './verification.ts';

/** Maximum number of ids in a message. */
const MAX_IDS_SHOWN = 5;

/** A problem, and the nodes that can never run because of it. */
interface Cause {
  readonly code: 'NEVER_RUNS' | 'NEVER_TAKEN' | 'JOIN_NEVER_FIRES' | 'JOIN_WANTS_ANY' | 'ALWAYS_BLOCKED';
  readonly message: string;
  readonly hint: string;
  readonly path: DocumentPath;
  readonly at?: 'key';
  readonly lost: string[];
}

export function checkReach(
  verification: Verification,
  record: GraphRecord,
  context: SchemaContext,
): Steps<Reachability> {
  return new ReachCheck(verification, record).check(context);
}

class ReachCheck {
  private readonly verification: Verification;
  private readonly record: GraphRecord;
  private readonly chances = new Map<NodePlan, Chances>();
  private readonly reachability: Reachability;
  private readonly causes: Cause[] = [];
  private readonly causeOf = new Map<NodePlan | Chance | EdgePlan, Cause>();

  constructor(verification: Verification, record: GraphRecord) {
    this.verification = verification;
    this.record = record;
    this.reachability = new Reachability(record.plan.nodes, {
      faultOf: (edge) => this.faultOf(edge)?.reason,
      chancesOf: (node) => this.chances.get(node),
    });
  }

  *check(context: SchemaContext): Steps<Reachability> {
    const { nodes } = this.record.plan;
    for (const node of nodes) {
      if (node.work.kind !== 'branch') continue;
      this.chances.set(node, yield* chancesOf(this.record, node, node.work, context));
    }
    yield* this.reachability.find();
    for (const node of nodes.toSorted((a, b) => a.level - b.level)) {
      yield;
      if (isFailureNode(this.verification, this.record, node)) continue;
      this.checkNode(node);
      this.checkCases(node);
    }
    for (const { lost, message, ...finding } of this.causes) {
      this.verification.problems.warning({ ...finding, message: `${message}${soLost(lost)}` });
    }
    return this.reachability;
  }

  private checkNode(node: NodePlan): void {
    const { canRun, isJoined } = this.reachability.of(node);
    if (canRun || !node.enabled) {
      for (const edge of node.incoming) this.checkEdge(edge);
      for (const vetoed of this.reachability.vetoed(node)) this.reportVetoed(node, vetoed);
      return;
    }
    const path = nodePath(this.record, node);
    if (isJoined) {
      this.add(node, {
        code: 'NEVER_RUNS',
        message: `'${node.id}' can never run: its condition is always false`,
        hint: 'change the condition, or remove it',
        path: [...path, 'when'],
        lost: [],
      });
    } else if (node.incoming.some((edge) => this.reachability.isOpen(edge))) {
      this.add(node, this.joinCause(node, path));
    } else {
      this.blame(node);
    }
  }

  private reportVetoed(node: NodePlan, { edge, failing, by }: Vetoed): void {
    const after = `'${node.id}' never runs after a failure of '${failing.id}'`;
    const dead = `in that case the edge from '${by.from.id}' is dead by failure, which join: all does not tolerate`;
    if (edge.on === 'always' && edge.from === failing) {
      this.add(edge, {
        code: 'ALWAYS_BLOCKED',
        message: `${after}, although its edge from there is an always edge: ${dead}`,
        hint: `also replace the success edge by { from: ${by.from.id}, to: ${node.id}, on: always }`,
        path: edgePathOf(this.record, edge),
        lost: [],
      });
      return;
    }
    this.add(edge, {
      code: 'JOIN_WANTS_ANY',
      message: `${after}, so the edge from '${edge.from.id}' has no effect: ${dead}`,
      hint: `set join: any on '${node.id}' to continue after the first success, or remove the edge from '${edge.from.id}'`,
      path: edgePathOf(this.record, edge),
      lost: [],
    });
  }

  private joinCause(node: NodePlan, path: DocumentPath): Cause {
    if (node.join === 'all') return this.allCause(node, path);
    const open = new Set(node.incoming.filter((edge) => this.reachability.isOpen(edge)).map(({ from }) => from)).size;
    const isFew = open < Number(node.join);
    return {
      code: 'JOIN_NEVER_FIRES',
      message: isFew
        ? `'${node.id}' can never run: it needs edges from ${node.join} nodes, but only ${open} can be taken`
        : `'${node.id}' can never run: it needs edges from ${node.join} nodes, but fewer can be taken in one run, because they exclude each other`,
      hint: 'use a lower join, or all, which ignores edges that are dead by choice',
      path: [...path, 'join'],
      lost: [],
    };
  }

  /** Reports a join: all in which every edge that can be taken implies another one that is dead by failure. */
  private allCause(node: NodePlan, path: DocumentPath): Cause {
    const [vetoed] = this.reachability.vetoed(node);
    const why =
      vetoed &&
      `its edge from '${vetoed.edge.from.id}' is taken, the edge from '${vetoed.by.from.id}' is dead by failure`;
    return {
      code: 'JOIN_NEVER_FIRES',
      message: `'${node.id}' can never run: whenever ${why ?? 'one of its edges is taken, another is dead by failure'}`,
      hint: `set join: any on '${node.id}' to continue after the first success`,
      path,
      at: 'key',
      lost: [],
    };
  }

  /** No edge to the node can be taken, because of the edge itself or of an earlier node. */
  private blame(node: NodePlan): void {
    for (const edge of node.incoming) {
      const fault = this.faultOf(edge) ?? this.endOf(edge);
      if (fault === undefined) continue;
      const message = `'${node.id}' can never run: ${fault.reason}`;
      this.add(node, { code: 'NEVER_RUNS', message, hint: fault.hint, path: fault.path, lost: [] });
      return;
    }
    const cause = node.incoming.map((edge) => this.earlier(edge)).find((one) => one !== undefined);
    if (cause === undefined) return;
    cause.lost.push(node.id);
    this.causeOf.set(node, cause);
  }

  private earlier(edge: EdgePlan): Cause | undefined {
    const source = this.causeOf.get(edge.from);
    if (source !== undefined) return source;
    const { cases = [], otherwise } = this.chances.get(edge.from) ?? {};
    const chance = [...cases, otherwise].find((one) => one?.to.includes(edge.key) && one.never !== undefined);
    return chance && this.causeOf.get(chance);
  }

  private checkEdge(edge: EdgePlan): void {
    this.checkNames(edge);
    const fault = this.reachability.isOpen(edge) ? undefined : (this.faultOf(edge) ?? this.endOf(edge));
    if (fault === undefined) return;
    const message = `the edge from '${edge.from.id}' to '${edge.to.id}' is never taken: ${fault.reason}`;
    this.causes.push({ code: 'NEVER_TAKEN', message, hint: fault.hint, path: fault.path, lost: [] });
  }

  /** A schema that allows other members may still show that a name is misspelt. */
  private checkNames(edge: EdgePlan): void {
    const pattern = edge.match === undefined ? undefined : matchOf(this.record, edge);
    if (pattern === undefined) return;
    for (const { path, message, hint } of undeclaredIn(pattern, this.record.scope.outputs[edge.from.index])) {
      this.verification.problems.warning({
        code: 'UNDECLARED_FIELD',
        message: `the output of '${edge.from.id}' ${message}`,
        hint: hint ?? '',
        path: [...edgePathOf(this.record, edge), 'match', ...path],
        at: 'key',
      });
    }
  }

  private checkCases(node: NodePlan): void {
    const chances = this.chances.get(node);
    if (chances === undefined || !this.reachability.of(node).canRun) return;
    for (const chance of [...chances.cases, chances.otherwise]) {
      const isDefault = chance === chances.otherwise;
      if (chance.never === undefined || (isDefault && chance.to.length === 0)) continue;
      this.add(chance, {
        code: 'NEVER_TAKEN',
        message: `${isDefault ? 'the default' : 'this case'} of '${node.id}' is never taken: ${chance.never}`,
        hint: isDefault ? 'remove it' : 'remove it, change its test, or move it',
        path: [...nodePath(this.record, node), ...chance.path],
        lost: [],
      });
    }
  }

  private add(of: NodePlan | Chance | EdgePlan, cause: Cause): void {
    this.causes.push(cause);
    this.causeOf.set(of, cause);
  }

  /** The reason why the edge itself can never be taken. */
  private faultOf(edge: EdgePlan): { reason: string; hint: string; path: DocumentPath } | undefined {
    if (edge.when === undefined && edge.match === undefined && edge.matchError === undefined) return undefined;
    const path = edgePathOf(this.record, edge);
    if (constantTruth(edge.when) === false) {
      const reason = `the condition of the edge from '${edge.from.id}' is always false`;
      return { reason, hint: 'remove the edge, or its condition', path: [...path, 'when'] };
    }
    const pattern = matchOf(this.record, edge);
    if (pattern === undefined) return undefined;
    if (edge.matchError !== undefined) {
      if (canFitError(pattern)) return undefined;
      const reason = `no error of '${edge.from.id}' matches an empty list`;
      return { reason, hint: 'list what to match, or remove the key', path: [...path, 'match'] };
    }
    const mayBeIgnored = edge.from.onError === 'ignore' && canFit(pattern, { type: 'null' });
    const misfit = mayBeIgnored ? undefined : misfitOf(pattern, trustedOutput(this.record, edge.from));
    if (misfit === undefined) return undefined;
    const reason = `the output of '${edge.from.id}' never matches, because ${misfit.message}`;
    const hint = misfit.hint ?? 'match a value that the output schema allows, or remove the edge';
    return { reason, hint, path: [...path, 'match', ...misfit.path] };
  }

  /** Nodes after `terminate` or `break` never run. */
  private endOf(edge: EdgePlan): { reason: string; hint: string; path: DocumentPath } | undefined {
    if (!endsScope(edge.from) || !this.reachability.of(edge.from).canRun) return undefined;
    const reason = `'${edge.from.id}' ends the ${edge.from.breaks ? 'loop' : 'run'}`;
    return { reason, hint: 'remove the edge, or start it at an earlier node', path: edgePathOf(this.record, edge) };
  }
}

function soLost(lost: readonly string[]): string {
  if (lost.length === 0) return '';
  const more = lost.length > MAX_IDS_SHOWN ? ` and ${lost.length - MAX_IDS_SHOWN} more` : '';
  const names = lost.slice(0, MAX_IDS_SHOWN).map((id) => `'${id}'`);
  return `; so ${names.join(', ')}${more} can never run either`;
}
