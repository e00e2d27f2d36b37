/** Explains why a run, or one of its nodes, is in its state. Reads the state and decides nothing. */
import { formatDuration } from '../duration.ts';
import type { RunError } from '../error.ts';
import type { ExecutionId } from '../ids.ts';
import { isExpressionError } from '../run/decide/not-retried.ts';

import { goneFrom } from '../run/decide/preconditions.ts';
import { runsOnce } from '../run/state/scopes.ts';
import {
  endingOf,
  isCleaningUp,
  isFinal,
  isFinished,
  isFinishedPhase,
  isPaused,
  isStopped,
  nodeAt,
  pathOf,
  statusOf,
  waitsForSlot,
} from '../run/state/selectors.ts';
import type { Ending, FinishedPhase, NodeState, RunState } from '../run/state/state.ts';
import { isInDoubt, undoingIn } from '../run/undo/transactions.ts';
import { isJsonObject } from '../value.ts';
import { type Cause, cause, type Explanation, explanation } from './cause.ts';
import { failedPath, LISTED, nodeCauses } from './node-causes.ts';

export function explainRun(state: RunState, now: number): Explanation {
  const { phase, executionId } = state;
  const { status } = phase;
  if (isFinishedPhase(phase)) {
    if (phase.status === 'completed') return explanation(null, status, [finishedCause(phase)]);
    return explanation(
      null,
      status,
      [finishedCause(phase), ...sameAgainCauses(phase.error)],
      [
        ...(phase.error.node === undefined ? [] : [`nebula executions show ${executionId} ${phase.error.node}`]),
        ...retrySteps(executionId, phase.error),
      ],
    );
  }
  const next = [...state.unknown].flatMap((node) => settleHint(state, node));
  return explanation(null, status, [...runCauses(state, now), ...openCauses(state, now)], next);
}

function finishedCause(phase: FinishedPhase): Cause {
  if (phase.status === 'completed') return cause('completed', 'Every node has ended and no failure was left.');
  const { code, message, node } = phase.error;
  const where = node === undefined ? '' : ` in '${node}'`;
  return cause('error', `${code}${where}: ${message}`, { value: { code }, ...(node === undefined ? {} : { node }) });
}

/** A retry alone evaluates the same expression again. */
function sameAgainCauses({ code }: RunError): Cause[] {
  if (!isExpressionError(code)) return [];
  return [
    cause('retries', 'A retry of the same version fails in the same way: correct the workflow file and retry with it.'),
  ];
}

/** The commands that continue a failed run. A child is corrected first: its result is that of the node. */
export function retrySteps(executionId: ExecutionId, { code, details }: RunError): string[] {
  const retry = `nebula executions retry ${executionId}`;
  if (!isExpressionError(code)) return [retry];
  const child = isJsonObject(details) && isJsonObject(details['cause']) ? details['cause']['executionId'] : undefined;
  return typeof child === 'string' ? [`nebula executions retry ${child} --to FILE`, retry] : [`${retry} --to FILE`];
}

function runCauses(state: RunState, now: number): Cause[] {
  const { slot, delayedUntil, phase, stopping } = state;
  const ending = endingOf(state);
  const causes: Cause[] = [];
  if (waitsForSlot(state) && slot !== null) {
    const { limit, key } = slot;
    const message = `It waits for a concurrency slot: at most ${limit} run${limit === 1 ? '' : 's'} of ${key} may be active at once.`;
    causes.push(cause('place', message, { value: { key, limit } }));
  } else if (delayedUntil !== null) {
    const left = formatDuration(Math.max(0, delayedUntil - now));
    const message = `It begins in ${left}, unless it is started again before that (start policy debounce).`;
    causes.push(cause('held-back', message, { value: { until: delayedUntil } }));
  }
  if (phase.status === 'paused') {
    const value = { since: phase.at, reason: phase.reason };
    causes.push(cause('paused', `It has been paused for ${formatDuration(now - phase.at)}.`, { value }));
  }
  if (stopping !== null) {
    const { status } = stopping;
    causes.push(cause('ending', `The run will end as ${status}${onceWords(state)}.`, { value: { status } }));
  }
  return ending === null ? causes : [...causes, ...doubtCauses(state, ending)];
}

const OPEN = ['unknown', 'running', 'waiting', 'listening', 'gated', 'queued', 'child', 'open'] as const;

