/** Finds the project that a request concerns, for all operations, so that no route can forget to check it. */
import type { OperationId } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { executionOfLease, staleLease } from '@nebula/engine';
import type { Parts } from '../parts.ts';
import { isRegistered } from '../projects.ts';

export const DEFAULT_PROJECT = 'default';

type Things = Pick<Parts, 'store' | 'records'>;

/** A kind of thing that belongs to a project. */
interface Kind {
  /** Undefined: there is none. */
  project(things: Things, id: string): Promise<string | undefined>;
  /** The error for an id that does not exist. An id of another project gets the same one. */
  missing(id: string): NebulaError;
}

const unknown = (code: string, what: string, id: string): NebulaError =>
  new NebulaError(code, `There is no ${what} '${id.slice(0, 200)}'.`);

export const unknownWorkflow = (workflowId: string): NebulaError => unknown('UNKNOWN_WORKFLOW', 'workflow', workflowId);
export const unknownLaunchPlan = (planId: string): NebulaError => unknown('UNKNOWN_PLAN', 'launch plan', planId);
export const unknownExecution = (executionId: string): NebulaError =>
  unknown('UNKNOWN_EXECUTION', 'execution', executionId);

const EXECUTION: Kind = {
  project: async ({ store }, executionId) => (await store.execution(executionId))?.project,
  missing: unknownExecution,
};

const WORKFLOW: Kind = {
  async project({ store, records }, workflowId) {
    const record = await records.get('workflow', workflowId);
    if (record !== undefined) return (JSON.parse(record.body) as { project: string }).project;
    // A workflow that was registered without a server has no record and belongs to the default project.
    return (await isRegistered(store, workflowId)) ? DEFAULT_PROJECT : undefined;
  },
  missing: unknownWorkflow,
};

const LEASE: Kind = {
  async project(things, leaseId) {
    const executionId = executionOfLease(leaseId);
    return executionId === undefined ? undefined : await EXECUTION.project(things, executionId);
  },
  missing: staleLease,
};

const ofRecord = (kind: string, missing: Kind['missing']): Kind => ({
  async project({ records }, id) {
    const record = await records.get(kind, id);
    if (record === undefined) return undefined;
    return (JSON.parse(record.body) as { project?: string }).project ?? DEFAULT_PROJECT;
  },
  missing,
});

const PLAN = ofRecord('plan', unknownLaunchPlan);

/** Rejects with the error of the kind when the thing does not exist. */
async function projectOf(kind: Kind, things: Things, id: string): Promise<string> {
  const project = await kind.project(things, id);
  if (project === undefined) throw kind.missing(id);
  return project;
}

export const projectOfExecution = (things: Things, id: string): Promise<string> => projectOf(EXECUTION, things, id);
/** Undefined: there is no such workflow. */
export const workflowProject = (things: Things, id: string): Promise<string | undefined> =>
  WORKFLOW.project(things, id);
export const projectOfWorkflow = (things: Things, id: string): Promise<string> => projectOf(WORKFLOW, things, id);
/** A lease whose execution is gone is stale. */
export const projectOfLease = (things: Things, id: string): Promise<string> => projectOf(LEASE, things, id);

/** Rejects with `UNKNOWN_PROJECT`. The default project is always there. */
export async function requireProject({ records }: Pick<Parts, 'records'>, project: string): Promise<void> {
  if (project === DEFAULT_PROJECT || (await records.get('project', project)) !== undefined) return;
  throw unknown('UNKNOWN_PROJECT', 'project', project);
}

/** A project that does not exist yet has no members: only an administrator can create it. */
const PROJECT: Kind = {
  project: async (_things, id) => id,
  missing: () => new NebulaError('NOT_FOUND', 'There is no such object, or it is not yours.'),
};

const BY_PARAMETER: Readonly<Record<string, Kind>> = {
  executionId: EXECUTION,
  workflowId: WORKFLOW,
  planId: PLAN,
  leaseId: LEASE,
  scheduleId: ofRecord('schedule', (id) => unknown('UNKNOWN_SCHEDULE', 'schedule', id)),
  notificationId: ofRecord('notification', (id) => unknown('UNKNOWN_NOTIFICATION', 'notification', id)),
  projectId: PROJECT,
};

/** Operations whose body may name an id that the operation itself creates. */
const MAKES_ITS_SUBJECT: ReadonlySet<OperationId> = new Set([
  'publishSignal',
  'putLaunchPlan',
  'putNotification',
  'putSchedule',
  'registerWorkflow',
  'startTest',
]);

/** Operations that concern the default project when the body names none. */
const BY_DEFAULT: ReadonlySet<OperationId> = new Set([
  'publishSignal',
  'putNotification',
  'registerWorkflow',
  'startTest',
]);

/** Operations that concern the project in the query, or the default one. */
const OF_QUERY: ReadonlySet<OperationId> = new Set([
  'listSecrets',
  'putSecret',
  'deleteSecret',
  'removeAnnouncedAction',
  'listDrafts',
  'getDraft',
  'putDraft',
  'deleteDraft',
]);

interface Request {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

export interface Subject {
  readonly project: string;
  /** The error for callers that may not see the thing: the same as for one that does not exist. */
  readonly missing: () => NebulaError;
}

/** Undefined when the operation concerns no project, or several. Throws when the thing that it names does not exist. */
export async function subjectOf(
  parts: Parts,
  operation: OperationId,
  { params, query, body }: Request,
): Promise<Subject | undefined> {
  const inBody = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  if (MAKES_ITS_SUBJECT.has(operation)) {
    const named = await subjectInBody(parts, inBody);
    return BY_DEFAULT.has(operation) ? (named ?? (await subject(PROJECT, parts, DEFAULT_PROJECT))) : named;
  }
  const asked = query['project'];
  if (OF_QUERY.has(operation))
    return await subject(PROJECT, parts, typeof asked === 'string' ? asked : DEFAULT_PROJECT);
  for (const [name, kind] of Object.entries(BY_PARAMETER)) {
    const id = params[name];
    if (typeof id === 'string') return await subject(kind, parts, id);
  }
  if (typeof asked === 'string') return await subject(PROJECT, parts, asked);
  return await subjectInBody(parts, inBody);
}

async function subjectInBody(parts: Parts, body: Readonly<Record<string, unknown>>): Promise<Subject | undefined> {
  const { project, plan, workflowId } = body;
  if (typeof project === 'string') return await subject(PROJECT, parts, project);
  if (typeof plan === 'string') return await subject(PLAN, parts, plan);
  if (typeof workflowId === 'string') return await subject(WORKFLOW, parts, workflowId);
  return undefined;
}

async function subject(kind: Kind, things: Things, id: string): Promise<Subject> {
  return { project: await projectOf(kind, things, id), missing: () => kind.missing(id) };
}
