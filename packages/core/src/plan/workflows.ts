/** The other workflows that a definition runs. */
import { allNodes } from '../definition/graphs.ts';
import type { WorkflowDefinition } from '../definition/model.ts';

export interface UsedWorkflow {
  readonly id: string;
  /** Undefined: the newest. */
  readonly version?: number;
  readonly mode: 'inline' | 'child';
}

/** Those that the definition itself names, at any depth; each once. What is inlined may use others in turn. */
export function usedWorkflows(definition: WorkflowDefinition): UsedWorkflow[] {
  const used = new Map<string, UsedWorkflow>();
  for (const { workflow } of allNodes(definition)) {
    if (workflow === undefined) continue;
    const { id, version, mode = 'inline' } = workflow;
    used.set(`${mode} ${id} ${version ?? ''}`, { id, ...(version === undefined ? {} : { version }), mode });
  }
  return [...used.values()];
}
