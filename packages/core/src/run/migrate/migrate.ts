/** Moves a run to another version of its workflow: makes the entry, and decides what follows from it. */
import { InvariantError } from '../../error.ts';
import { caseKeys, type Plan } from '../../plan/plan.ts';
import { follow as followEdges } from '../decide/advance.ts';
import { renewalOf } from '../decide/reopen.ts';
import type { Stimulus } from '../decide/stimulus.ts';
import { emit, newTurn, type Turn } from '../decide/turn.ts';
import { movedState } from '../evolve/evolve-migrate.ts';
import { decideFailure, decideOnward, stillBroken } from '../joins/edges.ts';
import type { DecidedAgain, RunMigrated } from '../journal/entry.ts';
import { resolveValue } from '../journal/stored-value.ts';
import { isFinished, nodeAt, pathOf, stateIn } from '../state/selectors.ts';
import type { NodeState, PlanOf, RunState } from '../state/state.ts';
import { checkMigration, type Migration } from './migration.ts';

type Migrate = Extract<Stimulus, { type: 'migrate' }>;

/** Does nothing if the run cannot be moved any more: the request was checked, and the run has continued since. */
export function migrate(turn: Turn, { plan, decisions, input, back }: Migrate): void {
  const { state } = turn;
  const { planOf } = state;
  state.planOf = (version) => (version === plan.version ? plan : planOf(version));
  if (back === true) {
    if (state.migrated?.from === plan.version) follow(turn, { type: 'run.migrated', version: plan.version, back });
    return;
  }
  const migration = checkMigration(state, plan, decisions);
  if (migration.refusal !== undefined) return;
  const entry = possibleEntry(turn, migration, plan.version);
  if (entry === undefined) return;
  const decided = decisions !== undefined && Object.keys(decisions).length > 0 && { decisions };
  follow(turn, { ...entry, ...decided, ...(input === undefined ? {} : { input: turn.store(input) }) });
}

/** Returns whether the run can be moved: a trial finds what the comparison of the versions does not. */
export function isMovable(state: RunState, migration: Migration, plan: Plan, now: number): boolean {
  const planOf: PlanOf = (version) => (version === plan.version ? plan : state.planOf(version));
  return (
    possibleEntry(
      newTurn({ ...state, planOf }, now, () => null),
      migration,
      plan.version,
    ) !== undefined
  );
}

/** Undefined if the state does not fit the version. A request that breaks an invariant must not stop the run for good. */
function possibleEntry(turn: Turn, migration: Migration, version: number): RunMigrated | undefined {
  try {
    const entry = entryOf(turn, migration, version);
    movedState(turn.state, entry, turn.now);
    return entry;
  } catch (error) {
    if (error instanceof InvariantError) return undefined;
    throw error;
  }
}

function follow(turn: Turn, entry: RunMigrated): void {
  // Nodes that became ready in this turn are not journalled yet, and are found again.
  turn.readied.length = 0;
  emit(turn, entry);
  const { phase, scopes, delayedUntil } = turn.state;
  // A run that has not begun begins at its time, or with its slot.
  if (isFinished(phase.status) || delayedUntil !== null) return;
  // The stack reverses the order, so nodes begin in the order of the definition.
  for (const { nodes } of [...scopes.values()].toReversed())
    for (const node of nodes.toReversed()) turn.work.push(node);
  for (const { node: path } of entry.edges ?? []) {
    const node = nodeAt(turn.state, path);
    if (node !== undefined) followEdges(turn, node, stillBroken(turn, node));
  }
}

function entryOf(turn: Turn, { renewed, reset, redecided }: Migration, version: number): RunMigrated {
  const bare: RunMigrated = { type: 'run.migrated', version };
  if (renewed.length + reset.length + redecided.length === 0) return bare;
  const trial = movedState(turn.state, bare, turn.now);
  const moved = (nodes: readonly NodeState[]) => nodes.flatMap((node) => nodeAt(trial, pathOf(node)) ?? []);
  const renewal = renewalOf(moved(renewed));
  const again = new Set([...renewal.again, ...moved(reset)]);
  for (const node of again) {
    for (const { to } of node.plan.outgoing) {
      const target = stateIn(node.scope, to);
      if (target.phase.status === 'skipped' && target.phase.why === 'failure') again.add(target);
    }
  }
  const trialTurn = newTurn(trial, turn.now, turn.lookup, turn.newId, turn.store);
  const edges = redecided.flatMap((node) => {
    const now = nodeAt(trial, pathOf(node));
    return now === undefined || isWithin(again, now) ? [] : (decideAgain(trialTurn, node, now) ?? []);
  });
  return {
    ...bare,
    ...(again.size > 0 && { nodes: Array.from(again, pathOf) }),
    ...(renewal.renewed.size > 0 && { renewed: Array.from(renewal.renewed, pathOf) }),
    ...(edges.length > 0 && { edges }),
  };
}

/** The node, or a composite node around it, is in the set. */
function isWithin(set: ReadonlySet<NodeState>, node: NodeState): boolean {
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) if (set.has(at)) return true;
  return false;
}

/** Decides the edges of an ended node by the conditions of the new version. */
function decideAgain(turn: Turn, old: NodeState, now: NodeState): DecidedAgain | undefined {
  const node = pathOf(now);
  const { phase } = now;
  if (phase.status === 'failed') {
    // The run has continued along the edges that handled the failure.
    if (phase.handling === 'handled') return undefined;
    const { taken, dead } = decideFailure(turn, now, phase.error);
    return { node, ...(taken && { taken }), ...(dead && { dead }) };
  }
  if (phase.status !== 'completed' && phase.status !== 'skipped') return undefined;
  const output = phase.status === 'completed' ? resolveValue(now.output, turn.lookup) : null;
  const { dead: conditional = [] } = decideOnward(turn, { node: now, status: phase.status, output, error: null });
  const dead = [...keptBranch(old, now), ...conditional];
  return { node, ...(dead.length > 0 && { dead }) };
}

/** A branch that has decided keeps its decision: cases of the new version are not taken unless the old one took them. */
function keptBranch(old: NodeState, now: NodeState): string[] {
  const { work } = now.plan;
  if (work.kind !== 'branch' || now.phase.status !== 'completed') return [];
  const before = old.plan.work.kind === 'branch' ? caseKeys(old.plan.work) : new Set<string>();
  const dead = now.phase.dead ?? [];
  return [...caseKeys(work)].filter((key) => !before.has(key) || dead.includes(key));
}
