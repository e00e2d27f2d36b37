/** Explains why a node is in its state. The most important cause comes first. */
import { formatDuration } from '../duration.ts';
import { type RunError, unreachable } from '../error.ts';
import type { NodePath } from '../ids.ts';
import { type EdgePlan, isImplied } from '../plan/plan.ts';
import { HERE, parseRoute } from '../plan/route.ts';
import { isUnmendable, whyNotRetried } from '../run/decide/not-retried.ts';
import { isTaken, verdictOf } from '../run/joins/joins.ts';
import type { CacheHit, SkipReason } from '../run/journal/entry.ts';
import { runsOnce } from '../run/state/scopes.ts';
import {
  bodyOf,
  isBlockedByLevel,
  isFinal,
  isStopped,
  pathOf,
  stateIn,
  statusOf,
  workerName,
} from '../run/state/selectors.ts';
import { retryPlanOf } from '../run/state/settings.ts';
import type { NodeState, Phase, RunState } from '../run/state/state.ts';
import { pinOf } from '../run/state/test-parts.ts';
import { undoingIn } from '../run/undo/transactions.ts';
import type { JsonObject } from '../value.ts';
import { type Cause, cause, type EdgeCause } from './cause.ts';
import { gateWords, SKIP_WORDS, waitWords } from './cause-words.ts';

/** The limit on listed causes of one kind. */
export const LISTED = 10;

export function nodeCauses(state: RunState, node: NodeState, now: number): Cause[] {
  const { phase } = node;
  switch (phase.status) {
    case 'pending':
      return pendingCauses(state, node);
    case 'queued':
      return [queuedCause(state, node, now - phase.since)];
    case 'running':
      return runningCauses(phase, now);
    case 'waiting':
      return [retryCause(node, phase, now), ...budgetCauses(node, phase.error)];
    case 'open':
      return openCauses(node, phase, now);
    case 'gated':
      return [gateCause(phase, now)];
    case 'child':
      return [childCause(state, node, phase, now)];
    case 'listening':
      return listeningCauses(phase, now);
    case 'completed':
      return [...pinCauses(state, node), completedCause(node, phase.cached), ...missCauses(node), ...deadEdges(node)];
    case 'failed': {
      const { code, message } = phase.error;
      const handling = cause('handling', HANDLING[phase.handling], { value: { handling: phase.handling } });
      return [
        ...pinCauses(state, node),
        cause('error', `${code}: ${message}`, { value: { code } }),
        ...failedInside(node, phase.error),
        handling,
        ...budgetCauses(node, phase.error),
        ...notRetriedCauses(node, phase.error),
        ...deadEdges(node),
      ];
    }
    case 'skipped':
      return skippedCauses(node, phase.why);
    case 'cancelled':
      return [cancelledCause(state, node)];
    case 'unknown':
      return [
        cause('unknown-outcome', `It is unknown whether attempt ${node.attempts} took effect: ${phase.error.message}`, {
          value: { attempt: node.attempts, code: phase.error.code },
        }),
        cause('once', 'Its effect is `once`, so it is not repeated before its outcome is settled.'),
      ];
    default:
      return unreachable(phase);
  }
}

function pendingCauses(state: RunState, node: NodeState): Cause[] {
  const { incoming, join } = node.plan;
  if (node.isHeld) {
    return [cause('finally', 'It is part of the finally: it starts when the other nodes have ended (finish-running).')];
  }
  const sources = new Map(
    incoming
      .filter((edge) => !isFinal(sourceOf(node, edge).phase.status))
      .map((edge) => [edge.from.id, statusOf(sourceOf(node, edge).phase)]),
  );
  if (sources.size === 0) {
    return [cause('pending', state.stopping === null ? 'It is about to start.' : 'The run is ending.')];
  }
  const listed = [...sources].slice(0, LISTED);
  const names = listed.map(([id, status]) => `${id} (${status})`).join(', ');
  const more = typeof join === 'number' ? ` It starts when ${join} of its edges are taken.` : '';
  const value = { join, sources: Object.fromEntries(listed) };
  return [cause('upstream', `It waits for ${names}.${more}`, { value })];
}

