/**
 * Encodes a state as text and decodes it: bounds how much of a journal is read to load a run. A snapshot has what the
 * journal determines and nothing derived. The journal stays the truth, so a snapshot of another format is ignored.
 */
import { assert } from '../../error.ts';
import type { ExecutionId } from '../../ids.ts';
import { innerGraph, type Plan } from '../../plan/plan.ts';
import { isJsonObject, type Json } from '../../value.ts';
import { estimate } from '../dispatch/dispatch-order.ts';
import { countSources } from '../joins/joins.ts';
import { NO_PERMITS, NO_RETRIES, newRunState } from '../state/new-state.ts';
import { addReady, enterRunning, isBusy, mustEnd } from '../state/phases.ts';
import { addScope, countBusy, newBody, realmInside, runsOnce } from '../state/scopes.ts';
import { bodyOf, countOpen, isEndingNode, isFinal, isQuiet, nodeAt, pathOf } from '../state/selectors.ts';
import type {
  Assignment,
  Assignments,
  BodyState,
  NodeState,
  Phase,
  PlanOf,
  RunState,
  ScopeState,
  UndoItem,
} from '../state/state.ts';
import { note } from '../state/variables.ts';
import { armAll } from '../timers/timers.ts';
import { needsEndCheck } from '../undo/transactions.ts';
import { openUndo } from '../undo/undo.ts';
import { NULL_VALUE, type StoredValue } from './stored-value.ts';

const SNAPSHOT_FORMAT = 10;

/**
 * How a field gets into a restored state. Every field of the state has a line in these tables; a missing one does not
 * compile.
 *  - stored: the snapshot has it as it is
 *  - apart: the snapshot has it in another form
 *  - derived: it follows from other fields, from the plan or from the code that loads the run
 *  - process: it describes this process, and is not part of the fold
 */
type Role = 'stored' | 'apart' | 'derived' | 'process';
type StoredKey<Roles> = { [K in keyof Roles]: Roles[K] extends 'stored' ? K : never }[keyof Roles];

const RUN_ROLES = {
  executionId: 'derived',
  plan: 'derived',
  planOf: 'derived',
  migrated: 'stored',
  seq: 'apart',
  phase: 'stored',
  trigger: 'stored',
  parent: 'stored',
  traceparent: 'stored',
  authority: 'stored',
  projectCeiling: 'derived',
  seed: 'stored',
  startKey: 'stored',
  estimates: 'stored',
  startedAt: 'stored',
  updatedAt: 'stored',
  activeSince: 'stored',
  stopping: 'stored',
  totalRetries: 'stored',
  reopened: 'stored',
  generations: 'stored',
  lastAttempt: 'stored',
  lastChildAt: 'stored',
  spilled: 'stored',
  root: 'apart',
  scopes: 'apart',
  hasOldStops: 'derived',
  undo: 'stored',
  undoGraphs: 'stored',
  undone: 'stored',
  delayedUntil: 'stored',
  slot: 'stored',
  bufferedSignals: 'stored',
  running: 'derived',
  unknown: 'derived',
  gated: 'derived',
  children: 'derived',
  listening: 'apart',
  dispatched: 'process',
  dispatchedRemote: 'process',
  runningRemote: 'derived',
  ready: 'process',
  readyRemote: 'process',
  timers: 'derived',
  endChecks: 'derived',
  released: 'process',
} as const satisfies Record<keyof RunState, Role>;

const SCOPE_ROLES = {
  path: 'derived',
  graph: 'derived',
  nodes: 'apart',
  parent: 'apart',
  iteration: 'apart',
  realm: 'apart',
  rankBase: 'derived',
  ranks: 'derived',
  stopping: 'stored',
  underWay: 'derived',
  unknowns: 'derived',
  held: 'derived',
  deferredError: 'stored',
  undoing: 'apart',
  undoes: 'apart',
  undoItems: 'apart',
  isClosed: 'stored',
  isDone: 'stored',
  busy: 'derived',
  open: 'derived',
  blockedByLevel: 'process',
  openPerLevel: 'derived',
  level: 'derived',
} as const satisfies Record<keyof ScopeState, Role>;

