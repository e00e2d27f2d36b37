/**
 * A definition → a plan, or everything that is wrong with it.
 * The definition has the right shape already (`readDefinition`); here its names, expressions and types are checked.
 */
import type { Catalog } from '../action.ts';
import type { WorkflowDefinition } from '../definition/model.ts';
import { type Finding, ProblemList } from '../definition/problem-list.ts';
import { type SourceMap, TextSourceMap } from '../definition/source-map.ts';
import { NebulaError } from '../error.ts';
import { createBudget } from '../expression/index.ts';
import type { Graph } from '../graph/index.ts';
import { EXPRESSION_LIMITS, type ExpressionLimits, RUN_DEFAULTS } from '../limits.ts';
import type { DocumentPath, Problem } from '../problem.ts';
import { compileSchema, describePath, type SchemaCheck } from '../schema/index.ts';
import { type Json, type JsonSchema, nestsDeeper, pathToNonFinite } from '../value.ts';
import { GraphCompiler } from './graph-compiler.ts';
import type { Plan } from './plan.ts';
import { durationOf } from './retry-plan.ts';

export interface Compilation {
  /** Undefined when there is at least one error. */
  readonly plan: Plan | undefined;
  /** In the order of the source. */
  readonly problems: readonly Problem[];
}

export interface CompileOptions {
  /** The graph, where it was built and checked already: its problems are not told again. */
  readonly graph?: Graph;
  /** False when edges of the graph are missing, because they name nobody: what is upstream is then not known. */
  readonly isGraphWhole?: boolean;
  /** Gives problems their place; without it they have paths only. */
  readonly source?: SourceMap;
  readonly limits?: ExpressionLimits;
  /** The clock against which evaluations are timed; without it only operations are counted. */
  readonly now?: () => number;
}

export function compilePlan(
  definition: WorkflowDefinition,
  catalog: Catalog,
  options: CompileOptions = {},
): Compilation {
  const { source = new TextSourceMap('', undefined, () => undefined), limits = EXPRESSION_LIMITS } = options;
  const problems = new ProblemList(source);
  const input = checkedSchema(problems, definition.input, ['input']);
  const root = new GraphCompiler(definition, catalog, problems, options).compile();
  if (problems.hasErrors || root === undefined) return { plan: undefined, problems: problems.sorted() };
  const { config = {} } = definition;
  const mode = config.mode ?? 'parallel';
  const plan: Plan = {
    workflowId: definition.id,
    version: definition.version ?? 1,
    definition,
    root,
    variables: definition.variables ?? {},
    mode,
    maxParallelism: mode === 'sequential' ? 1 : (config.maxParallelism ?? RUN_DEFAULTS.maxParallelism),
    timeoutMs: durationOf(config.timeout) ?? null,
    onFailure: config.onFailure ?? 'fail-fast',
    maxTotalRetries: config.maxTotalRetries ?? Number.POSITIVE_INFINITY,
    retentionMs: config.retention === 'forever' ? null : durationOf(config.retention),
    acceptInput: (value) => acceptInput(input, value),
    newBudget: () => createBudget(limits, options.now),
  };
  return { plan, problems: problems.sorted() };
}

function checkedSchema(
  problems: ProblemList,
  schema: JsonSchema | undefined,
  path: DocumentPath,
): SchemaCheck | undefined {
  if (schema === undefined) return undefined;
  try {
    return compileSchema(schema, { fillDefaults: true });
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    problems.error({ code: 'BAD_SCHEMA', message: error.message, hint: error.hint, path } satisfies Finding);
    return undefined;
  }
}

function acceptInput(check: SchemaCheck | undefined, given: Json): ReturnType<Plan['acceptInput']> {
  if (nestsDeeper(given, RUN_DEFAULTS.maxInputDepth)) {
    return { input: null, problems: [`the input nests deeper than ${RUN_DEFAULTS.maxInputDepth} levels`] };
  }
  const odd = pathToNonFinite(given);
  if (odd !== undefined) {
    return { input: null, problems: [`${describePath(odd, 'the input')} is a number that is too large`] };
  }
  if (check === undefined || check.takesAll) return { input: given, problems: [] };
  // Defaults are filled in place, and the caller's value is not ours to change.
  const input = structuredClone(given);
  const problems = check.problems(input) ?? [];
  return { input, problems: problems.map(({ path, message }) => `${describePath(path, 'the input')} ${message}`) };
}