function queuedCause(state: RunState, node: NodeState, waitedMs: number): Cause {
  const waited = `It has been ready for ${formatDuration(waitedMs)}`;
  const { maxParallelism } = state.plan;
  const active = state.running.size;
  if (isBlockedByLevel(state, node)) {
    const level = node.scope.level + 1;
    return cause('level', `${waited} and waits for level ${level} to end (mode: levels).`, { value: { level } });
  }
  if (active >= maxParallelism) {
    const holders = [...state.running].slice(0, LISTED).map(pathOf);
    const message = `${waited} and waits for a slot: ${active} of ${maxParallelism} (maxParallelism) are held by ${holders.join(', ')}.`;
    return cause('parallelism', message, { value: { waitedMs, limit: maxParallelism, holders } });
  }
  const { route } = node.plan;
  if (route === HERE)
    return cause('worker', `${waited} and waits for a worker with a free slot.`, { value: { waitedMs } });
  const { action, version, labels } = parseRoute(route);
  const labelled = labels.length === 0 ? '' : ` and the labels ${labels.join(', ')}`;
  const message = `${waited} and waits for a remote worker with ${action}@${version}${labelled}.`;
  return cause('worker', message, { value: { waitedMs, action: `${action}@${version}`, labels: [...labels] } });
}

type PhaseOf<S extends Phase['status']> = Extract<Phase, { status: S }>;

function runningCauses({ attempt, since, worker, effect }: PhaseOf<'running'>, now: number): Cause[] {
  const name = workerName(worker);
  const message = `Attempt ${attempt} has been running for ${formatDuration(now - since)} in worker ${name}.`;
  const running = cause('attempt-running', message, { value: { attempt, since, worker: name } });
  if (effect !== 'once') return [running];
  return [running, cause('once', 'Its effect is `once`: it is not repeated unless its outcome is known.')];
}

function retryCause({ attempts }: NodeState, { error, until }: PhaseOf<'waiting'>, now: number): Cause {
  const left = formatDuration(Math.max(0, until - now));
  const message = `Attempt ${attempts} failed (${error.code}: ${error.message}); the next one comes in ${left}.`;
  return cause('attempt-failed', message, { value: { attempt: attempts, code: error.code, until } });
}

/** The node at which a composite node failed. */
function failedInside(node: NodeState, error: RunError): Cause[] {
  const path = failedPath(node, error);
  if (path === undefined) return [];
  const [iteration = ''] = path.slice(pathOf(node).length + 1).split('/');
  const where = runsOnce(node.plan) ? 'at' : `in iteration ${iteration}, at`;
  return [cause('inside', `It failed ${where} '${path}'.`, { node: path })];
}

/** Undefined if the error is of the node itself. */
export function failedPath(node: NodeState, { node: path }: RunError): NodePath | undefined {
  return path?.startsWith(`${pathOf(node)}/`) ? path : undefined;
}

/** The retries that were used. A node without any says so, unless no retry would help. */
function budgetCauses(node: NodeState, { code }: RunError): Cause[] {
  const { rules, lost } = retryPlanOf(node);
  const counts = rules.map(({ attempts }, index) => ({ used: node.retries[index] ?? 0, of: attempts - 1 }));
  const value = { retries: counts, lost: { used: node.lost, of: lost } };
  const used = counts.filter((count) => count.of > 0).map((count) => `${count.used} of ${count.of}`);
  const sentences = [
    ...(used.length > 0 ? [`It used ${used.join(', ')} retries.`] : []),
    ...(node.lost > 0 ? [`It repeated ${node.lost} of at most ${lost} lost attempts.`] : []),
  ];
  if (sentences.length > 0) return [cause('retries', sentences.join(' '), { value })];
  const couldRetry = node.plan.work.kind === 'action' && !isUnmendable(code);
  return couldRetry ? [cause('retries', 'It has no retries (`retry`).', { value })] : [];
}

