/** No-op requests: returns an error that says why a request would change nothing, and what to do instead. */

import { NebulaError, unreachable } from '../../error.ts';
import type { NodePath } from '../../ids.ts';
import type { NodePlan } from '../../plan/plan.ts';
import type { Json } from '../../value.ts';
import {
  bodyOf,
  endingOf,
  failureNodeUnderWay,
  isEnding,
  isFinished,
  nodeAt,
  pathOf,
  survivorOf,
} from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';
import { hasFinally } from '../stop/early-end.ts';
import { isUndoing } from '../undo/transactions.ts';

/** A cancel of the run. A run that is ending can still skip its finally, the rest of the undo, and the failure node. */
export function refuseCancel(state: RunState, compensate: boolean): NebulaError | undefined {
  if (!isEnding(state) || (!compensate && undoesMore(state))) return undefined;
  if (hasFinally(state) || failureNodeUnderWay(state) !== undefined) return undefined;
  const { executionId, stopping } = state;
  const status = (stopping ?? endingOf(state))?.status;
  const isUndoing = undoesMore(state);
  const what = isUndoing ? 'its completed nodes are being undone' : 'nothing is left to cancel';
  return new NebulaError('ALREADY_ENDING', `Execution ${executionId} is ending as ${status} already: ${what}.`, {
    hint: isUndoing
      ? `To stop the undoing: \`nebula executions cancel ${executionId} --no-compensate\`.`
      : `\`nebula executions explain ${executionId}\` says what it waits for.`,
  });
}

/** The run is being undone, or will be. */
export function undoesMore(state: RunState): boolean {
  const { stopping, root } = state;
  if (stopping !== null) return stopping.compensate && stopping.status !== 'completed';
  return endingOf(state)?.compensate === true && root.undoing?.stopping === null && isUndoing(state, root);
}

/** A settle of an unknown outcome. It has consequences only while the run is unfinished. */
export function refuseSettle({ executionId, phase: { status } }: RunState, path: NodePath): NebulaError | undefined {
  if (!isFinished(status)) return undefined;
  const message = `Execution ${executionId} has ended as ${status}: a settlement of '${path}' would have no effect.`;
  return new NebulaError('ALREADY_FINISHED', message, {
    hint: `Retry the run first: \`nebula executions retry ${executionId}\`. The retry does not repeat '${path}': it stays unknown, and can be settled then.`,
  });
}

/** A replay of a node that exists or existed. `input`: replaces the node's own input. */
export function refuseReplay(state: RunState, path: NodePath, input?: Json): NebulaError | undefined {
  const node = nodeAt(state, path);
  if (node !== undefined && node.scope.undoes !== null) {
    const item = node.scope.undoItems[node.plan.index];
    return new NebulaError('NOT_REPLAYABLE', `'${path}' undoes '${item?.path}', and is not replayed by itself.`, {
      hint: `To do '${item?.path}' anew: \`nebula executions replay ${state.executionId} ${item?.path}\`.`,
    });
  }
  const whole = node === undefined ? goneFrom(state, path) : collapsedIn(node);
  if (whole === undefined) return node === undefined || input === undefined ? undefined : refuseInput(node, input);
  const around = pathOf(whole);
  return new NebulaError('NOT_REPLAYABLE', `'${path}' is in what went well, of which only the result is kept.`, {
    hint: `Replay the whole of '${around}': \`nebula executions replay ${state.executionId} ${around}\`.`,
  });
}

/** The input of a node can be edited if it is one value: parameters, the input of a workflow, the items of a loop. */
function refuseInput({ plan: { work, id } }: NodeState, input: Json): NebulaError | undefined {
  switch (work.kind) {
    case 'action':
    case 'dynamic':
    case 'child':
    case 'inline':
      return undefined;
    case 'forEach':
      if (Array.isArray(input)) return undefined;
      return new NebulaError('INPUT_INVALID', `'${id}' is a loop over items: its input is a list.`, {
        hint: "Give the items in brackets: `--input '[1, 2]'`.",
      });
    case 'branch':
    case 'set':
    case 'terminate':
    case 'while':
    case 'retryUntil':
    case 'group':
    case 'wait':
    case 'merge':
      return new NebulaError('NO_INPUT', `'${id}' (${work.kind}) has no input that could be edited.`, {
        hint: 'Replay it without an input, or replay a node before it that it reads.',
      });
    default:
      return unreachable(work);
  }
}

/** The outermost composite node around `node` whose iteration succeeded and is kept only for unknown outcomes. */
function collapsedIn(node: NodeState): NodeState | undefined {
  let found: NodeState | undefined;
  for (let at = node.scope; at.parent !== null; at = at.parent.scope) if (at.isDone) found = at.parent;
  return found;
}

/** The composite node whose ended iteration contained the path, if nothing of that iteration is left. */
export function goneFrom(state: RunState, path: NodePath): NodeState | undefined {
  const around = survivorOf(state, path);
  if (around === undefined) return undefined;
  const steps = path.slice(pathOf(around).length + 1).split('/');
  const hasBegun = around.phase.status === 'completed' || Number(steps[0]) < (bodyOf(around)?.next ?? 0);
  return hasBegun && isBelow(around.plan, steps) ? around : undefined;
}

/** Returns whether the body of a composite node has a node at this path. */
function isBelow({ work }: NodePlan, steps: readonly string[]): boolean {
  // The returned graph is gone, so any path may have existed.
  if (work.kind === 'dynamic') return true;
  const graph = work.kind === 'inline' ? work.workflow.root : 'body' in work ? work.body : undefined;
  const isOnce = work.kind === 'inline' || work.kind === 'group';
  const [id = '', ...rest] = isOnce ? steps : /^\d+$/.test(steps[0] ?? '') ? steps.slice(1) : [];
  const node = graph?.nodes[graph.indexOf.get(id) ?? -1];
  return node !== undefined && (rest.length === 0 || isBelow(node, rest));
}
