/**
 * Compiles a definition to a plan, or returns all its problems. `readDefinition` has already checked the shape; this
 * file checks names, expressions and types.
 */
import type { Capabilities, Catalog } from '../action.ts';
import { type Ceiling, joinCapabilities, narrow } from '../capability/narrow.ts';
import { beginCopy } from '../copy.ts';
import { checkGraphs, type Graphs } from '../definition/graphs.ts';
import type { RetryRules, WorkflowDefinition } from '../definition/model.ts';
import { ProblemList } from '../definition/problem-list.ts';
import { bodyKey, type SourceMap, TextSourceMap } from '../definition/source-map.ts';
import { type CompiledValue, createBudget } from '../expression/index.ts';
import type { Graph } from '../graph/index.ts';
import { EXPRESSION_LIMITS, type ExpressionLimits, RUN_DEFAULTS } from '../limits.ts';
import type { Problem } from '../problem.ts';
import { describePath, givenProblem, isUnfinished, type SchemaCheck, type SchemaProblem } from '../schema/index.ts';
import type { Steps } from '../steps.ts';
import type { Json, JsonSchema } from '../value.ts';
import type { CompileContext, CompiledInside, DefaultRetry, GraphRecord, Verify, Workflows } from './context.ts';
import { compileGraph } from './graph-compiler.ts';
import { checkCeiling, entryPath } from './kinds/action.ts';
import { checkedSchema } from './parameters.ts';
import type { AcceptedInput, CallbackUrl, NodePlan, Plan, StartPlan, SubPlan, TriggerPlan } from './plan.ts';
import { References } from './references.ts';
import { durationOf, retryPlan } from './retry-plan.ts';
import { compileTriggers } from './trigger-plan.ts';
import { ValueCompiler } from './value-compiler.ts';
import { variablesOf } from './variables.ts';

export interface Compilation {
  /** Undefined when there is at least one error. */
  readonly plan: Plan | undefined;
  /** In source order. */
  readonly problems: readonly Problem[];
}

export interface CompileOptions {
  /** Graphs that were already built and checked; their problems are not reported again. */
  readonly graphs?: Graphs;
  /** False when edges are missing because they name unknown nodes; upstream relations are then unknown. */
  readonly isGraphWhole?: boolean;
  /** Adds positions to problems; without it they have paths only. */
  readonly source?: SourceMap;
  readonly limits?: ExpressionLimits;
  /** The definition was accepted before, perhaps by an earlier version: newer checks and limits do not apply to it. */
  readonly isAccepted?: boolean;
  /** Also reports constructs that can never work; a plan does not depend on it. */
  readonly verify?: boolean;
  /** The clock that limits evaluations; without it only operations are counted. */
  readonly now?: () => number;
  readonly callbackUrl?: CallbackUrl | undefined;
  /** The ceiling of runs; capabilities beyond it cause warnings. */
  readonly ceiling?: Ceiling;
  /** Other workflows by id and version (default: the newest). Inlined workflows must be among them. */
  readonly workflows?: (id: string, version?: number) => WorkflowDefinition | undefined;
  /** Ids of the other workflows, for suggestions. */
  readonly knownWorkflows?: readonly string[];
}

