/**
 * Composite nodes: opens their iterations, and decides what follows the end of an iteration or of the whole node.
 *
 *  forEach ─ node.opened(items) ─ scopes.opened 0…9 ─ … ─ scope.closed 3 ─ scopes.opened 10 ─ … ─ node.completed
 *
 * An iteration ends when all its nodes are final, or when it is being stopped and nothing in it runs. `drain` finds
 * such scopes in `state.endChecks`, one after the other, so that 100,000 iterations need no recursion.
 */
import type { RunError } from '../../error.ts';
import { type CompiledValue, isTrue } from '../../expression/index.ts';
import type {
  AcceptedInput,
  DynamicWork,
  ForEachWork,
  InlineWork,
  RetryUntilWork,
  WhileWork,
} from '../../plan/plan.ts';
import type { Problem } from '../../problem.ts';
import { decideRetry } from '../../retry/retry.ts';
import type { Json } from '../../value.ts';
import {
  cancelWaiting,
  completeNode,
  cutOffInside,
  endCancelled,
  endDeferred,
  failNode,
  MAX_ITERATIONS,
  notAList,
  repeat,
  retryOf,
  tooManyItems,
} from '../decide/advance.ts';
import { evaluated, inputOf } from '../decide/evaluate.ts';
import { emit, emitCompensated, type InputCheck, type Turn } from '../decide/turn.ts';
import { expressionFailure } from '../joins/edges.ts';
import { inlineValue, resolveValue, type StoredValue } from '../journal/stored-value.ts';
import { RunScope, scopeOutput } from '../state/expression-scope.ts';
import { bodyOf, isInside, isQuiet, isStopped, pathOf, requireBody, stateIn } from '../state/selectors.ts';
import { backoffOf, maxConcurrencyOf, maxIterationsOf, minSuccessOf } from '../state/settings.ts';
import type { BodyState, NodeState, RunState, ScopeState, Stopping } from '../state/state.ts';
import type { FinalRunStatus } from '../state/status.ts';
import { abort } from '../stop/abort.ts';
import {
  endsDeferred,
  hasDone,
  isToBeUndone,
  isTransaction,
  isUndoing,
  isUndoingInside,
  mustUndoInside,
  transactionsIn,
} from '../undo/transactions.ts';

export function openLoop(turn: Turn, node: NodeState): void {
  const { work } = node.plan;
  if (work.kind !== 'forEach') {
    emit(turn, { type: 'node.opened', node: pathOf(node) });
    return continueNode(turn, node);
  }
  const items = inputOf(turn, node, 'in', work.in);
  if (items === undefined) return;
  if (!Array.isArray(items)) return failNode(turn, node, notAList(items, 'in'));
  if (items.length > MAX_ITERATIONS) return failNode(turn, node, tooManyItems(items.length));
  const needed = neededOf(node, work, items.length);
  // Iterations that emit items may still reach the number needed.
  if (items.length < needed && !work.body.nodes.some(({ emits }) => emits !== undefined))
    return failNode(turn, node, tooFew(needed, items.length, 0));
  emit(turn, { type: 'node.opened', node: pathOf(node), items: turn.store(items), count: items.length });
  continueNode(turn, node);
}

export function openGroup(turn: Turn, node: NodeState): void {
  emit(turn, { type: 'node.opened', node: pathOf(node) });
  for (const scope of requireBody(node).scopes.values()) enter(turn, scope);
}

export function openOnce(turn: Turn, node: NodeState, work: InlineWork): void {
  const given = inputOf(turn, node, 'workflow.input', work.input);
  if (given === undefined) return;
  const begun = work.workflow.acceptInput(given);
  if ('next' in begun) turn.inputChecks.push({ node, steps: begun });
  else openWith(turn, node, work, begun);
}

/** Checks a piece of the input of an inlined workflow, and opens the workflow after the last one. */
export function continueCheck(turn: Turn, check: InputCheck): void {
  const { done, value } = check.steps.next();
  if (done !== true) return;
  turn.inputChecks.pop();
  openWith(turn, check.node, check.node.plan.work as InlineWork, value);
}

