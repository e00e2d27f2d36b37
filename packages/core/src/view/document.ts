/** A run as people and programs look at it: `nebula run --json`, `nebula executions show`, the API, the test kit. */
import type { RunError } from '../error.ts';
import { mayLoseOrder, writtenOrder } from '../node-order.ts';
import type { AwaitedEvent, Gate } from '../run/journal/entry.ts';
import { type BlobLookup, type BlobRef, resolveValue, type StoredValue } from '../run/journal/stored-value.ts';
import { isWhole, runsOnce } from '../run/state/scopes.ts';
import {
  bodyOf,
  endingOf,
  finishedAt,
  pathOf,
  runError,
  runOutput,
  statusOf,
  waitsForSlot,
  workerName,
} from '../run/state/selectors.ts';
import type { BodyState, NodeState, Phase, RunState, ScopeState } from '../run/state/state.ts';
import type { FinalRunStatus, NodeStatus, RunStatus } from '../run/state/status.ts';
import type { Json } from '../value.ts';

/** Moments are ISO 8601, or null when they have not come. */
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
  /** From the start of the first attempt to the end; null while it has not ended. */
  readonly durationMs: number | null;
  /** When the attempt that runs was started, and by whom. */
  readonly attempt?: { readonly startedAt: string; readonly worker: string };
  /** Of a skipped node, why: its join failed by choice or because of a failure, its condition, or it is disabled. */
  readonly skipped?: 'choice' | 'failure' | 'when' | 'disabled';
  /** Of a waiting node, for what. */
  readonly waitsFor?: WaitDocument;
  /** The execution that runs for it, or ran last. */
  readonly child?: { readonly executionId: string; readonly workflowId: string | null; readonly plan?: string };
  /** For a loop: how far it is. */
  readonly rounds?: IterationsDocument;
}

export interface IterationsDocument {
  /** Null when nobody knows how many there will be. */
  readonly total: number | null;
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  /** When the next iteration begins, where it has to wait. */
  readonly nextAt?: string;
}

export type WaitDocument =
  | { readonly kind: 'retry'; readonly until: string }
  /** `until`: it has been granted, and begins then. */
  | { readonly kind: 'gate'; readonly gate: GateDocument; readonly until: string | null }
  | { readonly kind: 'event'; readonly events: readonly AwaitedDocument[]; readonly deadline: string | null };

export type GateDocument = Exclude<Gate, { kind: 'reserve' }> | { readonly kind: 'reserve'; readonly key: string };

export type AwaitedDocument =
  | Exclude<AwaitedEvent, { kind: 'time' }>
  | { readonly kind: 'time'; readonly name: string; readonly at: string };

/** One run of a body, or of what undoes one, that has not ended well. */
export interface ScopeDocument {
  /** The composite node; null where the run itself is undone. */
  readonly node: string | null;
  /** Of a loop; null where the body runs once. */
  readonly round: number | null;
  /** It undoes what was done in this scope; '' is the run. */
  readonly undoes?: string;
  readonly status: 'open' | 'ending' | 'failed';
  readonly error: RunError | null;
}

interface DocumentBase {
  readonly executionId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly trigger: Json;
  /** The execution and node that it runs for. */
  readonly parent: { readonly executionId: string; readonly node: string } | null;
  readonly input: Json;
  /** As they are now. */
  readonly variables: Readonly<Record<string, Json>>;
  readonly output: Json;
  readonly error: RunError | null;
  readonly startedAt: string | null;
  /** Time of the newest entry of the journal, and how many frames it has. */
  readonly updatedAt: string | null;
  readonly seq: number;
  /** Every node by path, in the order of the definition; skipped ones too. */
  readonly nodes: Readonly<Record<string, NodeDocument>>;
  /** The order of the definition, where the object loses it: ids that look like integers. `idsInOrder` reads both. */
  readonly order?: readonly string[];
  /** By path, without the run itself. Iterations that went well are gone. */
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
  /** It is pending until it is granted one of so many places. */
  readonly place?: { readonly key: string; readonly limit: number };
  readonly paused?: { readonly since: string; readonly reason: string | null };
  /** How it will end, once what runs has stopped and what was done is undone. */
  readonly ending?: FinalRunStatus;
}

export type RunDocument = FinishedDocument | OpenDocument;

