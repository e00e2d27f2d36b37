export {
  type CallOptions,
  type ClientOptions,
  createClient,
  type LogOptions,
  NebulaClient,
  type ResultOptions,
  type RunHandle,
  type StartedRun,
  type StartRunOptions,
} from './client.ts';
export type { AnswerOf, BodyOf, OperationId, ParamsOf, ProblemDetails, QueryOf, Role } from './contract/index.ts';
export { ApiError, ConnectionError, ResultTimeoutError } from './errors.ts';
export { HttpTransport } from './http.ts';
export type { LiveEvent, LogLine } from './live.ts';
export type { FollowOptions, Progress, RequestInput, Transport } from './transport.ts';
export type { ResultOf, TypedWorkflow } from './typed-workflow.ts';
