/** Compares versions of workflows with each other, and with definitions that are not stored. */
import type { AnswerOf } from '@nebula/client/contract';
import { isJsonObject, type Json, jsonEquals, structureChanges, type WorkflowDefinition } from '@nebula/core';
import { inSlices, pauseFor, type WorkflowVersionRow } from '@nebula/ports';
import { type Handlers, ok } from '../http/handler.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { compiled, invalidDefinition, pinnedAs } from './workflow-registration.ts';
import { namedVersion, versionOf } from './workflow-summaries.ts';

export function comparisonRoutes(parts: Parts) {
  return {
    async diffWorkflow({ params: { workflowId }, query: { from, to } }) {
      const before = await versionOf(parts, workflowId, from);
      const after = await versionOf(parts, workflowId, to);
      const difference = await differenceOf(parts, before, JSON.parse(after.definition) as WorkflowDefinition);
      return ok({ from: before.version, to: after.version, ...difference });
    },

    async compareWorkflow({ params: { workflowId }, body: { version, ...body }, project = DEFAULT_PROJECT, isLocal }) {
      const before = await namedVersion(parts, workflowId, version ?? 'newest');
      const { definition, problems } = await compiled(parts, body, project, isLocal);
      if (definition === undefined) throw invalidDefinition(problems.filter(({ severity }) => severity === 'error'));
      // The number is not a part of the content, and a registration pins what is inlined without a version.
      const { version: _, ...after } = pinnedAs(definition, JSON.parse(before.definition) as WorkflowDefinition);
      return ok({ from: before.version, ...(await differenceOf(parts, before, after)) });
    },
  } satisfies Partial<Handlers>;
}

/** The differences of two definitions, member by member and in the graph. */
async function differenceOf({ clock }: Parts, before: WorkflowVersionRow, after: WorkflowDefinition) {
  await pauseFor(before.definition.length, clock, 'request');
  const definition = JSON.parse(before.definition) as WorkflowDefinition;
  const changes = changesBetween(definition as unknown as Json, after as unknown as Json);
  await pauseFor(before.definition.length, clock, 'request');
  const { workflow, nodes, edges } = await inSlices(structureChanges(definition, after), clock, 'request');
  return {
    changes,
    structure: {
      workflow: [...workflow],
      nodes: nodes.map(({ keys, ...rest }) => ({ ...rest, ...(keys && { keys: [...keys] }) })),
      edges: [...edges],
    },
  };
}

type Change = AnswerOf<'diffWorkflow'>['changes'][number];

/** Compares two definitions, member by member. */
function changesBetween(before: Json, after: Json, path = ''): Change[] {
  if (jsonEquals(before, after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, change: 'changed', before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const member = path === '' ? name : `${path}.${name}`;
    if (!Object.hasOwn(after, name))
      return [{ path: member, change: 'removed' as const, before: before[name] as Json }];
    if (!Object.hasOwn(before, name)) return [{ path: member, change: 'added' as const, after: after[name] as Json }];
    return changesBetween(before[name] as Json, after[name] as Json, member);
  });
}
