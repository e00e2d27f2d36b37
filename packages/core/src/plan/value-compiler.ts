/** Compiles the values, conditions and matchers of a definition, and places what is wrong with them. */
import type { ProblemList } from '../definition/problem-list.ts';
import {
  type CompiledMatcher,
  type CompiledValue,
  compileCondition,
  compileErrorMatcher,
  compileMatcher,
  compileValue,
  type ErrorMatcher,
  type ExpressionError,
  type Matcher,
} from '../expression/index.ts';
import type { DocumentPath } from '../problem.ts';
import type { Json } from '../value.ts';

export class ValueCompiler {
  private readonly problems: ProblemList;

  constructor(problems: ProblemList) {
    this.problems = problems;
  }

  value(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined {
    return raw === undefined ? undefined : compileValue(raw, { report: (error) => this.report(error, path) });
  }

  condition(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined {
    return raw === undefined ? undefined : compileCondition(raw, { report: (error) => this.report(error, path) });
  }

  matcher(raw: Json | undefined, path: DocumentPath): Matcher | undefined {
    return raw === undefined ? undefined : this.placed(compileMatcher(raw), path);
  }

  errorMatcher(raw: Json | undefined, path: DocumentPath): ErrorMatcher | undefined {
    return raw === undefined ? undefined : this.placed(compileErrorMatcher(raw), path);
  }

  private report(error: ExpressionError, path: DocumentPath): void {
    this.problems.error({
      code: error.code,
      message: error.message,
      hint: error.hint,
      path: [...path, ...error.path],
      at: { offset: error.offset, length: error.length },
    });
  }

  private placed<M>(compiled: CompiledMatcher<M>, path: DocumentPath): M | undefined {
    for (const { severity, ...finding } of compiled.problems) {
      this.problems[severity]({ ...finding, path: [...path, ...finding.path] });
    }
    return compiled.matcher;
  }
}
