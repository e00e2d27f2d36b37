/** Finds the variables of a workflow. */
import { allNodes } from '../definition/graphs.ts';
import type { BodyDefinition, NodeDefinition, WorkflowDefinition } from '../definition/model.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import { isJsonObject } from '../value.ts';

type Find = (id: string, version: number | undefined) => WorkflowDefinition | undefined;

/** Names that `set` nodes assign, at any depth. */
export function assignedIn(body: BodyDefinition): Set<string> {
  const names = new Set<string>();
  for (const { set } of allNodes(body)) if (isJsonObject(set)) for (const name of Object.keys(set)) names.add(name);
  return names;
}

const assignments = new WeakMap<WorkflowDefinition, ReadonlyMap<string, number> | undefined>();

/**
 * The number of nodes that assign each variable; undefined where returned graphs or inlined workflows may assign it,
 * too.
 */
export function assignmentsIn(definition: WorkflowDefinition): ReadonlyMap<string, number> | undefined {
  if (!assignments.has(definition)) assignments.set(definition, countAssignments(definition));
  return assignments.get(definition);
}

function countAssignments(definition: WorkflowDefinition): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  for (const { set, dynamic, workflow } of allNodes(definition)) {
    if (dynamic !== undefined || (isJsonObject(workflow) && workflow.isolation === 'shared')) return undefined;
    for (const name of isJsonObject(set) ? Object.keys(set) : []) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** The variables that a workflow declares or assigns, including inlined workflows that share its variables. */
export function variablesOf(definition: WorkflowDefinition, find: Find, depth = 0): Set<string> {
  const names = assignedIn(definition);
  if (isJsonObject(definition.variables)) for (const name of Object.keys(definition.variables)) names.add(name);
  for (const node of allNodes(definition)) {
    for (const name of isJsonObject(node) ? sharedBy(node, find, depth) : []) names.add(name);
  }
  return names;
}

/** The variables that a workflow inlined by the node assigns in the enclosing one. */
export function sharedBy({ workflow }: NodeDefinition, find: Find, depth = 0): Iterable<string> {
  if (workflow?.id === undefined || workflow.mode === 'child' || workflow.isolation !== 'shared') return [];
  const inside = depth < DEFINITION_LIMITS.maxBodyDepth ? find(workflow.id, workflow.version) : undefined;
  return inside === undefined ? [] : variablesOf(inside, find, depth + 1);
}
