/** Why a run or a node is where it is, in plain sentences. Reads the state; decides nothing. */

import { formatDuration } from '../duration.ts';
import { unreachable } from '../error.ts';
import { type EdgePlan, isImplied } from '../plan/plan.ts';
import { HERE, parseRoute } from '../plan/route.ts';
import type { Awaited, CacheHit, SkipReason } from './entry.ts';
import { goneFrom } from './refusals.ts';
import { runsOnce } from './scopes.ts';
import { retryPlanOf } from './settings.ts';
import {
  isCleaningUp,
  isFinal,
  isFinished,
  isHeldByLevel,
  isStopped,
  nodeAt,
  pathOf,
  statusOf,
  waitsForPlace,
} from './standing.ts';
import type { Ending, NodeState, Phase, RunState } from './state.ts';
import { isTaken, verdictOf } from './taken.ts';
import { isInDoubt, undoingIn } from './transactions.ts';
import { workerName } from './worker-name.ts';

export interface Explanation {
  readonly node: string | null;
  readonly status: string;
  /** Plain sentences, the most important first. */
  readonly reasons: readonly string[];
  /** What a person could do next; empty when nothing is needed. */
  readonly next: readonly string[];
}

export function explainRun(state: RunState, now: number): Explanation {
  const base = { node: null, status: state.status };
  if (isFinished(state.status)) return { ...base, ...explainFinished(state) };
  const reasons: string[] = [];
  if (waitsForPlace(state) && state.place !== null) {
    const { limit, key } = state.place;
    reasons.push(`It waits for a place: at most ${limit} run${limit === 1 ? '' : 's'} of ${key} may go on at once.`);
  } else if (state.heldUntil !== null) {
    const left = formatDuration(Math.max(0, state.heldUntil - now));
    reasons.push(`It begins in ${left}, unless it is started again before that (start policy debounce).`);
  }
  if (state.pausedAt !== null) reasons.push(`It has been paused for ${formatDuration(now - state.pausedAt)}.`);
  if (state.stopping !== null) {
    reasons.push(`The run will end as ${state.stopping.status}${onceWords(state)}.`);
  }
  if (state.ending !== null) reasons.push(...explainDoubt(state, state.ending));
  const open = [...state.scopes.values()].flatMap(({ nodes }) => nodes.filter(({ phase }) => !isFinal(phase.status)));
  for (const status of ['unknown', 'running', 'waiting', 'listening', 'gated', 'queued', 'child', 'open'] as const) {
    for (const node of open.filter((one) => one.phase.status === status).slice(0, LISTED)) {
      reasons.push(
        ...explainNode(state, pathOf(node), now)!
          .reasons.slice(0, 1)
          .map((reason) => `${pathOf(node)}: ${reason}`),
      );
    }
  }
  const pending = open.filter((node) => node.phase.status === 'pending').length;
  if (pending > 0) {
    const who =
      pending === 1 ? '1 node waits for what comes before it' : `${pending} nodes wait for what comes before them`;
    reasons.push(`${who}.`);
  }
  return { ...base, reasons, next: [...state.unknown].flatMap((node) => settleHint(state, node)) };
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
    ...resumed(state),
    ...Array.from(undoingIn(state.root), ({ path }) => `what was done in ${path} is undone`),
  ];
  return parts.length === 0 ? '' : ` once ${parts.join(' and ')}`;
}

/** What was done is undone; only that is missing of which nobody knows whether it was done, or undone. */
function explainDoubt(state: RunState, { status, compensate }: Ending): string[] {
  const ends = (nodes: readonly NodeState[]): string =>
    `The run will end as ${status} once somebody has said what became of ${nodes.map(pathOf).join(', ')}`;
  const undoings = [...state.unknown].filter(({ scope }) => scope.undoes !== null);
  if (undoings.length > 0) return [`${ends(undoings)}: a retry has to know what was undone.`];
  if (!compensate || !isInDoubt(state, state.root)) return [];
  const done = [...state.unknown].filter(({ plan }) => plan.compensate !== undefined);
  return [`${ends(done)}: it may have to be undone.`];
}

function resumed({ pausedAt }: RunState): string[] {
  return pausedAt === null ? [] : ['it is resumed'];
}

/** Sentences about nodes of one status that a run's explanation lists. */
const LISTED = 10;

function explainFinished(state: RunState): Pick<Explanation, 'reasons' | 'next'> {
  if (state.status === 'completed') return { reasons: ['Every node has ended and no failure was left.'], next: [] };
  const { error } = state;
  const where = error?.node === undefined ? '' : ` in '${error.node}'`;
  return {
    reasons: [error === null ? `The run ended as ${state.status}.` : `${error.code}${where}: ${error.message}`],
    next: [`nebula executions retry ${state.executionId}`],
  };
}

