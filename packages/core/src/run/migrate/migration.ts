/**
 * Checks whether a run can be moved to another version of its workflow, and names the changes that need a decision.
 *
 *  M1 A run moves while nothing of it runs: after its end, or while it is paused or waits.
 *  M2 Nodes that have ended keep their results. If the version changes such a node in a way that can change its result, a
 *     person decides: `keep` the result, or begin `again`; `drop` for a node that the version does not have.
 *  M3 Nodes that failed or were cut off begin again with the retry of the run, so they may change in every way.
 *  M4 Nodes that have begun and wait for something outside of the run, or hold a permit, must not change.
 */
import { NebulaError } from '../../error.ts';
import type { Plan } from '../../plan/plan.ts';
import { didYouMean } from '../../problem.ts';
import { bodyOf, isEnding, isFinished, pathOf, statusOf } from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';
import type { NodeStatus } from '../state/status.ts';
import { type DefinitionChange, definitionChanges } from './definition-changes.ts';

export type MigrationDecision = 'keep' | 'again' | 'drop';

/** Decisions by path in the definition: `items/pack`. */
export type MigrationDecisions = Readonly<Record<string, MigrationDecision>>;

export interface MigrationChange {
  /** The path in the definition, without numbers of iterations. */
  readonly node: string;
  readonly change: DefinitionChange['kind'];
  /** Changed keys that can change the result of the node. `do`: the nodes inside. */
  readonly keys: readonly string[];
  /** The nodes of the run at this path, by status. */
  readonly statuses: Readonly<Partial<Record<NodeStatus, number>>>;
  /** The possible decisions; empty if none is needed. */
  readonly choices: readonly MigrationDecision[];
  readonly decision?: MigrationDecision;
}

export interface Migration {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly MigrationChange[];
  /** Why the run cannot be moved now, or not with these decisions. */
  readonly refusal: NebulaError | undefined;
  /** Nodes that begin again with all that depends on them, as something new. */
  readonly renewed: readonly NodeState[];
  /** Nodes that wait for a slot or a retry and have changed: they begin again as the new version says. */
  readonly reset: readonly NodeState[];
  /** Ended nodes whose edges lead elsewhere. */
  readonly redecided: readonly NodeState[];
}

/** The consequence of a change for one node of the run. */
type Consequence =
  | { readonly then: 'nothing' | 'reset' | 'renew' | 'blocked' }
  | { readonly then: 'decide'; readonly choices: readonly MigrationDecision[] };

const NOTHING: Consequence = { then: 'nothing' };
const BLOCKED: Consequence = { then: 'blocked' };

export function checkMigration(state: RunState, to: Plan, decisions: MigrationDecisions = {}): Migration {
  const changes = definitionChanges(state.plan, to);
  const undone = new Set(state.undone);
  const nodes = Map.groupBy(begunNodes(state), definitionPath);
  const listed: MigrationChange[] = [];
  const blocked: NodeState[] = [];
  const renewed: NodeState[] = [];
  const reset: NodeState[] = [];
  const redecided: NodeState[] = [];
  for (const [path, change] of changes) {
    const own = nodes.get(path) ?? [];
    let choices: readonly MigrationDecision[] | undefined;
    for (const node of own) {
      // A node that was undone is repeated by the retry.
      const consequence = undone.has(pathOf(node))
        ? NOTHING
        : consequenceOf(node, change, isFinished(state.phase.status));
      if (consequence.then === 'blocked') blocked.push(node);
      else if (consequence.then === 'reset') reset.push(node);
      else if (consequence.then === 'renew') renewed.push(node);
      else if (consequence.then === 'decide') choices = both(choices, consequence.choices);
      if (change.kind === 'changed' && (change.leadsElsewhere || change.keys.includes('branch'))) redecided.push(node);
    }
    const decision = Object.hasOwn(decisions, path) ? decisions[path] : undefined;
    if (decision === 'again') renewed.push(...own);
    listed.push({
      node: path,
      change: change.kind,
      keys: change.kind === 'changed' ? change.keys : [],
      statuses: countBy(own),
      choices: choices ?? [],
      ...(decision !== undefined && { decision }),
    });
  }
  const refusal = refusalOf(state, to, listed, blocked, decisions);
  return { from: state.plan.version, to: to.version, changes: listed, refusal, renewed, reset, redecided };
}

