/** Errors as RFC 9457 problems. They never show internals of the server. */
import type { ProblemDetails } from '@nebula/client/contract';
import { type Json, NebulaError } from '@nebula/core';

/** The status of each code; one that is not here is 422, or 503 where trying again may help. */
const STATUS: Readonly<Record<string, number>> = {
  BODY_INVALID: 400,
  QUERY_INVALID: 400,
  CURSOR_INVALID: 400,
  EXECUTION_ID_INVALID: 400,
  BLOB_KEY_INVALID: 400,
  TIME_INVALID: 400,
  NOT_SIGNED_IN: 401,
  LOGIN_FAILED: 401,
  NOT_ALLOWED: 403,
  CSRF: 403,
  SIGNATURE_WRONG: 403,
  NO_SUCH_ROUTE: 404,
  NOT_FOUND: 404,
  UNKNOWN_ACTION: 404,
  UNKNOWN_CALLBACK: 404,
  UNKNOWN_DRAFT: 404,
  UNKNOWN_SECRET: 404,
  UNKNOWN_EXECUTION: 404,
  UNKNOWN_KEY: 404,
  UNKNOWN_NODE: 404,
  UNKNOWN_NOTIFICATION: 404,
  UNKNOWN_PLAN: 404,
  UNKNOWN_PROJECT: 404,
  UNKNOWN_SCHEDULE: 404,
  UNKNOWN_USER: 404,
  UNKNOWN_WORKER: 404,
  UNKNOWN_WORKFLOW: 404,
  BLOB_MISSING: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_LATE: 408,
  ALREADY_FINISHED: 409,
  ALREADY_SETTLED: 409,
  BACKUP_RUNNING: 409,
  CALLBACK_USED: 409,
  CHANGED_MEANWHILE: 409,
  NOT_A_DESKTOP: 409,
  EXECUTION_ID_TAKEN: 409,
  FILE_CHANGED: 409,
  NOT_SAVED_TO_FILE: 409,
  ID_TAKEN: 409,
  NOTHING_TO_RETRY: 409,
  NOT_FINISHED: 409,
  NOT_WAITING: 409,
  PATH_TAKEN: 409,
  PLAN_INACTIVE: 409,
  PROJECT_NOT_EMPTY: 409,
  SCHEDULE_OF_WORKFLOW: 409,
  STALE_LEASE: 409,
  STILL_RUNNING: 409,
  SAME_VERSION: 409,
  MIGRATION_BLOCKED: 409,
  DECISION_NEEDED: 409,
  NOT_MIGRATED: 409,
  OTHER_VERSION: 409,
  SKIPPED: 409,
  VERSION_TAKEN: 409,
  ACTION_OWNED: 409,
  ETAG_MISMATCH: 412,
  TOO_LARGE: 413,
  MEDIA_TYPE: 415,
  RANGE_INVALID: 416,
  TOO_MANY_FOLLOWERS: 429,
  TOO_MANY_LOGINS: 429,
  HEAD_TOO_LARGE: 431,
  BUSY: 503,
  ENGINE_CLOSED: 503,
  STORE_BUSY: 503,
  STORE_FAILED: 503,
  STORE_GONE: 503,
  STORE_LOCKED: 503,
  DISK_FULL: 507,
};

export interface ProblemAnswer {
  readonly status: number;
  readonly body: ProblemDetails;
}

export function problemOf(error: unknown): ProblemAnswer {
  if (error instanceof NebulaError && OF_THE_MACHINE.test(error.code)) return machineProblem(error);
  if (error instanceof NebulaError) {
    const status = STATUS[error.code] ?? (error.retryable ? 503 : 422);
    const errors = fieldErrors(error.details);
    const body = {
      ...base(status, error.code, error.message),
      ...(error.hint !== undefined && { hint: error.hint }),
      ...(error.retryable && { retryable: true }),
      ...(errors === undefined ? error.details !== undefined && { details: error.details } : { errors }),
    };
    return { status, body: shortened(body) as ProblemDetails };
  }
  return {
    status: 500,
    body: { ...base(500, 'INTERNAL', 'The server failed to answer this request.'), hint: 'See the log of the server.' },
  };
}

/** Messages of these errors name files of the server; they belong in its log only. */
const OF_THE_MACHINE = /^(STORE|SECRETS|DATA_DIR|DISK|JOURNAL|THREAD)_/;

function machineProblem({ code, retryable }: NebulaError): ProblemAnswer {
  const status = STATUS[code] ?? (retryable ? 503 : 500);
  const detail = code === 'DISK_FULL' ? 'There is no space left on the server.' : 'The server cannot use its data.';
  const body = {
    ...base(status, code, detail),
    hint: 'See the log of the server.',
    ...(retryable && { retryable: true }),
  };
  return { status, body };
}

function base(status: number, code: string, detail: string): ProblemDetails {
  return {
    type: `urn:nebula:problem:${code.toLowerCase().replaceAll('_', '-')}`,
    title: TITLES[status] ?? 'Error',
    status,
    detail,
    code,
  };
}

/** At most this much of the caller's own text is repeated in an error. */
const MAX_ECHO = 200;
const MAX_TEXT = 4_000;
const MAX_ITEMS = 100;
const MAX_DEPTH = 20;

function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return shortText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((one) => shortened(one, depth + 1));
  const members = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(members.map(([name, one]) => [shortText(name), shortened(one, depth + 1)]));
}

function shortText(text: string): string {
  const words = text.replace(/\S{201,}/g, cut).replace(/'[^']{201,}'/g, (quoted) => `'${cut(quoted.slice(1, -1))}'`);
  return words.length > MAX_TEXT ? `${words.slice(0, MAX_TEXT)}…` : words;
}

const cut = (text: string): string => `${text.slice(0, MAX_ECHO - 1)}…`;

/** The invalid members of a body or a query, as the validator reports them. */
function fieldErrors(details: Json | undefined): ProblemDetails['errors'] {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return undefined;
  const { errors } = details as { errors?: ProblemDetails['errors'] };
  return Array.isArray(errors) ? errors : undefined;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not signed in',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Too late',
  409: 'Conflict',
  412: 'Changed meanwhile',
  413: 'Too large',
  415: 'Unsupported media type',
  416: 'Range not satisfiable',
  422: 'Cannot be done',
  429: 'Too many requests',
  431: 'Too large a head',
  500: 'Internal error',
  503: 'Not now',
  507: 'No space left',
};
