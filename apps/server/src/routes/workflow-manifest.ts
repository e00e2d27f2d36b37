/** The manifest of a definition, with the workflows that it inlines from its project. */
import type { AnswerOf } from '@nebula/client/contract';
import { type Json, manifestOf, usedWorkflows, type WorkflowDefinition } from '@nebula/core';
import { pauseFor } from '@nebula/ports';
import { keyOf, usedWorkflowText } from '../definitions/used-workflows.ts';
import type { Parts } from '../parts.ts';

/** Further workflows are only named. */
const MAX_INLINED = 100;

export async function manifestDocument(
  parts: Parts,
  definition: WorkflowDefinition,
  project: string,
): Promise<NonNullable<AnswerOf<'getWorkflowVersion'>['manifest']>> {
  const inlined = await inlinedOf(parts, definition, project);
  const catalog = parts.executions.catalog.within(project);
  const manifest = manifestOf(definition, catalog, (id, version) => inlined.get(keyOf(id, version)));
  const { actions, capabilities, credentials, workflows, plans, triggers } = manifest;
  return {
    actions: [...actions],
    capabilities: capabilities as Json,
    credentials: [...credentials],
    workflows: [...workflows],
    plans: [...plans],
    triggers: [...triggers],
  };
}

async function inlinedOf(
  parts: Parts,
  definition: WorkflowDefinition,
  project: string,
): Promise<ReadonlyMap<string, WorkflowDefinition>> {
  const found = new Map<string, WorkflowDefinition>();
  const queue = [...usedWorkflows(definition)];
  for (let used = queue.pop(); used !== undefined && found.size < MAX_INLINED; used = queue.pop()) {
    const key = keyOf(used.id, used.version);
    if (used.mode === 'child' || found.has(key)) continue;
    const row = await usedWorkflowText(parts, used.id, used.version, project);
    if (row === undefined) continue;
    await pauseFor(row.text.length, parts.clock, 'request');
    const inner = JSON.parse(row.text) as WorkflowDefinition;
    found.set(key, inner);
    queue.push(...usedWorkflows(inner));
  }
  return found;
}