/** Why retries that are left were not used. */
function notRetriedCauses(node: NodeState, error: RunError): Cause[] {
  const reason = whyNotRetried(node, error);
  if (reason === undefined) return [];
  const { code } = error;
  if (reason.why === 'unmendable') {
    const message = `${code} is never retried: a further attempt would fail in the same way.`;
    return [cause('retries', message, { value: { code } })];
  }
  const { names } = reason;
  const named = names.length === 0 ? '' : `, which names ${names.join(', ')}`;
  const message = `It was not retried: ${code} does not match \`retry.on\`${named}.`;
  return [cause('retries', message, { value: { code, on: [...names] } })];
}

function childCause(state: RunState, node: NodeState, phase: PhaseOf<'child'>, now: number): Cause {
  const { executionId, since, stopping } = phase;
  const isOver = stopping !== undefined || isStopped(state, node);
  const message = isOver
    ? `Execution ${executionId}, which runs for it, was asked to stop; the node ends after it.`
    : `Execution ${executionId} has been running for it for ${formatDuration(now - since)}.`;
  return cause('child-running', message, { link: { executionId }, value: { since } });
}

function openCauses(node: NodeState, phase: PhaseOf<'open'>, now: number): Cause[] {
  const { attempts } = node;
  const { body } = phase;
  if (phase.retrying !== undefined && phase.stopping === null) {
    const { code, message } = phase.retrying;
    const words = `Attempt ${attempts} failed (${code}: ${message}); its completed nodes are undone, then it begins again.`;
    return [cause('compensating', words, { value: { attempt: attempts, code } })];
  }
  const causes = endingCauses(node, phase);
  const since = `Its body has been running for ${formatDuration(now - phase.since)}`;
  if (runsOnce(node.plan)) {
    return [...causes, cause('body-running', `${since}.`, { value: { since: phase.since } })];
  }
  const total = Number.isFinite(body.total) ? body.total : null;
  const { succeeded, failed, open, until } = body;
  const lost = failed > 0 ? `, ${failed} failed` : '';
  const words = `${since}: ${succeeded}${total === null ? '' : ` of ${total}`} iterations have completed${lost}, ${open} are open.`;
  causes.push(cause('body-running', words, { value: { since: phase.since, total, succeeded, failed, open } }));
  if (until === null) return causes;
  const left = formatDuration(Math.max(0, until - now));
  return [...causes, cause('round-delayed', `The next iteration comes in ${left}.`, { value: { until } })];
}

function endingCauses(node: NodeState, { stopping }: PhaseOf<'open'>): Cause[] {
  const iterations = [...(bodyOf(node)?.scopes.values() ?? [])];
  const failed = stopping?.error ?? iterations.find((scope) => scope.undoing)?.stopping?.error;
  if (failed == null) return [];
  const ends = stopping?.cancelled === true ? 'It is cancelled' : 'It fails';
  const undoing = Array.from(undoingIn(node), ({ path }) => `, and ${path} has been undone`).join('');
  const message = `${ends} once its running nodes have stopped${undoing}: ${failed.message}`;
  return [cause('ending', message, { value: { code: failed.code } })];
}

function pinCauses({ plan: { test } }: RunState, node: NodeState): Cause[] {
  const isPinned = test !== undefined && pinOf(test, node) !== undefined;
  return isPinned ? [cause('pinned', 'It is pinned: this test run was given its result, and did not run it.')] : [];
}

function completedCause({ attempts }: NodeState, cached: CacheHit | undefined): Cause {
  if (cached === undefined) {
    const words = attempts === 0 ? 'It completed.' : `It completed with attempt ${attempts}.`;
    return cause('completed', words, { value: { attempt: attempts } });
  }
  const { executionId, node, at } = cached;
  const message = `Its output is from the cache: '${node}' of ${executionId} gave it at ${new Date(at).toISOString()}.`;
  return cause('cache-hit', message, { link: { executionId, node }, value: { at } });
}

