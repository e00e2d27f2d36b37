/**
 * A state as text, and back: bounds how much journal has to be read to load a run.
 * Holds what the journal determines and nothing derived; the journal stays the truth, so a snapshot
 * of another format is simply not used.
 */
import type { Plan } from '../../plan/plan.ts';
import { isJsonObject, type Json } from '../../value.ts';
import { estimate } from '../dispatch/dispatch-order.ts';
import { countSources } from '../joins/joins.ts';
import { NO_PERMITS, NO_RETRIES, newRunState } from '../state/new-state.ts';
import { addReady, enterRunning, isBusy, mustEnd } from '../state/phases.ts';
import { addScope, countBusy, newBody, realmInside, runsOnce } from '../state/scopes.ts';
import { isEndingNode, isFinal, isQuiet, nodeAt, pathOf } from '../state/selectors.ts';
import type { Assignment, Assignments, BodyState, NodeState, RunState, ScopeState, UndoItem } from '../state/state.ts';
import { note } from '../state/variables.ts';
import { armAll } from '../timers/timers.ts';
import { needsEndCheck } from '../undo/transactions.ts';
import { openUndo } from '../undo/undo.ts';
import type { StoredValue } from './stored-value.ts';

const SNAPSHOT_FORMAT = 6;

const RUN_FIELDS = [
  'status',
  'trigger',
  'parent',
  'traceparent',
  'seed',
  'authority',
  'startKey',
  'estimates',
  'startedAt',
  'updatedAt',
  'activeSince',
  'finishedAt',
  'output',
  'error',
  'stopping',
  'ending',
  'undo',
  'undoGraphs',
  'undone',
  'totalRetries',
  'reopened',
  'generations',
  'lastAttempt',
  'lastChildAt',
  'spilled',
  'delayedUntil',
  'slot',
  'pausedAt',
  'pauseReason',
  'bufferedSignals',
] as const satisfies readonly (keyof RunState)[];

/** Names in snapshots that differ from those of the state: stored snapshots keep them. */
const STORED_NAMES = [
  ['delayedUntil', 'heldUntil'],
  ['slot', 'place'],
  ['bufferedSignals', 'kept'],
] as const satisfies readonly (readonly [keyof RunState, string])[];

const SCOPE_FIELDS = [
  'stopping',
  'deferredError',
  'isClosed',
  'isDone',
] as const satisfies readonly (keyof ScopeState)[];

const NODE_FIELDS = [
  'phase',
  'attempts',
  'retries',
  'lost',
  'settings',
  'queuedAt',
  'startedAt',
  'input',
  'output',
  'passed',
  'permits',
  'missed',
  'generation',
  'attemptsBefore',
  'child',
  'inFinally',
  'decidedAs',
] as const satisfies readonly (keyof NodeState)[];

/** Values of a new node. `attempts` and `attemptsBefore` depend on the node around. */
const UNCHANGED: Partial<NodeState> = {
  inFinally: false,
  retries: NO_RETRIES,
  lost: 0,
  queuedAt: null,
  startedAt: null,
  passed: 0,
  permits: NO_PERMITS,
  generation: 0,
};

const BODY_FIELDS = [
  'items',
  'total',
  'next',
  'open',
  'succeeded',
  'failed',
  'results',
  'error',
  'isBroken',
  'until',
  'base',
  'returned',
] as const satisfies readonly (keyof BodyState)[];

/** Scopes in the order in which they were opened: those around come before those inside. */
interface Snapshot {
  readonly format: number;
  readonly seq: number;
  readonly run: object;
  readonly scopes: readonly ScopeSnapshot[];
}

interface ScopeSnapshot {
  /** For a scope that undoes: the scope whose nodes it undoes. */
  readonly undoes?: string;
  readonly undoItems?: readonly UndoItem[];
  /** The composite node, and which of its iterations; left out for the root. */
  readonly node?: string;
  readonly round?: number;
  readonly fields: object;
  /** Where the scope has them of its own. */
  readonly input?: StoredValue;
  readonly vars?: readonly (readonly [string, StoredValue])[];
  readonly assigned?: AssignedSnapshot;
  /** By id. Pairs, not an object: `__proto__` is a good name for a node. */
  readonly nodes: readonly (readonly [string, NodeSnapshot])[];
}

interface AssignedSnapshot {
  readonly count: number;
  /** Node, variable, and what it assigned. */
  readonly list: readonly (readonly [string, string, Assignment])[];
}