/** The first cause of each node under way, and the number of pending nodes. */
function openCauses(state: RunState, now: number): Cause[] {
  const open = [...state.scopes.values()].flatMap(({ nodes }) => nodes.filter(({ phase }) => !isFinal(phase.status)));
  const causes: Cause[] = [];
  for (const status of OPEN) {
    for (const node of open.filter(({ phase }) => phase.status === status).slice(0, LISTED)) {
      const [first] = nodeCauses(state, node, clockOf(state, node, now));
      const path = pathOf(node);
      if (first !== undefined) causes.push({ ...first, message: `${path}: ${first.message}`, node: path });
    }
  }
  const pending = open.filter(({ phase }) => phase.status === 'pending').length;
  if (pending === 0) return causes;
  const who = pending === 1 ? '1 node waits for earlier nodes' : `${pending} nodes wait for earlier nodes`;
  return [...causes, cause('pending', `${who}.`, { value: { nodes: pending } })];
}

/** The clock of a paused run stands still, except for running attempts. */
function clockOf({ phase: run }: RunState, { phase }: NodeState, now: number): number {
  return phase.status !== 'running' && run.status === 'paused' ? run.at : now;
}

/** The events that a run that is being stopped waits for. */
function onceWords(state: RunState): string {
  const isCleaning = (node: NodeState): boolean => !isStopped(state, node) && isCleaningUp(node);
  const busy = [...state.running, ...state.children];
  const stopping = busy.filter((node) => !isCleaning(node)).map(pathOf);
  const cleaning = busy.filter(isCleaning);
  const parts = [
    ...(stopping.length === 0 ? [] : [`${stopping.join(', ')} has stopped`]),
    ...(cleaning.length === 0 ? [] : [`${cleaning.map(pathOf).join(', ')} has cleaned up`]),
    ...(!isPaused(state) ? [] : ['it is resumed']),
    ...Array.from(undoingIn(state.root), ({ path }) => `${path} has been undone`),
  ];
  return parts.length === 0 ? '' : ` once ${parts.join(' and ')}`;
}

/** The run is undone except for nodes whose outcome is unknown. */
function doubtCauses(state: RunState, { status, compensate }: Ending): Cause[] {
  const ends = (nodes: readonly NodeState[], why: string): Cause => {
    const paths = nodes.map(pathOf);
    const message = `The run will end as ${status} once a person has settled ${paths.join(', ')}: ${why}.`;
    return cause('unknown-outcome', message, { value: { status, nodes: paths } });
  };
  const undoings = [...state.unknown].filter(({ scope }) => scope.undoes !== null);
  if (undoings.length > 0) return [ends(undoings, 'a retry has to know which nodes were undone')];
  if (!compensate || !isInDoubt(state, state.root)) return [];
  const done = [...state.unknown].filter(({ plan }) => plan.compensate !== undefined);
  return [ends(done, 'it may have to be undone')];
}

export function explainNode(state: RunState, path: string, now: number): Explanation | undefined {
  const node = nodeAt(state, path);
  if (node === undefined) return explainCollapsed(state, path);
  const next = hintsOf(state, node);
  return explanation(path, statusOf(node.phase), nodeCauses(state, node, clockOf(state, node, now)), next);
}

/** The state has only the result of an ended iteration; the journal still has the rest. */
function explainCollapsed(state: RunState, path: string): Explanation | undefined {
  const around = goneFrom(state, path);
  if (around === undefined) return undefined;
  const [step = ''] = path.slice(pathOf(around).length + 1).split('/');
  const what = runsOnce(around.plan) ? `'${pathOf(around)}'` : `iteration ${step} of '${pathOf(around)}'`;
  const message = `It was in ${what}, which has ended and is collapsed: only its result is kept.`;
  const next = [`nebula executions timeline ${state.executionId}`];
  return explanation(path, 'collapsed', [cause('collapsed', message, { node: pathOf(around) })], next);
}

/** Adds the causes of the node as it was when its iteration ended, from a view of the whole journal. */
export function explainEnded(collapsed: Explanation, state: RunState, node: NodeState): Explanation {
  const at = 'at' in node.phase ? node.phase.at : state.updatedAt;
  const causes = [...nodeCauses(state, node, at), ...collapsed.causes];
  return explanation(pathOf(node), statusOf(node.phase), causes, collapsed.next);
}

/** An ended run accepts only a retry, which leaves the outcome unknown. */
function hintsOf(state: RunState, node: NodeState): string[] {
  const { phase } = node;
  if (phase.status === 'child') return [`nebula executions explain ${phase.executionId}`];
  if (phase.status === 'failed') {
    const path = failedPath(node, phase.error);
    return path === undefined ? [] : [`nebula executions show ${state.executionId} ${path}`];
  }
  if (phase.status !== 'unknown') return [];
  const reopen = isFinished(state.phase.status) ? [`nebula executions retry ${state.executionId}`] : [];
  return [...reopen, ...settleHint(state, node)];
}

function settleHint(state: RunState, node: NodeState): string[] {
  const command = `nebula executions settle ${state.executionId} ${pathOf(node)}`;
  return [`${command} --happened --output JSON`, `${command} --retry`, `${command} --fail`];
}