const NODE_ROLES = {
  plan: 'derived',
  scope: 'derived',
  phase: 'apart',
  decided: 'derived',
  taken: 'derived',
  failedEdges: 'derived',
  isHolding: 'stored',
  heldSources: 'derived',
  isHeld: 'derived',
  inFinally: 'stored',
  decidedAs: 'stored',
  attempts: 'stored',
  retries: 'stored',
  lost: 'stored',
  settings: 'stored',
  queuedAt: 'stored',
  pausedMs: 'stored',
  startedAt: 'stored',
  input: 'stored',
  output: 'stored',
  passed: 'stored',
  permits: 'stored',
  missed: 'stored',
  generation: 'stored',
  attemptsBefore: 'stored',
  child: 'stored',
  busy: 'derived',
  endings: 'derived',
  dispatchState: 'process',
} as const satisfies Record<keyof NodeState, Role>;

const BODY_ROLES = {
  graph: 'derived',
  scopes: 'apart',
  items: 'stored',
  total: 'apart',
  next: 'stored',
  open: 'stored',
  succeeded: 'stored',
  failed: 'stored',
  results: 'apart',
  error: 'stored',
  isBroken: 'stored',
  returned: 'stored',
  until: 'stored',
  base: 'stored',
} as const satisfies Record<keyof BodyState, Role>;

const RUN_FIELDS = storedKeys(RUN_ROLES);
const SCOPE_FIELDS = storedKeys(SCOPE_ROLES);
const NODE_FIELDS = storedKeys(NODE_ROLES);
const BODY_FIELDS = storedKeys(BODY_ROLES);

type StoredNode = Pick<NodeState, StoredKey<typeof NODE_ROLES>>;

function storedKeys<Roles extends Readonly<Record<string, Role>>>(roles: Roles): StoredKey<Roles>[] {
  const isStored = (key: keyof Roles): key is StoredKey<Roles> => roles[key] === 'stored';
  const keys: StoredKey<Roles>[] = [];
  for (const key in roles) if (isStored(key)) keys.push(key);
  return keys;
}

/** Values of a new node. `attempts` and `attemptsBefore` depend on the node around it. */
const UNCHANGED: Partial<StoredNode> = {
  isHolding: false,
  inFinally: false,
  retries: NO_RETRIES,
  lost: 0,
  queuedAt: null,
  pausedMs: 0,
  startedAt: null,
  passed: 0,
  permits: NO_PERMITS,
  generation: 0,
};

/** Scopes are in the order of their opening: outer scopes precede inner ones. */
interface Snapshot {
  readonly format: number;
  /** The version of the workflow whose nodes the snapshot names. */
  readonly version: number;
  readonly seq: number;
  readonly run: Pick<RunState, StoredKey<typeof RUN_ROLES>>;
  readonly scopes: readonly ScopeSnapshot[];
  /** Waits in the order in which they take signals; waits of one frame have the same time. */
  readonly listening: readonly string[];
}

interface ScopeSnapshot {
  /** The scope whose nodes this one undoes. */
  readonly undoes?: string;
  readonly undoItems?: readonly UndoItem[];
  /** The composite node and the iteration; left out for the root. */
  readonly node?: string;
  readonly round?: number;
  readonly fields: Pick<ScopeState, StoredKey<typeof SCOPE_ROLES>>;
  /** Left out if the scope shares those of the scope around it. */
  readonly input?: StoredValue;
  readonly vars?: readonly (readonly [string, StoredValue])[];
  readonly assigned?: AssignedSnapshot;
  /** Nodes by id. Pairs, not an object: `__proto__` is a valid id. */
  readonly nodes: readonly (readonly [string, NodeSnapshot])[];
}

interface AssignedSnapshot {
  readonly count: number;
  /** Node, variable and assignment. */
  readonly list: readonly (readonly [string, string, Assignment])[];
}