export function explainNode(state: RunState, path: string, now: number): Explanation | undefined {
  const node = nodeAt(state, path);
  if (node === undefined) return explainCollapsed(state, path);
  const next = node.phase.status === 'unknown' ? hintsOf(state, node) : [];
  // In a pause only the attempts that workers run go on.
  const clock = node.phase.status === 'running' ? now : (state.pausedAt ?? now);
  return { node: path, status: statusOf(node.phase), reasons: reasonsOf(state, node, clock), next };
}

/** Of a round that has ended only its result is left in the state; the journal still has the rest. */
function explainCollapsed(state: RunState, path: string): Explanation | undefined {
  const around = goneFrom(state, path);
  if (around === undefined) return undefined;
  const [step = ''] = path.slice(pathOf(around).length + 1).split('/');
  const what = runsOnce(around.plan) ? `'${pathOf(around)}'` : `round ${step} of '${pathOf(around)}'`;
  const reason = `It was in ${what}, which has ended and is collapsed: only its result is kept.`;
  return {
    node: path,
    status: 'collapsed',
    reasons: [reason],
    next: [`nebula executions timeline ${state.executionId}`],
  };
}

function reasonsOf(state: RunState, node: NodeState, now: number): string[] {
  const { phase } = node;
  switch (phase.status) {
    case 'pending':
      return explainPending(state, node);
    case 'queued':
      return explainQueued(state, node, now - phase.since);
    case 'running':
      return [
        `Attempt ${phase.attempt} has been running for ${formatDuration(now - phase.since)} in worker ${workerName(phase.worker)}.`,
        ...(phase.effect === 'once' ? ['Its effect is `once`: it is not repeated unless its outcome is known.'] : []),
      ];
    case 'waiting':
      return [
        `Attempt ${node.attempts} failed (${phase.error.code}: ${phase.error.message}); the next one comes in ${formatDuration(Math.max(0, phase.until - now))}.`,
        budgetOf(node),
      ];
    case 'open':
      return explainOpen(node, phase, now);
    case 'gated':
      return [explainGate(phase, now)];
    case 'child':
      return explainChild(state, node, phase, now);
    case 'listening':
      return explainListening(phase, now);
    case 'completed':
      return [completionOf(node, phase.cached), ...missSentences(node), ...edgeSentences(node)];
    case 'failed':
      return [
        `${phase.error.code}: ${phase.error.message}`,
        HANDLING[phase.handling],
        budgetOf(node),
        ...edgeSentences(node),
      ];
    case 'skipped':
      return explainSkipped(node, phase.why);
    case 'cancelled':
      return [
        node.attempts > 0
          ? `It was stopped before it was done: the run ended as ${state.stopping?.status ?? state.status}.`
          : `It never started: the run ended as ${state.status} first.`,
      ];
    case 'unknown':
      return [
        `Nobody knows whether attempt ${node.attempts} took effect: ${phase.error.message}`,
        'Its effect is `once`, so it is not repeated before somebody has looked.',
      ];
    default:
      return unreachable(phase);
  }
}

function explainChild(
  state: RunState,
  node: NodeState,
  { executionId, since, stopping }: Extract<Phase, { status: 'child' }>,
  now: number,
): string[] {
  const isOver = stopping !== undefined || isStopped(state, node);
  return [
    isOver
      ? `Execution ${executionId}, which runs for it, was asked to stop, and is waited for until it has ended.`
      : `Execution ${executionId} has been running for it for ${formatDuration(now - since)}.`,
    `See \`nebula executions explain ${executionId}\`.`,
  ];
}

function explainOpen(node: NodeState, phase: Extract<Phase, { status: 'open' }>, now: number): string[] {
  const { body } = node;
  const reasons: string[] = [];
  if (phase.retrying !== undefined && phase.stopping === null) {
    const { code, message } = phase.retrying;
    return [
      `Attempt ${node.attempts} failed (${code}: ${message}); what was done in it is undone, then it begins again.`,
    ];
  }
  const undoing = Array.from(undoingIn(node), ({ path }) => `, and what was done in ${path} is undone`).join('');
  const failed =
    phase.stopping?.error ?? [...(body?.scopes.values() ?? [])].find((scope) => scope.undoing)?.stopping?.error;
  if (failed != null) {
    const ends = phase.stopping?.cancelled === true ? 'It is cancelled' : 'It fails';
    reasons.push(`${ends} once what runs in it has stopped${undoing}: ${failed.message}`);
  }
  const since = `Its body has been running for ${formatDuration(now - phase.since)}`;
  if (body === undefined || runsOnce(node.plan)) return [...reasons, `${since}.`];
  const total = Number.isFinite(body.total) ? ` of ${body.total}` : '';
  const lost = body.failed > 0 ? `, ${body.failed} failed` : '';
  reasons.push(`${since}: ${body.succeeded}${total} rounds have completed${lost}, ${body.open} are open.`);
  if (body.until !== null) reasons.push(`The next round comes in ${formatDuration(Math.max(0, body.until - now))}.`);
  return reasons;
}

