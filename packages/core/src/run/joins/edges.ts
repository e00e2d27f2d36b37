/** Decides the edges out of a node that has just ended. The results are journalled, so this happens once per node. */

import type { RunError } from '../../error.ts';
import { type Budget, ExpressionError, isTrue, placeOf } from '../../expression/index.ts';
import type { NodePath } from '../../ids.ts';
import { type BranchWork, caseKeys, type EdgeError, type EdgePlan, isPlain } from '../../plan/plan.ts';
import type { Turn } from '../decide/turn.ts';
import { resolveValue } from '../journal/stored-value.ts';
import { type NodeEnding, RunScope } from '../state/expression-scope.ts';
import { pathOf, stateIn } from '../state/selectors.ts';
import type { NodeState } from '../state/state.ts';

export interface DecidedEdges {
  /** Keys of conditional edges that are not taken although the node succeeded. */
  readonly dead: readonly string[] | undefined;
  /** Edges whose condition could not be evaluated: their targets fail. */
  readonly broken: readonly EdgeError[];
}

/** Decides the edges of a node that succeeded, or continues as if it had. */
export function decideOnward(turn: Turn, ending: NodeEnding): DecidedEdges {
  turn.budgets.renew();
  const { outgoing, work } = ending.node.plan;
  let dead: string[] | undefined =
    work.kind === 'branch' && ending.status !== 'completed' ? allButDefault(outgoing, work) : undefined;
  let broken: EdgeError[] | undefined;
  for (const edge of outgoing) {
    // A disabled node has no result to match.
    if (isPlain(edge) || edge.on === 'error' || (edge.on === 'result' && ending.status === 'skipped')) continue;
    const verdict = judge(turn, ending, edge, (budget) => edge.match?.matches(ending.output, budget) ?? true);
    if (verdict === true) continue;
    dead ??= [];
    dead.push(edge.key);
    if (verdict !== false) {
      broken ??= [];
      broken.push({ edge, error: verdict });
    }
  }
  return { dead, broken: broken ?? [] };
}

/** A branch that did not decide, because it is disabled or its failure is ignored, takes only its default. */
function allButDefault(outgoing: readonly EdgePlan[], work: BranchWork): string[] | undefined {
  const isCase = caseKeys(work);
  const others = outgoing.filter(({ key }) => isCase.has(key) && !work.otherwise.includes(key));
  return others.length === 0 ? undefined : others.map(({ key }) => key);
}

export interface DecidedFailure {
  /** Undefined: neither an edge nor the node handles the failure, so the workflow's policy does. */
  readonly handling: 'handled' | 'ignored' | undefined;
  /** Keys of the error and always edges that are taken; undefined if the run continues as if the node had succeeded. */
  readonly taken: readonly string[] | undefined;
  /** Keys of the edges of an ignored failure that are not taken although the run continues. */
  readonly dead: readonly string[] | undefined;
  readonly broken: readonly EdgeError[];
}

/**
 * Decides the edges of a failed node. Error edges come before `onError`: a matching error edge handles the failure even
 * of a node that ignores failures. Always edges are taken in any case and handle nothing.
 */
export function decideFailure(turn: Turn, node: NodeState, error: RunError): DecidedFailure {
  turn.budgets.renew();
  const ending: NodeEnding = { node, status: 'failed', output: null, error };
  const taken: EdgePlan[] = [];
  const broken: EdgeError[] = [];
  for (const edge of node.plan.outgoing) {
    if (edge.on !== 'error' && edge.on !== 'always') continue;
    const verdict = judge(turn, ending, edge, (budget) => edge.matchError?.matches(error, budget) ?? true);
    if (verdict === true) taken.push(edge);
    else if (verdict !== false) broken.push({ edge, error: verdict });
  }
  const isHandled = taken.some((edge) => edge.on === 'error' && !isPassedOver(targetOf(node, edge)));
  if (node.plan.onError === 'ignore' && !isHandled) {
    const onward = decideOnward(turn, ending);
    const onError = broken.filter(({ edge }) => edge.on === 'error');
    return { handling: 'ignored', taken: undefined, dead: onward.dead, broken: [...onward.broken, ...onError] };
  }
  const keys = taken.map((edge) => edge.key);
  const isAny = isHandled || keys.length > 0;
  return { handling: isHandled ? 'handled' : undefined, taken: isAny ? keys : undefined, dead: undefined, broken };
}

/**
 * The handler was skipped and handles nothing. A disabled handler counts as one that does nothing, and handles the
 * failure.
 */
export function isPassedOver({ phase }: NodeState): boolean {
  return phase.status === 'skipped' && phase.why !== 'disabled';
}

export function targetOf({ scope }: NodeState, edge: EdgePlan): NodeState {
  return stateIn(scope, edge.to);
}

/** Decides the edges of a node that was cut off after it began: always edges are taken if their conditions hold. */
export function decideCancelled(turn: Turn, node: NodeState, error: RunError | null): DecidedEdges {
  turn.budgets.renew();
  let dead: string[] | undefined;
  const broken: EdgeError[] = [];
  for (const edge of node.plan.outgoing) {
    if (edge.on !== 'always' || edge.when === undefined || node.startedAt === null) continue;
    const verdict = judge(turn, { node, status: 'cancelled', output: null, error }, edge, () => true);
    if (verdict === true) continue;
    dead ??= [];
    dead.push(edge.key);
    if (verdict !== false) broken.push({ edge, error: verdict });
  }
  return { dead, broken };
}

/** The edges of a node that ended earlier whose condition could not be evaluated, and still cannot. */
export function stillBroken(turn: Turn, node: NodeState): readonly EdgeError[] {
  const { phase } = node;
  if (phase.status === 'failed') {
    const { broken } = decideFailure(turn, node, phase.error);
    // Edges are decided once: the onward edges died when an error edge took the failure, even if its target was skipped
    // later.
    return phase.taken === undefined
      ? broken
      : broken.filter(({ edge }) => edge.on === 'error' || edge.on === 'always');
  }
  if (phase.status === 'cancelled') return decideCancelled(turn, node, phase.error ?? null).broken;
  if (phase.status !== 'completed' && !(phase.status === 'skipped' && phase.why === 'disabled')) return [];
  const output = phase.status === 'completed' ? resolveValue(node.output, turn.lookup) : null;
  return decideOnward(turn, { node, status: phase.status, output, error: null }).broken;
}

function judge(
  turn: Turn,
  ending: NodeEnding,
  edge: EdgePlan,
  matches: (budget: Budget) => boolean,
): boolean | RunError {
  const budget = turn.budgets.next();
  try {
    if (!matches(budget)) return false;
    if (edge.when === undefined) return true;
    const scope = new RunScope(turn.state, ending.node.scope, turn.lookup, ending).at(ending.node, `edge ${edge.key}`);
    return isTrue(edge.when.evaluate(scope, budget));
  } catch (error) {
    return expressionFailure(error, `${pathOf(ending.node)} -> ${edge.to.id}`);
  }
}

/** Converts the error of an expression into one of its node. Any other error is a programming error and is rethrown. */
export function expressionFailure(error: unknown, where: string, node?: NodePath): RunError {
  if (!(error instanceof ExpressionError)) throw error;
  const { hint } = error;
  const at = placeOf(error);
  const details = { ...(hint !== undefined && { hint }), ...(at !== undefined && { at }) };
  return {
    code: error.code,
    kind: 'USER',
    message: `${where}: ${error.message}`,
    ...(node === undefined ? {} : { node }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}