function openWith(turn: Turn, node: NodeState, work: InlineWork, { input, problems }: AcceptedInput): void {
  if (problems.length > 0) {
    const message = `The input does not fit workflow '${work.workflow.workflowId}': ${problems[0]}`;
    return failNode(turn, node, { code: 'INPUT_INVALID', kind: 'USER', message });
  }
  emit(turn, { type: 'node.opened', node: pathOf(node), input: turn.store(input) });
  for (const scope of requireBody(node).scopes.values()) enter(turn, scope);
}

export function expand(turn: Turn, node: NodeState, work: DynamicWork, output: StoredValue): void {
  const graph = resolveValue(output, turn.lookup);
  const compiled = work.accept(graph);
  if ('problems' in compiled) return failNode(turn, node, badGraph(compiled.problems));
  emit(turn, { type: 'node.opened', node: pathOf(node), graph: inlineValue(graph) });
  for (const scope of requireBody(node).scopes.values()) enter(turn, scope);
}

function badGraph(problems: readonly Problem[]): RunError {
  const [first] = problems;
  const where = first === undefined || first.path.length === 0 ? '' : ` at ${first.path.join('.')}`;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more problems)` : '';
  return {
    code: 'BAD_GRAPH',
    kind: 'USER',
    message: `The action returned a graph that cannot run: ${first?.message ?? 'it is not a graph'}${where}${more}.`,
    details: {
      problems: problems.slice(0, 20).map(({ code, message, path, hint }) => ({
        code,
        message,
        path: [...path],
        ...(hint === undefined ? {} : { hint }),
      })),
    },
  };
}

/** Puts the entry nodes of a new scope on the worklist. */
function enter(turn: Turn, scope: ScopeState): void {
  for (const entry of scope.graph.entries.toReversed()) turn.work.push(stateIn(scope, entry));
}

function openIterations(turn: Turn, node: NodeState, to: number): void {
  const body = requireBody(node);
  const from = body.next;
  if (to <= from) return;
  emit(turn, { type: 'scopes.opened', node: pathOf(node), from, to });
  for (let iteration = to - 1; iteration >= from; iteration--) {
    const scope = body.scopes.get(iteration);
    if (scope !== undefined) enter(turn, scope);
  }
}

/** Opens as many iterations as allowed, or ends the loop. */
export function continueNode(turn: Turn, node: NodeState): void {
  const { work } = node.plan;
  if (work.kind === 'forEach') return continueForEach(turn, node, work);
  const { open, next } = requireBody(node);
  if (open > 0) return;
  if (work.kind === 'while') return continueWhile(turn, node, work);
  if (work.kind === 'retryUntil') openIterations(turn, node, next + 1);
}

function continueForEach(turn: Turn, node: NodeState, work: ForEachWork): void {
  const body = requireBody(node);
  if (body.error !== null && isLost(work, body)) return failLoop(turn, node, body.error);
  const isOver = body.isBroken || (work.until === 'first' && body.succeeded > 0);
  if (!isOver) openIterations(turn, node, Math.min(body.total, body.next + maxConcurrencyOf(node, work) - body.open));
  if (body.open > 0 && !(work.until === 'first' && body.succeeded > 0)) return;
  if (body.open > 0) return withdraw(turn, node);
  const needed = neededOf(node, work, body.next);
  if (body.succeeded < needed) return failBody(turn, node, tooFew(needed, body.next, body.failed, body.error));
  const results = Array.from({ length: body.next }, (_, iteration) => body.results[iteration]);
  const first = results.find((stored) => stored !== undefined);
  const kept = work.until === 'first' ? (first === undefined ? [] : [first]) : results;
  completeNode(turn, node, turn.store(kept.map((stored) => resolveValue(stored, turn.lookup))));
}

function continueWhile(turn: Turn, node: NodeState, work: WhileWork): void {
  const body = requireBody(node);
  const last = resolveValue(body.results[0], turn.lookup);
  if (body.isBroken) return completeNode(turn, node, turn.store(last));
  const holds = tested(turn, node, 'condition', work.condition, last);
  if (holds === undefined) return;
  if (!holds) return completeNode(turn, node, turn.store(last));
  const maxIterations = maxIterationsOf(node, work.maxIterations);
  if (body.next - body.base >= maxIterations) return stopNode(turn, node, endless(maxIterations));
  openIterations(turn, node, body.next + 1);
}

/** Tests a condition that sees the last iteration's output as `$self.output`. */
function tested(turn: Turn, node: NodeState, where: string, value: CompiledValue, last: Json): boolean | undefined {
  const body = requireBody(node);
  return evaluated(turn, node, where, () => {
    const scope = RunScope.afterIteration(turn.state, node, turn.lookup, { index: body.next, output: last }).at(
      node,
      where,
    );
    return isTrue(value.evaluate(scope, turn.budgets.next()));
  });
}

/** Called for each scope and node in `state.endChecks`. */
export function checkEnd(turn: Turn, subject: ScopeState | NodeState): void {
  if ('plan' in subject) return checkNodeEnd(turn, subject);
  const node = subject.parent;
  if (subject.undoes !== null) return undone(turn, subject.undoes);
  if (endsDeferred(turn.state, subject)) return endDeferred(turn, subject);
  if (subject.stopping !== null && !isQuiet(subject, turn.state.plan.failureNode)) return beginFinally(turn, subject);
  if (subject.stopping === null && subject.open > 0) return;
  if (node === null || subject.isClosed || isStopped(turn.state, node) || isStoppedNode(node)) return;
  const ended = endOf(turn, subject);
  const { work } = node.plan;
  if (isTransaction(node) && ended.error !== undefined && hasDone(turn.state, subject)) {
    return undo(turn, subject, 'failed', ended.error);
  }
  if (work.kind === 'inline' || work.kind === 'dynamic' || work.kind === 'group')
    return bodyEnded(turn, node, subject, work, ended);
  emit(turn, { type: 'scope.closed', scope: subject.path, ...ended });
  iterationEnded(turn, node, ended.error);
}

/** Begins the finally: nothing that must end first is under way, so the pending nodes evaluate their joins. */
function beginFinally(turn: Turn, scope: ScopeState): void {
  if (scope.isClosed || scope.stopping?.finally !== true || scope.underWay > 0) return;
  for (const node of scope.nodes.toReversed()) if (node.phase.status === 'pending') turn.work.push(node);
}

/** Ends a composite node that is being stopped, itself or with its scope, once all its iterations are over. */
function checkNodeEnd(turn: Turn, node: NodeState): void {
  const { phase } = node;
  if (phase.status !== 'open' || node.endings > 0) return;
  const isWithOthers = isStopped(turn.state, node);
  if (!isWithOthers && phase.stopping === null) return;
  if (undoFirst(turn, node)) return;
  if (isWithOthers || phase.stopping === null) return endCancelled(turn, node, phase.stopping?.error);
  endStopped(turn, node, phase.stopping);
}

/** Undoes a transaction before its node ends, so that no other node sees the failure earlier. */
function undo(turn: Turn, scope: ScopeState, status: FinalRunStatus, error: RunError): void {
  emit(turn, { type: 'scope.compensating', scope: scope.path, status, error });
  const first = scope.undoing?.nodes[0];
  if (first !== undefined) turn.work.push(first);
}

/**
 * Undoes the transactions inside the node before it ends. Returns true while an undo is pending. A run that ends undoes
 * everything itself.
 */
function undoFirst(turn: Turn, node: NodeState): boolean {
  const { state } = turn;
  if (isUndoingInside(node)) return true;
  if (state.stopping !== null || !isToBeUndone(state, node) || !mustUndoInside(state, node)) return false;
  const error = stopErrorOf(node);
  for (const scope of [...transactionsIn(node)]) {
    const isNew = scope.undoing === null && !isUndoingInside(scope) && hasDone(state, scope);
    if (isNew) undo(turn, scope, 'cancelled', error);
  }
  return true;
}

function stopErrorOf({ phase, scope }: NodeState): RunError {
  const error = phase.status === 'open' ? (phase.stopping?.error ?? scope.stopping?.error) : null;
  return error ?? { code: 'CANCELLED', kind: 'USER', message: 'The scope around it has ended.' };
}

/** A transaction has been undone: its node fails, or the node that is being stopped around it ends. */
function undone(turn: Turn, scope: ScopeState): void {
  const { state } = turn;
  const { parent: node, stopping } = scope;
  if (node === null || scope.undoing?.isClosed !== false || isUndoing(state, scope)) return;
  emitCompensated(turn, scope);
  const isEnding = isStopped(state, node) || isStoppedNode(node);
  if (!isEnding && stopping?.error != null) return failBody(turn, node, stopping.error);
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) state.endChecks.add(at);
}

function endStopped(turn: Turn, node: NodeState, { error, cancelled = false }: Stopping): void {
  if (cancelled) endCancelled(turn, node, error);
  else failBody(turn, node, error);
}

function isStoppedNode({ phase }: NodeState): boolean {
  return phase.status !== 'open' || phase.stopping !== null;
}

/** A transaction without retries is being undone: the node fails afterwards, and no cancel changes that. */
function isTransactionOver(node: NodeState): boolean {
  if (!isTransaction(node) || node.plan.retry.rules.length > 0) return false;
  for (const { undoing } of bodyOf(node)?.scopes.values() ?? []) if (undoing !== null) return true;
  return false;
}

interface Ended {
  /** If absent: the output of the only end node. */
  readonly output?: StoredValue;
  readonly error?: RunError;
}

/**
 * With `onFailure: ignore` an iteration continues after a failure and reaches its end. Where successes are counted,
 * such an iteration counts as failed: otherwise `minSuccess` and `retryUntil` would mean nothing under this policy.
 */
function countedFailure({ parent, realm, nodes }: ScopeState): RunError | null {
  const work = parent?.plan.work;
  const isCounted = work?.kind === 'retryUntil' || (work?.kind === 'forEach' && isCounting(work));
  if (!isCounted || realm.onFailure !== 'ignore') return null;
  for (const { phase } of nodes) {
    if (phase.status === 'failed' && phase.handling === 'tolerated') return phase.error;
  }
  return null;
}

function isCounting({ minSuccess, until }: ForEachWork): boolean {
  return minSuccess !== undefined || until === 'first';
}

function endOf(turn: Turn, scope: ScopeState): Ended {
  const error = scope.stopping?.error ?? scope.deferredError ?? countedFailure(scope);
  if (error !== null) return { error };
  if (scope.graph.output === undefined && scope.graph.ends.length <= 1) return {};
  try {
    return { output: turn.store(scopeOutput(turn, scope)) };
  } catch (failure) {
    return { error: expressionFailure(failure, 'output', scope.path) };
  }
}

function bodyEnded(
  turn: Turn,
  node: NodeState,
  scope: ScopeState,
  work: { kind: string; output?: CompiledValue | undefined },
  ended: Ended,
): void {
  if (ended.error !== undefined) return failBody(turn, node, ended.error);
  const { output } = work;
  if (output === undefined) {
    return completeNode(turn, node, ended.output ?? turn.store(scopeOutput(turn, scope)));
  }
  const own = ended.output === undefined ? scopeOutput(turn, scope) : resolveValue(ended.output, turn.lookup);
  const mapped = evaluated(turn, node, 'workflow.output', () => {
    const iteration = { index: 0, output: own };
    const view = RunScope.afterIteration(turn.state, node, turn.lookup, iteration).at(node, 'workflow.output');
    return turn.store(output.evaluate(view, turn.budgets.next()));
  });
  if (mapped !== undefined) completeNode(turn, node, mapped);
}

function iterationEnded(turn: Turn, node: NodeState, error: RunError | undefined): void {
  const { work } = node.plan;
  if (work.kind === 'retryUntil') return attemptEnded(turn, node, work, error);
  if (error === undefined) return continueNode(turn, node);
  if (work.kind !== 'forEach') return stopNode(turn, node, error);
  if (minSuccessOf(node, work) === undefined)
    return work.until === 'first' ? continueOrFail(turn, node, error) : failLoop(turn, node, error);
  const { total, failed } = requireBody(node);
  const needed = neededOf(node, work, total);
  if (total - failed < needed) return stopNode(turn, node, tooFew(needed, total, failed, error));
  continueNode(turn, node);
}

/**
 * Fails the loop because an iteration failed. With `fail-fast` the other iterations are cut off, otherwise they run to
 * their end.
 */
function failLoop(turn: Turn, node: NodeState, error: RunError): void {
  const { open, error: first } = requireBody(node);
  if (open === 0 || node.scope.realm.onFailure === 'fail-fast') stopNode(turn, node, first ?? error);
}

function isLost({ minSuccess, until }: ForEachWork, { failed }: BodyState): boolean {
  return failed > 0 && minSuccess === undefined && until === 'all';
}

/** How many of `total` iterations must succeed, if `minSuccess` lets some fail. */
function neededOf(node: NodeState, work: ForEachWork, total: number): number {
  const minSuccess = minSuccessOf(node, work);
  if (minSuccess === undefined) return 0;
  return 'count' in minSuccess ? minSuccess.count : Math.ceil(minSuccess.ratio * total);
}

/** An iteration failed in a loop that needs only one success. */
function continueOrFail(turn: Turn, node: NodeState, error: RunError): void {
  const { total, failed, succeeded, open } = requireBody(node);
  if (failed === total) stopNode(turn, node, error);
  // After a success the other iterations are withdrawn, and the last one of them ends the loop.
  else if (succeeded === 0 || open === 0) continueNode(turn, node);
}

function attemptEnded(turn: Turn, node: NodeState, work: RetryUntilWork, error: RunError | undefined): void {
  const body = requireBody(node);
  if (error === undefined) {
    const last = resolveValue(body.results[0], turn.lookup);
    const isDone = body.isBroken || work.until === undefined || tested(turn, node, 'until', work.until, last);
    if (isDone === undefined) return;
    if (isDone) return completeNode(turn, node, turn.store(last));
  }
  const cause = error ?? notReached(body.next);
  const past = { path: pathOf(node), retries: [body.next - body.base - 1], lost: 0 };
  const decision = decideRetry(backoffOf(node, work.backoff), cause, past, {
    jitter: turn.jitter,
    newBudget: () => turn.budgets.next(),
  });
  // A break ends the loop, also if something else in its iteration failed.
  if (!decision.retry || body.isBroken || isInDoubt(turn.state, node)) return stopNode(turn, node, cause);
  if (decision.delayMs === 0) return openIterations(turn, node, body.next + 1);
  emit(turn, { type: 'round.delayed', node: pathOf(node), until: turn.now + decision.delayMs });
}

/** The delay of a retryUntil is over. */
export function nextIteration(turn: Turn, node: NodeState): void {
  openIterations(turn, node, 1 + requireBody(node).next);
}

/** Fails or cancels the node. First its running attempts are asked to stop and its transactions are undone. */
export function stopNode(
  turn: Turn,
  node: NodeState,
  error: RunError,
  { cancelled = false, compensate = true, isAbrupt = false }: StopOptions = {},
): void {
  const { phase } = node;
  if ((phase.status !== 'open' && phase.status !== 'child') || isTransactionOver(node)) return;
  const { stopping = null } = phase;
  // The node is already ending; a further request can only skip the rest of the undo.
  if (stopping !== null && (compensate || stopping.compensate === false)) return;
  const how = {
    error: stopping?.error ?? error,
    ...((stopping === null ? cancelled : stopping.cancelled) ? { cancelled: true } : {}),
    ...(stopping !== null && cancelled ? { cancelRequested: true } : {}),
    ...(compensate ? {} : { compensate }),
  };
  if (phase.status === 'child') {
    emit(turn, { type: 'node.stopping', node: pathOf(node), ...how });
    return abort(turn, node, error.message);
  }
  const isOpen = isUndoingInside(node) || [...(bodyOf(node)?.scopes.values() ?? [])].some(({ isClosed }) => !isClosed);
  if (!isOpen && !(compensate && mustUndoInside(turn.state, node)))
    return endStopped(turn, node, { ...how, since: turn.now });
  emit(turn, { type: 'node.stopping', node: pathOf(node), ...how, finally: true });
  if (isAbrupt) cancelWaiting(turn, node);
  else cutOffInside(turn, node, error.message);
}

interface StopOptions extends Pick<Stopping, 'cancelled' | 'compensate'> {
  /** The caller cuts off the running attempts itself and does not wait for them. */
  readonly isAbrupt?: boolean;
}

function withdraw(turn: Turn, node: NodeState): void {
  for (const scope of requireBody(node).scopes.values()) {
    if (scope.isClosed || scope.stopping !== null) continue;
    const error: RunError = { code: 'WITHDRAWN', kind: 'USER', message: 'Another round came first.', node: scope.path };
    emit(turn, { type: 'scope.stopping', scope: scope.path, error, finally: true });
    cutOffInside(turn, scope, error.message);
  }
}

function endless(maxIterations: number): RunError {
  const message = `The condition still holds after ${maxIterations} rounds (maxIterations).`;
  return { code: 'MAX_ITERATIONS', kind: 'USER', message };
}

function notReached(iterations: number): RunError {
  const message = `The condition \`until\` does not hold after ${iterations} ${iterations === 1 ? 'iteration' : 'iterations'}.`;
  return { code: 'UNTIL_NOT_REACHED', kind: 'USER', message };
}

