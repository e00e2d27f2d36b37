/**
 * The variables of a workflow, and the nodes that assigned them. Assignments of a node that begins again are withdrawn,
 * so a replay sees the variables without them.
 *
 *  V1 `vars` has, for every name, the newest remaining assignment, else the initial value.
 *  V2 When an iteration is dropped, its assignments move to the composite node, so there is at most one per variable
 *  and
 *     node in memory.
 */
import type { JsonObject } from '../../value.ts';
import { inlineValue, type StoredValue } from '../journal/stored-value.ts';
import type { Assignment, Assignments, NodeState, Realm, ScopeState } from './state.ts';

export function newAssignments(initial: JsonObject): Assignments {
  return { initial, count: 0, byNode: new Map() };
}

export function varsOf(variables: JsonObject): Map<string, StoredValue> {
  return new Map(Object.entries(variables).map(([name, value]) => [name, inlineValue(value)]));
}

export function assign({ vars, assigned }: Realm, node: NodeState, name: string, value: StoredValue): void {
  vars.set(name, value);
  note(assigned, node, name, { order: ++assigned.count, value });
}

/** Records an assignment. Also called when a snapshot is read. */
export function note({ byNode }: Assignments, node: NodeState, name: string, assignment: Assignment): void {
  let own = byNode.get(node);
  if (own === undefined) {
    own = new Map();
    byNode.set(node, own);
  }
  if (assignment.order > (own.get(name)?.order ?? 0)) own.set(name, assignment);
}

/** Moves the assignments of a dropped scope to its composite node. */
export function handUp({ realm: { assigned }, nodes, parent }: ScopeState): void {
  if (assigned.byNode.size === 0 || parent === null) return;
  const isShared = parent.scope.realm.assigned === assigned;
  for (const node of nodes) {
    const own = assigned.byNode.get(node);
    if (own === undefined) continue;
    assigned.byNode.delete(node);
    if (isShared) for (const [name, assignment] of own) note(assigned, parent, name, assignment);
  }
}

/** Withdraws the assignments of nodes that begin again. Searches all assignments, because people replay rarely. */
export function withdraw(nodes: Iterable<NodeState>): void {
  for (const node of nodes) {
    const { assigned, vars } = node.scope.realm;
    const own = assigned.byNode.get(node);
    if (own === undefined) continue;
    assigned.byNode.delete(node);
    for (const name of own.keys()) restore(assigned, vars, name);
  }
}

/** Gives every variable its newest remaining assignment, else its initial value; drops all others. */
export function recallAll({ assigned, vars }: Realm): void {
  const names = new Set([...Object.keys(assigned.initial), ...vars.keys()]);
  for (const name of names) restore(assigned, vars, name);
}

function restore({ initial, byNode }: Assignments, vars: Map<string, StoredValue>, name: string): void {
  let newest: Assignment | undefined;
  for (const own of byNode.values()) {
    const other = own.get(name);
    if (other !== undefined && other.order > (newest?.order ?? 0)) newest = other;
  }
  if (newest !== undefined) vars.set(name, newest.value);
  else if (Object.hasOwn(initial, name)) vars.set(name, inlineValue(initial[name] ?? null));
  else vars.delete(name);
}
