/**
 * Method and path under `/api/v1` of every operation, by id. Clients need nothing else at run time; `operations.ts` has
 * the schemas.
 */
export const ROUTES = {
  getInfo: 'GET /info',

  validateWorkflow: 'POST /workflows/validate',
  registerWorkflow: 'POST /workflows',
  listWorkflows: 'GET /workflows',
  getWorkflow: 'GET /workflows/:workflowId',
  listWorkflowVersions: 'GET /workflows/:workflowId/versions',
  getWorkflowVersion: 'GET /workflows/:workflowId/versions/:version',
  activateWorkflow: 'POST /workflows/:workflowId/activate',
  deactivateWorkflow: 'POST /workflows/:workflowId/deactivate',
  diffWorkflow: 'GET /workflows/:workflowId/diff',
  compareWorkflow: 'POST /workflows/:workflowId/compare',
  archiveWorkflow: 'POST /workflows/:workflowId/archive',
  unarchiveWorkflow: 'POST /workflows/:workflowId/unarchive',
  getLayout: 'GET /workflows/:workflowId/layout',
  putLayout: 'PUT /workflows/:workflowId/layout',
  listDrafts: 'GET /drafts',
  getDraft: 'GET /drafts/:draftId',
  putDraft: 'PUT /drafts/:draftId',
  deleteDraft: 'DELETE /drafts/:draftId',

  startExecution: 'POST /executions',
  listExecutions: 'GET /executions',
  countExecutions: 'GET /executions/counts',
  bulkExecutions: 'POST /executions/bulk',
  getExecution: 'GET /executions/:executionId',
  getResult: 'GET /executions/:executionId/result',
  awaitRest: 'GET /executions/:executionId/rest',
  deleteExecution: 'DELETE /executions/:executionId',
  relaunchExecution: 'POST /executions/:executionId/relaunch',
  getJournal: 'GET /executions/:executionId/journal',
  getTimeline: 'GET /executions/:executionId/timeline',
  listIterations: 'GET /executions/:executionId/iterations',
  listAttempts: 'GET /executions/:executionId/attempts',
  explainExecution: 'GET /executions/:executionId/explain',
  getUndoPlan: 'GET /executions/:executionId/undo-plan',
  getDefinition: 'GET /executions/:executionId/definition',
  getValues: 'GET /executions/:executionId/values',
  getBlob: 'GET /executions/:executionId/blobs/:sha256',
  listLogs: 'GET /executions/:executionId/logs',
  cancelExecution: 'POST /executions/:executionId/cancel',
  pauseExecution: 'POST /executions/:executionId/pause',
  resumeExecution: 'POST /executions/:executionId/resume',
  signalExecution: 'POST /executions/:executionId/signal',
  answerApproval: 'POST /executions/:executionId/answer',
  callBack: 'POST /executions/:executionId/callback',
  retryExecution: 'POST /executions/:executionId/retry',
  replayExecution: 'POST /executions/:executionId/replay',
  migrateExecution: 'POST /executions/:executionId/migrate',
  settleNode: 'POST /executions/:executionId/settle',
  publishSignal: 'POST /signals',
  listPermits: 'GET /executions/:executionId/permits',

  listHumanTasks: 'GET /human-tasks',
  countHumanTasks: 'GET /human-tasks/counts',
  getStatistics: 'GET /statistics',
  downloadLogs: 'GET /executions/:executionId/logs/text',
  listTriggers: 'GET /triggers',
  getFleet: 'GET /fleet',

  followExecution: 'GET /executions/:executionId/events',
  followLogs: 'GET /executions/:executionId/logs/stream',
  followAll: 'GET /events',

  startTest: 'POST /tests',
  listOutputs: 'GET /executions/:executionId/outputs',
  rehearseWorkflow: 'POST /workflows/:workflowId/rehearse',

  listActions: 'GET /actions',
  getAction: 'GET /actions/:actionId',
  removeAnnouncedAction: 'DELETE /actions/:actionId',

  listSecrets: 'GET /secrets',
  putSecret: 'PUT /secrets/:name',
  deleteSecret: 'DELETE /secrets/:name',

  listLaunchPlans: 'GET /plans',
  getLaunchPlan: 'GET /plans/:planId',
  putLaunchPlan: 'PUT /plans/:planId',
  deleteLaunchPlan: 'DELETE /plans/:planId',

  listSchedules: 'GET /schedules',
  getSchedule: 'GET /schedules/:scheduleId',
  putSchedule: 'PUT /schedules/:scheduleId',
  deleteSchedule: 'DELETE /schedules/:scheduleId',
  fireSchedule: 'POST /schedules/:scheduleId/fire',

  listNotifications: 'GET /notifications',
  putNotification: 'PUT /notifications/:notificationId',
  deleteNotification: 'DELETE /notifications/:notificationId',
  testNotification: 'POST /notifications/:notificationId/test',

  listWorkers: 'GET /workers',
  registerWorker: 'POST /workers',
  claimWork: 'POST /workers/:workerId/claim',
  beatWorker: 'POST /workers/:workerId/heartbeat',
  deleteWorker: 'DELETE /workers/:workerId',
  extendLease: 'POST /leases/:leaseId/heartbeat',
  logLease: 'POST /leases/:leaseId/logs',
  completeLease: 'POST /leases/:leaseId/complete',
  failLease: 'POST /leases/:leaseId/fail',
  revealCredential: 'POST /leases/:leaseId/credentials/:alias',

  listCache: 'GET /cache',
  forgetCache: 'DELETE /cache',
  listAudit: 'GET /audit',
  createBackup: 'POST /backup',

  login: 'POST /login',
  createSignInCode: 'POST /sign-in-codes',
  signIn: 'POST /sign-in',
  logout: 'POST /logout',
  changeOwnPassword: 'POST /me/password',
  getMe: 'GET /me',
  listUsers: 'GET /users',
  putUser: 'PUT /users/:userId',
  deleteUser: 'DELETE /users/:userId',
  listKeys: 'GET /keys',
  createKey: 'POST /keys',
  deleteKey: 'DELETE /keys/:keyId',
  listProjects: 'GET /projects',
  putProject: 'PUT /projects/:projectId',
  deleteProject: 'DELETE /projects/:projectId',
} as const satisfies Readonly<Record<string, `${HttpMethod} /${string}`>>;

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type OperationId = keyof typeof ROUTES;

