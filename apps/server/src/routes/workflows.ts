/** Workflows: checking, registering, activating and comparing their versions. */
import type { AnswerOf, BodyOf } from '@nebula/client/contract';
import { PAGE_LIMITS } from '@nebula/client/limits';
import {
  isJsonObject,
  type Json,
  jsonEquals,
  NebulaError,
  type Problem,
  problemDocument,
  usedWorkflows,
  type WorkflowDefinition,
} from '@nebula/core';
import type { WorkflowHead, WorkflowVersionRow } from '@nebula/ports';
import { type CheckedDefinition, checkedDefinition } from '../definitions/definitions.ts';
import { type Call, created, type Handlers, ok, type Reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, projectOfWorkflow, requireProject, unknownWorkflow } from '../http/subject.ts';
import { onlyProject, visibleProjects } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import { isRegistered } from '../projects.ts';
import { etagOf, expectedRevision, idTaken, type Read, readRecord, type WorkflowRecord } from '../records.ts';
import { isoTime } from './times.ts';

/** Activations without a revision are tried again after a conflict: the last writer wins. */
const ACTIVATION_TRIES = 10;

/** `onActivation` is called when the active version of a workflow changes or is removed. */
export function workflowRoutes(parts: Parts, onActivation: () => void) {
  const { store, records } = parts;
  const recordOf = (workflowId: string) => readRecord<WorkflowRecord>(records, 'workflow', workflowId);
  return {
    async validateWorkflow({ body, project: named, who, isLocal }) {
      const project = named ?? onlyProject(who, 'editor', 'You may edit workflows', 'Send `project`.');
      await requireProject(parts, project);
      const { problems } = await compiled(parts, body, project, isLocal);
      return ok({
        valid: problems.every(({ severity }) => severity !== 'error'),
        problems: problems.map(problemDocument),
        ceiling: await parts.projects.ceilingOf(project),
      });
    },

    registerWorkflow: (call) => registered(parts, call, onActivation),

    listWorkflows: (call) => listed(parts, call),

    async getWorkflow({ params: { workflowId } }) {
      const record = await recordOf(workflowId);
      const document = await summaryOf(parts, await headOf(parts, workflowId), record);
      return ok(document, record === undefined ? undefined : { etag: etagOf(record, document.newestVersion) });
    },

    async listWorkflowVersions({ params: { workflowId }, query: { cursor, limit = PAGE_LIMITS.default } }) {
      const active = (await recordOf(workflowId))?.body.active ?? null;
      const after = cursor === undefined ? {} : { after: versionCursor(cursor) };
      const rows = await store.workflowVersions(workflowId, { limit: limit + 1, ...after });
      const items = rows.slice(0, limit).map((row) => versionDocument(row, active));
      return ok({ items, next: rows.length > limit ? String(items.at(-1)?.version) : null });
    },

    async getWorkflowVersion({ params: { workflowId, version } }) {
      const active = (await recordOf(workflowId))?.body.active ?? null;
      const wanted = version === 'newest' ? undefined : version === 'active' ? active : version;
      if (wanted === null) throw noneActive(workflowId);
      const row = await versionOf(parts, workflowId, wanted);
      return ok({ ...versionDocument(row, active), definition: JSON.parse(row.definition) as Json });
    },

    async activateWorkflow({ params: { workflowId }, body: { version }, headers }) {
      const row = await versionOf(parts, workflowId, version);
      await setActive(parts, workflowId, row.version, onActivation, expectedRevision(headers['if-match']));
      return ok(await summaryOf(parts, await headOf(parts, workflowId), await recordOf(workflowId)));
    },

    async deactivateWorkflow({ params: { workflowId }, headers }) {
      await versionOf(parts, workflowId);
      await setActive(parts, workflowId, null, onActivation, expectedRevision(headers['if-match']));
      return ok(await summaryOf(parts, await headOf(parts, workflowId), await recordOf(workflowId)));
    },

    async diffWorkflow({ params: { workflowId }, query: { from, to } }) {
      const before = await versionOf(parts, workflowId, from);
      const after = await versionOf(parts, workflowId, to);
      const changes = changesBetween(JSON.parse(before.definition) as Json, JSON.parse(after.definition) as Json);
      return ok({ from: before.version, to: after.version, changes });
    },
  } satisfies Partial<Handlers>;
}