function tooFew(needed: number, total: number, failed: number, last: RunError | null = null): RunError {
  const items = `${total} ${total === 1 ? 'item' : 'items'}`;
  const what = failed === 0 ? `There ${total === 1 ? 'is' : 'are'} ${items}` : `${failed} of ${items} failed`;
  const why = last === null ? '' : ` The last failure: ${last.message}`;
  return {
    code: 'TOO_FEW_SUCCEEDED',
    kind: 'USER',
    message: `${what}, so the ${needed} that must succeed (minSuccess) cannot be reached.${why}`,
    details: {
      needed,
      total,
      failed,
      ...(last === null ? {} : { lastCode: last.code }),
      ...(last?.node === undefined ? {} : { node: last.node }),
    },
  };
}

/**
 * Ends a composite node whose body has failed and in which nothing runs: the node is retried after an undo, or fails.
 * The retry runs the whole body anew, with its own idempotency keys.
 *
 *  group ─ node.opened ─ … ─ node.compensating ─ (completed nodes are undone) ─ node.retrying ─ node.opened ─ …
 */
function failBody(turn: Turn, node: NodeState, error: RunError): void {
  const { state } = turn;
  const retry = retryOf(turn, node, error);
  if (retry === undefined || isInDoubt(state, node) || isLeftDone(node)) return failNode(turn, node, error);
  if (undoings(node).length > 0 || !hasToUndo(state, node)) return repeat(turn, node, error, retry);
  emit(turn, { type: 'node.compensating', node: pathOf(node), error });
  const [first] = undoings(node)[0]?.nodes ?? [];
  if (first !== undefined) turn.work.push(first);
}

/** The outcome of a node inside is unknown: a retry could repeat its effect. */
function isInDoubt(state: RunState, node: NodeState): boolean {
  for (const { scope } of state.unknown) if (isInside(scope, node)) return true;
  return false;
}

/** A compensation did not succeed, so the effect of its node stands. */
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
