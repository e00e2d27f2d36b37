/**
 * `decide`: what follows from a stimulus. Pure: no I/O, no clock, no chance. It advances the given state and leaves
 * the entries of the next frame, and the attempts to abort, in the turn.
 *
 *  D1 Only the open attempt of a node may report an outcome; anything else is dropped (the fence).
 *  D2 A run that is finished changes by `retry` only.
 *  D3 After every stimulus: due timers have fired, every decided join has led to something, and a run in which
 *     nothing can happen any more is finished.
 */
import { type RunError, unreachable } from '../error.ts';
import { WORKER_LOST } from '../retry/retry.ts';
import type { Json } from '../value.ts';
import { abort, beginAgain, breakOff, completeNode, drain, failAttempt, failNode, makeReady, stop } from './advance.ts';
import { expressionFailure } from './edges.ts';
import { JOURNAL_FORMAT } from './entry.ts';
import { heldValue, hold } from './held.ts';
import { isFinished, type NodeState, nodeAt, pathOf, type RunState, type TimerItem } from './state.ts';
import type { FinalRunStatus } from './status.ts';
import type { OpenAttempt, Stimulus } from './stimulus.ts';
import { isPastTotal, popDue } from './timers.ts';
import { emit, type Turn } from './turn.ts';
import { RunScope } from './view.ts';

export function decide(turn: Turn, stimulus: Stimulus): void {
  const { state } = turn;
  if (isFinished(state.status)) {
    if (stimulus.type !== 'retry' || !reopen(turn)) return;
  } else {
    react(turn, stimulus);
  }
  drain(turn);
  // Where nobody drew, a retry waits its whole delay.
  fireTimers(turn, 'jitter' in stimulus ? stimulus.jitter : 1);
  conclude(turn);
}

/** Nothing is left half done: joins have led to something, and a run without a future has ended. */
export function conclude(turn: Turn): void {
  drain(turn);
  finishIfDone(turn);
}

function react(turn: Turn, stimulus: Stimulus): void {
  switch (stimulus.type) {
    case 'start':
      return start(turn, stimulus.input, stimulus.trigger);
    case 'ended':
      return ended(turn, stimulus);
    case 'wake':
      return reap(turn, stimulus.lost, stimulus.jitter);
    case 'cancel':
      return stop(turn, 'cancelled', { code: 'CANCELLED', kind: 'USER', message: stimulus.reason });
    case 'settle':
      return settle(turn, stimulus);
    case 'retry':
      return;
    default:
      return unreachable(stimulus);
  }
}

function start(turn: Turn, input: Json, trigger: Json): void {
  const { state } = turn;
  if (state.status !== 'pending') return;
  const { workflowId, version } = state.plan;
  emit(turn, { type: 'run.started', format: JOURNAL_FORMAT, workflowId, version, input: hold(input), trigger });
  // Last in, first out: the order of the definition, for those who read the journal.
  for (const node of state.plan.root.entries.toReversed()) turn.work.push(state.root.nodes[node.index] as NodeState);
}

function ended(turn: Turn, { node: path, attempt, outcome, jitter }: Stimulus & { type: 'ended' }): void {
  const node = nodeAt(turn.state, path);
  if (node?.phase.status !== 'running' || node.phase.attempt !== attempt) return;
  switch (outcome.status) {
    case 'completed':
      return completeNode(turn, node, outcome.output);
    case 'failed':
      return failAttempt(turn, node, outcome.error, jitter);
    case 'broken-off':
      return breakOff(turn, node, outcome.error, jitter);
    case 'returned':
      if (turn.state.stopping !== null) return emit(turn, { type: 'node.cancelled', node: path });
      return emit(turn, { type: 'node.returned', node: path });
    default:
      return unreachable(outcome);
  }
}

function reap(turn: Turn, lost: readonly OpenAttempt[], jitter: number): void {
  for (const { node: path, attempt, worker } of lost) {
    const node = nodeAt(turn.state, path);
    if (node?.phase.status !== 'running' || node.phase.attempt !== attempt) continue;
    breakOff(turn, node, lostError(worker), jitter);
  }
}

function lostError(worker: string): RunError {
  return {
    code: WORKER_LOST,
    kind: 'SYSTEM',
    message: 'The process that ran this attempt stopped before it ended.',
    details: { worker },
  };
}

function settle(turn: Turn, { node: path, by, attempt, settlement }: Stimulus & { type: 'settle' }): void {
  const node = nodeAt(turn.state, path);
  if (node?.phase.status !== 'unknown' || (attempt ?? node.attempts) !== node.attempts) return;
  const { error } = node.phase;
  if (settlement.happened === 'unknown')
    return emit(turn, { type: 'node.settled', node: path, by, outcome: 'unknown' });
  if (settlement.happened) {
    emit(turn, { type: 'node.settled', node: path, by, outcome: 'happened' });
    return completeNode(turn, node, hold(settlement.output));
  }
  emit(turn, { type: 'node.settled', node: path, by, outcome: settlement.then });
  if (settlement.then === 'fail') return failNode(turn, node, error);
  if (turn.state.stopping !== null) return emit(turn, { type: 'node.cancelled', node: path, error });
  if (isPastTotal(node, turn.now)) {
    return failNode(turn, node, timeoutError('total', node.plan.timeouts.totalMs, path));
  }
  // At once, not when the turn is sealed: whatever else comes in this turn, it is not unknown any more.
  emit(turn, { type: 'node.scheduled', nodes: [path] });
}