async function registered(
  parts: Parts,
  { body, project = DEFAULT_PROJECT, isLocal }: Call<'registerWorkflow'>,
  onActivation: () => void,
): Promise<Reply<AnswerOf<'registerWorkflow'>>> {
  const { definition, problems } = await compiled(parts, body, project, isLocal);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (definition === undefined || errors.length > 0) throw invalidDefinition(errors);
  await requireProject(parts, project);
  const isActive = body.activate !== false;
  if (isActive) await (await import('../triggers/activation.ts')).checkTriggers(parts, definition, project);
  await claimIds(parts, definition, project, isLocal === true && !isActive);
  const { workflowId, version, created: isNew } = await parts.executions.register(definition as unknown as Json);
  const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
  // A version changes nothing before it is activated, and a server registers its files at every start.
  const isUnchanged = !isActive || record?.body.active === version;
  if (!isUnchanged) await setActive(parts, workflowId, version, onActivation);
  const answer = {
    workflowId,
    version,
    created: isNew,
    active: isActive || record?.body.active === version,
    warnings: problems.map(problemDocument),
  };
  return { ...(isNew ? created(answer) : ok(answer)), isUnchanged };
}

async function listed(
  parts: Parts,
  { query: { cursor, limit = PAGE_LIMITS.default, tag }, who, project }: Call<'listWorkflows'>,
): Promise<Reply<AnswerOf<'listWorkflows'>>> {
  const visible = project === undefined ? visibleProjects(who) : [project];
  const items: AnswerOf<'listWorkflows'>['items'] = [];
  let after = cursor;
  // Pages are ordered by id over all projects; workflows that the caller may not see are skipped.
  while (items.length < limit) {
    const page = await parts.store.workflows({ limit, ...(after !== undefined && { after }) });
    for (const head of page) {
      if (items.length === limit) return ok({ items, next: after ?? null });
      after = head.workflowId;
      const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', head.workflowId);
      if (visible?.includes(record?.body.project ?? DEFAULT_PROJECT) === false) continue;
      const found = await summaryOf(parts, head, record);
      if (tag === undefined || found.tags.includes(tag)) items.push(found);
    }
    if (page.length < limit) return ok({ items, next: null });
  }
  return ok({ items, next: after ?? null });
}

async function headOf({ store }: Parts, workflowId: string): Promise<WorkflowHead> {
  const [head] = await store.workflows({ workflowId, limit: 1 });
  if (head === undefined) throw unknownWorkflow(workflowId);
  return head;
}

async function summaryOf(
  parts: Parts,
  { workflowId, versions }: WorkflowHead,
  record: Read<WorkflowRecord> | undefined,
): Promise<AnswerOf<'getWorkflow'>> {
  const newest = await versionOf(parts, workflowId);
  const { name = null, description = null, tags = [] } = JSON.parse(newest.definition) as WorkflowDefinition;
  return {
    workflowId,
    project: record?.body.project ?? DEFAULT_PROJECT,
    name,
    description,
    tags: [...tags],
    newestVersion: newest.version,
    activeVersion: record?.body.active ?? null,
    versions,
    updatedAt: isoTime(Math.max(newest.createdAt, record?.updatedAt ?? 0)),
  };
}

async function setActive(
  parts: Parts,
  workflowId: string,
  active: number | null,
  onActivation: () => void,
  ifMatch?: number,
): Promise<void> {
  const { activate } = await import('../triggers/activation.ts');
  for (let left = ifMatch === undefined ? ACTIVATION_TRIES : 1; ; left--) {
    const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
    const project = record?.body.project ?? DEFAULT_PROJECT;
    const expected = ifMatch ?? record?.revision ?? 0;
    if (await activate(parts, { project, workflowId, active, expected })) return onActivation();
    if (left <= 1) throw changedMeanwhile(workflowId, ifMatch !== undefined);
  }
}

