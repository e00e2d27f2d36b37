/** Collects the problems of one source with their positions in its text. */
import type { DocumentPath, Problem, SourceRange } from '../problem.ts';
import type { SourceMap } from './source-map.ts';

export const REPORT_LIMITS = {
  /** The maximum number of errors, and of warnings, per file. Listing more costs time and helps nobody. */
  maxProblems: 1_000,
} as const;

export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly path?: DocumentPath;
  /**
   * The part to underline: the key, the value, or a part of a string value. Default: the value, if it is on one line.
   */
  readonly at?: 'key' | 'value' | { readonly offset: number; readonly length: number };
  /** The position, if already known. */
  readonly range?: SourceRange;
  /** Earlier versions accepted the construct: the finding does not apply to a definition that was accepted before. */
  readonly isTightened?: boolean;
}

export class ProblemList {
  readonly source: SourceMap;
  /** The definition was accepted before, perhaps by an earlier version: checks and limits added since do not apply. */
  readonly isAccepted: boolean;
  // Errors and warnings have separate limits, so that no number of warnings can hide an error.
  readonly #errors: Problem[] = [];
  readonly #warnings: Problem[] = [];

  constructor(source: SourceMap, isAccepted = false) {
    this.source = source;
    this.isAccepted = isAccepted;
  }

  /** True when further errors are dropped, so that checking can stop. */
  get full(): boolean {
    return this.#errors.length >= REPORT_LIMITS.maxProblems;
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  /** True when an error leaves nothing to check further. */
  get isBroken(): boolean {
    return this.#errors.some((error) => !isLocal(error));
  }

  error(finding: Finding): void {
    if (finding.isTightened === true && this.isAccepted) return;
    if (!this.full) this.#errors.push(this.#locate('error', finding));
  }

  warning(finding: Finding): void {
    if (this.#warnings.length < REPORT_LIMITS.maxProblems) this.#warnings.push(this.#locate('warning', finding));
  }

  sorted(): Problem[] {
    return inTextOrder([...this.#errors, ...this.#warnings]);
  }

  #locate(severity: Problem['severity'], finding: Finding): Problem {
    const { code, message, hint, path = [] } = finding;
    const range = finding.range ?? this.#rangeOf(path, finding.at);
    return {
      severity,
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      path: this.source.documentPath(path),
      ...(range === undefined ? {} : { range }),
    };
  }

  #rangeOf(path: DocumentPath, at: Finding['at']): SourceRange | undefined {
    if (typeof at === 'object') return this.source.rangeInside(path, at.offset, at.length);
    const range = this.source.rangeOf(path, at);
    if (at !== undefined || !range) return range;
    const end = this.source.text.indexOf('\n', range.offset);
    return end === -1 || end >= range.offset + range.length ? range : this.source.rangeOf(path, 'key');
  }
}

/** Errors of a single value. The rest is checked as if they were corrected. */
const LOCAL: ReadonlySet<string> = new Set(['JOIN_TOO_HIGH', 'BAD_PARAMETER', 'BAD_WORKFLOW_INPUT']);

export function isLocal({ severity, code }: Problem): boolean {
  return severity === 'warning' || LOCAL.has(code);
}

/** Sorts by position; problems without a position come first. A later stage that adds problems sorts again. */
export function inTextOrder(problems: readonly Problem[]): Problem[] {
  const offset = (problem: Problem): number => problem.range?.offset ?? -1;
  return problems.toSorted((a, b) => offset(a) - offset(b));
}