/** Every node by path, skipped ones too. Values in blobs are looked up. */
export function documentOf(state: RunState, lookup: BlobLookup): RunDocument {
  const nodes: Record<string, NodeDocument> = Object.create(null);
  const scopes: Record<string, ScopeDocument> = Object.create(null);
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) nodes[pathOf(node)] = nodeDocument(node, lookup);
    if (scope !== state.root && !isWhole(scope)) scopes[scope.path] = scopeDocument(scope);
  }
  const { root, parent } = state;
  const ending = (endingOf(state) ?? state.stopping)?.status;
  const { phase, startedAt } = state;
  const endedAt = finishedAt(state);
  return {
    executionId: state.executionId,
    workflowId: state.plan.workflowId,
    version: state.plan.version,
    status: phase.status,
    output: resolveValue(runOutput(state), lookup),
    error: runError(state),
    startedAt: isoTime(startedAt),
    updatedAt: isoTime(state.updatedAt),
    finishedAt: isoTime(endedAt),
    durationMs: endedAt === null ? null : endedAt - startedAt,
    seq: state.seq,
    ...(waitsForSlot(state) ? { place: { key: state.slot?.key, limit: state.slot?.limit } } : {}),
    ...(phase.status === 'paused' ? { paused: { since: iso(phase.at), reason: phase.reason } } : {}),
    ...(ending === undefined ? {} : { ending }),
    trigger: state.trigger,
    parent: parent === null ? null : { executionId: parent.executionId, node: parent.node },
    input: resolveValue(root.realm.input, lookup),
    variables: variablesOf(root, lookup),
    nodes,
    scopes,
    ...orderOf(state, nodes),
    // `finishedAt` goes with the status: the fold sets both with `run.finished`, and clears both with `run.reopened`.
  } as RunDocument;
}

type Valueless<T> = T extends unknown ? Omit<T, 'input' | 'output' | 'variables' | 'nodes'> : never;

/** A document without inputs, outputs and variables: as large as the graph, whatever flows through it. */
export type BareRun = Valueless<RunDocument> & { readonly nodes: Readonly<Record<string, BareNode>> };
export type BareNode = Valueless<NodeDocument>;

export function bareDocumentOf(state: RunState): BareRun {
  const { input: _, output: __, variables: ___, ...run } = documentOf(state, () => null);
  const nodes: Record<string, BareNode> = Object.create(null);
  for (const [path, { input: _input, output: _output, ...node }] of Object.entries(run.nodes)) nodes[path] = node;
  return { ...run, nodes };
}

/** Paths of nodes in bodies have a slash: they do not look like integers. */
function orderOf({ root }: RunState, nodes: RunDocument['nodes']): Pick<RunDocument, 'order'> {
  const order = mayLoseOrder(nodes) ? writtenOrder(root.nodes.map(({ plan }) => plan.id)) : undefined;
  return order === undefined ? {} : { order };
}

export function spilledInDocument(state: RunState): BlobRef[] {
  if (state.spilled === 0) return [];
  const stored: (StoredValue | undefined)[] = [
    runOutput(state),
    state.root.realm.input,
    ...state.root.realm.vars.values(),
  ];
  for (const scope of state.scopes.values()) for (const node of scope.nodes) stored.push(node.input, node.output);
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
  if (body !== undefined && !runsOnce(plan)) document.rounds = roundsOf(body);
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
    (wait): AwaitedDocument => (wait.kind === 'time' ? { kind: 'time', name: wait.name, at: iso(wait.at) } : wait),
  );
  return { kind: 'event', events, deadline: isoTime(phase.deadline) };
}

/** Without what the cache will keep. */
function gateDocument(gate: Gate): GateDocument {
  return gate.kind === 'reserve' ? { kind: 'reserve', key: gate.key } : gate;
}

function roundsOf({ total, open, succeeded, failed, until }: BodyState): IterationsDocument {
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

/** The moments of a run lie close together: what they have in common is not worked out again for each of them. */
function iso(at: number): string {
  const whole = Math.floor(at / 1_000);
  if (whole !== second) {
    upToSecond = new Date(whole * 1_000).toISOString().slice(0, -4);
    second = whole;
  }
  return `${upToSecond}${String(Math.floor(at - whole * 1_000)).padStart(3, '0')}Z`;
}

function isoTime(at: number | null): string | null {
  return at === null || at === 0 ? null : iso(at);
}