function completionOf(node: NodeState, cached: CacheHit | undefined): string {
  if (cached === undefined)
    return node.attempts === 0 ? 'It completed.' : `It completed with attempt ${node.attempts}.`;
  const { executionId, node: path, at } = cached;
  return `Its output is from the cache: '${path}' of ${executionId} gave it at ${new Date(at).toISOString()}.`;
}

function missSentences({ missed }: NodeState): string[] {
  if (missed === undefined) return [];
  if (missed.earlier === null) return ['The cache had no output of this action.'];
  const { executionId, node, changed } = missed.earlier;
  const names =
    changed.length > 1 ? `${changed.slice(0, -1).join(', ')} and ${changed.at(-1)} are` : `${changed[0]} is`;
  const what = changed.length === 0 ? 'its entry is gone or too old' : `${names} different`;
  return [`It missed the cache: against '${node}' of ${executionId}, ${what}.`];
}

function explainGate({ gate, since, until }: Extract<Phase, { status: 'gated' }>, now: number): string {
  const waited = formatDuration(now - since);
  switch (gate.kind) {
    case 'concurrency':
      return `It has waited for ${waited} for a place among the ${gate.limit} with the key '${gate.key}'.`;
    case 'rate': {
      const when = until === null ? '' : ` It begins in ${formatDuration(Math.max(0, until - now))}.`;
      return `It waits for its turn: ${gate.limit} per ${formatDuration(gate.perMs)} with the key '${gate.key}'.${when}`;
    }
    case 'reserve':
      return `The cache has no output for its input, and it has waited for ${waited} for another run that works it out.`;
    case 'cache':
      return 'It looks whether an earlier run has its output.';
  }
}

function waitWords(wait: Awaited, now: number): string {
  switch (wait.kind) {
    case 'time':
      return `the time (in ${formatDuration(Math.max(0, wait.at - now))})`;
    case 'signal':
      return `the signal '${wait.signal}'${wait.key === '' ? '' : ` with the key '${wait.key}'`}`;
    case 'approval':
      return `an approval${wait.who === undefined ? '' : ` by ${wait.who.join(' or ')}`}`;
    case 'callback':
      return 'a call';
    default:
      return unreachable(wait);
  }
}

function explainListening(phase: Extract<Phase, { status: 'listening' }>, now: number): string[] {
  const words = phase.waits.map((wait) => waitWords(wait, now));
  const deadline =
    phase.deadline === null
      ? []
      : [`It fails if nothing comes in ${formatDuration(Math.max(0, phase.deadline - now))}.`];
  return [`It waits for ${words.join(', or ')}.`, ...deadline];
}

const HANDLING = {
  handled: 'An error edge took the failure.',
  ignored: 'The failure is ignored (`onError: ignore`).',
  tolerated: 'Nothing handled it; the workflow ignores failures (`onFailure: ignore`).',
  deferred: 'Nothing handled it; the run, or the body around it, fails once the others are done.',
  fatal: 'Nothing handled it, so it ended the run.',
} as const;

function budgetOf(node: NodeState): string {
  const { rules, lost } = retryPlanOf(node);
  const used = rules.map(({ attempts }, index) => `${node.retries[index] ?? 0} of ${attempts - 1}`);
  const retries = used.length === 0 ? 'No error is retried' : `Used ${used.join(', ')} retries of errors`;
  return `${retries}; ${node.lost} of ${lost} lost attempts were repeated.`;
}

function explainPending(state: RunState, node: NodeState): string[] {
  const waitsFor = node.plan.incoming.filter((edge) => !isFinal(stateOf(node, edge).phase.status));
  const names = [...new Set(waitsFor.map((edge) => `${edge.from.id} (${statusOf(stateOf(node, edge).phase)})`))];
  if (names.length === 0) return [state.stopping === null ? 'It is about to start.' : 'The run is ending.'];
  const join = node.plan.join === 'all' ? '' : ` It starts when ${node.plan.join} of its edges are taken.`;
  return [`It waits for ${names.slice(0, LISTED).join(', ')}.${join}`];
}

