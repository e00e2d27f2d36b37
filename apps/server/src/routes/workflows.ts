/** Workflows: checking, registering, activating, archiving and comparing their versions. */
import { type AnswerOf, PAGE_LIMITS } from '@nebula/client/contract';
import {
  isJsonObject,
  type Json,
  jsonEquals,
  NebulaError,
  problemDocument,
  structureChanges,
  type WorkflowDefinition,
} from '@nebula/core';
import { inSlices, pauseFor, type WorkflowSourceRow, type WorkflowVersionRow } from '@nebula/ports';
import { type Call, type Handlers, ok, type Reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import { onlyProject } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import { etagOf, expectedRevision, putRecord, readRecord, type WorkflowRecord } from '../records.ts';
import { isoTime } from './times.ts';
import { manifestDocument } from './workflow-manifest.ts';
import { compiled, invalidDefinition, pinnedAs, registered, setActive } from './workflow-registration.ts';
import { versionOf, WorkflowSummaries } from './workflow-summaries.ts';

/** `onActivation` is called when the active version of a workflow changes or is removed. */
export function workflowRoutes(parts: Parts, onActivation: () => void) {
  const { store, records } = parts;
  const summaries = new WorkflowSummaries(parts);
  const recordOf = (workflowId: string) => readRecord<WorkflowRecord>(records, 'workflow', workflowId);
  const activeOf = async (workflowId: string) => (await recordOf(workflowId))?.body.active ?? null;
  const summaryOf = async (workflowId: string): Promise<Reply<AnswerOf<'getWorkflow'>>> => {
    const { document, record } = await summaries.of(workflowId);
    return ok(document, record === undefined ? undefined : { etag: etagOf(record, document.newestVersion) });
  };
  /** Changes the active version, or archives the workflow. */
  const change = async (
    { params: { workflowId }, headers }: Pick<Call<'deactivateWorkflow'>, 'params' | 'headers'>,
    how: { readonly active: number | null; readonly isArchived?: boolean },
  ) => {
    const ifMatch = expectedRevision(headers['if-match']);
    await setActive(parts, { workflowId, ...how, ifMatch }, onActivation);
    return await summaryOf(workflowId);
  };
  return {
    async validateWorkflow({ body, project: named, who, isLocal }) {
      const project = named ?? onlyProject(who, 'editor', 'You may edit workflows', 'Send `project`.');
      await requireProject(parts, project);
      const { definition, problems } = await compiled(parts, body, project, isLocal);
      return ok({
        valid: problems.every(({ severity }) => severity !== 'error'),
        problems: problems.map(problemDocument),
        ceiling: await parts.projects.ceilingOf(project),
        ...(definition !== undefined && { manifest: await manifestDocument(parts, definition, project) }),
      });
    },

    registerWorkflow: (call) => registered(parts, call, onActivation),

    listWorkflows: (call) => summaries.list(call),

    getWorkflow: ({ params: { workflowId } }) => summaryOf(workflowId),

    async listWorkflowVersions({ params: { workflowId }, query: { cursor, limit = PAGE_LIMITS.default } }) {
      const active = await activeOf(workflowId);
      const after = cursor === undefined ? {} : { after: versionCursor(cursor) };
      const rows = await store.workflowVersions(workflowId, { limit: limit + 1, ...after });
      const items = rows.slice(0, limit).map((row) => versionDocument(row, active));
      return ok({ items, next: rows.length > limit ? String(items.at(-1)?.version) : null });
    },

    async getWorkflowVersion({ params: { workflowId, version }, query: { manifest = false }, project }) {
      const row = await namedVersion(parts, workflowId, version);
      const definition = JSON.parse(row.definition) as WorkflowDefinition;
      return ok({
        ...versionDocument(row, await activeOf(workflowId)),
        definition: definition as unknown as Json,
        source: sourceDocument(await store.workflowSource(workflowId, row.version)),
        ...(manifest && { manifest: await manifestDocument(parts, definition, project ?? DEFAULT_PROJECT) }),
      });
    },

    async activateWorkflow({ params, body: { version }, headers }) {
      const row = await versionOf(parts, params.workflowId, version);
      return await change({ params, headers }, { active: row.version });
    },

    async deactivateWorkflow(call) {
      await versionOf(parts, call.params.workflowId);
      return await change(call, { active: null });
    },

    async archiveWorkflow(call) {
      await versionOf(parts, call.params.workflowId);
      return await change(call, { active: null, isArchived: true });
    },

    async unarchiveWorkflow({ params: { workflowId }, headers }) {
      await versionOf(parts, workflowId);
      const key = { kind: 'workflow', id: workflowId, ifMatch: headers['if-match'] };
      await putRecord<WorkflowRecord>(records, key, (before) => {
        const { archived: _, ...rest } = before?.body ?? { project: DEFAULT_PROJECT, active: null };
        return rest;
      });
      return await summaryOf(workflowId);
    },

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

type Source = NonNullable<AnswerOf<'getWorkflowVersion'>['source']>;

/** A version by its number or its name. Rejects with `UNKNOWN_WORKFLOW`. */
async function namedVersion(
  parts: Parts,
  workflowId: string,
  version: number | 'newest' | 'active',
): Promise<WorkflowVersionRow> {
  if (version !== 'active') return await versionOf(parts, workflowId, version === 'newest' ? undefined : version);
  const active = (await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId))?.body.active ?? null;
  if (active === null) throw noneActive(workflowId);
  return await versionOf(parts, workflowId, active);
}

function versionDocument(
  row: Pick<WorkflowVersionRow, 'workflowId' | 'version' | 'hash' | 'createdAt'>,
  active: number | null,
) {
  const { workflowId, version, hash, createdAt } = row;
  return { workflowId, version, hash, createdAt: isoTime(createdAt), active: version === active };
}

export function sourceDocument(row: WorkflowSourceRow | undefined): Source | null {
  return row === undefined ? null : { ...row, format: row.format as Source['format'] };
}

function versionCursor(cursor: string): number {
  if (/^[1-9]\d{0,9}$/.test(cursor)) return Number(cursor);
  throw new NebulaError('CURSOR_INVALID', 'The cursor does not belong to this list.', {
    hint: 'Use `next` of a page.',
  });
}

function noneActive(workflowId: string): NebulaError {
  return new NebulaError('UNKNOWN_WORKFLOW', `No version of workflow '${workflowId}' is active.`, {
    hint: 'Activate one, or ask for `newest`.',
  });
}

/** What is different, member by member and in the graph. */
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
