/** Finds the other workflows that a definition runs. */
import type { Capabilities } from '../action.ts';
import { joinCapabilities, NOTHING } from '../capability/narrow.ts';
import { allNodes } from '../definition/graphs.ts';
import { BODY_KEYS, type WorkflowDefinition } from '../definition/model.ts';
import { askedByTrigger } from './trigger-plan.ts';

export interface UsedWorkflow {
  readonly id: string;
  /** Undefined: the newest. */
  readonly version?: number;
  readonly mode: 'inline' | 'child';
}

/**
 * The workflows that the definition names itself, at any depth, each once. Inlined workflows may use others in turn.
 */
export function usedWorkflows(definition: WorkflowDefinition): UsedWorkflow[] {
  const used = new Map<string, UsedWorkflow>();
  for (const { workflow } of allNodes(definition)) {
    // The record of a launch plan selects its workflow, not the definition.
    if (workflow?.id === undefined) continue;
    const { id, version, mode = 'inline' } = workflow;
    used.set(`${mode} ${id} ${version ?? ''}`, { id, ...(version === undefined ? {} : { version }), mode });
  }
  return [...used.values()];
}

/** Sets the version of every inlined workflow, so that it cannot change during a run. */
export function pinWorkflows(
  definition: WorkflowDefinition,
  newest: (id: string) => number | undefined,
): WorkflowDefinition {
  const { nodes } = definition;
  return nodes === undefined ? definition : { ...definition, nodes: pinned(nodes, newest) };
}

type Nodes = NonNullable<WorkflowDefinition['nodes']>;

function pinned(nodes: Nodes, newest: (id: string) => number | undefined): Nodes {
  let isChanged = false;
  const entries = Object.entries(nodes).map(([id, node]): [string, Nodes[string]] => {
    const own = pinnedNode(node, newest);
    if (own !== node) isChanged = true;
    return [id, own];
  });
  return isChanged ? Object.fromEntries(entries) : nodes;
}

function pinnedNode(node: Nodes[string], newest: (id: string) => number | undefined): Nodes[string] {
  const { workflow } = node;
  if (workflow?.id !== undefined && workflow.mode !== 'child' && workflow.version === undefined) {
    const version = newest(workflow.id);
    return version === undefined ? node : { ...node, workflow: { ...workflow, version } };
  }
  const key = BODY_KEYS.find((one) => node[one]?.nodes !== undefined);
  const body = key && node[key];
  if (key === undefined || body?.nodes === undefined) return node;
  const inner = pinned(body.nodes, newest);
  return inner === body.nodes ? node : { ...node, [key]: { ...body, nodes: inner } };
}

/** All capabilities that a workflow, its nodes at any depth and its triggers ask for. */
export function askedBy(definition: WorkflowDefinition): Capabilities {
  let asked = definition.config?.capabilities ?? NOTHING;
  for (const { capabilities } of allNodes(definition)) {
    if (capabilities !== undefined) asked = joinCapabilities(asked, capabilities);
  }
  for (const trigger of definition.triggers ?? []) asked = joinCapabilities(asked, askedByTrigger(trigger));
  return asked;
}
