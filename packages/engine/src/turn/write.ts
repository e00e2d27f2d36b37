/** Maps the draft of a run to a write of the store: a frame, and the changes of its row. */
import { type ExecutionId, isJsonObject, type NodePath, type RunError } from '@nebula/core';
import {
  type FinishedPhase,
  type Gate,
  gateRequestId,
  isFinishedPhase,
  type NodeState,
  NULL_VALUE,
  nodeAt,
  type Parent,
  pathOf,
  permitKey,
  type RunStarted,
  type RunState,
  runError,
  runOutput,
  slotPermit,
  startPermit,
  type Turn,
  wakeTime,
} from '@nebula/core/run';
import type {
  CacheRow,
  DurationRow,
  OutgoingRow,
  PermitChanges,
  PermitRequest,
  RateRequest,
  StatusChange,
  Store,
  StoredError,
  Subscription,
  SubscriptionChanges,
  Write,
} from '@nebula/ports';
import { encodeEntries } from './codec.ts';
import { humanTaskChanges } from './human-tasks.ts';
import type { Draft, LiveRun } from './live-run.ts';
import { cancelMessage, encodeMessage, replaceMessage, retryMessage, sharedName } from './messages.ts';

/** How long a lost hint may go unnoticed while something is queued or running. */
const RESYNC_MS = 30_000;

/** The length of an error's message, and of a trigger's type, in lists. */
const MAX_ERROR_CHARS = 200;
const MAX_TRIGGER_CHARS = 40;

const NO_SENDS: readonly OutgoingRow[] = [];

type WriteInMaking = { -readonly [K in keyof Write]: Write[K] };

export interface WriteParts {
  readonly store: Pick<Store, 'exclusive'>;
  readonly workerId: string;
  readonly retentionMs: number | null;
}

/** A pure mapping of a sealed draft. Returns undefined if there is nothing to write. */
export function writeOf(
  run: LiveRun,
  draft: Draft,
  parts: WriteParts,
  durations: readonly DurationRow[] | undefined,
): Write | undefined {
  const { state, executionId } = run;
  const { turn } = draft;
  // A stimulus that belongs to another run makes this one due at once.
  const wake = draft.late.length > 0 ? { at: draft.begunAt } : wakeChange(run, draft, parts);
  const permits = permitsOf(run, turn);
  const isSilent = turn.entries.length === 0 && wake === undefined && draft.messages.length === 0;
  if (isSilent && permits === undefined) return undefined;
  const write: WriteInMaking = { executionId };
  if (turn.entries.length > 0 || mustBeFenced(run, draft, wake, permits, parts)) {
    write.frame = { seq: state.seq + 1, at: turn.now, entries: encodeEntries(turn.entries) };
  }
  if (run.isNew) {
    const { workflowId, version } = run.plan;
    const parent = state.parent?.executionId ?? run.origin;
    const { workerId: owner } = parts;
    const trigger = triggerType(state);
    const create = { project: run.project, workflowId, version, createdAt: turn.now, owner, trigger };
    write.create = parent === undefined ? create : { ...create, parent };
    write.status = unfinished(state, turn.now);
  }
  if (wake !== undefined) write.wakeAt = wake.at;
  const late = new Set(draft.late);
  const taken = draft.messages.filter(({ stimulus }) => stimulus === undefined || !late.has(stimulus));
  if (taken.length > 0) write.taken = taken.map(({ messageId }) => messageId);
  if (permits !== undefined) write.permits = permits;
  const sends = sendsToChildren(executionId, draft);
  if (sends.length > 0) write.sends = sends;
  const subscriptions = subscriptionsOf(run, turn);
  if (subscriptions !== undefined) write.subscriptions = subscriptions;
  const humanTasks = humanTaskChanges(run.state, turn);
  if (humanTasks !== undefined) write.humanTasks = humanTasks;
  if (durations !== undefined) write.durations = durations;
  if (turn.cacheFills.length > 0) write.cache = cacheRows(run, turn);
  if (turn.entries.some(({ type }) => type === 'run.migrated')) write.version = state.plan.version;
  addStatus(run, draft, parts, write);
  return write;
}

/** The permits and rates that the frame requests, and the permits that it releases. */
function permitsOf(run: LiveRun, { gateRequests, entries, now, freedPermits }: Turn): PermitChanges | undefined {
  const { state, project, isNew, requestedPermits } = run;
  const [first] = entries;
  const requests = isNew && first?.type === 'run.started' ? slotRequestsOf(run, first) : [];
  if (gateRequests.length + freedPermits.length + requests.length === 0) return undefined;
  const rates: RateRequest[] = [];
  const seen = new Set<string>();
  for (const { node, gate } of gateRequests) {
    const key = permitKey(gate);
    const requestId = gateRequestId(state, nodeAt(state, node) as NodeState);
    if (gate.kind === 'rate')
      rates.push({ key: sharedName(project, gate.key), node, requestId, limit: gate.limit, perMs: gate.perMs });
    if (key === undefined) continue;
    const messageId = permitMessage(node, requestId, gate);
    if (requestedPermits.has(messageId) || seen.has(messageId)) continue;
    seen.add(messageId);
    const body = encodeMessage({ type: 'granted', node, gate: gate.kind, ask: requestId });
    const limit = gate.kind === 'concurrency' ? gate.limit : 1;
    requests.push({ key: sharedName(project, key), node, limit, messageId, body });
  }
  if (requests.length + rates.length + freedPermits.length === 0) return undefined;
  const releases = freedPermits.map(({ key, node }) => ({ key: node === '' ? key : sharedName(project, key), node }));
  return { at: now, releases, requests, rates };
}