function missCauses({ missed }: NodeState): Cause[] {
  if (missed === undefined) return [];
  if (missed.earlier === null) return [cause('cache-miss', 'The cache had no output of this action.')];
  const { executionId, node, changed } = missed.earlier;
  const names =
    changed.length > 1 ? `${changed.slice(0, -1).join(', ')} and ${changed.at(-1)} are` : `${changed[0]} is`;
  const what = changed.length === 0 ? 'its entry is gone or too old' : `${names} different`;
  const message = `It missed the cache: against '${node}' of ${executionId}, ${what}.`;
  return [cause('cache-miss', message, { link: { executionId, node }, value: { changed: [...changed] } })];
}

function gateCause({ gate, since, until }: PhaseOf<'gated'>, now: number): Cause {
  const waits = gateWords(gate);
  const waited = `It has waited for ${formatDuration(now - since)} ${waits}.`;
  switch (gate.kind) {
    case 'concurrency': {
      const { key, limit } = gate;
      return cause('concurrency', waited, { value: { key, limit, since } });
    }
    case 'rate': {
      const { key, limit, perMs } = gate;
      const when = until === null ? '' : ` It begins in ${formatDuration(Math.max(0, until - now))}.`;
      const message = `It waits ${waits}: ${limit} per ${formatDuration(perMs)}.${when}`;
      return cause('rate', message, { value: { key, limit, perMs, until } });
    }
    case 'reserve':
      return cause('single-flight', `The cache has no output for its input. ${waited}`, { value: { since } });
    case 'cache':
      return cause('cache-miss', `It waits ${waits}: an earlier run may have its output.`);
    default:
      return unreachable(gate);
  }
}

/** The holders of the permit that a gated node or a pending run waits for, and how many waiters come before it. */
export interface Holders {
  /** `node`: '' is the run. `since`: when the holder began; null if it has not, or is gone. */
  readonly holders: readonly { readonly executionId: string; readonly node: string; readonly since: number | null }[];
  readonly before: number;
}

export function holderCauses({ holders, before }: Holders, now: number): Cause[] {
  const queue = before === 0 ? '' : `${before} ${before === 1 ? 'other waits' : 'others wait'} before it`;
  const value = { before };
  if (holders.length === 0) {
    return [cause('held-by', queue === '' ? 'No one holds it now.' : `No one holds it now, but ${queue}.`, { value })];
  }
  return holders.slice(0, LISTED).map(({ executionId, node, since }, at) => {
    const how = since === null ? 'not begun yet' : `for ${formatDuration(Math.max(0, now - since))}`;
    const last = at === Math.min(holders.length, LISTED) - 1;
    const rest = last && holders.length > LISTED ? ` and ${holders.length - LISTED} more` : '';
    const who = node === '' ? executionId : `${node} of ${executionId}`;
    const message = `It is held by ${who} (${how})${rest}${last && queue !== '' ? `; ${queue}` : ''}.`;
    return cause('held-by', message, {
      link: node === '' ? { executionId } : { executionId, node },
      value: { ...value, since },
    });
  });
}

function listeningCauses({ waits, deadline }: PhaseOf<'listening'>, now: number): Cause[] {
  const left = (at: number): string => formatDuration(Math.max(0, at - now));
  const words = waitWords(waits, (at) => `${new Date(at).toISOString()} (in ${left(at)})`);
  const value = { events: waits.map((wait) => ({ ...wait })) } as unknown as JsonObject;
  const waiting = cause('wait', `It waits ${words}.`, { value });
  if (deadline === null) return [waiting];
  return [waiting, cause('wait', `It fails if nothing comes in ${left(deadline)}.`, { value: { deadline } })];
}

const HANDLING = {
  handled: 'An error edge handled the failure.',
  ignored: 'The failure is ignored (`onError: ignore`).',
  tolerated: 'Nothing handled it; the workflow ignores failures (`onFailure: ignore`).',
  deferred: 'Nothing handled it; the run, or the body around it, fails once the others are done.',
  fatal: 'Nothing handled it, so it ended the run.',
} as const;