/** The body is stored beside its phase. */
interface NodeSnapshot {
  readonly phase: PhaseSnapshot;
  readonly fields: Partial<StoredNode>;
  readonly body?: BodySnapshot;
}

type PhaseSnapshot = Phase extends infer P ? (P extends Phase ? Omit<P, 'body'> : never) : never;

/** JSON has neither Infinity nor undefined, so both are null. */
interface BodySnapshot extends Pick<BodyState, StoredKey<typeof BODY_ROLES>> {
  readonly total: number | null;
  readonly results: readonly (StoredValue | null)[];
}

export function encodeSnapshot(state: RunState): string {
  const snapshot: Snapshot = {
    format: SNAPSHOT_FORMAT,
    version: state.plan.version,
    seq: state.seq,
    run: pick(state, RUN_FIELDS),
    scopes: Array.from(state.scopes.values(), scopeSnapshot),
    listening: Array.from(state.listening, pathOf),
  };
  return JSON.stringify(snapshot);
}

function scopeSnapshot(scope: ScopeState): ScopeSnapshot {
  const { parent, realm } = scope;
  const outer = (scope.undoes ?? parent?.scope)?.realm;
  return {
    ...addressOf(scope),
    fields: pick(scope, SCOPE_FIELDS),
    ...(realm === outer ? {} : { input: realm.input }),
    ...(realm.vars === outer?.vars ? {} : { vars: [...realm.vars], assigned: assignedSnapshot(realm.assigned) }),
    nodes: scope.nodes.filter(isTouched).map((node) => [node.plan.id, nodeSnapshot(node)]),
  };
}

/** Something has happened to the node. It may be pending again, with what was resolved for it before. */
function isTouched(node: NodeState): boolean {
  const { phase, attempts, attemptsBefore, scope } = node;
  // The attempts of a compensation are numbered from the state in which its scope was opened.
  if (phase.status !== 'pending' || attempts > 0 || attemptsBefore > 0 || scope.undoes !== null) return true;
  return NODE_FIELDS.some((key) => !COUNTED.has(key) && node[key] !== UNCHANGED[key]);
}

/** Their first values depend on the node around, so `UNCHANGED` does not have them. */
const COUNTED: ReadonlySet<keyof StoredNode> = new Set<keyof StoredNode>(['attempts', 'attemptsBefore']);

function nodeSnapshot(node: NodeState): NodeSnapshot {
  const fields = changedFields(node);
  const body = bodyOf(node);
  if (body === undefined) return { phase: node.phase, fields };
  const { body: _, ...phase } = { body, ...node.phase };
  return { phase, fields, body: bodySnapshot(body) };
}

function bodySnapshot(body: BodyState): BodySnapshot {
  const total = Number.isFinite(body.total) ? body.total : null;
  return { ...pick(body, BODY_FIELDS), total, results: Array.from(body.results, (result) => result ?? null) };
}

function assignedSnapshot({ count, byNode }: Assignments): AssignedSnapshot {
  const list: AssignedSnapshot['list'][number][] = [];
  for (const [node, own] of byNode) for (const [name, one] of own) list.push([pathOf(node), name, one]);
  return { count, list };
}

/** Runs after all scopes are restored: a node of any depth may have assigned a variable. */
function restoreAssigned(state: RunState, snapshot: ScopeSnapshot, isLenient: boolean): boolean {
  const { assigned: stored } = snapshot;
  if (stored === undefined) return true;
  const assigned = scopeAt(state, snapshot)?.realm.assigned;
  if (assigned === undefined) return false;
  assigned.byNode.clear();
  assigned.count = stored.count;
  for (const [path, name, one] of stored.list) {
    const node = nodeAt(state, path);
    if (node !== undefined) note(assigned, node, name, one);
    else if (!isLenient) return false;
  }
  return true;
}

/** The restored scope of a snapshot. */
function scopeAt(state: RunState, { undoes, node, round: iteration }: ScopeSnapshot): ScopeState | undefined {
  if (node !== undefined) {
    const composite = nodeAt(state, node);
    return composite === undefined ? undefined : bodyOf(composite)?.scopes.get(iteration ?? 0);
  }
  return undoes === undefined ? state.root : (state.scopes.get(undoes)?.undoing ?? undefined);
}

