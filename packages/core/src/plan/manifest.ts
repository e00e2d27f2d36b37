/** The manifest of a workflow: what it and the workflows that it inlines use and ask for. */
import type { Action, Capabilities, Catalog } from '../action.ts';
import { joinCapabilities } from '../capability/narrow.ts';
import { allNodes } from '../definition/graphs.ts';
import type { NodeDefinition, WorkflowDefinition } from '../definition/model.ts';
import { type TriggerWords, triggerWords } from '../definition/trigger-words.ts';
import { askedBy, type UsedWorkflow, usedWorkflows } from './workflows.ts';

export interface Manifest {
  /** By reference, as written. */
  readonly actions: readonly {
    readonly action: string;
    /** Null: no such action is known. */
    readonly effect: string | null;
    /** The number of nodes that use it, also as their compensation. */
    readonly nodes: number;
  }[];
  readonly capabilities: Capabilities;
  readonly credentials: readonly { readonly alias: string; readonly secret: string }[];
  readonly workflows: readonly {
    readonly workflowId: string;
    readonly version: number | null;
    readonly mode: UsedWorkflow['mode'];
  }[];
  /** Launch plans that its nodes start. */
  readonly plans: readonly string[];
  /** Those of the workflow itself: triggers of inlined workflows start nothing here. */
  readonly triggers: readonly TriggerWords[];
}

type FindWorkflow = (id: string, version?: number) => WorkflowDefinition | undefined;

/** `find`: the inlined workflows; those that it does not find are only named. */
export function manifestOf(
  definition: WorkflowDefinition,
  catalog: Pick<Catalog, 'action'>,
  find: FindWorkflow = () => undefined,
): Manifest {
  const actions = new Map<string, number>();
  const credentials = new Map<string, { readonly alias: string; readonly secret: string }>();
  const plans = new Set<string>();
  const all = [...withInlined(definition, find)];
  for (const node of all.flatMap(allNodes)) {
    for (const action of actionsOf(node)) actions.set(action, (actions.get(action) ?? 0) + 1);
    for (const [alias, secret] of Object.entries(node.credentials ?? {})) {
      credentials.set(JSON.stringify([alias, secret]), { alias, secret });
    }
    if (node.workflow?.plan !== undefined) plans.add(node.workflow.plan);
  }
  const used = new Map(all.flatMap(usedWorkflows).map((one) => [`${one.mode} ${one.id} ${one.version ?? ''}`, one]));
  return {
    actions: Array.from(actions, ([action, nodes]) => ({ action, effect: effectOf(catalog.action(action)), nodes })),
    capabilities: all
      .map((one) => (one === definition ? askedBy(one) : askedBy(withoutTriggers(one))))
      .reduce(joinCapabilities),
    credentials: [...credentials.values()],
    workflows: Array.from(used.values(), ({ id, version = null, mode }) => ({ workflowId: id, version, mode })),
    plans: [...plans],
    triggers: (definition.triggers ?? []).map(triggerWords),
  };
}

/** The effect of an action in words. */
export function effectOf(action: Action | undefined): string | null {
  if (action === undefined) return null;
  const { effect = 'once' } = action;
  return typeof effect === 'function' ? 'depends on the input' : effect;
}

function actionsOf({ action, dynamic, compensate }: NodeDefinition): readonly string[] {
  return [action, dynamic?.action, compensate?.action].filter((one) => one !== undefined);
}

/** The definition, then every workflow that it inlines, at any depth, each once. */
function withInlined(definition: WorkflowDefinition, find: FindWorkflow): ReadonlySet<WorkflowDefinition> {
  const found = new Set([definition]);
  // A set that grows while it is iterated gives its new members, too.
  for (const one of found) {
    for (const { id, version, mode } of usedWorkflows(one)) {
      const inner = mode === 'inline' ? find(id, version) : undefined;
      if (inner !== undefined) found.add(inner);
    }
  }
  return found;
}

function withoutTriggers({ triggers: _, ...rest }: WorkflowDefinition): WorkflowDefinition {
  return rest;
}
