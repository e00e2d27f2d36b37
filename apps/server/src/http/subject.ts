/** Which project a request concerns: the one place that says so, so that no route can forget it. */
import type { OperationId } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { executionOfLease } from '@nebula/engine';
import type { Parts } from '../parts.ts';

export const DEFAULT_PROJECT = 'default';

type Lookup = (parts: Parts, id: string) => Promise<string>;

const unknown = (code: string, what: string, id: string): NebulaError =>
  new NebulaError(code, `There is no ${what} '${id.slice(0, 200)}'.`);

export async function projectOfExecution({ store }: Parts, executionId: string): Promise<string> {
  const row = await store.execution(executionId);
  if (row === undefined) throw unknown('UNKNOWN_EXECUTION', 'execution', executionId);
  return row.project;
}

export async function projectOfWorkflow(
  { store, records }: Pick<Parts, 'store' | 'records'>,
  workflowId: string,
): Promise<string> {
  const record = await records.get('workflow', workflowId);
  if (record !== undefined) return (JSON.parse(record.body) as { project: string }).project;
  // One that was registered without a server belongs to the default project.
  if ((await store.workflowVersion(workflowId)) === undefined)
    throw unknown('UNKNOWN_WORKFLOW', 'workflow', workflowId);
  return DEFAULT_PROJECT;
}

/** Rejects with `UNKNOWN_PROJECT`. The default project is always there. */
export async function requireProject({ records }: Pick<Parts, 'records'>, project: string): Promise<void> {
  if (project === DEFAULT_PROJECT || (await records.get('project', project)) !== undefined) return;
  throw unknown('UNKNOWN_PROJECT', 'project', project);
}

/** Of one whose execution is gone there is nothing to tell but that it is stale. */
export async function projectOfLease({ store }: Parts, leaseId: string): Promise<string> {
  const executionId = executionOfLease(leaseId);
  const row = executionId === undefined ? undefined : await store.execution(executionId);
  if (row !== undefined) return row.project;
  throw new NebulaError('STALE_LEASE', 'There is no such lease.', { hint: 'Drop this work.' });
}

const ofRecord =
  (kind: string, code: string, what: string): Lookup =>
  async ({ records }, id) => {
    const record = await records.get(kind, id);
    if (record === undefined) throw unknown(code, what, id);
    return (JSON.parse(record.body) as { project?: string }).project ?? DEFAULT_PROJECT;
  };

const BY_PARAMETER: Readonly<Record<string, Lookup>> = {
  executionId: projectOfExecution,
  workflowId: projectOfWorkflow,
  planId: ofRecord('plan', 'UNKNOWN_PLAN', 'launch plan'),
  leaseId: projectOfLease,
  scheduleId: ofRecord('schedule', 'UNKNOWN_SCHEDULE', 'schedule'),
  // One that is not there yet is nobody's: only an administrator makes it.
  projectId: async (_parts, id) => id,
};

/** What is named like a parameter in the body of these is not there yet, or is somebody else's matter. */
const MAKES_ITS_SUBJECT: ReadonlySet<OperationId> = new Set([
  'publishSignal',
  'putPlan',
  'putSchedule',
  'registerWorkflow',
]);

/** Without a name it is the default project that these concern, and whoever does so needs a role there. */
const BY_DEFAULT: ReadonlySet<OperationId> = new Set(['publishSignal', 'registerWorkflow']);

/** They concern the project that the query names, or the default one. */
const OF_QUERY: ReadonlySet<OperationId> = new Set([
  'listCredentials',
  'putCredential',
  'deleteCredential',
  'removeAnnouncedAction',
]);

interface Request {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Undefined where an operation concerns no project, or several. Throws where the thing it names is not there. */
export async function subjectOf(
  parts: Parts,
  operation: OperationId,
  { params, query, body }: Request,
): Promise<string | undefined> {
  const inBody = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  if (MAKES_ITS_SUBJECT.has(operation)) {
    const named = await subjectInBody(parts, inBody);
    return BY_DEFAULT.has(operation) ? (named ?? DEFAULT_PROJECT) : named;
  }
  if (OF_QUERY.has(operation)) return typeof query['project'] === 'string' ? query['project'] : DEFAULT_PROJECT;
  for (const [name, lookup] of Object.entries(BY_PARAMETER)) {
    const id = params[name];
    if (typeof id === 'string') return await lookup(parts, id);
  }
  if (typeof query['project'] === 'string') return query['project'];
  return await subjectInBody(parts, inBody);
}

async function subjectInBody(parts: Parts, body: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  if (typeof body['project'] === 'string') return body['project'];
  if (typeof body['plan'] === 'string') return await (BY_PARAMETER['planId'] as Lookup)(parts, body['plan']);
  if (typeof body['workflowId'] === 'string') return await projectOfWorkflow(parts, body['workflowId']);
  return undefined;
}
