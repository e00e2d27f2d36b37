/**
 * Run documents: a run as people and programs read it in `nebula run --json`, `nebula executions show`, the API and the
 * test kit.
 */
import type { RunError } from '../error.ts';
import type { NodePath } from '../ids.ts';
import { mayLoseOrder, writtenOrder } from '../node-order.ts';
import type { AwaitedEvent, Gate } from '../run/journal/entry.ts';
import { type BlobLookup, type BlobRef, resolveValue, type StoredValue } from '../run/journal/stored-value.ts';
import { isWhole, runsOnce } from '../run/state/scopes.ts';
import {
  bodyOf,
  endingOf,
  finishedAt,
  isFinished,
  nodeAt,
  pathOf,
  runError,
  runOutput,
  statusOf,
  waitsForSlot,
  workerName,
} from '../run/state/selectors.ts';
import type { BodyState, NodeState, Phase, RunState, ScopeState } from '../run/state/state.ts';
import type { FinalRunStatus, NodeStatus, RunStatus } from '../run/state/status.ts';
import { isParked, isParkedExceptChildren } from '../run/timers/wake.ts';
import type { Json } from '../value.ts';

/** Moments are ISO 8601 text, or null if they have not come. */
export interface NodeDocument {
  readonly status: NodeStatus;
  readonly attempts: number;
  /** The resolved parameters; null before they are resolved. */
  readonly input: Json;
  readonly output: Json;
  readonly error: RunError | null;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** The time from the start of the first attempt to the end; null until the end. */
  readonly durationMs: number | null;
  /** The running attempt: its start and its worker. */
  readonly attempt?: { readonly startedAt: string; readonly worker: string };
  /**
   * Why a node was skipped: its join failed by choice or by failure, its condition was false, it is disabled, or it
   * takes no part in a test.
   */
  readonly skipped?: 'choice' | 'failure' | 'when' | 'disabled' | 'test';
  /** The event that a waiting node waits for. */
  readonly waitsFor?: WaitDocument;
  /** The execution that runs, or last ran, for the node. */
  readonly child?: { readonly executionId: string; readonly workflowId: string | null; readonly plan?: string };
  /** The progress of a loop. */
  readonly rounds?: IterationsDocument;
}

export interface IterationsDocument {
  /** Null if the number is not known. */
  readonly total: number | null;
  /** Iterations under way; of an ended loop, those that it cancelled. */
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The start of the next iteration, if it is delayed. */
  readonly nextAt?: string;
}

export type WaitDocument =
  | { readonly kind: 'retry'; readonly until: string }
  /** `until`: the grant was given, and the node begins at this time. */
  | { readonly kind: 'gate'; readonly gate: GateDocument; readonly until: string | null }
  | {
      readonly kind: 'event';
      readonly events: readonly AwaitedDocument[];
      readonly deadline: string | null;
      /** The deadline was written as a date: a pause does not move it. */
      readonly deadlineFixed?: true;
    };

export type GateDocument = Exclude<Gate, { kind: 'reserve' }> | { readonly kind: 'reserve'; readonly key: string };

export type AwaitedDocument =
  | Exclude<AwaitedEvent, { kind: 'time' }>
  | { readonly kind: 'time'; readonly name: string; readonly at: string; readonly fixed?: true };

/** A scope inside the run that has not ended, or has failed: a body, or the undo of one. */
export interface ScopeDocument {
  /** The composite node; null for the undo of the run itself. */
  readonly node: string | null;
  /** The number of an iteration of a loop; null for a body that runs once. */
  readonly round: number | null;
  /** The scope whose nodes this one undoes; '' is the run. */
  readonly undoes?: string;
  /** An iteration that was under way when its loop failed is `failed`, too, with the error of the loop. */
  readonly status: 'open' | 'ending' | 'failed';
  readonly error: RunError | null;
}