/**
 * Retry from failed: what failed, was cut off, or was never reached because of that, begins again.
 * An unknown outcome stays unknown: running it again is for `verify` or a person to say. False: nothing is left to do.
 */
function reopen(turn: Turn): boolean {
  const { state } = turn;
  const again = new Set<NodeState>();
  const stack: NodeState[] = [];
  const add = (node: NodeState): void => {
    if (again.has(node)) return;
    again.add(node);
    stack.push(node);
  };
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) if (mustRunAgain(node)) add(node);
  }
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const edge of node.plan.outgoing) {
      const target = node.scope.nodes[edge.to.index] as NodeState;
      if (target.phase.status === 'skipped') add(target);
    }
  }
  if (again.size === 0 && state.unknown.size === 0) return false;
  emit(turn, { type: 'run.reopened', nodes: Array.from(again, pathOf) });
  beginAgain(turn, again);
  return true;
}

function mustRunAgain({ phase }: NodeState): boolean {
  if (phase.status === 'failed') return phase.handling !== 'handled' && phase.handling !== 'ignored';
  return phase.status === 'cancelled' || (phase.status === 'skipped' && phase.why === 'failure');
}

function fireTimers(turn: Turn, jitter: number): void {
  for (let item = popDue(turn.state, turn.now); item !== undefined; item = popDue(turn.state, turn.now)) {
    fire(turn, item, jitter);
  }
}

function fire(turn: Turn, { kind, node }: TimerItem, jitter: number): void {
  if (kind === 'workflow') {
    return stop(turn, 'timed-out', timeoutError('workflow', turn.state.plan.timeoutMs, undefined));
  }
  if (kind === 'stop') {
    for (const running of [...turn.state.running]) giveUp(turn, running);
    return;
  }
  if (node === null) return;
  if (kind === 'retry') return makeReady(turn, node);
  const { timeouts } = node.plan;
  const limitMs = { attempt: timeouts.attemptMs, queued: timeouts.queuedMs, total: timeouts.totalMs }[kind];
  const error = timeoutError(kind, limitMs, pathOf(node));
  if (node.phase.status !== 'running') return failNode(turn, node, error);
  abort(turn, node, error.message, true);
  breakOff(turn, node, error, jitter);
}

/** It was asked to stop and did not: the run goes on without its answer. */
function giveUp(turn: Turn, node: NodeState): void {
  const message = 'The attempt was asked to stop and did not end in time.';
  abort(turn, node, message, true);
  breakOff(turn, node, { code: 'CANCELLED', kind: 'USER', message, node: pathOf(node) }, 0);
}

export function timeoutError(
  limit: 'attempt' | 'queued' | 'total' | 'workflow',
  limitMs: number | null,
  node: string | undefined,
): RunError {
  const words = {
    attempt: 'The attempt took longer than',
    queued: 'The node waited for a slot longer than',
    total: 'The node took, with all its attempts, longer than',
    workflow: 'The run took longer than',
  }[limit];
  return {
    code: 'TIMEOUT',
    kind: 'USER',
    message: `${words} ${limitMs} ms.`,
    ...(node === undefined ? {} : { node }),
    details: { limit, limitMs },
  };
}

function finishIfDone(turn: Turn): void {
  const { state } = turn;
  if (isFinished(state.status)) return;
  if (state.stopping !== null) {
    if (state.running.size === 0) finish(turn, state.stopping.status, state.stopping.error);
  } else if (state.root.open === 0) {
    if (state.deferredError !== null) finish(turn, 'failed', state.deferredError);
    else complete(turn);
  }
}

function finish(turn: Turn, status: FinalRunStatus, error: RunError | null): void {
  emit(turn, { type: 'run.finished', status, ...(error === null ? {} : { error }) });
}

function complete(turn: Turn): void {
  const { state } = turn;
  let output: Json;
  try {
    output = outputOf(turn, state);
  } catch (error) {
    return finish(turn, 'failed', expressionFailure(error, 'output'));
  }
  emit(turn, { type: 'run.finished', status: 'completed', output: hold(output) });
}

/** The workflow's `output`, else the outputs of the end nodes that ran. */
function outputOf(turn: Turn, state: RunState): Json {
  const { output, ends } = state.plan.root;
  if (output !== undefined) {
    return output.evaluate(new RunScope(state, state.root, turn.lookup), state.plan.newBudget());
  }
  const outputs = Object.create(null) as Record<string, Json>;
  for (const end of ends) {
    const node = state.root.nodes[end.index] as NodeState;
    if (node.phase.status === 'completed') outputs[end.id] = heldValue(node.output, turn.lookup);
  }
  return outputs;
}
