/** Compiles the values, conditions and matchers of a definition, and reports their problems with positions. */
import type { ProblemList } from '../definition/problem-list.ts';
import {
  Allowance,
  type CompiledMatcher,
  type CompiledValue,
  type CompileOptions,
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
  private readonly maxChars: number;
  private readonly options: CompileOptions;
  private path: DocumentPath = [];

  /** `maxChars` limits the total length of the compiled expressions and patterns. */
  constructor(problems: ProblemList, maxChars: number) {
    this.problems = problems;
    this.maxChars = maxChars;
    this.options = { allowance: new Allowance(maxChars), report: (error) => this.report(error) };
  }

  /** For a part of the definition (a node, an edge, an output) that compiles in one step, with its own allowance. */
  forPart(): ValueCompiler {
    return new ValueCompiler(this.problems, this.maxChars);
  }

  value(raw: Json, path: DocumentPath): CompiledValue;
  value(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined;
  value(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined {
    this.path = path;
    return raw === undefined ? undefined : compileValue(raw, this.options);
  }

  condition(raw: Json, path: DocumentPath): CompiledValue;
  condition(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined;
  condition(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined {
    this.path = path;
    return raw === undefined ? undefined : compileCondition(raw, this.options);
  }

  matcher(raw: Json | undefined, path: DocumentPath): Matcher | undefined {
    return raw === undefined ? undefined : this.placed(compileMatcher(raw, this.options.allowance), path);
  }

  errorMatcher(raw: Json | undefined, path: DocumentPath): ErrorMatcher | undefined {
    return raw === undefined ? undefined : this.placed(compileErrorMatcher(raw, this.options.allowance), path);
  }

  private report(error: ExpressionError): void {
    this.problems.error({
      code: error.code,
      message: error.message,
      hint: error.hint,
      path: [...this.path, ...error.path],
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