function permitMessage(node: NodePath, requestId: string, { kind }: Gate): string {
  return `permit:${node}:${requestId}:${kind}`;
}

/**
 * Notes the requests of a journal that was read again: each was stored with the frame that gated its node. Without that,
 * two engines with attempts of one run would repeat them in turn, for ever: each frame makes the other one read again.
 */
export function noteRequested({ state, requestedPermits }: LiveRun): void {
  for (const node of state.gated) {
    if (node.phase.status !== 'gated' || permitKey(node.phase.gate) === undefined) continue;
    requestedPermits.add(permitMessage(pathOf(node), gateRequestId(state, node), node.phase.gate));
  }
}

/**
 * The permit requests of a start. They are read from the entry, not the state: a run that begins or ends in its first
 * frame has released its permits by then.
 */
function slotRequestsOf({ state, executionId }: LiveRun, { key: startKey, place }: RunStarted): PermitRequest[] {
  const requests: PermitRequest[] = [];
  if (startKey !== undefined) {
    const key = startPermit(state.plan.workflowId, startKey);
    requests.push({ key, node: '', limit: 1, messageId: 'start', body: '{}', isRequired: true });
  }
  if (place === undefined) return requests;
  const slot = { key: slotPermit(place), node: '', limit: place.limit, messageId: 'place' };
  const body = encodeMessage({ type: 'placed' });
  if (place.policy === 'skip') requests.push({ ...slot, body, isRequired: true });
  // A run that ended in its first frame does not wait for a slot.
  else if (state.slot?.status === 'waiting') {
    requests.push({ ...slot, body, ...(place.policy === 'replace' && { makesRoom: replaceMessage(executionId) }) });
  }
  return requests;
}

const CHANGES_SUBSCRIPTIONS: ReadonlySet<string> = new Set(['node.waiting', 'signal.refused']);

/** Changes of the run's subscriptions, by which a signal that names no run finds it. */
function subscriptionsOf(
  { state, project }: LiveRun,
  { entries, now, unsubscribed }: Turn,
): SubscriptionChanges | undefined {
  if (unsubscribed.length === 0 && !entries.some(({ type }) => CHANGES_SUBSCRIPTIONS.has(type))) return undefined;
  const add: Subscription[] = [];
  const remove = [...unsubscribed];
  const listening = new Set<string>();
  for (const entry of entries) {
    // A node that refused a signal subscribes again for the next one.
    if (entry.type === 'signal.refused') remove.push(entry.node);
    if (entry.type === 'node.waiting' || entry.type === 'signal.refused') listening.add(entry.node);
  }
  for (const node of listening) {
    const phase = nodeAt(state, node)?.phase;
    for (const wait of phase?.status === 'listening' ? phase.waits : []) {
      if (wait.kind === 'signal') add.push({ signal: sharedName(project, wait.signal), key: wait.key, node });
    }
  }
  return add.length + remove.length === 0 ? undefined : { at: now, add, remove };
}

function cacheRows({ executionId }: LiveRun, { cacheFills, now }: Turn): CacheRow[] {
  return cacheFills.map(({ node, output, miss: { key, family, input }, ttlMs }) => ({
    key,
    family,
    input,
    output: JSON.stringify(output),
    executionId,
    node,
    at: now,
    expiresAt: ttlMs === null ? null : now + ttlMs,
  }));
}

/**
 * Another engine may have written to the run since it was read. A later wake time, a message taken as a no-op, or a
 * second request for a released permit would then undo its write. An empty frame lets the store refuse this write.
 */
function mustBeFenced(
  { storedWakeAt }: LiveRun,
  { messages }: Draft,
  wake: { readonly at: number | null } | undefined,
  permits: PermitChanges | undefined,
  { store }: WriteParts,
): boolean {
  if (store.exclusive) return false;
  if (messages.length > 0 || permits !== undefined) return true;
  if (wake === undefined) return false;
  return typeof storedWakeAt !== 'number' || wake.at === null || wake.at > storedWakeAt;
}

