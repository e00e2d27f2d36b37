/** What every operation takes, gives and asks of its caller. Server, client, OpenAPI document and tests are made from it. */
import { Type } from 'typebox';
import type { OperationId } from './routes.ts';
import * as executions from './schemas/executions.ts';
import * as pieces from './schemas/pieces.ts';
import * as resources from './schemas/resources.ts';
import * as workflows from './schemas/workflows.ts';

/**
 * Who may call it.
 *  - a role: in the project that the thing belongs to
 *  - `admin`: an administrator of the server
 *  - `worker`: a worker's key, or an editor
 *  - `anyone`: whoever is signed in; `public`: everybody
 */
export type Needs = pieces.Role | 'admin' | 'worker' | 'anyone' | 'public';

export interface Operation {
  readonly tag: string;
  readonly summary: string;
  readonly needs: Needs;
  readonly params?: Type.TObject;
  readonly query?: Type.TObject;
  readonly body?: Type.TSchema;
  /** By status; the first one is what a client expects. */
  readonly answers: Readonly<Record<number, Type.TSchema>>;
  /** `Idempotency-Key` is honoured: the same key gives the same answer. */
  readonly isIdempotent?: true;
  /** `events`: Server-Sent Events of this schema; `bytes`: not JSON. */
  readonly stream?: 'events' | 'bytes';
  /** It changes nothing, though it is not a GET: not in the audit log. */
  readonly isReading?: true;
}

const { closed, Id, NodePath, PageQuery, page } = pieces;
const object = Type.Object;

const ofWorkflow = object({ workflowId: Id });
const ofExecution = object({ executionId: Id });
const PagedQuery = object(PageQuery, closed);
const Nothing = Type.Null();

