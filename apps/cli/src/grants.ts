/** Prints the capabilities that a workflow is granted on this machine, on its first run. */
import {
  askedBy,
  CAPABILITY_LISTS,
  type Ceiling,
  canonicalJson,
  entriesOf,
  isNothing,
  type Json,
  narrow,
  overCeiling,
  type WorkflowDefinition,
} from '@nebula/core';
import { writeLines } from './print.ts';
import { definitionOf } from './runs.ts';
import type { OpenCall } from './services.ts';
import { printableLine } from './terminal/width.ts';

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

export function ceilingText(ceiling: Ceiling): string {
  if (ceiling === 'all') return 'whatever they ask for';
  const lists = CAPABILITY_LISTS.map((list) => [list, entriesOf(ceiling, list)] as const);
  const told = lists
    .filter(([, entries]) => entries.length > 0)
    .map(([list, entries]) => `${list} ${entries.join(', ')}`);
  return told.length === 0 ? 'nothing' : printableLine(told.join(' · '));
}
