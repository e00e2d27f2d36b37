/** Turns any thrown value into a message, a JSON document and an exit code. */
import type { Json } from '@nebula/core';
import { EXIT } from './exit-code.ts';
import type { ErrorReport } from './views/error.ts';

export interface Failure extends ErrorReport {
  readonly exitCode: number;
  /** Lines printed before the error, e.g. the problems of a file with their positions. */
  readonly preface: readonly string[];
  readonly details: Json | undefined;
}

/** An error with a code, and possibly a hint, a preface and details. */
interface CodedError extends Error {
  readonly code: string;
  readonly hint?: string;
  readonly details?: Json;
  readonly preface?: readonly string[];
  readonly exitCode?: number;
}

const ISSUES = 'Please report it with this text; NEBULA_DEBUG=1 or --debug shows where it happened.';

const UNCAUGHT_HINT = 'Catch it in the action; `nebula resume` continues unfinished runs.';
/** Folders of Nebula's own code, in the repository and in an installation. */
const NEBULA_SOURCES = [
  ...['packages/', 'apps/', 'node_modules/'].map((folder) => new URL(`../../../${folder}`, import.meta.url).href),
  '/node_modules/@nebula/',
];

export function failureOf(error: unknown, isDebugging: boolean): Failure {
  const stack = isDebugging && error instanceof Error ? stackOf(error) : undefined;
  if (isCoded(error)) {
    return {
      code: error.code,
      message: error.message,
      hint: error.hint,
      stack,
      exitCode: error.exitCode ?? EXIT.invalid,
      preface: error.preface ?? [],
      details: error.details,
    };
  }
  return {
    code: 'INTERNAL',
    message: `this is a bug in Nebula: ${error instanceof Error ? error.message : String(error)}`,
    hint: ISSUES,
    stack,
    exitCode: EXIT.internal,
    preface: [],
    details: undefined,
  };
}

/** The failure of an exception that no `await` of Nebula caught. */
export function uncaughtFailureOf(error: unknown, isDebugging: boolean): Failure {
  const failure = failureOf(error, isDebugging);
  if (!(error instanceof Error) || isCoded(error) || isThrownByNebula(error)) return failure;
  return {
    ...failure,
    code: 'UNCAUGHT',
    message: `code of this project threw an exception outside of any attempt: ${error.message}`,
    hint: UNCAUGHT_HINT,
    stack: error.stack,
    exitCode: EXIT.failed,
  };
}

/** The failure of a process that foreign code ended with `process.exit()`. */
export function exitedFailure(resumeCommand: string | undefined): Failure {
  return {
    code: 'EXITED',
    message: 'code of this project ended the process before the run ended',
    hint:
      resumeCommand === undefined
        ? 'nebula.config.* and what it imports must not call process.exit()'
        : `nothing finished is lost; remove process.exit(), then continue with\n${resumeCommand}`,
    exitCode: EXIT.failed,
    preface: [],
    details: undefined,
  };
}

/** Tells Nebula's errors from those that an action throws in a timer or an emitter, where nothing can catch them. */
function isThrownByNebula(error: Error): boolean {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('node:'));
  const [first] = frames;
  return first === undefined || NEBULA_SOURCES.some((folder) => first.includes(folder));
}

/** Checks the shape, not the class: loading the class slows every start, and a project may have a second copy of it. */
function isCoded(error: unknown): error is CodedError {
  return (
    error instanceof Error &&
    (error.name === 'NebulaError' || 'hint' in error) &&
    typeof (error as CodedError).code === 'string'
  );
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}

/** The document that `--json` prints for a failure. */
export function failureDocument({ code, message, hint, details }: Failure): unknown {
  return { error: { code, message, ...(hint !== undefined && { hint }), ...(details !== undefined && { details }) } };
}