/** Compiles in steps that can be interleaved with other work. The catalog must not change meanwhile. */
export function* compileDefinition(
  definition: WorkflowDefinition,
  catalog: Catalog,
  options: CompileOptions,
  verify: Verify,
): Steps<Compilation> {
  const { source = nowhere(), limits = EXPRESSION_LIMITS } = options;
  const problems = new ProblemList(source, options.isAccepted);
  const workflows = inlined({ catalog, options, verify, around: [definition.id] });
  const graphs: GraphRecord[] = [];
  const record = options.verify ? (graph: GraphRecord): unknown => graphs.push(graph) : undefined;
  const compiled = yield* compileWorkflow(definition, catalog, problems, options, { workflows, verify, record });
  if (options.verify && !problems.isBroken && compiled !== undefined)
    yield* verify(definition, graphs, workflows.find, problems);
  if (problems.hasErrors || compiled === undefined) return { plan: undefined, problems: problems.sorted() };
  const { config = {} } = definition;
  const mode = config.mode ?? 'parallel';
  const plan: Plan = {
    ...compiled.sub,
    definition,
    mode,
    maxParallelism: mode === 'sequential' ? 1 : (config.maxParallelism ?? RUN_DEFAULTS.maxParallelism),
    failureNode: failureNodeOf(definition, compiled.sub),
    maxTotalRetries: config.maxTotalRetries ?? Number.POSITIVE_INFINITY,
    start: compiled.start,
    triggers: compiled.triggers,
    retentionMs: config.retention === 'forever' ? null : durationOf(config.retention),
    newBudget: () => createBudget(limits, options.now),
    callbackUrl: options.callbackUrl,
    draws: workflows.uses.draws,
    awaitsCalls: workflows.uses.callbacks,
  };
  return { plan, problems: problems.sorted() };
}

function nowhere(): SourceMap {
  return new TextSourceMap('', undefined, () => undefined);
}

function failureNodeOf({ config }: WorkflowDefinition, { root }: SubPlan): NodePlan | undefined {
  return config?.failureNode === undefined ? undefined : root.nodes[root.indexOf.get(config.failureNode) ?? -1];
}

interface CompiledWorkflow {
  readonly sub: SubPlan;
  readonly start: StartPlan | undefined;
  readonly triggers: readonly TriggerPlan[];
  /** The schema of the output, as far as known. */
  readonly output: JsonSchema | undefined;
}

/** Returns undefined when there are errors. */
function* compileWorkflow(
  definition: WorkflowDefinition,
  catalog: Catalog,
  problems: ProblemList,
  options: CompileOptions,
  { workflows, verify, record, bound }: Pick<CompileContext, 'workflows' | 'verify' | 'record' | 'bound'>,
): Steps<CompiledWorkflow | undefined> {
  const { config = {} } = definition;
  const asked = joinCapabilities(catalog.capabilities, config.capabilities ?? {});
  const input = checkedSchema(problems, definition.input, ['input'], { fillDefaults: true });
  yield;
  const graphs = options.graphs ?? checkGraphs(definition, problems);
  yield;
  if (graphs === undefined) return undefined;
  const values = new ValueCompiler(problems, definition.id);
  const context: CompileContext = {
    definition,
    catalog,
    problems,
    values,
    defaultRetry: defaultRetry(config.retry, { catalog, problems, values }),
    granted: bound === undefined ? asked : narrow(asked, bound),
    bound,
    ceiling: options.ceiling ?? 'all',
    variables: variablesOf(definition, workflows.find),
    graphs,
    isGraphWhole: options.isGraphWhole ?? true,
    workflows,
    record,
    compileGraph,
    verify,
  };
  checkCeiling(context, config.capabilities, entryPath(['config', 'capabilities']));
  const graph = graphs.get(bodyKey([])) as Graph;
  const start = compileStart(context, graph);
  const triggers = compileTriggers(context, (value, path) => checkAtStart(context, graph, value, path));
  const { plan: root, output } = yield* compileGraph({ body: definition, path: [], graph, depth: 0 }, context);
  if (root === undefined) return undefined;
  const sub: SubPlan = {
    workflowId: definition.id,
    version: definition.version ?? 1,
    definition,
    root,
    variables: definition.variables ?? {},
    onFailure: config.onFailure ?? 'fail-fast',
    timeoutMs: durationOf(config.timeout) ?? null,
    acceptInput: (value) => acceptInput(input, value),
  };
  return { sub, start, triggers, output };
}

function defaultRetry(
  rules: RetryRules | undefined,
  context: Pick<CompileContext, 'catalog' | 'problems' | 'values'>,
): DefaultRetry | undefined {
  return rules && { rules, plan: retryPlan(rules, undefined, context, ['config', 'retry']) };
}