export const OPERATIONS = {
  getInfo: { tag: 'Server', summary: 'What this server is', needs: 'public', answers: { 200: resources.Info } },

  validateWorkflow: {
    tag: 'Workflows',
    summary: 'Check a definition without storing it',
    needs: 'editor',
    body: workflows.DefinitionBody,
    answers: { 200: workflows.Validation },
    isReading: true,
  },
  registerWorkflow: {
    tag: 'Workflows',
    summary: 'Store a definition as a version',
    needs: 'editor',
    body: workflows.RegisterBody,
    answers: { 201: workflows.Registered, 200: workflows.Registered },
    isIdempotent: true,
  },
  listWorkflows: {
    tag: 'Workflows',
    summary: 'Workflows by id',
    needs: 'viewer',
    query: object(
      {
        project: Type.Optional(Id),
        tag: Type.Optional(Type.String({ maxLength: 200, description: 'Only those that have this tag.' })),
        ...PageQuery,
      },
      closed,
    ),
    answers: { 200: page(workflows.WorkflowSummary) },
  },
  getWorkflow: {
    tag: 'Workflows',
    summary: 'One workflow',
    needs: 'viewer',
    params: ofWorkflow,
    answers: { 200: workflows.WorkflowSummary },
  },
  listWorkflowVersions: {
    tag: 'Workflows',
    summary: 'Its versions, newest first',
    needs: 'viewer',
    params: ofWorkflow,
    query: PagedQuery,
    answers: { 200: page(workflows.WorkflowVersion) },
  },
  getWorkflowVersion: {
    tag: 'Workflows',
    summary: 'One version, with its definition',
    needs: 'viewer',
    params: object({
      workflowId: Id,
      version: Type.Union([pieces.Version, Type.Literal('newest'), Type.Literal('active')]),
    }),
    answers: { 200: workflows.WorkflowVersion },
  },
  activateWorkflow: {
    tag: 'Workflows',
    summary: 'Make a version the active one: its triggers are on, and starts take it',
    needs: 'editor',
    params: ofWorkflow,
    body: object({ version: Type.Optional(pieces.Version) }, closed),
    answers: { 200: workflows.WorkflowSummary },
  },
  deactivateWorkflow: {
    tag: 'Workflows',
    summary: 'Turn its triggers off',
    needs: 'editor',
    params: ofWorkflow,
    answers: { 200: workflows.WorkflowSummary },
  },
  diffWorkflow: {
    tag: 'Workflows',
    summary: 'What changed between two versions',
    needs: 'viewer',
    params: ofWorkflow,
    query: object({ from: pieces.Version, to: Type.Optional(pieces.Version) }, closed),
    answers: { 200: workflows.VersionDiff },
  },

  startExecution: {
    tag: 'Executions',
    summary: 'Start a workflow or a launch plan, and wait for its end if asked to',
    needs: 'operator',
    query: object(executions.WaitQuery, closed),
    body: executions.StartBody,
    answers: { 201: executions.Result, 200: executions.Result },
    isIdempotent: true,
  },
  listExecutions: {
    tag: 'Executions',
    summary: 'Executions, newest first',
    needs: 'viewer',
    query: executions.ExecutionQuery,
    answers: { 200: page(executions.ExecutionSummary) },
  },
  countExecutions: {
    tag: 'Executions',
    summary: 'How many there are, by status',
    needs: 'viewer',
    query: object(executions.ExecutionFilter, closed),
    answers: { 200: executions.Counts },
  },
  bulkExecutions: {
    tag: 'Executions',
    summary: 'One operation on many executions',
    needs: 'operator',
    body: executions.BulkBody,
    answers: { 200: executions.BulkOutcome },
  },
  getExecution: {
    tag: 'Executions',
    summary: 'One execution, with all its nodes; with `at`, as it was then',
    needs: 'viewer',
    params: ofExecution,
    query: executions.DocumentQuery,
    answers: { 200: executions.Execution },
  },
  getResult: {
    tag: 'Executions',
    summary: 'How it ended, waiting for that if asked to',
    needs: 'viewer',
    params: ofExecution,
    query: object(executions.WaitQuery, closed),
    answers: { 200: executions.Result },
  },
  awaitRest: {
    tag: 'Executions',
    summary: 'Whether it has ended, or waits for a person or a signal, waiting for that if asked to',
    needs: 'viewer',
    params: ofExecution,
    query: object(executions.WaitQuery, closed),
    answers: { 200: executions.Rest },
  },
  deleteExecution: {
    tag: 'Executions',
    summary: 'Delete an execution that has ended',
    needs: 'operator',
    params: ofExecution,
    answers: { 204: Nothing },
  },
  relaunchExecution: {
    tag: 'Executions',
    summary: 'Start the same again, with other input if given',
    needs: 'operator',
    params: ofExecution,
    body: executions.RelaunchBody,
    answers: { 201: executions.Result },
    isIdempotent: true,
  },
  getJournal: {
    tag: 'Executions',
    summary: 'Its journal',
    needs: 'viewer',
    params: ofExecution,
    query: executions.JournalQuery,
    answers: { 200: page(executions.JournalFrame) },
  },
  getTimeline: {
    tag: 'Executions',
    summary: 'What happened when',
    needs: 'viewer',
    params: ofExecution,
    query: executions.JournalQuery,
    answers: { 200: page(executions.TimelineEvent) },
  },
  explainExecution: {
    tag: 'Executions',
    summary: 'Why it, or one of its nodes, is where it is',
    needs: 'viewer',
    params: ofExecution,
    query: object({ node: Type.Optional(NodePath) }, closed),
    answers: { 200: executions.Explanation },
  },
  getUndoPlan: {
    tag: 'Executions',
    summary: 'What compensation would do now',
    needs: 'viewer',
    params: ofExecution,
    answers: { 200: executions.UndoPlan },
  },
  getDefinition: {
    tag: 'Executions',
    summary: 'The definition that it is pinned to',
    needs: 'viewer',
    params: ofExecution,
    answers: { 200: workflows.WorkflowVersion },
  },
  getBlob: {
    tag: 'Executions',
    summary: 'A large value, as bytes',
    needs: 'viewer',
    params: object({
      executionId: Id,
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: '64 hexadecimal digits.' }),
    }),
    answers: { 200: Type.String() },
    stream: 'bytes',
  },
  listLogs: {
    tag: 'Executions',
    summary: 'What it and its actions said',
    needs: 'viewer',
    params: ofExecution,
    query: executions.LogQuery,
    answers: { 200: page(executions.LogLine) },
  },
  cancelExecution: operate('Stop a run, or one of its nodes', executions.CancelBody),
  pauseExecution: operate('Let what runs end, and start nothing', executions.ReasonBody),
  resumeExecution: operate('Go on after a pause', executions.EmptyBody),
  signalExecution: operate('Send it a signal', executions.SignalBody),
  answerApproval: operate('Approve or reject', executions.AnswerBody),
  callBack: operate('Make the call that a node waits for; refused while it does not wait', executions.CallbackBody),
  retryExecution: operate('Retry the failed nodes', executions.EmptyBody),
  replayExecution: operate('Run a node, and what depends on it, anew', executions.ReplayBody),
  settleNode: operate('Say what became of an attempt of unknown outcome', executions.SettleBody),
  publishSignal: {
    tag: 'Executions',
    summary: 'A signal for whoever waits for it; it may start workflows, too',
    needs: 'operator',
    body: executions.PublishBody,
    answers: { 202: executions.Published },
    isIdempotent: true,
  },
  listPlaces: {
    tag: 'Executions',
    summary: 'Who holds a key that it shares with others, and who waits for it, in the order in which they are granted',
    needs: 'viewer',
    params: ofExecution,
    query: object({ key: Type.String({ minLength: 1, maxLength: 5_000 }) }, closed),
    answers: { 200: executions.Places },
  },

  followExecution: {
    tag: 'Live',
    summary: 'Its events: those that were, then those that come',
    needs: 'viewer',
    params: ofExecution,
    query: object({ after: executions.FollowQuery.properties.after }, closed),
    answers: { 200: executions.TimelineEvent },
    stream: 'events',
  },
  followLogs: {
    tag: 'Live',
    summary: 'Its log: what was said, then what is said',
    needs: 'viewer',
    params: ofExecution,
    query: executions.FollowLogsQuery,
    answers: { 200: executions.LogLine },
    stream: 'events',
  },
  followAll: {
    tag: 'Live',
    summary: 'The events of all executions',
    needs: 'viewer',
    query: executions.FollowQuery,
    answers: { 200: executions.TimelineEvent },
    stream: 'events',
  },

  listActions: {
    tag: 'Actions',
    summary: 'Actions that workflows may name',
    needs: 'anyone',
    query: PagedQuery,
    answers: { 200: page(resources.ActionDocument) },
  },
  getAction: {
    tag: 'Actions',
    summary: 'One action',
    needs: 'anyone',
    params: object({ actionId: pieces.ActionId }),
    query: object({ project: Type.Optional(Id) }, closed),
    answers: { 200: resources.ActionDocument },
  },
  removeAnnouncedAction: {
    tag: 'Actions',
    summary: 'Remove an action that workers have announced in a project',
    needs: 'operator',
    params: object({ actionId: pieces.ActionId }),
    query: object({ project: Type.Optional(Id) }, closed),
    answers: { 204: Nothing },
  },

  listCredentials: {
    tag: 'Credentials',
    summary: 'Names of the secrets of a project; never their values',
    needs: 'editor',
    query: object({ project: Type.Optional(Id), ...PageQuery }, closed),
    answers: { 200: page(resources.CredentialSummary) },
  },
  putCredential: {
    tag: 'Credentials',
    summary: 'Set a secret of a project',
    needs: 'owner',
    params: object({ name: Id }),
    query: object({ project: Type.Optional(Id) }, closed),
    body: resources.CredentialBody,
    answers: { 200: resources.CredentialSummary },
  },
  deleteCredential: {
    tag: 'Credentials',
    summary: 'Delete a secret of a project',
    needs: 'owner',
    params: object({ name: Id }),
    query: object({ project: Type.Optional(Id) }, closed),
    answers: { 204: Nothing },
  },

  listPlans: {
    tag: 'Launch plans',
    summary: 'Launch plans by id',
    needs: 'viewer',
    query: object({ project: Type.Optional(Id), ...PageQuery }, closed),
    answers: { 200: page(resources.Plan) },
  },
  getPlan: {
    tag: 'Launch plans',
    summary: 'One launch plan',
    needs: 'viewer',
    params: object({ planId: Id }),
    answers: { 200: resources.Plan },
  },
  putPlan: {
    tag: 'Launch plans',
    summary: 'Make or change a launch plan',
    needs: 'editor',
    params: object({ planId: Id }),
    body: resources.PlanBody,
    answers: { 200: resources.Plan, 201: resources.Plan },
  },
  deletePlan: {
    tag: 'Launch plans',
    summary: 'Delete a launch plan',
    needs: 'editor',
    params: object({ planId: Id }),
    answers: { 204: Nothing },
  },

  listSchedules: {
    tag: 'Schedules',
    summary: 'Schedules by id, those of triggers included',
    needs: 'viewer',
    query: object({ project: Type.Optional(Id), ...PageQuery }, closed),
    answers: { 200: page(resources.Schedule) },
  },
  getSchedule: {
    tag: 'Schedules',
    summary: 'One schedule',
    needs: 'viewer',
    params: object({ scheduleId: Id }),
    answers: { 200: resources.Schedule },
  },
  putSchedule: {
    tag: 'Schedules',
    summary: 'Make or change a schedule',
    needs: 'editor',
    params: object({ scheduleId: Id }),
    body: resources.ScheduleBody,
    answers: { 200: resources.Schedule, 201: resources.Schedule },
  },
  deleteSchedule: {
    tag: 'Schedules',
    summary: 'Delete a schedule',
    needs: 'editor',
    params: object({ scheduleId: Id }),
    answers: { 204: Nothing },
  },
  fireSchedule: {
    tag: 'Schedules',
    summary: 'Start what it would start, now',
    needs: 'operator',
    params: object({ scheduleId: Id }),
    answers: { 201: executions.Result },
    isIdempotent: true,
  },

  listWorkers: {
    tag: 'Workers',
    summary: 'Workers outside this server',
    needs: 'anyone',
    query: PagedQuery,
    answers: { 200: page(resources.Worker) },
  },
  registerWorker: {
    tag: 'Workers',
    summary: 'Announce a worker, its labels and its actions',
    needs: 'worker',
    body: resources.WorkerBody,
    answers: { 200: resources.AnnouncedWorker },
  },
  claimWork: {
    tag: 'Workers',
    summary: 'Take work, waiting for it if asked to',
    needs: 'worker',
    params: object({ workerId: Id }),
    body: resources.ClaimBody,
    answers: { 200: resources.Claimed },
    isReading: true,
  },
  beatWorker: {
    tag: 'Workers',
    summary: 'Tell that a worker is alive',
    needs: 'worker',
    params: object({ workerId: Id }),
    answers: { 200: resources.Worker },
    isReading: true,
  },
  deleteWorker: {
    tag: 'Workers',
    summary: 'A worker leaves',
    needs: 'worker',
    params: object({ workerId: Id }),
    answers: { 204: Nothing },
  },
  extendLease: ofLease(
    'Tell that an attempt is alive, and how far it is',
    resources.LeaseBeatBody,
    resources.LeaseState,
  ),
  logLease: ofLease('Lines of its log', resources.LeaseLogsBody, resources.LeaseState),
  completeLease: ofLease('It is done', resources.CompleteBody, resources.Ended),
  failLease: ofLease('It has failed', resources.FailBody, resources.Ended),
  revealCredential: {
    tag: 'Workers',
    summary: 'A secret that the node of this lease names',
    needs: 'worker',
    params: object({ leaseId: Type.String({ maxLength: 5_000 }), alias: Id }),
    answers: { 200: resources.Revealed },
  },

  listCache: {
    tag: 'Server',
    summary: 'Outputs that may be used again',
    needs: 'admin',
    query: object({ action: Type.Optional(Type.String({ maxLength: 200 })), ...PageQuery }, closed),
    answers: { 200: page(resources.CacheEntry) },
  },
  forgetCache: {
    tag: 'Server',
    summary: 'Forget such outputs: one, those of an action, or all',
    needs: 'admin',
    query: object(
      { key: Type.Optional(Type.String({ maxLength: 500 })), action: Type.Optional(Type.String({ maxLength: 200 })) },
      closed,
    ),
    answers: { 200: resources.Forgotten },
  },
  listAudit: {
    tag: 'Server',
    summary: 'Who changed what, newest first',
    needs: 'admin',
    query: object({ who: Type.Optional(Type.String({ maxLength: 200 })), ...PageQuery }, closed),
    answers: { 200: page(resources.AuditEntry) },
  },

  login: {
    tag: 'Identity',
    summary: 'Sign in; sets a cookie',
    needs: 'public',
    body: resources.LoginBody,
    answers: { 200: resources.Session },
  },
  logout: { tag: 'Identity', summary: 'Sign out', needs: 'anyone', answers: { 204: Nothing } },
  getMe: { tag: 'Identity', summary: 'Who you are', needs: 'anyone', answers: { 200: resources.Me } },
  listUsers: {
    tag: 'Identity',
    summary: 'Users by id',
    needs: 'admin',
    query: PagedQuery,
    answers: { 200: page(resources.User) },
  },
  putUser: {
    tag: 'Identity',
    summary: 'Make or change a user',
    needs: 'admin',
    params: object({ userId: Id }),
    body: resources.UserBody,
    answers: { 200: resources.User, 201: resources.User },
  },
  deleteUser: {
    tag: 'Identity',
    summary: 'Delete a user, with sessions and keys',
    needs: 'admin',
    params: object({ userId: Id }),
    answers: { 204: Nothing },
  },
  listKeys: {
    tag: 'Identity',
    summary: 'Your API keys; an administrator sees all',
    needs: 'anyone',
    query: PagedQuery,
    answers: { 200: page(resources.KeySummary) },
  },
  createKey: {
    tag: 'Identity',
    summary: 'A new API key, with at most your own roles',
    needs: 'anyone',
    body: resources.KeyBody,
    answers: { 201: resources.CreatedKey },
  },
  deleteKey: {
    tag: 'Identity',
    summary: 'Revoke an API key',
    needs: 'anyone',
    params: object({ keyId: Id }),
    answers: { 204: Nothing },
  },
  listProjects: {
    tag: 'Identity',
    summary: 'Projects that you may see',
    needs: 'anyone',
    query: PagedQuery,
    answers: { 200: page(resources.Project) },
  },
  putProject: {
    tag: 'Identity',
    summary: 'Make a project, rename it, or set what its runs may be granted at the most',
    needs: 'owner',
    params: object({ projectId: Id }),
    body: resources.ProjectBody,
    answers: { 200: resources.Project, 201: resources.Project },
  },
  deleteProject: {
    tag: 'Identity',
    summary: 'Delete a project without workflows',
    needs: 'admin',
    params: object({ projectId: Id }),
    answers: { 204: Nothing },
  },
} satisfies Readonly<Record<OperationId, Operation>>;

