/**
 * The input, output and required permission of every operation. Server, client, OpenAPI document and tests are derived
 * from it. Long because it is one table: an operation has its line here and nowhere else.
 */
import { Type } from 'typebox';
import { CONTRACT_LIMITS } from './limits.ts';
import type { OperationId } from './routes.ts';
import * as executions from './schemas/executions.ts';
import * as humanTasks from './schemas/human-tasks.ts';
import * as migrations from './schemas/migrations.ts';
import * as pieces from './schemas/pieces.ts';
import * as resources from './schemas/resources.ts';
import * as tests from './schemas/tests.ts';
import * as triggers from './schemas/triggers.ts';
import * as workflows from './schemas/workflows.ts';

/**
 * The permission that an operation requires.
 *  - a role: in the project of the resource
 *  - `admin`: an administrator of the server
 *  - `worker`: a worker's key, or an editor
 *  - `anyone`: any authenticated caller; `public`: no authentication
 */
export type Needs = pieces.Role | 'admin' | 'worker' | 'anyone' | 'public';

export interface Operation {
  readonly tag: string;
  readonly summary: string;
  readonly needs: Needs;
  readonly params?: Type.TObject;
  readonly query?: Type.TObject;
  readonly body?: Type.TSchema;
  /** By status; clients expect the first one. */
  readonly answers: Readonly<Record<number, Type.TSchema>>;
  /** Honours `Idempotency-Key`: the same key returns the same response. */
  readonly isIdempotent?: true;
  /** `events`: Server-Sent Events of this schema; `bytes`: not JSON. */
  readonly stream?: 'events' | 'bytes';
}

const { closed, Id, PageQuery, page } = pieces;
const object = Type.Object;

const ofWorkflow = object({ workflowId: Id });
const ofDraft = object({ draftId: Id });
const OfProject = object({ project: Type.Optional(Id) }, closed);
const ofExecution = object({ executionId: Id });
const PagedQuery = object(PageQuery, closed);
const Nothing = Type.Null();

/** Operations under one heading of the reference. */
function tagged<const Own extends Readonly<Record<string, Omit<Operation, 'tag'>>>>(tag: string, operations: Own) {
  const all = Object.entries(operations).map(([id, operation]) => [id, { tag, ...operation }]);
  return Object.fromEntries(all) as { readonly [K in keyof Own]: Own[K] & { readonly tag: string } };
}