function compileStart(context: CompileContext, graph: Graph): StartPlan | undefined {
  const { start } = context.definition.config ?? {};
  if (start === undefined) return undefined;
  const path = ['config', 'start', 'key'];
  const key = context.values.condition(start.key, path);
  checkAtStart(context, graph, key, path);
  return { key, policy: start.policy ?? 'singleton', windowMs: durationOf(start.window) ?? 0 };
}

/** Checks a value that is evaluated at start, before any node has run. */
function checkAtStart(context: CompileContext, graph: Graph, value: CompiledValue, path: (string | number)[]): void {
  const scope = {
    graph,
    reach: undefined,
    outputs: [],
    outer: undefined,
    loop: undefined,
    item: undefined,
    isParallel: false,
    isSplit: false,
    holderOf: () => undefined,
  };
  new References(context, scope).check(value, path, { kind: 'start' });
}

interface Inlining {
  readonly catalog: Catalog;
  readonly options: CompileOptions;
  readonly verify: Verify;
  readonly around: readonly string[];
  readonly bound?: Capabilities;
  readonly uses?: Workflows['uses'];
}

/** Compiles each inlined workflow once, however often it is used. */
function inlined(inlining: Inlining, known = new Map<WorkflowDefinition, CompiledInside>()): Workflows {
  const { catalog, options, verify, around, bound, uses = { draws: false, callbacks: false } } = inlining;
  const { workflows, knownWorkflows = [] } = options;
  return {
    find: (id, version) => workflows?.(id, version),
    isKnown: workflows !== undefined,
    ids: knownWorkflows,
    around,
    uses,
    *compile(definition) {
      const compiled = known.get(definition) ?? (yield* compileInside(definition));
      known.set(definition, compiled);
      return compiled;
    },
    within: (narrower) => inlined({ ...inlining, bound: narrower, uses }),
  };
  function* compileInside(definition: WorkflowDefinition): Steps<CompiledInside> {
    const problems = new ProblemList(nowhere(), true);
    const inner = inlined({ ...inlining, around: [...around, definition.id], uses }, known);
    const compiled = yield* compileWorkflow(
      definition,
      catalog,
      problems,
      {},
      {
        workflows: inner,
        verify,
        bound,
      },
    );
    const error = problems.sorted().find(({ severity }) => severity === 'error');
    return error === undefined && compiled !== undefined
      ? { plan: compiled.sub, output: compiled.output }
      : { problem: error === undefined ? 'it cannot be compiled' : `${error.message} (${error.path.join('.')})` };
  }
}

function acceptInput(check: SchemaCheck | undefined, given: Json): AcceptedInput | Steps<AcceptedInput> {
  const problem = givenProblem(given, 'the input');
  if (problem !== undefined) return { input: null, problems: [problem] };
  if (check === undefined || check.takesAll) return { input: given, problems: [] };
  // Defaults are filled in place, so the caller's value is copied first.
  const copied = check.fills ? beginCopy(given) : { copy: given };
  return 'copy' in copied ? beginCheck(check, copied.copy) : checkCopy(check, copied);
}

function beginCheck(check: SchemaCheck, own: Json): AcceptedInput | Steps<AcceptedInput> {
  const begun = check.begin(own);
  return isUnfinished(begun) ? restOfInput(own, begun) : accepted(own, begun);
}

function* checkCopy(check: SchemaCheck, copying: Steps<Json>): Steps<AcceptedInput> {
  const begun = beginCheck(check, yield* copying);
  return 'next' in begun ? yield* begun : begun;
}

function* restOfInput(input: Json, steps: Steps<readonly SchemaProblem[] | undefined>): Steps<AcceptedInput> {
  return accepted(input, yield* steps);
}

function accepted(input: Json, problems: readonly SchemaProblem[] = []): AcceptedInput {
  return { input, problems: problems.map(({ path, message }) => `${describePath(path, 'the input')} ${message}`) };
}