interface NodeSnapshot {
  readonly fields: object;
  readonly body?: object;
}

export function encodeSnapshot(state: RunState): string {
  const snapshot: Snapshot = {
    format: SNAPSHOT_FORMAT,
    seq: state.seq,
    run: storedRun(state),
    scopes: Array.from(state.scopes.values(), scopeSnapshot),
  };
  return JSON.stringify(snapshot);
}

function storedRun(state: RunState): object {
  const run: Record<string, unknown> = pick(state, RUN_FIELDS);
  for (const [name, stored] of STORED_NAMES) {
    run[stored] = run[name];
    delete run[name];
  }
  return run;
}

function restoredRun(stored: object): object {
  const run: Record<string, unknown> = { ...stored };
  for (const [name, storedName] of STORED_NAMES) {
    run[name] = run[storedName];
    delete run[storedName];
  }
  return run;
}

function scopeSnapshot(scope: ScopeState): ScopeSnapshot {
  const { parent, realm } = scope;
  const outer = (scope.undoes ?? parent?.scope)?.realm;
  return {
    ...placeOf(scope),
    fields: pick(scope, SCOPE_FIELDS),
    ...(realm === outer ? {} : { input: realm.input }),
    ...(realm.vars === outer?.vars ? {} : { vars: [...realm.vars], assigned: assignedSnapshot(realm.assigned) }),
    nodes: scope.nodes
      .filter(
        (node) =>
          node.phase.status !== 'pending' || node.attempts > 0 || node.generation > 0 || node.attemptsBefore > 0,
      )
      .map((node) => [
        node.plan.id,
        { fields: changedFields(node), ...(node.body === undefined ? {} : { body: pick(node.body, BODY_FIELDS) }) },
      ]),
  };
}

function assignedSnapshot({ count, byNode }: Assignments): AssignedSnapshot {
  const list: AssignedSnapshot['list'][number][] = [];
  for (const [node, own] of byNode) for (const [name, one] of own) list.push([pathOf(node), name, one]);
  return { count, list };
}

/** Once all scopes are there: a node of any depth may have assigned a variable. */
function restoreAssigned(state: RunState, snapshot: ScopeSnapshot): boolean {
  const { assigned: stored } = snapshot;
  if (stored === undefined) return true;
  const { assigned } = (scopeAt(state, snapshot) as ScopeState).realm;
  assigned.byNode.clear();
  assigned.count = stored.count;
  for (const [path, name, one] of stored.list) {
    const node = nodeAt(state, path);
    if (node === undefined) return false;
    note(assigned, node, name, one);
  }
  return true;
}

/** The scope of a snapshot that has been restored. */
function scopeAt(state: RunState, { undoes, node, round: iteration }: ScopeSnapshot): ScopeState | undefined {
  if (node !== undefined) return nodeAt(state, node)?.body?.scopes.get(iteration ?? 0);
  return undoes === undefined ? state.root : (state.scopes.get(undoes)?.undoing ?? undefined);
}

function placeOf(scope: ScopeState): Pick<ScopeSnapshot, 'undoes' | 'undoItems' | 'node' | 'round'> {
  if (scope.undoes !== null) return { undoes: scope.undoes.path, undoItems: scope.undoItems };
  return scope.parent === null ? {} : { node: pathOf(scope.parent), round: scope.iteration };
}

