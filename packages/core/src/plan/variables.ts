/** Which variables a workflow knows. */
import { allNodes } from '../definition/graphs.ts';
import type { BodyDefinition, WorkflowDefinition } from '../definition/model.ts';
import { isJsonObject } from '../value.ts';

/** Names that `set` nodes assign, at any depth. */
export function assignedIn(body: BodyDefinition): Set<string> {
  const names = new Set<string>();
  for (const { set } of allNodes(body)) if (isJsonObject(set)) for (const name of Object.keys(set)) names.add(name);
  return names;
}

export function variablesOf(definition: WorkflowDefinition): Set<string> {
  const names = assignedIn(definition);
  if (isJsonObject(definition.variables)) for (const name of Object.keys(definition.variables)) names.add(name);
  return names;
}