function consequenceOf(node: NodeState, change: DefinitionChange, isEnded: boolean): Consequence {
  const { phase } = node;
  const isGone = change.kind === 'removed';
  const keys = change.kind === 'changed' ? change.keys : [];
  const hasOtherResult = isGone || keys.length > 0;
  const hasOtherGates = change.kind === 'changed' && change.changesGates;
  switch (phase.status) {
    case 'pending':
    case 'running':
      return NOTHING;
    case 'queued':
    case 'waiting':
      // A permit is requested once, by the number of the attempt: a node that begins again would not get another one.
      if ((hasOtherResult || hasOtherGates) && node.permits.length > 0) return BLOCKED;
      return keys.length > 0 || (hasOtherGates && node.passed > 0) ? { then: 'reset' } : NOTHING;
    case 'gated':
      return hasOtherResult || hasOtherGates ? BLOCKED : NOTHING;
    case 'child':
    case 'listening':
    case 'unknown':
      return hasOtherResult ? BLOCKED : NOTHING;
    case 'open':
      if (isGone || keys.some((key) => key !== 'do')) return BLOCKED;
      return keys.length > 0 && hasResults(node) ? { then: 'decide', choices: ['keep'] } : NOTHING;
    case 'skipped':
      if (change.kind !== 'changed' || !change.isReachedAnew) return NOTHING;
      if (phase.why === 'failure') return { then: 'reset' };
      return { then: 'decide', choices: isEnded ? ['keep', 'again'] : ['keep'] };
    case 'completed':
      break;
    case 'failed':
      if (phase.handling !== 'handled' && phase.handling !== 'ignored') return ofRepeated(node, change, isEnded);
      break;
    case 'cancelled':
      return ofRepeated(node, change, isEnded);
  }
  if (!hasOtherResult) return NOTHING;
  if (isGone) return { then: 'decide', choices: ['drop'] };
  return { then: 'decide', choices: isEnded ? ['keep', 'again'] : ['keep'] };
}

/** The retry repeats the node. A composite node continues with the iterations that it has. */
function ofRepeated(node: NodeState, change: DefinitionChange, isEnded: boolean): Consequence {
  // A retry would continue the child that it has: the old workflow, with the old input.
  if (node.child !== undefined && change.kind === 'changed' && change.keys.length > 0) {
    return isEnded ? { then: 'renew' } : BLOCKED;
  }
  if (bodyOf(node) === undefined || change.kind === 'added') return NOTHING;
  if (change.kind === 'removed') return hasResults(node) ? { then: 'decide', choices: ['drop'] } : NOTHING;
  const isOtherLoop = change.keys.some((key) => key !== 'do');
  if (!isOtherLoop && !(change.keys.length > 0 && hasResults(node))) return NOTHING;
  // Only an ended run repeats nodes.
  if (!isEnded) return change.isOtherKind ? BLOCKED : { then: 'decide', choices: ['keep'] };
  return { then: 'decide', choices: change.isOtherKind ? ['again'] : ['keep', 'again'] };
}

/** Iterations of the node have ended and left only their results. */
function hasResults(node: NodeState): boolean {
  return (bodyOf(node)?.succeeded ?? 0) > 0;
}

function both(
  known: readonly MigrationDecision[] | undefined,
  more: readonly MigrationDecision[],
): readonly MigrationDecision[] {
  return known === undefined ? more : known.filter((choice) => more.includes(choice));
}

function* begunNodes({ scopes }: RunState): Iterable<NodeState> {
  for (const { nodes, undoes } of scopes.values()) {
    if (undoes === null) for (const node of nodes) if (node.phase.status !== 'pending') yield node;
  }
}

/** The path without the numbers of iterations. */
function definitionPath(node: NodeState): string {
  const ids: string[] = [];
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) ids.unshift(at.plan.id);
  return ids.join('/');
}