function addStatus(run: LiveRun, draft: Draft, parts: WriteParts, write: WriteInMaking): void {
  const { state } = run;
  const { phase } = state;
  const { turn } = draft;
  const last = turn.entries.at(-1);
  if (isFinishedPhase(phase)) {
    const isNews = last?.type === 'run.finished';
    if (state.parent !== null && (isNews || isRetryRequested(draft))) {
      write.sends = [...(write.sends ?? []), resultFor(state.parent, run, phase, draft)];
    }
    if (!isNews) return;
    const retentionMs = run.plan.retentionMs === undefined ? parts.retentionMs : run.plan.retentionMs;
    const expiresAt = retentionMs === null ? null : phase.at + retentionMs;
    const begun = write.status?.startedAt;
    const error = runError(state);
    write.status = {
      status: phase.status,
      finishedAt: phase.at,
      expiresAt,
      ...(begun !== undefined && { startedAt: begun }),
      ...(error !== null && { error: storedError(error) }),
    };
  } else if (turn.entries.some(({ type }) => CHANGES_STATUS.has(type))) {
    write.status = unfinished(state, turn.now);
  }
}

/** The store keeps the first time at which the run was not pending. */
function unfinished({ phase: { status } }: RunState, now: number): StatusChange {
  const change = { status, finishedAt: null, expiresAt: null };
  return status === 'pending' || status === 'paused' ? change : { ...change, startedAt: now };
}

function storedError({ code, node, message }: RunError): StoredError {
  return { code, node: node ?? null, message: message.slice(0, MAX_ERROR_CHARS) };
}

/** The type of the trigger, for lists; starts of the server have short ones. */
function triggerType({ trigger }: RunState): string {
  const type = isJsonObject(trigger) ? trigger.type : undefined;
  return typeof type === 'string' ? type.slice(0, MAX_TRIGGER_CHARS) : 'manual';
}

/** Entries that change the status of an unfinished run in lists. */
const CHANGES_STATUS: ReadonlySet<string> = new Set([
  'run.reopened',
  'run.paused',
  'run.resumed',
  'scope.compensating',
  'run.begun',
]);

/** The result of a child is sent to its parent in the write that ends the child: neither is stored without the other. */
function resultFor(
  { executionId: parent, node }: Parent,
  { state, executionId }: LiveRun,
  phase: FinishedPhase,
  { messages, begunAt }: Draft,
): OutgoingRow {
  const { status } = phase;
  const output = runOutput(state) ?? NULL_VALUE;
  const result = { status, output, error: runError(state) };
  const body = encodeMessage({ type: 'child', node, executionId, result });
  // A result that is sent again needs another message id.
  const retry = messages.find(({ stimulus }) => stimulus?.type === 'retry');
  const messageId = `child:${executionId}:${state.reopened}${retry === undefined ? '' : `:${retry.messageId}`}`;
  return { messageId, executionId: parent, body, wakeAt: begunAt };
}

/** Cancels and retries of children, sent with the frame that journals them. */
function sendsToChildren(executionId: ExecutionId, { turn, begunAt: wakeAt }: Draft): readonly OutgoingRow[] {
  const { cancels, children } = turn;
  if (cancels.length + children.length === 0) return NO_SENDS;
  const retries = children.filter(({ again }) => again).map((child) => retryMessage(child, executionId));
  return [...retries, ...cancels.map((cancel) => cancelMessage(cancel, executionId))].map((row) => ({
    ...row,
    wakeAt,
  }));
}

/** The parent requested the result again, and the child has nothing left to do. */
function isRetryRequested({ messages }: Draft): boolean {
  return messages.some(({ stimulus }) => stimulus?.type === 'retry' && stimulus.reply === true);
}

/**
 * The wake time is a lower bound: written when it must come earlier, when the run parks, or after a claim. It is compared
 * with the clock, which the journal of the run may be ahead of.
 */
function wakeChange(
  run: LiveRun,
  { begunAt: now }: Draft,
  { store }: WriteParts,
): { readonly at: number | null } | undefined {
  const at = wakeAt(run, now);
  const stored = run.storedWakeAt;
  if (stored === undefined) return { at };
  if (run.isClaimed) return isNear(at, stored) ? undefined : { at };
  // If engines share a store, another one may have claimed the run and stored a later time.
  if (!store.exclusive && stored !== null && stored <= now) return { at };
  if (at === null) return stored === null ? undefined : { at };
  return stored === null || at < stored ? { at } : undefined;
}

/** A frame that is written before all children of the run are known to exist is looked at again: this engine may die. */
function wakeAt({ state, childrenInDoubt }: LiveRun, now: number): number | null {
  const at = wakeTime(state, now, RESYNC_MS);
  if (childrenInDoubt === 0 || state.children.size === 0) return at;
  return Math.min(at ?? Number.POSITIVE_INFINITY, now + RESYNC_MS);
}

/** A claim wakes the run a little earlier than needed: that costs less than a write. */
function isNear(at: number | null, stored: number | null): boolean {
  return at !== null && stored !== null && at >= stored && at - stored < RESYNC_MS;
}