function cancelledCause({ stopping, phase: { status } }: RunState, { attempts }: NodeState): Cause {
  if (attempts === 0) return cause('never-started', `It never started: the run ended as ${status} first.`);
  const ended = stopping?.status ?? status;
  return cause('cancelled', `It was stopped before it was done: the run ended as ${ended}.`, {
    value: { status: ended },
  });
}

function skippedCauses(node: NodeState, why: SkipReason): Cause[] {
  const { join, incoming } = node.plan;
  const skipped = (message: string): Cause => cause('skipped', message, { value: { why, join } });
  const edges = incoming.slice(0, LISTED).map((edge) => edgeCause(edge, sourceOf(node, edge)));
  switch (why) {
    case 'when':
      return [skipped(`Skipped: ${SKIP_WORDS.when} (\`when\`).`)];
    case 'disabled':
      return [skipped(`Skipped: ${SKIP_WORDS.disabled} (\`enabled: false\`).`)];
    case 'failure':
      return [skipped(`Skipped: ${lostSources(node)}, and ${joinWords(join)}.`), ...edges];
    case 'dead': {
      const taken = new Set(incoming.filter((edge) => isTaken(edge, sourceOf(node, edge))).map(({ from }) => from))
        .size;
      const what = taken === 0 ? 'none of its incoming edges was taken' : `${taken} of its incoming edges were taken`;
      return [skipped(`Skipped: ${what} (join: ${join}).`), ...edges];
    }
    case 'test':
      return [skipped(`Skipped: ${SKIP_WORDS.test}.`)];
    default:
      return unreachable(why);
  }
}

function joinWords(join: NodeState['plan']['join']): string {
  if (join === 'all') return '`join: all` tolerates no failed step before it';
  return `fewer than ${join} of its incoming edges were taken (join: ${join})`;
}

/** Outcomes of the nodes whose edges are dead by failure. */
function lostSources(node: NodeState): string {
  const lost = node.plan.incoming.filter((edge) => verdictOf(edge, endOf(sourceOf(node, edge))) === 'failure');
  const words = [...new Set(lost.map((edge) => `\`${edge.from.id}\` ${becameOf(sourceOf(node, edge))}`))];
  // Earlier versions skipped every node behind an unhandled failure, whatever its other edges.
  return words.length === 0 ? SKIP_WORDS.failure : words.slice(0, LISTED).join(', ');
}

function becameOf(node: NodeState): string {
  const { status } = endOf(node);
  if (status === 'skipped') return 'was skipped because of a failure';
  return status === 'failed' ? 'failed' : 'was cancelled';
}

/** The phase by which the node's edges were decided. */
function endOf({ decidedAs, phase }: NodeState): Phase {
  return decidedAs ?? phase;
}

function deadEdges(node: NodeState): Cause[] {
  return node.plan.outgoing
    .filter((edge) => !isTaken(edge, node) && !isImplied(edge))
    .slice(0, LISTED)
    .map((edge) => edgeCause(edge, node));
}

const VERDICT = { taken: 'taken', choice: 'not taken', failure: 'dead by failure', undecided: 'undecided' } as const;

function edgeCause(edge: EdgePlan, source: NodeState): Cause {
  const { from, to, on } = edge;
  const isDecided = isFinal(source.phase.status) || source.decidedAs !== undefined;
  const verdict: EdgeCause['verdict'] = isDecided ? verdictOf(edge, endOf(source)) : 'undecided';
  const condition = on === 'success' ? '' : `, on: ${on}`;
  const status = statusOf(source.phase);
  const message = `Edge ${from.id} -> ${to.id}${condition}: ${VERDICT[verdict]} (${from.id} is ${status}).`;
  return cause('edge', message, { edge: { from: from.id, to: to.id, on, verdict }, value: { status } });
}

function sourceOf(node: NodeState, edge: EdgePlan): NodeState {
  return stateIn(node.scope, edge.from);
}