/** The prefix of all paths above. */
export const API_PREFIX = '/api/v1';

/** Operations that honour `Idempotency-Key`: a client may repeat them after a lost response. */
export const REPEATABLE: ReadonlySet<OperationId> = new Set<OperationId>([
  'registerWorkflow',
  'startExecution',
  'relaunchExecution',
  'cancelExecution',
  'pauseExecution',
  'resumeExecution',
  'signalExecution',
  'answerApproval',
  'callBack',
  'retryExecution',
  'replayExecution',
  'migrateExecution',
  'settleNode',
  'publishSignal',
  'fireSchedule',
  'startTest',
]);

/**
 * Operations that are not reads, but only check something, are the routine traffic of a worker, or save what nobody but
 * the caller sees.
 */
const UNAUDITED: ReadonlySet<OperationId> = new Set<OperationId>([
  'validateWorkflow',
  'compareWorkflow',
  'putDraft',
  'deleteDraft',
  'rehearseWorkflow',
  'claimWork',
  'beatWorker',
  'extendLease',
  'logLease',
  'completeLease',
  'failLease',
]);

/**
 * Whether calls of an operation are recorded in the audit log: `never`, `always`, or only by a `server`. On a data folder,
 * the journal records changes of runs.
 */
export function auditOf(operation: OperationId): 'never' | 'server' | 'always' {
  if (ROUTES[operation].startsWith('GET ') || UNAUDITED.has(operation)) return 'never';
  return /^\w+ \/(executions|signals|tests)\b/.test(ROUTES[operation]) ? 'server' : 'always';
}