/** Undefined when the text is of another format, is damaged, or names nodes that the plan does not have. */
export function decodeSnapshot(plan: Plan, executionId: string, text: string): RunState | undefined {
  const snapshot = parsed(text);
  if (!isJsonObject(snapshot) || snapshot.format !== SNAPSHOT_FORMAT) return undefined;
  const { seq, run, scopes } = snapshot as unknown as Snapshot;
  const state = newRunState(plan, executionId);
  Object.assign(state, restoredRun(run));
  state.seq = seq;
  if (state.estimates !== null) estimate(state, state.estimates);
  for (const scope of scopes) if (!restoreScope(state, scope)) return undefined;
  for (const scope of scopes) if (!restoreAssigned(state, scope)) return undefined;
  state.endChecks.clear();
  index(state);
  return state;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function restoreScope(state: RunState, snapshot: ScopeSnapshot): boolean {
  const scope = scopeOf(state, snapshot);
  if (scope === undefined) return false;
  Object.assign(scope, snapshot.fields);
  if (snapshot.vars !== undefined) {
    scope.realm.vars.clear();
    for (const [name, stored] of snapshot.vars) scope.realm.vars.set(name, stored);
  }
  if (scope === state.root) scope.realm = { ...scope.realm, input: snapshot.input ?? { value: null } };
  for (const [id, { fields, body }] of snapshot.nodes) {
    const at = scope.graph.indexOf.get(id);
    const node = at === undefined ? undefined : scope.nodes[at];
    if (node === undefined) return false;
    Object.assign(node, fields);
    if (body !== undefined) node.body = restoredBody(node, body);
  }
  return true;
}

function scopeOf(state: RunState, snapshot: ScopeSnapshot): ScopeState | undefined {
  if (snapshot.node !== undefined) return reopened(state, snapshot);
  if (snapshot.undoes === undefined) return state.root;
  const undone = state.scopes.get(snapshot.undoes);
  return undone === undefined ? undefined : openUndo(state, undone, snapshot.undoItems ?? []);
}

function restoredBody(node: NodeState, fields: object): BodyState {
  const { returned } = fields as { returned?: Json };
  const body = Object.assign(newBody(node.plan, 0, returned), fields);
  // JSON has neither Infinity nor undefined.
  body.total ??= Number.POSITIVE_INFINITY;
  for (const [iteration, stored] of body.results.entries()) if (stored === null) body.results[iteration] = undefined;
  return body;
}

function reopened(state: RunState, { node: path, round: iteration, input }: ScopeSnapshot): ScopeState | undefined {
  const node = nodeAt(state, path as string);
  if (node?.body === undefined || iteration === undefined) return undefined;
  const isInside = runsOnce(node.plan) && input !== undefined;
  return addScope(state, node, iteration, isInside ? realmInside(node, input) : node.scope.realm);
}

/** Builds everything that is derived from the phases. */
function index(state: RunState): void {
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) {
      if (!isFinal(node.phase.status)) continue;
      scope.open--;
      (scope.openPerLevel[node.plan.level] as number)--;
    }
    countSources(scope, true);
    while (scope.level < scope.openPerLevel.length && scope.openPerLevel[scope.level] === 0) scope.level++;
  }
  for (const scope of state.scopes.values()) for (const node of scope.nodes) indexNode(state, node);
  for (const scope of state.scopes.values()) indexEnding(state, scope);
  restoreOrder(state.listening);
  for (const scope of state.scopes.values()) {
    for (const ended of [scope, ...scope.nodes]) if (needsEndCheck(state, ended)) state.endChecks.add(ended);
  }
  armAll(state);
}

/** The ends that a scope that ends early, and the node around it, wait for. */
function indexEnding(state: RunState, scope: ScopeState): void {
  const { stopping, nodes, parent, undoes, isClosed } = scope;
  if (stopping === null || undoes !== null || isClosed) return;
  if (stopping.finally === undefined) state.hasOldStops = true;
  scope.underWay = nodes.filter(mustEnd).length;
  if (parent !== null && isEndingNode(state, parent) && !isQuiet(scope)) parent.endings++;
}

/** The one that has waited longest comes first. */
function restoreOrder(listening: Set<NodeState>): void {
  const since = ({ phase }: NodeState): number => ('since' in phase ? phase.since : 0);
  const ordered = [...listening].sort((a, b) => since(a) - since(b));
  listening.clear();
  for (const node of ordered) listening.add(node);
}

function indexNode(state: RunState, node: NodeState): void {
  const { status } = node.phase;
  if (isBusy(node, status)) countBusy(state, node, 1);
  if (status === 'running') enterRunning(state, node);
  else if (status === 'unknown') {
    state.unknown.add(node);
    node.scope.doubts++;
  } else if (status === 'child') state.children.add(node);
  else if (status === 'listening') state.listening.add(node);
  else if (status === 'gated') state.gated.add(node);
  else if (status === 'queued') addReady(state, node);
}

/** Most fields of most nodes are as in a new node, and are left out. */
function changedFields(node: NodeState): Partial<NodeState> {
  const changed: Partial<Record<keyof NodeState, unknown>> = {};
  for (const key of NODE_FIELDS) if (node[key] !== UNCHANGED[key]) changed[key] = node[key];
  return changed as Partial<NodeState>;
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Record<K, T[K]>> {
  const picked: Partial<Record<K, T[K]>> = {};
  for (const key of keys) picked[key] = from[key];
  return picked;
}
