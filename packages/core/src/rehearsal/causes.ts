/**
 * Reconstructs the stimuli of a frame from its entries. An entry about a running node is the end of its attempt; an
 * entry about a waiting node is the event that it waited for; and so on. All other entries of the frame follow from
 * these and are the decision.
 */

import type { Outcome, Stimulus } from '../run/decide/stimulus.ts';
import type { Entry } from '../run/journal/entry.ts';
import { inlineValue, type StoredValue } from '../run/journal/stored-value.ts';
import { bodyOf, nodeAt } from '../run/state/selectors.ts';
import type { NodeState, RunState } from '../run/state/state.ts';
import { isJsonObject, type Json, memberOf } from '../value.ts';

/** The journal does not determine the stimuli: the frame is accepted without a check. */
export class Unclear extends Error {}

type Ended = Extract<
  Entry,
  {
    type:
      | 'node.completed'
      | 'node.failed'
      | 'node.retrying'
      | 'node.cancelled'
      | 'node.unknown'
      | 'node.returned'
      | 'node.opened';
  }
>;

/** Codes of attempts that were interrupted, so that their outcome is unknown. */
const CUT_OFF = ['TIMEOUT', 'WORKER_LOST', 'CANCELLED', 'ABORTED', 'SHUTDOWN'];

export function causesOf(state: RunState, entries: readonly Entry[]): Stimulus[] {
  const causes: Stimulus[] = [];
  const explained = new Set<string>();
  let hasTimer = false;
  for (const [at, entry] of entries.entries()) {
    const path = 'node' in entry ? entry.node : undefined;
    const node = path === undefined ? undefined : nodeAt(state, path);
    if (wakes(state, entry)) hasTimer = true;
    if (path !== undefined && explained.has(path)) continue;
    const cause = causeOf(state, entry, node, entries.slice(at + 1));
    if (cause === 'time') hasTimer = true;
    else if (cause !== undefined) {
      causes.push(cause);
      if (path !== undefined) explained.add(path);
    }
  }
  return hasTimer || causes.length === 0 ? [{ type: 'wake', lost: [], jitter: 1 }, ...causes] : causes;
}

function causeOf(
  state: RunState,
  entry: Entry,
  node: NodeState | undefined,
  rest: readonly Entry[],
): Stimulus | 'time' | undefined {
  switch (entry.type) {
    case 'run.started':
      return started(entry, rest);
    case 'run.paused':
      return { type: 'pause', ...(entry.reason === undefined ? {} : { reason: entry.reason }) };
    case 'run.resumed':
      return { type: 'resume' };
    case 'run.stopping':
      if (entry.status === 'timed-out') return 'time';
      if (entry.status !== 'cancelled') return undefined;
      return { type: 'cancel', reason: entry.error?.message ?? '', compensate: entry.compensate ?? true };
    case 'run.reopened':
      if (entry.renewed === undefined) return { type: 'retry' };
      return {
        type: 'replay',
        node: entry.nodes[0] as string,
        ...(entry.input && { input: journalled(entry.input) }),
      };
    case 'signal.kept':
      return { type: 'signal', signal: entry.signal, key: entry.key, payload: journalled(entry.payload) };
    case 'signal.refused':
      throw new Unclear();
    case 'node.answered':
      return answered(entry, rest);
    case 'node.settled':
      return settled(state, entry, rest);
    case 'node.started':
    case 'node.gated':
    case 'node.granted':
      return node?.phase.status === 'gated' ? granted(node, entry) : undefined;
    case 'node.completed':
    case 'node.failed':
    case 'node.retrying':
    case 'node.cancelled':
    case 'node.unknown':
    case 'node.returned':
    case 'node.opened':
      return node === undefined ? undefined : ended(node, entry);
    case 'child.requested':
    case 'items.added':
    case 'node.compensating':
    case 'node.configured':
    case 'node.scheduled':
    case 'node.skipped':
    case 'node.stopping':
    case 'node.unhandled':
    case 'node.waiting':
    case 'round.delayed':
    case 'run.begun':
    case 'run.checkpointed':
    case 'run.finished':
    case 'run.held':
    case 'run.migrated':
    case 'scope.closed':
    case 'scope.compensated':
    case 'scope.compensating':
    case 'scope.stopping':
    case 'scopes.opened':
    case 'signal.taken':
      return undefined;
  }
}

function started(entry: Extract<Entry, { type: 'run.started' }>, rest: readonly Entry[]): Stimulus {
  // The delay of a run is decided by its starter.
  if (rest.some(({ type }) => type === ('run.held' as Entry['type']))) throw new Unclear();
  const { type: _, format: __, workflowId: ___, version: ____, input, place, ...more } = entry;
  return { type: 'start', input: journalled(input), ...(place && { slot: place }), ...more };
}

/** Whether a timer of the previous state caused the entry. */
function wakes(state: RunState, entry: Entry): boolean {
  const nodes = entry.type === 'node.scheduled' ? entry.nodes : entry.type === 'node.started' ? [entry.node] : [];
  if (nodes.some((path) => nodeAt(state, path)?.phase.status === 'waiting')) return true;
  const loop = entry.type === 'scopes.opened' ? nodeAt(state, entry.node) : undefined;
  return loop !== undefined && (bodyOf(loop)?.until ?? null) !== null;
}