function countBy(nodes: readonly NodeState[]): Partial<Record<NodeStatus, number>> {
  const counts: Partial<Record<NodeStatus, number>> = {};
  for (const { phase } of nodes) counts[statusOf(phase)] = (counts[statusOf(phase)] ?? 0) + 1;
  return counts;
}

function refusalOf(
  state: RunState,
  to: Plan,
  changes: readonly MigrationChange[],
  blocked: readonly NodeState[],
  decisions: MigrationDecisions,
): NebulaError | undefined {
  return refuseNow(state, to) ?? refuseBlocked(state, blocked) ?? refuseDecisions(state, changes, decisions);
}

/** The run cannot be moved now, whatever has changed. */
function refuseNow(state: RunState, to: Plan): NebulaError | undefined {
  const { executionId, plan, running } = state;
  if (plan.version === to.version) {
    return new NebulaError('SAME_VERSION', `Execution ${executionId} runs version ${to.version} already.`, {
      hint: `Register the changed file first: \`nebula workflows register FILE\`.`,
    });
  }
  if (isFinished(state.phase.status)) return undefined;
  if (isEnding(state) || hasUndo(state)) {
    return new NebulaError('STILL_RUNNING', `Execution ${executionId} is being undone or ends.`, {
      hint: 'Move it when it has ended, then retry it.',
    });
  }
  if (running.size === 0) return undefined;
  return new NebulaError('STILL_RUNNING', `Execution ${executionId} has ${running.size} running attempts.`, {
    hint: `Pause it and wait until they have ended: \`nebula executions pause ${executionId}\`.`,
  });
}

function hasUndo({ scopes }: RunState): boolean {
  return [...scopes.values()].some(({ undoes }) => undoes !== null);
}

function refuseBlocked({ executionId }: RunState, [first]: readonly NodeState[]): NebulaError | undefined {
  if (first === undefined) return undefined;
  const path = definitionPath(first);
  const isUnknown = first.phase.status === 'unknown';
  return new NebulaError('MIGRATION_BLOCKED', `'${path}' has changed, and is ${statusOf(first.phase)} in this run.`, {
    hint: isUnknown
      ? `Settle its outcome first: \`nebula executions settle ${executionId} ${path}\`.`
      : `Let it end, or cancel the run, move it and retry it: \`nebula executions cancel ${executionId}\`.`,
    details: { node: path },
  });
}

function changesOnlyUndo({ change, keys }: MigrationChange): boolean {
  return change === 'changed' && keys.length === 1 && keys[0] === 'compensate';
}

const UNDO_HINT =
  ' The compensation of a completed node has its parameters already: with `keep` it is undone by the action of the new version with these parameters, and not at all if it had no compensation before.';

function refuseDecisions(
  { executionId }: RunState,
  changes: readonly MigrationChange[],
  decisions: MigrationDecisions,
): NebulaError | undefined {
  for (const [path, decision] of Object.entries(decisions)) {
    const change = changes.find(({ node }) => node === path);
    if (change?.choices.includes(decision)) continue;
    const near = didYouMean(
      path,
      changes.map(({ node }) => node),
    );
    const hint = change?.choices.length
      ? `Possible: ${change.choices.join(', ')}.`
      : near !== undefined && near !== path
        ? `did you mean '${near}'?`
        : 'Leave it out: it needs no decision.';
    return new NebulaError('DECISION_INVALID', `'${decision}' is not possible for '${path}'.`, { hint });
  }
  const open = changes.filter(({ choices, decision }) => choices.length > 0 && decision === undefined);
  const [first] = open;
  if (first === undefined) return undefined;
  const names = open.map(({ node }) => `'${node}'`).join(', ');
  const flags = first.choices.map((choice) => `--${choice} ${first.node}`).join(' or ');
  return new NebulaError('DECISION_NEEDED', `The version changes ${names}, which ran in ${executionId} already.`, {
    hint: `Decide for each: ${flags}.${open.some(changesOnlyUndo) ? UNDO_HINT : ''}`,
    details: { nodes: open.map(({ node, choices }) => ({ node, choices: [...choices] })) },
  });
}
