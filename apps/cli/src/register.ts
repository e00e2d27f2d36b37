/** Registers workflows together with those that they use. */
import type { NebulaClient } from '@nebula/client';
import { type Json, pinWorkflows, type WorkflowDefinition } from '@nebula/core';

/** Registers the used workflows first and pins the uses to the stored versions. Activates only the last workflow. */
export async function registerAll(
  api: NebulaClient,
  others: readonly WorkflowDefinition[],
  definition: WorkflowDefinition,
  { activate, project }: { readonly activate: boolean; readonly project?: string },
) {
  const versions = new Map<string, number>();
  const store = async (one: WorkflowDefinition, isActive: boolean) => {
    const pinned = pinWorkflows(one, (id) => versions.get(id)) as unknown as Json;
    const body = { definition: pinned, activate: isActive, ...(project !== undefined && { project }) };
    const registered = await api.call('registerWorkflow', { body });
    versions.set(registered.workflowId, registered.version);
    return registered;
  };
  for (const other of others) await store(other, false);
  return await store(definition, activate);
}
