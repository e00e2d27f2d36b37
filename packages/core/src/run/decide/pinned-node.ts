/** Ends a pinned node of a test run. */
import type { Pin } from '../../plan/pin.ts';
import { caseKeys } from '../../plan/plan.ts';
import { takenIn } from '../../plan/test-plan.ts';
import { isJsonObject, type Json } from '../../value.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import type { NodeState } from '../state/state.ts';
import { completeNode, failNode, skip } from './advance.ts';
import type { Turn } from './turn.ts';

/** The node is ready. A pinned failure is not retried: the pin would be the same. */
export function endPinned(turn: Turn, node: NodeState, pin: Pin): void {
  if ('skipped' in pin) return skip(turn, node, 'test');
  if ('error' in pin) return failNode(turn, node, { kind: 'USER', ...pin.error });
  const { output } = pin;
  const own = { ...edgesOf(node, output), ...varsOf(turn, node, output), pinned: true } as const;
  completeNode(turn, node, turn.store(output), own);
}

/** A pinned branch takes the edges that its output names. */
function edgesOf({ plan: { work, outgoing } }: NodeState, output: Json): { readonly dead?: readonly string[] } {
  if (work.kind !== 'branch') return {};
  const isCase = caseKeys(work);
  const taken = new Set(takenIn(output));
  return { dead: outgoing.filter(({ key, to }) => isCase.has(key) && !taken.has(to.id)).map(({ key }) => key) };
}

/** A pinned `set` assigns its variables as far as its output has them. */
function varsOf(turn: Turn, { plan: { work } }: NodeState, output: Json): { vars?: Record<string, StoredValue> } {
  if (work.kind !== 'set' || !isJsonObject(output)) return {};
  const vars: Record<string, StoredValue> = Object.create(null);
  for (const name of work.values.keys()) {
    const value = Object.hasOwn(output, name) ? output[name] : undefined;
    if (value !== undefined) vars[name] = turn.store(value);
  }
  return { vars };
}
