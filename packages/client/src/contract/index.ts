/** The wire contract, shared by server, client, CLI and documentation. */

export type { Type } from 'typebox';
export { CONTRACT_LIMITS, DEFAULT_LEASE_MS, PAGE_LIMITS } from './limits.ts';
export {
  type AnswerOf,
  type BodyOf,
  type Needs,
  OPERATIONS,
  type Operation,
  type ParamsOf,
  type QueryOf,
} from './operations.ts';
export { API_PREFIX, auditOf, type HttpMethod, type OperationId, REPEATABLE, ROUTES } from './routes.ts';
export { ProblemDetails, Role } from './schemas/pieces.ts';