function addressOf(scope: ScopeState): Pick<ScopeSnapshot, 'undoes' | 'undoItems' | 'node' | 'round'> {
  if (scope.undoes !== null) return { undoes: scope.undoes.path, undoItems: scope.undoItems };
  return scope.parent === null ? {} : { node: pathOf(scope.parent), round: scope.iteration };
}

/** The version of the workflow in a snapshot; undefined if the text has another format or is damaged. */
export function snapshotVersion(text: string): number | undefined {
  const version = SNAPSHOT_HEAD.exec(text)?.[1];
  return version === undefined ? undefined : Number(version);
}

const SNAPSHOT_HEAD = new RegExp(`^\\{"format":${SNAPSHOT_FORMAT},"version":(\\d+),`);

/**
 * Returns undefined if the text has another format or version, is damaged, or names nodes that the plan does not have.
 */
export function decodeSnapshot(
  plan: Plan,
  executionId: ExecutionId,
  text: string,
  planOf?: PlanOf,
): RunState | undefined {
  if (snapshotVersion(text) !== plan.version) return undefined;
  const snapshot = parsed(text);
  if (!isJsonObject(snapshot)) return undefined;
  return restored(snapshot as unknown as Snapshot, newRunState(plan, executionId, planOf));
}

/**
 * The state of a snapshot under another plan. Nodes are found by their ids, and those that the plan does not have are left
 * out, as are compensations that have ended. `adjust` changes the nodes before anything is derived from them.
 */
export function stateUnder(plan: Plan, from: RunState, text: string, adjust: (state: RunState) => void): RunState {
  const state = newRunState(plan, from.executionId, from.planOf);
  const moved = restored(JSON.parse(text) as Snapshot, state, { from, adjust });
  assert(moved !== undefined, `${from.executionId} can be moved to version ${plan.version}`);
  return moved;
}

