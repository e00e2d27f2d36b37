/** Errors of calls to a server. */
import type { ProblemDetails } from './contract/index.ts';

/** The server rejected the request; carries its problem details. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly problem: ProblemDetails;
  /** The method and the URL of the request, without its query and without secrets. */
  readonly request: string;

  constructor(problem: ProblemDetails, request: string) {
    super(problem.detail);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.hint = problem.hint;
    this.retryable = problem.retryable ?? problem.status === 503;
    this.problem = problem;
    this.request = request;
  }
}

/** The server did not respond, even after retries. */
export class ConnectionError extends Error {
  readonly code = 'SERVER_UNREACHABLE';
  readonly hint: string;

  constructor(url: string, cause: unknown) {
    super(
      `${url} does not respond: ${cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause)}`,
      { cause },
    );
    this.name = 'ConnectionError';
    this.hint = `Check the URL, or start a server with \`nebula serve\`.`;
  }
}

/** The run had not ended when the time given to `result` was over. The run goes on. */
export class ResultTimeoutError extends Error {
  readonly code = 'RESULT_TIMEOUT';
  readonly executionId: string;

  constructor(executionId: string, timeoutMs: number) {
    super(`Execution ${executionId} has not ended within ${timeoutMs} ms.`);
    this.name = 'ResultTimeoutError';
    this.executionId = executionId;
  }
}