function versionDocument(
  row: Pick<WorkflowVersionRow, 'workflowId' | 'version' | 'hash' | 'createdAt'>,
  active: number | null,
) {
  const { workflowId, version, hash, createdAt } = row;
  return { workflowId, version, hash, createdAt: isoTime(createdAt), active: version === active };
}

function versionCursor(cursor: string): number {
  if (/^[1-9]\d{0,9}$/.test(cursor)) return Number(cursor);
  throw new NebulaError('CURSOR_INVALID', 'The cursor does not belong to this list.', {
    hint: 'Use `next` of a page.',
  });
}

async function versionOf({ store }: Parts, workflowId: string, version?: number): Promise<WorkflowVersionRow> {
  const row = await store.workflowVersion(workflowId, version);
  if (row !== undefined) return row;
  const what = version === undefined ? `workflow '${workflowId}'` : `version ${version} of workflow '${workflowId}'`;
  throw new NebulaError('UNKNOWN_WORKFLOW', `There is no ${what}.`);
}

function noneActive(workflowId: string): NebulaError {
  return new NebulaError('UNKNOWN_WORKFLOW', `No version of workflow '${workflowId}' is active.`, {
    hint: 'Activate one, or ask for `newest`.',
  });
}

/** Reads the definition from the body of a request. */
async function compiled(
  parts: Parts,
  { definition, source, filename = 'workflow.yaml' }: BodyOf<'validateWorkflow'>,
  project: string,
  isLocal: true | undefined,
): Promise<CheckedDefinition> {
  if (source !== undefined) return await checkedDefinition(parts, { source, filename }, project, isLocal);
  if (definition === undefined) {
    throw new NebulaError('BODY_INVALID', "The body lacks 'definition'.", {
      hint: 'Give it as JSON, or as text in `source`.',
    });
  }
  return await checkedDefinition(parts, { definition: definition as Json }, project, isLocal);
}

/**
 * Ids are unique over all projects. The first project that registers an id, or names it as a used workflow, claims it
 * before anything is stored under it. Returns false if the id belongs to another project.
 */
async function isClaimed(parts: Parts, workflowId: string, project: string): Promise<boolean> {
  const isThere = await isRegistered(parts.store, workflowId);
  if (!isThere && (await parts.records.get('workflow', workflowId)) === undefined) {
    const body = JSON.stringify({ project, active: null } satisfies WorkflowRecord);
    if ((await parts.records.commit([{ kind: 'workflow', id: workflowId, body, expected: 0 }])).ok) return true;
  }
  return (await projectOfWorkflow(parts, workflowId)) === project;
}

/**
 * A workflow uses workflows of its own project only: the engine finds no others. Used ids that no project owns become
 * those of its project. A workflow of another project is skipped as if it did not exist.
 */
async function claimIds(
  parts: Parts,
  definition: WorkflowDefinition,
  project: string,
  isStoredOnly: boolean,
): Promise<void> {
  const { id: workflowId } = definition;
  // A workflow without a record belongs to the default project: a run on a data folder writes no record.
  if (isStoredOnly && project === DEFAULT_PROJECT) {
    const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
    if (record !== undefined && record.body.project !== project) throw idTaken(workflowId);
    return;
  }
  if (!(await isClaimed(parts, workflowId, project))) throw idTaken(workflowId);
  for (const id of new Set(usedWorkflows(definition).map((used) => used.id))) await isClaimed(parts, id, project);
}

function invalidDefinition(errors: readonly Problem[]): NebulaError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new NebulaError('DEFINITION_INVALID', `${first?.message ?? 'The definition cannot be read'}${more}`, {
    ...(first?.hint !== undefined && { hint: first.hint }),
    details: { problems: errors.map(problemDocument) },
  });
}

function changedMeanwhile(workflowId: string, isConditional: boolean): NebulaError {
  return new NebulaError(
    isConditional ? 'ETAG_MISMATCH' : 'CHANGED_MEANWHILE',
    `Workflow '${workflowId}' was changed in the meantime.`,
    { hint: 'Read it again, then repeat the request.' },
  );
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
