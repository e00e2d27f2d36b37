export {
  type CallOptions,
  type ClientOptions,
  createClient,
  type LogOptions,
  NebulaClient,
  type RunHandle,
  type StartedRun,
  type StartRunOptions,
} from './client.ts';
export type { AnswerOf, BodyOf, OperationId, ParamsOf, ProblemDetails, QueryOf, Role } from './contract/index.ts';
export { ApiError, ConnectionError } from './errors.ts';
export { HttpTransport } from './http.ts';
export type { LiveEvent, LogLine } from './live.ts';
export type { FollowOptions, RequestInput, Transport } from './transport.ts';
