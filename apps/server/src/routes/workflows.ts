/** Workflows: checking and registering them, and reading their versions. */
import type { AnswerOf } from '@nebula/client/contract';
import { PAGE_LIMITS } from '@nebula/client/limits';
import { type Json, NebulaError, problemDocument, type WorkflowDefinition } from '@nebula/core';
import type { WorkflowSourceRow, WorkflowVersionRow } from '@nebula/ports';
import { type Handlers, ok } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import { onlyProject } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import { readRecord, type WorkflowRecord } from '../records.ts';
import { isoTime } from './times.ts';
import { activationRoutes } from './workflow-activation.ts';
import { comparisonRoutes } from './workflow-comparison.ts';
import { manifestDocument } from './workflow-manifest.ts';
import { compiled, registered } from './workflow-registration.ts';
import { namedVersion, WorkflowSummaries } from './workflow-summaries.ts';

/** `onActivation` is called when the active version of a workflow changes or is removed. */
export function workflowRoutes(parts: Parts, onActivation: () => void) {
  const { store, records } = parts;
  const summaries = new WorkflowSummaries(parts);
  const activeOf = async (workflowId: string): Promise<number | null> =>
    (await readRecord<WorkflowRecord>(records, 'workflow', workflowId))?.body.active ?? null;
  return {
    ...activationRoutes(parts, summaries, onActivation),
    ...comparisonRoutes(parts),

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

    getWorkflow: ({ params: { workflowId } }) => summaries.reply(workflowId),

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
  } satisfies Partial<Handlers>;
}

function versionDocument(
  row: Pick<WorkflowVersionRow, 'workflowId' | 'version' | 'hash' | 'createdAt'>,
  active: number | null,
) {
  const { workflowId, version, hash, createdAt } = row;
  return { workflowId, version, hash, createdAt: isoTime(createdAt), active: version === active };
}

type Source = NonNullable<AnswerOf<'getWorkflowVersion'>['source']>;

export function sourceDocument(row: WorkflowSourceRow | undefined): Source | null {
  return row === undefined ? null : { ...row, format: row.format as Source['format'] };
}

function versionCursor(cursor: string): number {
  if (/^[1-9]\d{0,9}$/.test(cursor)) return Number(cursor);
  throw new NebulaError('CURSOR_INVALID', 'The cursor does not belong to this list.', {
    hint: 'Use `next` of a page.',
  });
}