export const OPERATIONS = {
  ...tagged('Server', {
    getInfo: {
      summary: 'Get information about the server',
      needs: 'public',
      answers: { 200: resources.Info },
    },
  }),

  ...tagged('Workflows', {
    validateWorkflow: {
      summary: 'Validate a definition without storing it',
      needs: 'editor',
      body: workflows.DefinitionBody,
      answers: { 200: workflows.Validation },
    },
    registerWorkflow: {
      summary: 'Register a definition as a version',
      needs: 'editor',
      body: workflows.RegisterBody,
      answers: { 201: workflows.Registered, 200: workflows.Registered },
      isIdempotent: true,
    },
    listWorkflows: {
      summary: 'List workflows by id',
      needs: 'viewer',
      query: object(
        {
          project: Type.Optional(Id),
          tag: Type.Optional(Type.String({ maxLength: 200, description: 'Only workflows with this tag.' })),
          search: Type.Optional(
            Type.String({
              maxLength: 200,
              description: 'Only workflows with this text in id, name, description or a tag; case does not matter.',
            }),
          ),
          archived: Type.Optional(
            Type.Boolean({ default: false, description: 'True: only archived workflows. False: only the others.' }),
          ),
          recent: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: CONTRACT_LIMITS.maxRecent,
              description: 'Shows so many of the newest executions of each workflow.',
            }),
          ),
          ...PageQuery,
        },
        closed,
      ),
      answers: { 200: page(workflows.WorkflowSummary) },
    },
    getWorkflow: {
      summary: 'Get a workflow',
      needs: 'viewer',
      params: ofWorkflow,
      answers: { 200: workflows.WorkflowSummary },
    },
    listWorkflowVersions: {
      summary: 'List the versions of a workflow, newest first',
      needs: 'viewer',
      params: ofWorkflow,
      query: PagedQuery,
      answers: { 200: page(workflows.WorkflowVersion) },
    },
    getWorkflowVersion: {
      summary: 'Get a version with its definition',
      needs: 'viewer',
      params: object({
        workflowId: Id,
        version: Type.Union([pieces.Version, Type.Literal('newest'), Type.Literal('active')]),
      }),
      query: object(
        {
          manifest: Type.Optional(
            Type.Boolean({ default: false, description: 'Adds `manifest`: what the version uses and asks for.' }),
          ),
        },
        closed,
      ),
      answers: { 200: workflows.WorkflowVersion },
    },
    activateWorkflow: {
      summary: 'Activate a version: its triggers are enabled, and starts use it',
      needs: 'editor',
      params: ofWorkflow,
      body: object({ version: Type.Optional(pieces.Version) }, closed),
      answers: { 200: workflows.WorkflowSummary },
    },
    deactivateWorkflow: {
      summary: 'Deactivate a workflow: its triggers are disabled',
      needs: 'editor',
      params: ofWorkflow,
      answers: { 200: workflows.WorkflowSummary },
    },
    diffWorkflow: {
      summary: 'Compare two versions',
      needs: 'viewer',
      params: ofWorkflow,
      query: object({ from: pieces.Version, to: Type.Optional(pieces.Version) }, closed),
      answers: { 200: workflows.VersionDiff },
    },
    compareWorkflow: {
      summary: 'Compare a version with a definition that is not stored',
      needs: 'editor',
      params: ofWorkflow,
      body: workflows.CompareBody,
      answers: { 200: workflows.Comparison },
    },
    archiveWorkflow: {
      summary: 'Archive a workflow: it is deactivated and left out of lists; its executions go on',
      needs: 'editor',
      params: ofWorkflow,
      answers: { 200: workflows.WorkflowSummary },
    },
    unarchiveWorkflow: {
      summary: 'Bring an archived workflow back into lists; it stays inactive',
      needs: 'editor',
      params: ofWorkflow,
      answers: { 200: workflows.WorkflowSummary },
    },
    getLayout: {
      summary: 'Get the positions of the nodes that were moved by hand',
      needs: 'viewer',
      params: ofWorkflow,
      answers: { 200: workflows.Layout },
    },
    putLayout: {
      summary: 'Set the positions of nodes; makes no version',
      needs: 'editor',
      params: ofWorkflow,
      body: workflows.LayoutBody,
      answers: { 200: workflows.Layout },
    },
    listDrafts: {
      summary: "List the caller's own drafts in a project",
      needs: 'editor',
      query: object({ project: Type.Optional(Id), ...PageQuery }, closed),
      answers: { 200: page(workflows.DraftSummary) },
    },
    getDraft: {
      summary: "Get the caller's own draft of a workflow, which need not exist",
      needs: 'editor',
      params: ofDraft,
      query: OfProject,
      answers: { 200: workflows.Draft },
    },
    putDraft: {
      summary: "Save the caller's own draft of a workflow for 30 days",
      needs: 'editor',
      params: ofDraft,
      query: OfProject,
      body: workflows.DraftBody,
      answers: { 200: workflows.DraftSummary, 201: workflows.DraftSummary },
    },
    deleteDraft: {
      summary: "Delete the caller's own draft of a workflow",
      needs: 'editor',
      params: ofDraft,
      query: OfProject,
      answers: { 204: Nothing },
    },
  }),

  ...tagged('Executions', {
    startExecution: {
      summary: 'Start a workflow or a launch plan, and optionally wait for its end',
      needs: 'operator',
      query: object(executions.WaitQuery, closed),
      body: executions.StartBody,
      answers: { 201: executions.Result, 200: executions.Result },
      isIdempotent: true,
    },
    listExecutions: {
      summary: 'List executions, newest first; a page with a filter may be short and still have a next one',
      needs: 'viewer',
      query: executions.ExecutionQuery,
      answers: { 200: page(executions.ExecutionSummary) },
    },
    countExecutions: {
      summary: 'Count executions by status',
      needs: 'viewer',
      query: object(executions.ExecutionFilter, closed),
      answers: { 200: executions.Counts },
    },
    bulkExecutions: {
      summary: 'Apply one operation to many executions',
      needs: 'operator',
      body: executions.BulkBody,
      answers: { 200: executions.BulkOutcome },
    },
    getExecution: {
      summary: 'Get an execution with all its nodes; with `at`, at an earlier time',
      needs: 'viewer',
      params: ofExecution,
      query: executions.DocumentQuery,
      answers: { 200: executions.Execution },
    },
    getResult: {
      summary: 'Get the result of an execution, and optionally wait for it',
      needs: 'viewer',
      params: ofExecution,
      query: object(executions.WaitQuery, closed),
      answers: { 200: executions.Result },
    },
    awaitRest: {
      summary: 'Get whether an execution has ended or waits for a person or a signal, and optionally wait for that',
      needs: 'viewer',
      params: ofExecution,
      query: object(executions.WaitQuery, closed),
      answers: { 200: executions.Rest },
    },
    deleteExecution: {
      summary: 'Delete a finished execution',
      needs: 'operator',
      params: ofExecution,
      answers: { 204: Nothing },
    },
    relaunchExecution: {
      summary: 'Start the same workflow again, optionally with another input',
      needs: 'operator',
      params: ofExecution,
      body: executions.RelaunchBody,
      answers: { 201: executions.Result },
      isIdempotent: true,
    },
    getJournal: {
      summary: 'Get the journal of an execution',
      needs: 'viewer',
      params: ofExecution,
      query: executions.JournalQuery,
      answers: { 200: page(executions.JournalFrame) },
    },
    getTimeline: {
      summary: 'Get the timeline of an execution',
      needs: 'viewer',
      params: ofExecution,
      query: executions.JournalQuery,
      answers: { 200: page(executions.TimelineEvent) },
    },
    listIterations: {
      summary: 'List the iterations of a loop',
      needs: 'viewer',
      params: ofExecution,
      query: executions.IterationsQuery,
      answers: { 200: executions.Iterations },
    },
    listAttempts: {
      summary: 'List the attempts of a node, with their errors',
      needs: 'viewer',
      params: ofExecution,
      query: executions.AttemptsQuery,
      answers: { 200: page(executions.Attempt) },
    },
    explainExecution: {
      summary: 'Explain the status of an execution or of one of its nodes',
      needs: 'viewer',
      params: ofExecution,
      query: executions.ExplainQuery,
      answers: { 200: executions.Explanation },
    },
    getUndoPlan: {
      summary: 'Preview the compensation of an execution',
      needs: 'viewer',
      params: ofExecution,
      answers: { 200: executions.UndoPlan },
    },
    getDefinition: {
      summary: 'Get the definition that an execution is pinned to',
      needs: 'viewer',
      params: ofExecution,
      answers: { 200: workflows.WorkflowVersion },
    },
    getValues: {
      summary: 'Get the input and output of an execution or of one of its nodes; large ones by their beginning',
      needs: 'viewer',
      params: ofExecution,
      query: executions.ValuesQuery,
      answers: { 200: executions.Values },
    },
    getBlob: {
      summary: 'Get a large value as bytes: the whole, its beginning, or a `Range`',
      needs: 'viewer',
      params: object({
        executionId: Id,
        sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: '64 hexadecimal digits.' }),
      }),
      query: executions.BlobQuery,
      answers: { 200: Type.String(), 206: Type.String() },
      stream: 'bytes',
    },
    listLogs: {
      summary: 'List the log lines of an execution and its actions',
      needs: 'viewer',
      params: ofExecution,
      query: executions.LogQuery,
      answers: { 200: page(executions.LogLine) },
    },
    downloadLogs: {
      summary: 'Download the log of an execution as text',
      needs: 'viewer',
      params: ofExecution,
      query: executions.LogTextQuery,
      answers: { 200: Type.String() },
      stream: 'bytes',
    },
    cancelExecution: operate('Cancel an execution, or one of its nodes', executions.CancelBody),
    pauseExecution: operate('Pause an execution: running attempts end, and nothing new starts', executions.ReasonBody),
    resumeExecution: operate('Resume a paused execution', executions.EmptyBody),
    signalExecution: operate('Send a signal to an execution', executions.SignalBody),
    answerApproval: operate('Answer an approval', executions.AnswerBody),
    callBack: operate('Make the call that a node waits for; rejected while it does not wait', executions.CallbackBody),
    retryExecution: preview('Retry the failed nodes of an execution, or say what that would do', executions.RetryBody),
    replayExecution: preview('Run a node and its dependents again, or say what that would do', executions.ReplayBody),
    migrateExecution: {
      summary: 'Move an execution to another version of its workflow, or say what that would change',
      needs: 'operator',
      params: ofExecution,
      body: migrations.MigrateBody,
      answers: { 200: migrations.MigrationReport, 202: migrations.MigrationReport },
      isIdempotent: true,
    },
    settleNode: operate('Settle an attempt with an unknown outcome', executions.SettleBody),
    publishSignal: {
      summary: 'Publish a signal; it may also start workflows',
      needs: 'operator',
      body: executions.PublishBody,
      answers: { 202: executions.Published },
      isIdempotent: true,
    },
    listPermits: {
      summary: "List the holders and waiters of a concurrency key in the execution's project, in the order of permits",
      needs: 'viewer',
      params: ofExecution,
      query: object({ key: Type.String({ minLength: 1, maxLength: 5_000 }) }, closed),
      answers: { 200: executions.Permits },
    },
  }),

  ...tagged('Human tasks', {
    listHumanTasks: {
      summary: 'List what waits for a person in all executions: approvals, unknown outcomes, signals and calls',
      needs: 'viewer',
      query: humanTasks.HumanTaskQuery,
      answers: { 200: page(humanTasks.HumanTask) },
    },
    countHumanTasks: {
      summary: 'Count what waits for a person, by kind',
      needs: 'viewer',
      query: humanTasks.HumanTaskCountQuery,
      answers: { 200: humanTasks.HumanTaskCounts },
    },
  }),

  ...tagged('Statistics', {
    getStatistics: {
      summary: 'Get starts, ends, durations and backlog of executions by time',
      needs: 'viewer',
      query: humanTasks.StatisticsQuery,
      answers: { 200: humanTasks.Statistics },
    },
  }),

  ...tagged('Live', {
    followExecution: {
      summary: 'Stream the events of an execution: past ones, then new ones',
      needs: 'viewer',
      params: ofExecution,
      query: object({ after: executions.FollowQuery.properties.after }, closed),
      answers: { 200: executions.TimelineEvent },
      stream: 'events',
    },
    followLogs: {
      summary: 'Stream the log of an execution: past lines, then new ones',
      needs: 'viewer',
      params: ofExecution,
      query: executions.FollowLogsQuery,
      answers: { 200: executions.LogLine },
      stream: 'events',
    },
    followAll: {
      summary: 'Stream the events of all executions',
      needs: 'viewer',
      query: executions.FollowQuery,
      answers: { 200: executions.TimelineEvent },
      stream: 'events',
    },
  }),

  ...tagged('Test runs', {
    startTest: {
      summary: 'Start a test run of a definition or of a registered version, or of a part of it',
      needs: 'operator',
      query: object(executions.WaitQuery, closed),
      body: tests.TestBody,
      answers: { 201: executions.Result, 200: executions.Result },
      isIdempotent: true,
    },
    listOutputs: {
      summary: 'List the last results of the nodes of an execution, as pins of a test run',
      needs: 'viewer',
      params: ofExecution,
      query: tests.OutputQuery,
      answers: { 200: page(tests.NodeOutput) },
    },
    rehearseWorkflow: {
      summary: 'Replay the last ended executions against a definition, without running anything',
      needs: 'editor',
      params: ofWorkflow,
      body: tests.RehearsalBody,
      answers: { 200: tests.Rehearsal },
    },
  }),

  ...tagged('Actions', {
    listActions: {
      summary: 'List the available actions',
      needs: 'anyone',
      query: PagedQuery,
      answers: { 200: page(resources.ActionDocument) },
    },
    getAction: {
      summary: 'Get an action',
      needs: 'anyone',
      params: object({ actionId: pieces.ActionId }),
      query: object({ project: Type.Optional(Id) }, closed),
      answers: { 200: resources.ActionDocument },
    },
    removeAnnouncedAction: {
      summary: 'Remove an announced action from a project',
      needs: 'operator',
      params: object({ actionId: pieces.ActionId }),
      query: object({ project: Type.Optional(Id) }, closed),
      answers: { 204: Nothing },
    },
  }),

  ...tagged('Secrets', {
    listSecrets: {
      summary: 'List the names of the secrets of a project, never their values',
      needs: 'editor',
      query: object({ project: Type.Optional(Id), ...PageQuery }, closed),
      answers: { 200: page(resources.SecretSummary) },
    },
    putSecret: {
      summary: 'Set a secret of a project',
      needs: 'owner',
      params: object({ name: Id }),
      query: object({ project: Type.Optional(Id) }, closed),
      body: resources.SecretBody,
      answers: { 200: resources.SecretSummary },
    },
    deleteSecret: {
      summary: 'Delete a secret of a project',
      needs: 'owner',
      params: object({ name: Id }),
      query: object({ project: Type.Optional(Id) }, closed),
      answers: { 204: Nothing },
    },
  }),

  ...tagged('Launch plans', {
    listLaunchPlans: {
      summary: 'List launch plans by id',
      needs: 'viewer',
      query: object({ project: Type.Optional(Id), ...PageQuery }, closed),
      answers: { 200: page(resources.LaunchPlan) },
    },
    getLaunchPlan: {
      summary: 'Get a launch plan',
      needs: 'viewer',
      params: object({ planId: Id }),
      answers: { 200: resources.LaunchPlan },
    },
    putLaunchPlan: {
      summary: 'Create or change a launch plan',
      needs: 'editor',
      params: object({ planId: Id }),
      body: resources.LaunchPlanBody,
      answers: { 200: resources.LaunchPlan, 201: resources.LaunchPlan },
    },
    deleteLaunchPlan: {
      summary: 'Delete a launch plan',
      needs: 'editor',
      params: object({ planId: Id }),
      answers: { 204: Nothing },
    },
  }),

  ...tagged('Schedules', {
    listSchedules: {
      summary: 'List schedules by id, including those of triggers',
      needs: 'viewer',
      query: object({ project: Type.Optional(Id), ...triggers.FiresQuery, ...PageQuery }, closed),
      answers: { 200: page(resources.Schedule) },
    },
    getSchedule: {
      summary: 'Get a schedule',
      needs: 'viewer',
      params: object({ scheduleId: Id }),
      query: object(triggers.FiresQuery, closed),
      answers: { 200: resources.Schedule },
    },
    putSchedule: {
      summary: 'Create or change a schedule',
      needs: 'editor',
      params: object({ scheduleId: Id }),
      body: resources.ScheduleBody,
      answers: { 200: resources.Schedule, 201: resources.Schedule },
    },
    deleteSchedule: {
      summary: 'Delete a schedule',
      needs: 'editor',
      params: object({ scheduleId: Id }),
      answers: { 204: Nothing },
    },
    fireSchedule: {
      summary: 'Run a schedule now',
      needs: 'operator',
      params: object({ scheduleId: Id }),
      answers: { 201: executions.Result },
      isIdempotent: true,
    },
  }),

  ...tagged('Triggers', {
    listTriggers: {
      summary: 'List the triggers of active workflows, and other schedules, with their next fires',
      needs: 'viewer',
      query: triggers.TriggerQuery,
      answers: { 200: page(triggers.Trigger) },
    },
  }),

  ...tagged('Notifications', {
    listNotifications: {
      summary: 'List the notifications of the projects in which you are an editor',
      needs: 'editor',
      query: object({ project: Type.Optional(Id), ...PageQuery }, closed),
      answers: { 200: page(resources.Notification) },
    },
    putNotification: {
      summary:
        'Create or change a notification: a webhook or mail server that is told when runs fail, are stuck or wait for a person',
      needs: 'editor',
      params: object({ notificationId: Id }),
      body: resources.NotificationBody,
      answers: { 200: resources.Notification, 201: resources.Notification },
    },
    deleteNotification: {
      summary: 'Delete a notification',
      needs: 'editor',
      params: object({ notificationId: Id }),
      answers: { 204: Nothing },
    },
    testNotification: {
      summary: 'Send a sample message, and say whether it was accepted',
      needs: 'editor',
      params: object({ notificationId: Id }),
      answers: { 200: resources.NotificationTest },
    },
  }),

  ...tagged('Workers', {
    getFleet: {
      summary: "Get this server's own engine and queue: slots, running attempts, leases, depth of each route",
      needs: 'admin',
      answers: { 200: triggers.Fleet },
    },
    listWorkers: {
      summary: 'List remote workers',
      needs: 'anyone',
      query: PagedQuery,
      answers: { 200: page(resources.Worker) },
    },
    registerWorker: {
      summary: 'Register a worker with its labels and actions',
      needs: 'worker',
      body: resources.WorkerBody,
      answers: { 200: resources.AnnouncedWorker },
    },
    claimWork: {
      summary: 'Claim work, and optionally wait for it',
      needs: 'worker',
      params: object({ workerId: Id }),
      body: resources.ClaimBody,
      answers: { 200: resources.Claimed },
    },
    beatWorker: {
      summary: 'Send a worker heartbeat',
      needs: 'worker',
      params: object({ workerId: Id }),
      answers: { 200: resources.Worker },
    },
    deleteWorker: {
      summary: 'Unregister a worker',
      needs: 'worker',
      params: object({ workerId: Id }),
      answers: { 204: Nothing },
    },
    extendLease: ofLease('Extend a lease and report progress', resources.LeaseBeatBody, resources.LeaseState),
    logLease: ofLease('Send log lines of an attempt', resources.LeaseLogsBody, resources.LeaseState),
    completeLease: ofLease('Complete an attempt', resources.CompleteBody, resources.Ended),
    failLease: ofLease('Fail an attempt', resources.FailBody, resources.Ended),
    revealCredential: {
      summary: 'Get a secret that the node of the lease uses',
      needs: 'worker',
      params: object({ leaseId: Type.String({ maxLength: 5_000 }), alias: Id }),
      answers: { 200: resources.Revealed },
    },
  }),

  ...tagged('Server', {
    listCache: {
      summary: 'List cached outputs',
      needs: 'admin',
      query: object({ action: Type.Optional(Type.String({ maxLength: 200 })), ...PageQuery }, closed),
      answers: { 200: page(resources.CacheEntry) },
    },
    forgetCache: {
      summary: 'Delete cached outputs: one, those of an action, or all',
      needs: 'admin',
      query: object(
        { key: Type.Optional(Type.String({ maxLength: 500 })), action: Type.Optional(Type.String({ maxLength: 200 })) },
        closed,
      ),
      answers: { 200: resources.Forgotten },
    },
    listAudit: {
      summary: 'List audit entries, newest first',
      needs: 'admin',
      query: object({ who: Type.Optional(Type.String({ maxLength: 200 })), ...PageQuery }, closed),
      answers: { 200: page(resources.AuditEntry) },
    },
    createBackup: {
      summary: 'Download a backup of all data of the server, as a tar archive',
      needs: 'admin',
      body: resources.BackupBody,
      answers: { 200: Type.String() },
      stream: 'bytes',
    },
  }),

  ...tagged('Identity', {
    login: {
      summary: 'Sign in; sets a cookie',
      needs: 'public',
      body: resources.LoginBody,
      answers: { 200: resources.Session },
    },
    createSignInCode: {
      summary: 'Create a code that signs in one browser at a desktop server, once',
      needs: 'admin',
      answers: { 201: resources.SignInCode },
    },
    signIn: {
      summary: 'Sign in with a code; sets a cookie',
      needs: 'public',
      body: resources.SignInBody,
      answers: { 200: resources.Session },
    },
    logout: { summary: 'Sign out', needs: 'anyone', answers: { 204: Nothing } },
    changeOwnPassword: {
      summary: 'Change your own password; ends your other sessions',
      needs: 'anyone',
      body: triggers.OwnPasswordBody,
      answers: { 204: Nothing },
    },
    getMe: { summary: 'Get the current principal', needs: 'anyone', answers: { 200: resources.Me } },
    listUsers: {
      summary: 'List users by id',
      needs: 'admin',
      query: PagedQuery,
      answers: { 200: page(resources.User) },
    },
    putUser: {
      summary: 'Create or change a user',
      needs: 'admin',
      params: object({ userId: Id }),
      body: resources.UserBody,
      answers: { 200: resources.User, 201: resources.User },
    },
    deleteUser: {
      summary: 'Delete a user with all sessions and keys',
      needs: 'admin',
      params: object({ userId: Id }),
      answers: { 204: Nothing },
    },
    listKeys: {
      summary: 'List your API keys; administrators see all keys',
      needs: 'anyone',
      query: PagedQuery,
      answers: { 200: page(resources.KeySummary) },
    },
    createKey: {
      summary: 'Create an API key, with at most your own roles',
      needs: 'anyone',
      body: resources.KeyBody,
      answers: { 201: resources.CreatedKey },
    },
    deleteKey: {
      summary: 'Revoke an API key',
      needs: 'anyone',
      params: object({ keyId: Id }),
      answers: { 204: Nothing },
    },
    listProjects: {
      summary: 'List the projects that you may see',
      needs: 'anyone',
      query: PagedQuery,
      answers: { 200: page(resources.Project) },
    },
    putProject: {
      summary: 'Create or rename a project, or set its capability ceiling',
      needs: 'owner',
      params: object({ projectId: Id }),
      body: resources.ProjectBody,
      answers: { 200: resources.Project, 201: resources.Project },
    },
    deleteProject: {
      summary: 'Delete a project without workflows',
      needs: 'admin',
      params: object({ projectId: Id }),
      answers: { 204: Nothing },
    },
  }),
} satisfies Readonly<Record<OperationId, Operation>>;

function operate<B extends Type.TSchema>(summary: string, body: B) {
  return {
    summary,
    needs: 'operator',
    params: ofExecution,
    body,
    answers: { 202: executions.Accepted },
    isIdempotent: true,
  } as const;
}

/** A request that can be tried without effect, by `dryRun`. */
function preview<B extends Type.TSchema>(summary: string, body: B) {
  return { ...operate(summary, body), answers: { 202: executions.Accepted, 200: executions.ReopenPreview } } as const;
}

function ofLease<B extends Type.TSchema, A extends Type.TSchema>(summary: string, body: B, answer: A) {
  return {
    summary,
    needs: 'worker',
    params: object({ leaseId: Type.String({ maxLength: 5_000 }) }),
    body,
    answers: { 200: answer },
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
/** The type of a successful response. */
export type AnswerOf<K extends OperationId> = Table[K]['answers'] extends infer A
  ? { [S in keyof A]: A[S] extends Type.TSchema ? Type.Static<A[S]> : never }[keyof A]
  : never;
