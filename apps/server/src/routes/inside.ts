/** Workflows that a definition runs, and those that these run in turn, as far as they are registered in its project. */
import { usedWorkflows, type WorkflowDefinition } from '@nebula/core';
import type { Parts } from '../parts.ts';

/** Deeper than this nothing is looked for, and the compiler says so. */
const MAX_INSIDE = 1_000;

export type FindInside = (id: string, version?: number) => WorkflowDefinition | undefined;

export async function workflowsInside(
  { store, projects }: Parts,
  definition: WorkflowDefinition,
  project: string,
): Promise<FindInside> {
  const found = new Map<string, WorkflowDefinition>();
  const queue = [...usedWorkflows(definition)];
  for (let used = queue.pop(); used !== undefined && found.size < MAX_INSIDE; used = queue.pop()) {
    const key = keyOf(used.id, used.version);
    if (found.has(key) || (await projects.projectOf(used.id)) !== project) continue;
    const row = await store.workflowVersion(used.id, used.version);
    if (row === undefined) continue;
    const inner = { ...(JSON.parse(row.definition) as WorkflowDefinition), version: row.version };
    found.set(key, inner);
    queue.push(...usedWorkflows(inner));
  }
  return (id, version) => found.get(keyOf(id, version));
}

function keyOf(id: string, version: number | undefined): string {
  return `${id}@${version ?? ''}`;
}
