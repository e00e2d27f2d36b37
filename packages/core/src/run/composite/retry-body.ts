/**
 * Composite nodes that are tried again: a new iteration of all that is in them, with idempotency keys of its own.
 *
 *  group ─ node.opened ─ … ─ node.compensating ─ (what completed is undone) ─ node.retrying ─ node.opened ─ …
 *
 * The journal says where it is after every step, so a crash continues there.
 */
import type { RunError } from '../../error.ts';
import { failNode, repeat, retryOf } from '../decide/advance.ts';
import { emit, type Turn } from '../decide/turn.ts';
import { bodyOf, isInside, pathOf } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState } from '../state/state.ts';

/** The body of a node has failed, and nothing of it runs: it is tried again once all is undone, or the node fails. */
export function failBody(turn: Turn, node: NodeState, error: RunError): void {
  const { state } = turn;
  const retry = retryOf(turn, node, error, turn.jitter);
  if (retry === undefined || isInDoubt(state, node) || isLeftDone(node)) return failNode(turn, node, error);
  if (undoings(node).length > 0 || !hasToUndo(state, node)) return repeat(turn, node, error, retry);
  emit(turn, { type: 'node.compensating', node: pathOf(node), error });
  const [first] = undoings(node)[0]?.nodes ?? [];
  if (first !== undefined) turn.work.push(first);
}

/** Nobody knows whether something in it took effect: to try again could do it twice. */
function isInDoubt(state: RunState, node: NodeState): boolean {
  for (const { scope } of state.unknown) if (isInside(scope, node)) return true;
  return false;
}

/** A compensation did not succeed, so what it should undo stands. */
function isLeftDone(node: NodeState): boolean {
  return undoings(node).some(({ nodes }) => nodes.some(({ phase }) => phase.status !== 'completed'));
}

function undoings(node: NodeState): ScopeState[] {
  const found: ScopeState[] = [];
  for (const { undoing } of bodyOf(node)?.scopes.values() ?? []) {
    if (undoing !== null && !undoing.isClosed) found.push(undoing);
  }
  return found;
}

function hasToUndo({ undo }: RunState, node: NodeState): boolean {
  const prefix = `${pathOf(node)}/`;
  return undo.some(({ path }) => path.startsWith(prefix));
}
