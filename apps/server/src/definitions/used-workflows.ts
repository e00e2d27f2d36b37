/** The workflows that a definition uses, directly or not, as far as they are registered in its project. */
import { type UsedWorkflow, usedWorkflows, type WorkflowDefinition } from '@nebula/core';
import type { Parts } from '../parts.ts';

/** Deeper uses are not read; the compiler reports them. */
const MAX_USED_WORKFLOWS = 1_000;

export type FindUsedWorkflow = (id: string, version?: number) => WorkflowDefinition | undefined;

/** One stored workflow. */
export async function usedWorkflowText(
  { store, projects }: Parts,
  id: string,
  version: number | undefined,
  project: string,
): Promise<{ readonly text: string; readonly version: number } | undefined> {
  if ((await projects.projectOf(id)) !== project) return undefined;
  const row = await store.workflowVersion(id, version);
  return row && { text: row.definition, version: row.version };
}

/** All used workflows. Undefined if they have more characters in total than the limit. */
export async function usedWorkflowsOf(
  parts: Parts,
  used: readonly UsedWorkflow[],
  project: string,
  maxChars: number,
): Promise<FindUsedWorkflow | undefined> {
  const found = new Map<string, WorkflowDefinition>();
  const queue = [...used];
  let chars = 0;
  for (let one = queue.pop(); one !== undefined && found.size < MAX_USED_WORKFLOWS; one = queue.pop()) {
    const key = keyOf(one.id, one.version);
    const row = found.has(key) ? undefined : await usedWorkflowText(parts, one.id, one.version, project);
    if (row === undefined) continue;
    chars += row.text.length;
    if (chars > maxChars) return undefined;
    const inner = { ...(JSON.parse(row.text) as WorkflowDefinition), version: row.version };
    found.set(key, inner);
    queue.push(...usedWorkflows(inner));
  }
  return (id, version) => found.get(keyOf(id, version));
}

export function keyOf(id: string, version: number | undefined): string {
  return `${id}@${version ?? ''}`;
}
