/** Prints the capabilities that a workflow is granted on this machine, on its first run. */
import {
  askedBy,
  type Ceiling,
  canonicalJson,
  isNothing,
  type Json,
  narrow,
  overCeiling,
  type WorkflowDefinition,
} from '@nebula/core';
import { writeLines } from './print.ts';
import { definitionOf } from './runs.ts';
import type { OpenCall } from './services.ts';
import { ceilingText } from './views/ceiling.ts';

/** Prints nothing for a workflow that asks for no capabilities, or whose version has run here before. */
export async function printGrants({ io, api, session }: OpenCall, definition: WorkflowDefinition): Promise<void> {
  const asked = askedBy(definition);
  if (session.server !== undefined || isNothing(asked)) return;
  const known = await definitionOf(api, definition.id);
  if (known !== undefined && textOf(known) === textOf(definition)) return;
  const { ceiling } = (await api.call('validateWorkflow', { body: { definition } })) as { readonly ceiling: Ceiling };
  const { dim } = io.err.colors;
  const over = overCeiling(asked, ceiling).map(({ list, entry }) => `${list} ${entry}`);
  writeLines(io.err, [
    dim(`${definition.id} is granted on this machine: ${ceilingText(narrow(asked, ceiling))}`),
    ...(over.length === 0 ? [] : [`over the ceiling of the project, and not granted: ${over.join(' · ')}`]),
  ]);
}

function textOf({ version: _, ...content }: WorkflowDefinition): string {
  return canonicalJson(content as unknown as Json);
}