interface DocumentBase {
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly trigger: Json;
  /** The execution and node that the run was started for. */
  readonly parent: { readonly executionId: string; readonly node: string } | null;
  readonly input: Json;
  /** The current values. */
  readonly variables: Readonly<Record<string, Json>>;
  readonly output: Json;
  readonly error: RunError | null;
  readonly startedAt: string | null;
  /** The time of the newest frame, and the number of frames. */
  readonly updatedAt: string | null;
  readonly seq: number;
  /** Every node by path, in the order of the definition, including skipped ones. */
  readonly nodes: Readonly<Record<string, NodeDocument>>;
  /** The order of the definition, if the object loses it because ids look like integers. `idsInOrder` reads both. */
  readonly order?: readonly string[];
  /** In a document with a limit of nodes: the path after which the next ones come; null if there are none. */
  readonly nodesNext?: string | null;
  /** Scopes by path, without the root. Iterations that succeeded are dropped. */
  readonly scopes: Readonly<Record<string, ScopeDocument>>;
}

interface FinishedDocument extends DocumentBase {
  readonly status: FinalRunStatus;
  readonly finishedAt: string;
  readonly durationMs: number;
}

interface OpenDocument extends DocumentBase {
  readonly status: Exclude<RunStatus, FinalRunStatus>;
  readonly finishedAt: null;
  readonly durationMs: null;
  /** Only a person, a signal, a call or a far time moves the run. */
  readonly parked: boolean;
  /** One of these or a child moves the run: it is parked if all its open children are. */
  readonly parkedExceptChildren: boolean;
  /** The concurrency slot that a pending run waits for. */
  readonly place?: { readonly key: string; readonly limit: number };
  readonly paused?: { readonly since: string; readonly reason: string | null };
  /** How the run ends once its attempts have stopped and it has been undone. */
  readonly ending?: FinalRunStatus;
}

export type RunDocument = FinishedDocument | OpenDocument;

/**
 * Every node by path, including skipped ones; with `part`, some of them. Values in blobs are looked up. Times are
 * near or far seen from `now`: by default, the time of the newest frame.
 */
export function documentOf(
  state: RunState,
  lookup: BlobLookup,
  now = state.updatedAt,
  part: DocumentPart = {},
): RunDocument {
  const nodes: Record<string, NodeDocument> = Object.create(null);
  const scopes: Record<string, ScopeDocument> = Object.create(null);
  const { found, next } = nodesIn(state, part);
  for (const node of found) nodes[pathOf(node)] = nodeDocument(node, lookup);
  const shown = part.limit === undefined ? scopesIn(state, part.scope) : new Set(found.map(({ scope }) => scope));
  for (const scope of shown) if (scope !== state.root && !isWhole(scope)) scopes[scope.path] = scopeDocument(scope);
  const { root, parent } = state;
  const ending = (endingOf(state) ?? state.stopping)?.status;
  const { phase, startedAt } = state;
  const endedAt = finishedAt(state);
  return {
    executionId: state.executionId,
    workflowId: state.plan.workflowId,
    // The number of a test version means nothing to anyone.
    version: Math.max(0, state.plan.version),
    status: phase.status,
    output: resolveValue(runOutput(state), lookup),
    error: runError(state),
    startedAt: isoTime(startedAt),
    updatedAt: isoTime(state.updatedAt),
    finishedAt: isoTime(endedAt),
    durationMs: endedAt === null ? null : endedAt - startedAt,
    seq: state.seq,
    ...(isFinished(phase.status) ? {} : parkingOf(state, now)),
    ...(waitsForSlot(state) ? { place: { key: state.slot?.key, limit: state.slot?.limit } } : {}),
    ...(phase.status === 'paused' ? { paused: { since: iso(phase.at), reason: phase.reason } } : {}),
    ...(ending === undefined ? {} : { ending }),
    trigger: state.trigger,
    parent: parent === null ? null : { executionId: parent.executionId, node: parent.node },
    input: resolveValue(root.realm.input, lookup),
    variables: variablesOf(root, lookup),
    nodes,
    scopes,
    ...(part.limit === undefined ? {} : { nodesNext: next }),
    ...orderOf(state, nodes),
    // `finishedAt` goes with the status: the fold sets both with `run.finished`, and clears both with `run.reopened`.
  } as RunDocument;
}