function operate<B extends Type.TSchema>(summary: string, body: B) {
  return {
    tag: 'Executions',
    summary,
    needs: 'operator',
    params: ofExecution,
    body,
    answers: { 202: executions.Accepted },
    isIdempotent: true,
  } as const;
}

function ofLease<B extends Type.TSchema, A extends Type.TSchema>(summary: string, body: B, answer: A) {
  return {
    tag: 'Workers',
    summary,
    needs: 'worker',
    params: object({ leaseId: Type.String({ maxLength: 5_000 }) }),
    body,
    answers: { 200: answer },
    isReading: true,
  } as const;
}

type Table = typeof OPERATIONS;
type Part<K extends OperationId, P extends keyof Operation> = Table[K] extends { readonly [Q in P]: infer S }
  ? S extends Type.TSchema
    ? Type.Static<S>
    : Record<never, never>
  : Record<never, never>;

export type ParamsOf<K extends OperationId> = Part<K, 'params'>;
export type QueryOf<K extends OperationId> = Part<K, 'query'>;
export type BodyOf<K extends OperationId> = Part<K, 'body'>;
/** What it answers when all goes well. */
export type AnswerOf<K extends OperationId> = Table[K]['answers'] extends infer A
  ? { [S in keyof A]: A[S] extends Type.TSchema ? Type.Static<A[S]> : never }[keyof A]
  : never;
