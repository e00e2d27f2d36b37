/** Decides the edges out of a node that has just ended. Results are recorded, so this happens once per node. */
import type { RunError } from '../error.ts';
import { ExpressionError, isTruthy } from '../expression/index.ts';
import { type EdgeError, type EdgePlan, isPlain } from '../plan/plan.ts';
import type { Json } from '../value.ts';
import { heldValue } from './held.ts';
import type { NodeState } from './state.ts';
import { pathOf } from './state.ts';
import type { Turn } from './turn.ts';
import { RunScope } from './view.ts';

export interface DecidedEdges {
  /** Keys of conditional edges that are not taken although the node went well. */
  readonly dead: readonly string[] | undefined;
  /** Edges whose condition could not be evaluated: their targets fail. */
  readonly broken: readonly EdgeError[];
}

/** For a node that went well, or goes on as if it had. `output` is what `on: result` edges match. */
export function decideOnward(turn: Turn, node: NodeState, output: Json, ons: readonly EdgePlan['on'][]): DecidedEdges {
  let dead: string[] | undefined;
  let broken: EdgeError[] | undefined;
  for (const edge of node.plan.outgoing) {
    if (isPlain(edge) || !ons.includes(edge.on)) continue;
    const verdict = judge(turn, node, edge, () => edge.match?.(output) ?? true);
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

/** For a failure: keys of the error and always edges that take it. */
export function decideErrorEdges(
  turn: Turn,
  node: NodeState,
  error: RunError,
): { readonly taken: readonly string[]; readonly broken: readonly EdgeError[] } {
  const taken: string[] = [];
  const broken: EdgeError[] = [];
  for (const edge of node.plan.outgoing) {
    if (edge.on !== 'error' && edge.on !== 'always') continue;
    const verdict = judge(turn, node, edge, () => edge.matchError?.(error) ?? true);
    if (verdict === true) taken.push(edge.key);
    else if (verdict !== false) broken.push({ edge, error: verdict });
  }
  return { taken, broken };
}

function judge(turn: Turn, node: NodeState, edge: EdgePlan, matches: () => boolean): boolean | RunError {
  try {
    if (!matches()) return false;
    if (edge.when === undefined) return true;
    const scope = new RunScope(turn.state, node.scope, turn.lookup);
    return isTruthy(edge.when.evaluate(scope, turn.state.plan.newBudget()));
  } catch (error) {
    return expressionFailure(error, `${pathOf(node)} -> ${edge.to.id}`);
  }
}

/** What an expression threw, as an error of the node it belongs to. Anything else is a programmer's error. */
export function expressionFailure(error: unknown, where: string, node?: string): RunError {
  if (!(error instanceof ExpressionError)) throw error;
  return {
    code: error.code,
    kind: 'USER',
    message: `${where}: ${error.message}`,
    ...(node === undefined ? {} : { node }),
    ...(error.hint === undefined ? {} : { details: { hint: error.hint } }),
  };
}

export function outputOf(turn: Turn, node: NodeState): Json {
  return heldValue(node.output, turn.lookup);
}
