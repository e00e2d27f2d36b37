/** Errors of expressions: code, message, hint and position in the source. */
import { NebulaError, type NebulaErrorOptions } from '../error.ts';
import { clipped, type DocumentPath } from '../problem.ts';
import type { Json } from '../value.ts';

/**
 * Error codes:
 *  - SYNTAX: the text is not an expression
 *  - REFERENCE: a name does not exist (a node, a member, a function, a loop)
 *  - TYPE: a value has the wrong kind for the operation
 *  - VALUE: the kind is right, the value is not (an invalid date, a division by zero)
 *  - LIMIT: the budget is exhausted
 */
export type ExpressionErrorCode =
  | 'EXPRESSION_SYNTAX'
  | 'EXPRESSION_REFERENCE'
  | 'EXPRESSION_TYPE'
  | 'EXPRESSION_VALUE'
  | 'EXPRESSION_LIMIT';

/** A range in the source of an expression; `offset` counts UTF-16 units from 0. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

/** The place of a value in the definition of a workflow. */
export interface ValueOrigin {
  readonly workflowId: string;
  readonly path: DocumentPath;
}

export class ExpressionError extends NebulaError {
  declare readonly code: ExpressionErrorCode;
  /** True when the expression read a member or an element that the value does not have. */
  readonly isMissing: boolean;
  private span: Span | undefined;
  private documentPath: DocumentPath = [];
  private valueOrigin: ValueOrigin | undefined;

  constructor(
    code: ExpressionErrorCode,
    message: string,
    options: NebulaErrorOptions & { at?: Span; isMissing?: boolean } = {},
  ) {
    super(code, message, options);
    this.isMissing = options.isMissing ?? false;
    this.name = 'ExpressionError';
    this.span = options.at;
  }

  get hasSpan(): boolean {
    return this.span !== undefined;
  }

  get offset(): number {
    return this.span?.offset ?? 0;
  }

  get length(): number {
    return this.span?.length ?? 0;
  }

  /** Path inside the value to the string that contains the expression; empty for a bare expression. */
  get path(): DocumentPath {
    return this.documentPath;
  }

  /** Sets the position of the error, unless a deeper and therefore more exact one is known. */
  locate(span: Span): this {
    this.span ??= span;
    return this;
  }

  /** Clips the position to a source of this length: an error at the end has no character to point at. */
  clip(sourceLength: number): this {
    const offset = Math.min(this.offset, sourceLength);
    this.span = { offset, length: Math.min(this.length, sourceLength - offset) };
    return this;
  }

  /** The place of the value that contains the expression, if it is part of a workflow. */
  get origin(): ValueOrigin | undefined {
    return this.valueOrigin;
  }

  locateIn(path: DocumentPath, origin?: ValueOrigin): this {
    this.documentPath = path;
    this.valueOrigin = origin;
    return this;
  }
}

/** Runs a step that knows where its value is in a workflow: an error that has no more exact place gets this one. */
export function placed<T>(step: () => T, origin: ValueOrigin | undefined, path: DocumentPath = [], span?: Span): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof ExpressionError && error.origin === undefined) {
      if (span !== undefined) error.locate(span);
      error.locateIn(path, origin);
    }
    throw error;
  }
}

/** The place of an error for `details.at`; undefined if its value is not part of a workflow. Without a span, the whole value. */
export function placeOf(error: ExpressionError): Json | undefined {
  const { origin, path, offset, length } = error;
  if (origin === undefined) return undefined;
  return {
    workflowId: origin.workflowId,
    path: [...origin.path, ...path],
    ...(error.hasSpan && { offset, length }),
  };
}

export function quoted(text: string): string {
  return JSON.stringify(clipped(text));
}

/** Adds a position to an error, in a `catch` around code that does not know its position in the source. */
export function located(error: unknown, span: Span): unknown {
  return error instanceof ExpressionError ? error.locate(span) : error;
}

export function typeError(message: string, hint?: string): ExpressionError {
  return new ExpressionError('EXPRESSION_TYPE', message, hint === undefined ? {} : { hint });
}

export function valueError(message: string, hint?: string): ExpressionError {
  return new ExpressionError('EXPRESSION_VALUE', message, hint === undefined ? {} : { hint });
}

export function limitError(message: string, hint?: string): ExpressionError {
  return new ExpressionError('EXPRESSION_LIMIT', message, hint === undefined ? {} : { hint });
}