/** The nodes of a document: by default all. */
export interface DocumentPart {
  /** Nodes of this scope; of a loop, those of its kept iterations; '': those of the run itself. */
  readonly scope?: string | undefined;
  /** At most so many nodes, */
  readonly limit?: number | undefined;
  /** from the one after this path on. An unknown path gives none. */
  readonly after?: NodePath | undefined;
}

interface FoundNodes {
  readonly found: readonly NodeState[];
  /** The path of the last node, if others follow. */
  readonly next: NodePath | null;
}

/** In the order of the document. Nodes before the part are counted, not shown: 100,000 take some 10 ms. */
function nodesIn(
  state: RunState,
  { scope: within, limit = Number.POSITIVE_INFINITY, after }: DocumentPart,
): FoundNodes {
  const found: NodeState[] = [];
  const last = after === undefined ? undefined : nodeAt(state, after);
  if (after !== undefined && last === undefined) return { found, next: null };
  let isPast = last === undefined;
  for (const scope of scopesIn(state, within)) {
    if (!isPast && scope !== last?.scope) continue;
    for (const node of scope.nodes) {
      if (isPast && found.length >= limit) return { found, next: pathOf(found.at(-1) as NodeState) };
      if (isPast) found.push(node);
      else isPast = node === last;
    }
  }
  return { found, next: null };
}

/** All scopes; or the scope with this path and, if it is the path of a loop, its iterations. */
function scopesIn({ scopes, root }: RunState, within: string | undefined): Iterable<ScopeState> {
  if (within === undefined) return scopes.values();
  if (within === '') return [root];
  return [...scopes.values()].filter(
    ({ path, parent }) =>
      path === within || (parent !== null && path.startsWith(`${within}/`) && pathOf(parent) === within),
  );
}

function parkingOf(state: RunState, now: number): Pick<OpenDocument, 'parked' | 'parkedExceptChildren'> {
  // Both walk through the timers of a run that waits, so the second one is called only if it can be true.
  const parkedExceptChildren = isParkedExceptChildren(state, now);
  return { parked: parkedExceptChildren && isParked(state, now), parkedExceptChildren };
}

type Valueless<T> = T extends unknown ? Omit<T, 'input' | 'output' | 'variables' | 'nodes'> : never;

/** A document without inputs, outputs and variables: its size depends only on the graph. */
export type BareRun = Valueless<RunDocument> & { readonly nodes: Readonly<Record<string, BareNode>> };
export type BareNode = Valueless<NodeDocument>;

export function bareDocumentOf(state: RunState, now?: number, part?: DocumentPart): BareRun {
  const { input: _, output: __, variables: ___, ...run } = documentOf(state, () => null, now, part);
  const nodes: Record<string, BareNode> = Object.create(null);
  for (const [path, { input: _input, output: _output, ...node }] of Object.entries(run.nodes)) nodes[path] = node;
  return { ...run, nodes };
}

/** Paths of nodes in bodies contain a slash, so only ids of the root can look like integers. */
function orderOf({ root }: RunState, nodes: RunDocument['nodes']): Pick<RunDocument, 'order'> {
  const order = mayLoseOrder(nodes) ? writtenOrder(root.nodes.map(({ plan }) => plan.id)) : undefined;
  return order === undefined ? {} : { order };
}

export function spilledInDocument(state: RunState, part: DocumentPart = {}): BlobRef[] {
  if (state.spilled === 0) return [];
  const stored: (StoredValue | undefined)[] = [
    runOutput(state),
    state.root.realm.input,
    ...state.root.realm.vars.values(),
  ];
  for (const node of nodesIn(state, part).found) stored.push(node.input, node.output);
  return blobsOf(stored);
}

export function spilledInNode({ input, output }: NodeState): BlobRef[] {
  return blobsOf([input, output]);
}

function blobsOf(stored: readonly (StoredValue | undefined)[]): BlobRef[] {
  return stored.flatMap((one) => (one?.blob === undefined ? [] : [one.blob]));
}