function ended(node: NodeState, entry: Ended): Stimulus | 'time' | undefined {
  const { phase } = node;
  switch (phase.status) {
    case 'running':
      return { type: 'ended', node: entry.node, attempt: phase.attempt, outcome: outcomeOf(entry), jitter: 1 };
    case 'listening':
      return heard(node, entry);
    case 'child':
      return childEnded(node, entry, phase.executionId);
    case 'gated':
      if (entry.type === 'node.completed' && entry.cached !== undefined) {
        return { type: 'cached', node: entry.node, output: journalled(entry.output), hit: entry.cached };
      }
      return undefined;
    case 'waiting':
    case 'queued':
      return entry.type === 'node.failed' ? 'time' : undefined;
    case 'cancelled':
    case 'completed':
    case 'failed':
    case 'open':
    case 'pending':
    case 'skipped':
    case 'unknown':
      return undefined;
  }
}

function outcomeOf(entry: Ended): Outcome {
  switch (entry.type) {
    case 'node.completed':
      return { status: 'completed', output: inlineValue(journalled(entry.output)) };
    case 'node.opened':
      return { status: 'completed', output: inlineValue(journalled(entry.graph)) };
    case 'node.returned':
      return { status: 'returned' };
    case 'node.cancelled':
      return { status: 'broken-off', error: entry.error ?? { code: 'CANCELLED', kind: 'USER', message: 'cancelled' } };
    case 'node.unknown':
      return { status: 'broken-off', error: entry.error };
    case 'node.failed':
    case 'node.retrying': {
      const { error } = entry;
      return { status: CUT_OFF.includes(error.code) ? 'broken-off' : 'failed', error };
    }
  }
}

/** The event that a wait waited for has occurred. */
function heard({ phase }: NodeState, entry: Ended): Stimulus | 'time' | undefined {
  if (entry.type === 'node.failed') return 'time';
  if (entry.type !== 'node.completed' || phase.status !== 'listening') return undefined;
  const output = journalled(entry.output);
  const event = isJsonObject(output) ? memberOf(output, 'event') : undefined;
  const payload = (isJsonObject(output) ? memberOf(output, 'payload') : undefined) ?? null;
  const wait = phase.waits.find(({ name }) => name === event);
  if (wait?.kind === 'signal') return { type: 'signal', signal: wait.signal, key: wait.key, payload };
  if (wait?.kind === 'callback') return { type: 'callback', node: entry.node, payload };
  if (wait?.kind === 'time') return 'time';
  throw new Unclear();
}

function answered(entry: Extract<Entry, { type: 'node.answered' }>, rest: readonly Entry[]): Stimulus {
  const { node, approved, by, comment } = entry;
  const completed = rest.find((one) => one.type === 'node.completed' && one.node === node);
  const output = completed?.type === 'node.completed' ? journalled(completed.output) : null;
  const payload = isJsonObject(output) ? memberOf(output, 'payload') : undefined;
  const form = isJsonObject(payload ?? null) ? memberOf(payload as never, 'form') : undefined;
  return {
    type: 'answer',
    node,
    approved,
    by,
    ...(comment === undefined ? {} : { comment }),
    ...(form === undefined || form === null ? {} : { form: form as Json }),
  };
}

function settled(state: RunState, entry: Extract<Entry, { type: 'node.settled' }>, rest: readonly Entry[]): Stimulus {
  const { node, by, outcome } = entry;
  const attempt = nodeAt(state, node)?.attempts;
  const base = { type: 'settle', node, by, ...(attempt === undefined ? {} : { attempt }) } as const;
  if (outcome === 'unknown') return { ...base, settlement: { happened: 'unknown' } };
  if (outcome !== 'happened') return { ...base, settlement: { happened: false, then: outcome } };
  const completed = rest.find((one) => one.type === 'node.completed' && one.node === node);
  if (completed?.type !== 'node.completed') throw new Unclear();
  return { ...base, settlement: { happened: true, output: journalled(completed.output) } };
}

function granted(
  { phase }: NodeState,
  entry: Extract<Entry, { type: 'node.started' | 'node.gated' | 'node.granted' }>,
): Stimulus | 'time' {
  if (phase.status !== 'gated') throw new Unclear();
  if (phase.until !== null) return 'time';
  const until = entry.type === 'node.granted' ? { until: entry.until } : {};
  const granted = { type: 'granted', node: entry.node, gate: phase.gate.kind, ...until } as const;
  if (phase.gate.kind !== 'cache') return granted;
  // A cache miss: the next gate has the key under which the output will be stored.
  if (entry.type !== 'node.gated' || entry.gate.kind !== 'reserve') throw new Unclear();
  const { kind: _, ...miss } = entry.gate;
  return { ...granted, miss };
}

function childEnded({ plan }: NodeState, entry: Ended, executionId: string): Stimulus | 'time' {
  // With a mapped output, the output of the child itself is not in this journal.
  if (plan.work.kind !== 'child' || (plan.work.output !== undefined && entry.type === 'node.completed'))
    throw new Unclear();
  const failed = entry.type === 'node.failed' || entry.type === 'node.retrying' ? entry.error : null;
  if (failed?.code === 'TIMEOUT') return 'time';
  const output = entry.type === 'node.completed' ? journalled(entry.output) : null;
  const result = { status: failed === null ? ('completed' as const) : ('failed' as const), output, error: failed };
  return { type: 'child', node: entry.node, executionId, result, jitter: 1 };
}

/** Large values are not in the journal itself. */
export function journalled(stored: StoredValue | undefined): Json {
  if (stored?.blob !== undefined) throw new Unclear();
  return stored?.value ?? null;
}
