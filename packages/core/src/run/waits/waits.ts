/**
 * Nodes that wait for a time, a signal, an approval or a call. They take no slot, and a run that only waits is parked.
 */

import { parseDuration } from '../../duration.ts';
import type { RunError } from '../../error.ts';
import { type CompiledValue, ExpressionError } from '../../expression/index.ts';
import { isDate, parseDate } from '../../expression/library/calendar.ts';
import type { NodePath } from '../../ids.ts';
import type { WaitPlan, WaitWork } from '../../plan/plan.ts';
import { acceptedSetting } from '../../plan/settings.ts';
import { describePath, isUnfinished, type SchemaCheck, type SchemaProblem } from '../../schema/index.ts';
import type { Steps } from '../../steps.ts';
import { canonicalJson, isJsonList, type Json, type JsonObject } from '../../value.ts';
import { completeNode, failAttempt } from '../decide/advance.ts';
import { evaluated } from '../decide/evaluate.ts';
import type { Stimulus } from '../decide/stimulus.ts';
import { emit, type Turn } from '../decide/turn.ts';
import type { AwaitedEvent } from '../journal/entry.ts';
import { resolveValue } from '../journal/stored-value.ts';
import type { RunScope } from '../state/expression-scope.ts';
import { generationOf, isFinal, isFinished, isStopped, nodeAt, pathOf } from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';

/** The longest wait; a later date is moved to this limit. */
const MAX_WAIT_MS = 100 * 366 * 24 * 3_600_000;

export function wait(turn: Turn, node: NodeState, work: WaitWork): void {
  const resolved = evaluated(turn, node, 'wait', (scope) => ({
    waits: work.waits.map((plan) => awaited(turn, plan, scope)),
    deadline: work.deadline && momentOf('wait.deadline', work.deadline, scope, turn, true),
  }));
  if (resolved === undefined) return;
  const { waits, deadline } = resolved;
  emit(turn, {
    type: 'node.waiting',
    node: pathOf(node),
    waits,
    ...(deadline === undefined ? {} : { deadline: deadline.at, ...(deadline.fixed && { deadlineFixed: true }) }),
  });
  takeBuffered(turn, node, waits);
}

function awaited(turn: Turn, plan: WaitPlan, scope: RunScope): AwaitedEvent {
  const { kind, name } = plan;
  switch (kind) {
    case 'for':
      return { kind: 'time', name, ...momentOf('wait.for', plan.for, scope, turn) };
    case 'until':
      return { kind: 'time', name, ...untilOf(plan.until, scope, turn) };
    case 'signal':
      return { kind, name, signal: plan.signal, key: keyText(plan.key?.evaluate(scope, turn.budgets.next()) ?? '') };
    case 'approval': {
      const budget = turn.budgets.next();
      const title = plan.title?.evaluate(scope, budget);
      const who = plan.who?.evaluate(scope, budget) ?? null;
      return {
        kind,
        name,
        ...(title === undefined ? {} : { title: keyText(title) }),
        ...(who === null ? {} : { who: (isJsonList(who) ? who : [who]).map(keyText) }),
      };
    }
    case 'callback':
      return { kind, name };
  }
}

