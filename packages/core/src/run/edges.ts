/** Decides the edges out of a node that has just ended. Results are recorded, so this happens once per node. */
import type { RunError } from '../error.ts';
import { type Budget, ExpressionError, isTrue } from '../expression/index.ts';
import { type EdgeError, type EdgePlan, isPlain } from '../plan/plan.ts';
import type { NodeState } from './state.ts';
import { pathOf } from './state.ts';
import type { Turn } from './turn.ts';
import { type Ending, RunScope } from './view.ts';

export interface DecidedEdges {
  /** Keys of conditional edges that are not taken although the node went well. */
  readonly dead: readonly string[] | undefined;
  /** Edges whose condition could not be evaluated: their targets fail. */
  readonly broken: readonly EdgeError[];
}

/** For a node that went well, or goes on as if it had. */
export function decideOnward(turn: Turn, ending: Ending): DecidedEdges {
  let dead: string[] | undefined;
  let broken: EdgeError[] | undefined;
  for (const edge of ending.node.plan.outgoing) {
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

/** For a failure: keys of the error and always edges that take it. */
export function decideErrorEdges(
  turn: Turn,
  node: NodeState,
  error: RunError,
): { readonly taken: readonly string[]; readonly broken: readonly EdgeError[] } {
  const ending: Ending = { node, status: 'failed', output: null, error };
  const taken: string[] = [];
  const broken: EdgeError[] = [];
  for (const edge of node.plan.outgoing) {
    if (edge.on !== 'error' && edge.on !== 'always') continue;
    const verdict = judge(turn, ending, edge, (budget) => edge.matchError?.matches(error, budget) ?? true);
    if (verdict === true) taken.push(edge.key);
    else if (verdict !== false) broken.push({ edge, error: verdict });
  }
  return { taken, broken };
}

function judge(turn: Turn, ending: Ending, edge: EdgePlan, matches: (budget: Budget) => boolean): boolean | RunError {
  const budget = turn.state.plan.newBudget();
  try {
    if (!matches(budget)) return false;
    if (edge.when === undefined) return true;
    const scope = new RunScope(turn.state, ending.node.scope, turn.lookup, ending);
    return isTrue(edge.when.evaluate(scope, budget));
  } catch (error) {
    return expressionFailure(error, `${pathOf(ending.node)} -> ${edge.to.id}`);
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
