/** Prints the capabilities that a workflow is granted on this machine, on its first run. */
import type { NebulaClient } from '@nebula/client';
import {
  askedBy,
  CAPABILITY_LISTS,
  type Capabilities,
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
import type { Colors } from './terminal/io.ts';
import { printableLine } from './terminal/width.ts';

/** The capabilities that a workflow asks for, divided by the ceiling of its project. */
export interface Grants {
  readonly granted: Capabilities;
  /** The entries beyond the ceiling: `shell id`. */
  readonly over: readonly string[];
}

/** Undefined for a workflow that asks for no capabilities. */
export async function grantsOf(api: NebulaClient, definition: WorkflowDefinition): Promise<Grants | undefined> {
  const asked = askedBy(definition);
  if (isNothing(asked)) return undefined;
  const body = { definition: definition as unknown as Json };
  const { ceiling } = (await api.call('validateWorkflow', { body })) as { readonly ceiling: Ceiling };
  const over = overCeiling(asked, ceiling).map(({ list, entry }) => `${list} ${entry}`);
  return { granted: narrow(asked, ceiling), over };
}

/** Prints nothing for a workflow that asks for no capabilities, or whose version has run here before. */
export async function printGrants({ io, api, session }: OpenCall, definition: WorkflowDefinition): Promise<void> {
  if (session.server !== undefined || isNothing(askedBy(definition))) return;
  const known = await definitionOf(api, definition.id);
  if (known !== undefined && textOf(known) === textOf(definition)) return;
  const grants = await grantsOf(api, definition);
  if (grants !== undefined) writeLines(io.err, grantLines(definition.id, grants, io.err.colors));
}

export function grantLines(workflowId: string, { granted, over }: Grants, { dim }: Colors): string[] {
  return [
    dim(`${workflowId} is granted on this machine: ${ceilingText(granted)}`),
    ...(over.length === 0
      ? []
      : [printableLine(`over the ceiling of the project, and not granted: ${over.join(' · ')}`)]),
  ];
}

function textOf({ version: _, ...content }: WorkflowDefinition): string {
  return canonicalJson(content as unknown as Json);
}

export function ceilingText(ceiling: Ceiling): string {
  if (ceiling === 'all') return 'everything that its workflows ask for';
  const lists = CAPABILITY_LISTS.map((list) => [list, entriesOf(ceiling, list)] as const);
  const texts = lists
    .filter(([, entries]) => entries.length > 0)
    .map(([list, entries]) => `${list} ${entries.join(', ')}`);
  return texts.length === 0 ? 'nothing' : printableLine(texts.join(' · '));
}
