/** What can go wrong when calling a server. */
import type { ProblemDetails } from './contract/index.ts';

/** The server said no: its problem, as an error. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly problem: ProblemDetails;

  constructor(problem: ProblemDetails) {
    super(problem.detail);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.hint = problem.hint;
    this.retryable = problem.retryable ?? problem.status === 503;
    this.problem = problem;
  }
}

/** No answer came, also after trying again. */
export class ConnectionError extends Error {
  readonly code = 'SERVER_UNREACHABLE';
  readonly hint: string;

  constructor(url: string, cause: unknown) {
    super(
      `${url} does not answer: ${cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause)}`,
      { cause },
    );
    this.name = 'ConnectionError';
    this.hint = `Does a server run there? \`nebula serve\` starts one.`;
  }
}