/** `adjust`: nodes of the snapshot that the plan does not have are left out. Without it, returns undefined for them. */
function restored({ seq, run, scopes, listening }: Snapshot, state: RunState, move?: Move): RunState | undefined {
  const isLenient = move !== undefined;
  Object.assign(state, run);
  state.seq = seq;
  if (state.estimates !== null) estimate(state, state.estimates);
  for (const scope of scopes) if (!restoreScope(state, scope, move) && !isLenient) return undefined;
  for (const scope of scopes) if (!restoreAssigned(state, scope, isLenient) && !isLenient) return undefined;
  move?.adjust(state);
  state.endChecks.clear();
  index(state, listening);
  return state;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function restoreScope(state: RunState, snapshot: ScopeSnapshot, move: Move | undefined): boolean {
  const isLenient = move !== undefined;
  if (isLenient && snapshot.undoes !== undefined) return false;
  const scope = scopeOf(state, snapshot);
  if (scope === undefined) return false;
  Object.assign(scope, snapshot.fields);
  if (snapshot.vars !== undefined) {
    scope.realm.vars.clear();
    for (const [name, stored] of snapshot.vars) scope.realm.vars.set(name, stored);
  }
  if (scope === state.root) scope.realm = { ...scope.realm, input: snapshot.input ?? NULL_VALUE };
  for (const [id, { phase, fields, body }] of snapshot.nodes) {
    const at = scope.graph.indexOf.get(id);
    const node = at === undefined ? undefined : scope.nodes[at];
    if (node === undefined) {
      if (isLenient) continue;
      return false;
    }
    Object.assign(node, fields);
    const hasBody = body !== undefined && (move === undefined || keepsBody(move.from, node, body));
    Object.assign(node, { phase: hasBody ? { ...phase, body: restoredBody(node, body) } : phase });
  }
  return true;
}

function scopeOf(state: RunState, snapshot: ScopeSnapshot): ScopeState | undefined {
  if (snapshot.node !== undefined) return reopened(state, snapshot);
  if (snapshot.undoes === undefined) return state.root;
  const undone = state.scopes.get(snapshot.undoes);
  return undone === undefined ? undefined : openUndo(state, undone, snapshot.undoItems ?? []);
}

/** A body continues only in a composite node of the same kind, and a returned graph only if the new plan accepts it. */
function keepsBody(from: RunState, node: NodeState, { returned }: BodySnapshot): boolean {
  const { work } = node.plan;
  if (nodeAt(from, pathOf(node))?.plan.work.kind !== work.kind) return false;
  return work.kind === 'dynamic' ? 'body' in work.compile(returned ?? null) : innerGraph(work) !== undefined;
}

/** A snapshot is restored under another plan. */
interface Move {
  readonly from: RunState;
  adjust(state: RunState): void;
}

function restoredBody({ plan }: NodeState, { total, results, ...fields }: BodySnapshot): BodyState {
  const body = newBody(plan, total ?? Number.POSITIVE_INFINITY, fields.returned);
  for (const result of results) body.results.push(result ?? undefined);
  return Object.assign(body, fields);
}

function reopened(state: RunState, { node: path, round: iteration, input }: ScopeSnapshot): ScopeState | undefined {
  const node = path === undefined ? undefined : nodeAt(state, path);
  if (node === undefined || bodyOf(node) === undefined || iteration === undefined) return undefined;
  const isInside = runsOnce(node.plan) && input !== undefined;
  return addScope(state, node, iteration, isInside ? realmInside(node, input) : node.scope.realm);
}

/** Rebuilds everything that is derived from the phases. */
function index(state: RunState, listening: readonly string[]): void {
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) {
      if (!isFinal(node.phase.status)) continue;
      scope.open--;
      countOpen(scope, node.plan, -1);
    }
    countSources(scope, true);
    while (scope.level < scope.openPerLevel.length && scope.openPerLevel[scope.level] === 0) scope.level++;
  }
  for (const scope of state.scopes.values()) for (const node of scope.nodes) indexNode(state, node);
  for (const scope of state.scopes.values()) indexEnding(state, scope);
  restoreOrder(state, listening);
  for (const scope of state.scopes.values()) {
    for (const ended of [scope, ...scope.nodes]) if (needsEndCheck(state, ended)) state.endChecks.add(ended);
  }
  armAll(state);
}

/** Rebuilds the counts of a scope that ends early, and of its composite node. */
function indexEnding(state: RunState, scope: ScopeState): void {
  const { stopping, nodes, parent, undoes, isClosed } = scope;
  if (stopping === null || undoes !== null || isClosed) return;
  if (stopping.finally === undefined) state.hasOldStops = true;
  scope.underWay = nodes.filter(mustEnd).length;
  if (parent !== null && isEndingNode(state, parent) && !isQuiet(scope)) parent.endings++;
}

function restoreOrder(state: RunState, listening: readonly string[]): void {
  for (const path of listening) {
    const node = nodeAt(state, path);
    if (node !== undefined && state.listening.delete(node)) state.listening.add(node);
  }
}

function indexNode(state: RunState, node: NodeState): void {
  const { status } = node.phase;
  if (isBusy(node, status)) countBusy(state, node, 1);
  if (status === 'running') enterRunning(state, node);
  else if (status === 'unknown') {
    state.unknown.add(node);
    node.scope.unknowns++;
  } else if (status === 'child') state.children.add(node);
  else if (status === 'listening') state.listening.add(node);
  else if (status === 'gated') state.gated.add(node);
  else if (status === 'queued') addReady(state, node);
}

/** Most fields of most nodes have their initial value and are left out. */
function changedFields(node: StoredNode): Partial<StoredNode> {
  const changed: Partial<StoredNode> = {};
  for (const key of NODE_FIELDS) if (node[key] !== UNCHANGED[key]) copyField(changed, node, key);
  return changed;
}

function copyField<T, K extends keyof T>(to: Partial<T>, from: T, key: K): void {
  to[key] = from[key];
}

function pick<T, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) picked[key] = from[key];
  return picked as Pick<T, K>;
}