function explainQueued(state: RunState, node: NodeState, waitedMs: number): string[] {
  const waited = `It has been ready for ${formatDuration(waitedMs)}`;
  const active = state.running.size;
  if (isHeldByLevel(state, node)) {
    return [`${waited} and waits for level ${node.scope.level + 1} to end (mode: levels).`];
  }
  if (active >= state.plan.maxParallelism) {
    const holders = [...state.running].slice(0, LISTED).map(pathOf).join(', ');
    return [
      `${waited} and waits for a slot: ${active} of ${state.plan.maxParallelism} (maxParallelism) are held by ${holders}.`,
    ];
  }
  return node.plan.route === HERE
    ? [`${waited} and waits for a worker with a free slot.`]
    : explainOutside(node.plan.route, waited);
}

function explainOutside(route: string, waited: string): string[] {
  const { action, version, labels } = parseRoute(route);
  const labelled = labels.length === 0 ? '' : ` and the labels ${labels.join(', ')}`;
  return [`${waited} and waits for a worker outside with ${action}@${version}${labelled}.`];
}

function explainSkipped(node: NodeState, why: SkipReason): string[] {
  const { join, incoming } = node.plan;
  const listed = incoming.slice(0, LISTED).map((edge) => edgeSentence(edge, stateOf(node, edge)));
  switch (why) {
    case 'when':
      return ['Skipped: its condition (`when`) is false.'];
    case 'disabled':
      return ['Skipped: it is disabled (`enabled: false`).'];
    case 'failure':
      return [`Skipped: ${lostSources(node)}, and ${joinWords(join)}.`, ...listed];
    case 'dead': {
      const taken = new Set(incoming.filter((edge) => isTaken(edge, stateOf(node, edge))).map(({ from }) => from)).size;
      const what = taken === 0 ? 'none of its incoming edges was taken' : `${taken} of its incoming edges were taken`;
      return [`Skipped: ${what} (join: ${join}).`, ...listed];
    }
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
  const lost = node.plan.incoming.filter((edge) => verdictOf(edge, endOf(stateOf(node, edge))) === 'failure');
  const words = [...new Set(lost.map((edge) => `\`${edge.from.id}\` ${becameOf(stateOf(node, edge))}`))];
  // In journals from before, what an unhandled failure leads to was skipped whatever its other edges.
  return words.length === 0 ? 'a step before it failed' : words.slice(0, LISTED).join(', ');
}

function becameOf(node: NodeState): string {
  const { status } = endOf(node);
  if (status === 'skipped') return 'was skipped because of a failure';
  return status === 'failed' ? 'failed' : 'was cancelled';
}

/** As its edges were decided. */
function endOf({ decidedAs, phase }: NodeState): Phase {
  return decidedAs ?? phase;
}

function edgeSentences(node: NodeState): string[] {
  return node.plan.outgoing
    .filter((edge) => !isTaken(edge, node) && !isImplied(edge))
    .slice(0, LISTED)
    .map((edge) => edgeSentence(edge, node));
}

const VERDICT = { taken: 'taken', choice: 'not taken', failure: 'dead by failure' } as const;

function edgeSentence(edge: EdgePlan, from: NodeState): string {
  const condition = edge.on === 'success' ? '' : `, on: ${edge.on}`;
  const isDecided = isFinal(from.phase.status) || from.decidedAs !== undefined;
  const verdict = isDecided ? VERDICT[verdictOf(edge, endOf(from))] : 'undecided';
  return `Edge ${edge.from.id} -> ${edge.to.id}${condition}: ${verdict} (${edge.from.id} is ${statusOf(from.phase)}).`;
}

/** A run that has ended hears nothing but a retry, which leaves the outcome as unknown as it was. */
function hintsOf(state: RunState, node: NodeState): string[] {
  const reopen = isFinished(state.status) ? [`nebula executions retry ${state.executionId}`] : [];
  return [...reopen, ...settleHint(state, node)];
}

function settleHint(state: RunState, node: NodeState): string[] {
  const command = `nebula executions settle ${state.executionId} ${pathOf(node)}`;
  return [`${command} --happened --output JSON`, `${command} --retry`, `${command} --fail`];
}

function stateOf(node: NodeState, edge: EdgePlan): NodeState {
  return node.scope.nodes[edge.from.index] as NodeState;
}