function keyText(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

interface Moment {
  readonly at: number;
  readonly fixed?: true;
}

/** A date as expressions know it: ISO 8601, or milliseconds since the epoch. */
function untilOf(until: CompiledValue, scope: RunScope, { budgets, now }: Turn): Moment {
  const value = until.evaluate(scope, budgets.next());
  const isMoment = typeof value === 'string' || typeof value === 'number';
  if (isMoment && isDate(value)) return { at: bounded(parseDate(value), now), fixed: true };
  const isDuration = typeof value === 'string' && typeof parseDuration(value) === 'number';
  const error = new ExpressionError(
    'EXPRESSION_VALUE',
    `\`wait.until\` must be a date such as 2030-01-01T08:00:00Z, or milliseconds since 1970, not ${JSON.stringify(value)}`,
    {
      hint: isDuration ? 'a duration is written with `for`' : 'the expression is evaluated when the node becomes ready',
    },
  );
  throw error.locateIn([], until.origin);
}

/** Accepts a date, or a duration (text or milliseconds) that counts from now. */
function momentOf(
  key: string,
  moment: CompiledValue,
  scope: RunScope,
  { budgets, now }: Turn,
  positive = false,
): Moment {
  const value = moment.evaluate(scope, budgets.next());
  if (typeof value === 'string' && typeof parseDuration(value) !== 'number' && isDate(value)) {
    return { at: bounded(parseDate(value), now), fixed: true };
  }
  const setting = { key, type: { is: 'duration', moment: true, positive }, value: moment } as const;
  return { at: now + Number(acceptedSetting(setting, value)) };
}

function bounded(at: number, now: number): number {
  return Math.round(Math.min(Math.max(at, now), now + MAX_WAIT_MS));
}

/** Takes a buffered signal or call that arrived before the wait. */
function takeBuffered(turn: Turn, node: NodeState, waits: readonly AwaitedEvent[]): void {
  for (const one of waits) {
    if (one.kind !== 'signal' && one.kind !== 'callback') continue;
    const wanted = one.kind === 'signal' ? one : callOf(pathOf(node), generationOf(node));
    for (;;) {
      const kept = turn.state.bufferedSignals.find(({ signal, key }) => signal === wanted.signal && key === wanted.key);
      if (kept === undefined) break;
      emit(turn, { type: 'signal.taken', signal: wanted.signal, key: wanted.key });
      if (happened(turn, node, one, resolveValue(kept.payload, turn.lookup))) return;
    }
  }
}

/** Ends the wait, unless the payload does not fit its schema. */
function happened(turn: Turn, node: NodeState, wait: AwaitedEvent, payload: Json): boolean {
  const problem = misfit(checkOf(node, wait), payload);
  if (problem !== undefined) {
    emit(turn, { type: 'signal.refused', node: pathOf(node), event: wait.name, problem });
    return false;
  }
  completeNode(turn, node, turn.store({ event: wait.name, payload, at: new Date(turn.now).toISOString() }));
  return true;
}

function checkOf({ plan }: NodeState, wait: AwaitedEvent): SchemaCheck | undefined {
  const found = plan.work.kind === 'wait' ? plan.work.waits.find(({ name }) => name === wait.name) : undefined;
  return found !== undefined && 'check' in found ? found.check : undefined;
}

function misfit(check: SchemaCheck | undefined, value: Json): string | undefined {
  if (check === undefined) return undefined;
  const known = isContainer(value) ? checked.get(value)?.get(check) : undefined;
  const [first] = known ?? check.problems(value) ?? [];
  return first === undefined ? undefined : `${describePath(first.path, 'it')} ${first.message}`;
}

type Arrived = Stimulus & { readonly type: 'signal' | 'callback' | 'answer' };

/** The problems of payloads that were checked before the decision. */
const checked = new WeakMap<object, WeakMap<SchemaCheck, readonly SchemaProblem[]>>();

/**
 * The steps that check the payload against the schemas of the nodes that may take it, so that the decision need not;
 * undefined if there are none.
 */
export function payloadSteps(state: RunState, stimulus: Arrived): Steps<void> | undefined {
  const payload = stimulus.type === 'answer' ? (stimulus.form ?? null) : stimulus.payload;
  if (!isContainer(payload)) return undefined;
  const addressed = stimulus.type === 'signal' ? [...state.listening] : [nodeAt(state, stimulus.node)];
  const checks = addressed.flatMap((node) => {
    const wait = node && listensTo(state, node, (one) => mayTake(one, stimulus));
    return (wait && checkOf(node, wait)) ?? [];
  });
  return checks.length === 0 ? undefined : checkPayload(checks, payload);
}

function mayTake(wait: AwaitedEvent, stimulus: Arrived): boolean {
  if (stimulus.type === 'signal') {
    return wait.kind === 'signal' && wait.signal === stimulus.signal && wait.key === stimulus.key;
  }
  return wait.kind === (stimulus.type === 'answer' ? 'approval' : 'callback');
}

function* checkPayload(checks: readonly SchemaCheck[], payload: object): Steps<void> {
  const known = checked.get(payload) ?? new WeakMap<SchemaCheck, readonly SchemaProblem[]>();
  checked.set(payload, known);
  for (const check of new Set(checks)) {
    const begun = check.begin(payload as Json);
    known.set(check, (isUnfinished(begun) ? yield* begun : begun) ?? []);
  }
}

function isContainer(value: Json): value is JsonObject | readonly Json[] {
  return typeof value === 'object' && value !== null;
}

/** Ends a wait whose time has come. */
export function waited(turn: Turn, node: NodeState): void {
  if (node.phase.status !== 'listening') return;
  const due = node.phase.waits.find((wait) => wait.kind === 'time' && wait.at <= turn.now);
  if (due !== undefined) happened(turn, node, due, null);
}

/** Delivers a signal to the node that has waited longest. A signal that no node waits for is buffered. */
export function signal(turn: Turn, { signal: name, key, payload }: Stimulus & { type: 'signal' }): void {
  const { state } = turn;
  for (const node of [...state.listening]) {
    const wait = listensTo(state, node, (one) => one.kind === 'signal' && one.signal === name && one.key === key);
    if (wait !== undefined && happened(turn, node, wait, payload)) return;
  }
  emit(turn, { type: 'signal.kept', signal: name, key, payload: turn.store(payload) });
}

export function answer(
  turn: Turn,
  { node: path, approved, by, comment, form = null }: Stimulus & { type: 'answer' },
): void {
  const node = nodeAt(turn.state, path);
  const wait = node && listensTo(turn.state, node, ({ kind }) => kind === 'approval');
  if (node === undefined || wait?.kind !== 'approval') return;
  if (wait.who !== undefined && !wait.who.includes(by)) {
    const problem = `${by} is not among those who may answer (${wait.who.join(', ')})`;
    return emit(turn, { type: 'signal.refused', node: path, event: wait.name, problem });
  }
  const problem = approved ? misfit(checkOf(node, wait), form) : undefined;
  if (problem !== undefined) return emit(turn, { type: 'signal.refused', node: path, event: wait.name, problem });
  emit(turn, { type: 'node.answered', node: path, approved, by, ...(comment === undefined ? {} : { comment }) });
  const payload = { approved, by, comment: comment ?? null, form };
  if (!approved) return failAttempt(turn, node, rejected(by, comment));
  completeNode(turn, node, turn.store({ event: wait.name, payload, at: new Date(turn.now).toISOString() }));
}

/**
 * A call to the node's own address is buffered if it arrives before the wait; any other call counts only during the
 * wait.
 */
export function callback(turn: Turn, { node: path, payload, generation }: Stimulus & { type: 'callback' }): void {
  const node = nodeAt(turn.state, path);
  if (generation !== undefined && !isAwaitedCall(turn.state, path, generation)) return;
  const wait = node && listensTo(turn.state, node, ({ kind }) => kind === 'callback');
  if (node !== undefined && wait !== undefined) happened(turn, node, wait, payload);
  else if (generation !== undefined) {
    emit(turn, { type: 'signal.kept', ...callOf(path, generation), payload: turn.store(payload) });
  }
}

/** A call is buffered as a signal without a name, which no other wait can match. */
function callOf(node: NodePath, generation: number): { readonly signal: string; readonly key: string } {
  return { signal: '', key: `${node}:${generation}` };
}

/** Returns whether a call to this address of the node would be the first, and is in time. */
export function isAwaitedCall(state: RunState, path: NodePath, generation: number): boolean {
  const node = nodeAt(state, path);
  const { signal: name, key } = callOf(path, generation);
  if (node === undefined || isFinished(state.phase.status) || isFinal(node.phase.status)) return false;
  return (
    generationOf(node) === generation && !state.bufferedSignals.some((one) => one.signal === name && one.key === key)
  );
}

function listensTo(state: RunState, node: NodeState, fits: (wait: AwaitedEvent) => boolean): AwaitedEvent | undefined {
  const { phase } = node;
  return phase.status === 'listening' && !isStopped(state, node) ? phase.waits.find(fits) : undefined;
}

function rejected(by: string, comment: string | undefined): RunError {
  const words = comment === undefined ? '' : `: ${comment}`;
  return {
    code: 'REJECTED',
    kind: 'USER',
    message: `${by} rejected it${words}`,
    details: { by, comment: comment ?? null },
  };
}

export function deadlineError(node: NodeState, now: number): RunError {
  const since = node.phase.status === 'listening' ? node.phase.since : now;
  return {
    code: 'TIMEOUT',
    kind: 'USER',
    message: `Nothing came in ${now - since} ms, before the deadline.`,
    details: { limit: 'deadline', limitMs: now - since },
  };
}
