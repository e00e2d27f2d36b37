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
  type ValueOrigin,
} from '../expression/index.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import type { DocumentPath } from '../problem.ts';
import type { Json } from '../value.ts';

export class ValueCompiler {
  private readonly problems: ProblemList;
  private readonly workflowId: string | undefined;
  private readonly allowance: Allowance;
  private path: DocumentPath = [];

  /** `workflowId`: the workflow whose definition has the values; undefined for a graph that an action returned. */
  constructor(problems: ProblemList, workflowId: string | undefined) {
    this.problems = problems;
    this.workflowId = workflowId;
    this.allowance = new Allowance(problems.isAccepted ? undefined : DEFINITION_LIMITS.maxExpressionChars);
  }

  /** For a part of the definition (a node, an edge, an output) that compiles in one step, with its own allowance. */
  forPart(): ValueCompiler {
    return new ValueCompiler(this.problems, this.workflowId);
  }

  value(raw: Json, path: DocumentPath): CompiledValue;
  value(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined;
  value(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined {
    this.path = path;
    return raw === undefined ? undefined : compileValue(raw, this.optionsAt(path));
  }

  condition(raw: Json, path: DocumentPath): CompiledValue;
  condition(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined;
  condition(raw: Json | undefined, path: DocumentPath): CompiledValue | undefined {
    this.path = path;
    return raw === undefined ? undefined : compileCondition(raw, this.optionsAt(path));
  }

  matcher(raw: Json | undefined, path: DocumentPath): Matcher | undefined {
    return raw === undefined ? undefined : this.located(compileMatcher(raw, this.allowance, this.originAt(path)), path);
  }

  errorMatcher(raw: Json | undefined, path: DocumentPath, isTightened = false): ErrorMatcher | undefined {
    if (raw === undefined) return undefined;
    return this.located(compileErrorMatcher(raw, this.allowance, this.originAt(path)), path, isTightened);
  }

  private optionsAt(path: DocumentPath): CompileOptions {
    const { allowance, report } = this;
    const origin = this.originAt(path);
    return origin === undefined ? { allowance, report } : { allowance, report, origin };
  }

  private originAt(path: DocumentPath): ValueOrigin | undefined {
    const { workflowId } = this;
    return workflowId === undefined ? undefined : { workflowId, path };
  }

  private readonly report = (error: ExpressionError): void => {
    this.problems.error({
      code: error.code,
      message: error.message,
      hint: error.hint,
      path: [...this.path, ...error.path],
      at: { offset: error.offset, length: error.length },
    });
  };

  private located<M>(compiled: CompiledMatcher<M>, path: DocumentPath, isTightened = false): M | undefined {
    for (const { severity, ...finding } of compiled.problems) {
      this.problems[severity]({ ...finding, path: [...path, ...finding.path], isTightened });
    }
    return compiled.matcher;
  }
}
