/**
 * The wire contract, shared by server, client, CLI and documentation. Its schemas bring TypeBox, nearly a third of the start of
 * `nebula run`: commands that need only a limit or a route import `limits` or `routes`.
 */

export type { Type } from 'typebox';
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