function variablesOf({ realm: { vars } }: ScopeState, lookup: BlobLookup): Record<string, Json> {
  const variables: Record<string, Json> = Object.create(null);
  for (const [name, stored] of vars) variables[name] = resolveValue(stored, lookup);
  return variables;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function nodeDocument(node: NodeState, lookup: BlobLookup): NodeDocument {
  const { phase, startedAt, plan } = node;
  const endedAt = 'at' in phase && phase.status !== 'unknown' ? phase.at : null;
  const document: Mutable<NodeDocument> = {
    status: statusOf(phase),
    attempts: node.attempts,
    input: resolveValue(node.input, lookup),
    output: phase.status === 'completed' ? resolveValue(node.output, lookup) : null,
    error: 'error' in phase ? (phase.error ?? null) : null,
    queuedAt: isoTime(node.queuedAt),
    startedAt: isoTime(startedAt),
    finishedAt: isoTime(endedAt),
    durationMs: endedAt === null || startedAt === null ? null : endedAt - startedAt,
  };
  if (phase.status === 'running') document.attempt = { startedAt: iso(phase.since), worker: workerName(phase.worker) };
  if (phase.status === 'skipped') document.skipped = phase.why === 'dead' ? 'choice' : phase.why;
  const waitsFor = waitOf(phase);
  if (waitsFor !== undefined) document.waitsFor = waitsFor;
  const body = bodyOf(node);
  if (body !== undefined && !runsOnce(plan)) document.rounds = iterationsOf(body);
  if (plan.work.kind === 'child' && node.child !== undefined) {
    const { workflowId = null, launchPlan } = plan.work;
    document.child = { executionId: node.child, workflowId, ...(launchPlan === undefined ? {} : { plan: launchPlan }) };
  }
  return document;
}

function waitOf(phase: Phase): WaitDocument | undefined {
  if (phase.status === 'waiting') return { kind: 'retry', until: iso(phase.until) };
  if (phase.status === 'gated') {
    return { kind: 'gate', gate: gateDocument(phase.gate), until: isoTime(phase.until) };
  }
  if (phase.status !== 'listening') return undefined;
  const events = phase.waits.map(
    (wait): AwaitedDocument => (wait.kind === 'time' ? { ...wait, at: iso(wait.at) } : wait),
  );
  return {
    kind: 'event',
    events,
    deadline: isoTime(phase.deadline),
    ...(phase.isDeadlineFixed && { deadlineFixed: true }),
  };
}

/** Leaves out the cache entry of a reservation. */
function gateDocument(gate: Gate): GateDocument {
  return gate.kind === 'reserve' ? { kind: 'reserve', key: gate.key } : gate;
}

function iterationsOf({ total, open, succeeded, failed, until }: BodyState): IterationsDocument {
  const counts = { total: Number.isFinite(total) ? total : null, open, succeeded, failed };
  return until === null ? counts : { ...counts, nextAt: iso(until) };
}

function scopeDocument(scope: ScopeState): ScopeDocument {
  const { parent, iteration, undoes, stopping, deferredError, isClosed } = scope;
  return {
    node: parent === null ? null : pathOf(parent),
    round: parent === null || runsOnce(parent.plan) || iteration < 0 ? null : iteration,
    ...(undoes === null ? {} : { undoes: undoes.path }),
    status: isClosed ? 'failed' : stopping === null ? 'open' : 'ending',
    error: stopping?.error ?? deferredError,
  };
}

let second = Number.NaN;
let upToSecond = '';
let last = Number.NaN;
let lastText = '';

/**
 * The moments of a run lie close together, so the text up to the second is reused; and one frame ends a node and starts
 * the next, so the whole text is.
 */
function iso(at: number): string {
  if (at === last) return lastText;
  const whole = Math.floor(at / 1_000);
  if (whole !== second) {
    upToSecond = new Date(whole * 1_000).toISOString().slice(0, -4);
    second = whole;
  }
  last = at;
  lastText = `${upToSecond}${String(Math.floor(at - whole * 1_000)).padStart(3, '0')}Z`;
  return lastText;
}

function isoTime(at: number | null): string | null {
  return at === null || at === 0 ? null : iso(at);
}
