/** Compiles nodes that run a graph returned by an action. The graph is checked and compiled when it arrives. */
import type { Action, Capabilities } from '../../action.ts';
import { checkData } from '../../definition/data.ts';
import { checkedGraph, countGraphs } from '../../definition/graphs.ts';
import type { ActionCall, BodyDefinition } from '../../definition/model.ts';
import { normaliseBody } from '../../definition/normalise.ts';
import { ProblemList } from '../../definition/problem-list.ts';
import { checkBodyShape } from '../../definition/shape.ts';
import { TextSourceMap } from '../../definition/source-map.ts';
import { formatSize } from '../../duration.ts';
import { DEFINITION_LIMITS } from '../../limits.ts';
import type { Problem } from '../../problem.ts';
import { allSteps, type Steps } from '../../steps.ts';
import { hasMoreValues, isJsonObject, type Json, nestsDeeper } from '../../value.ts';
import type { CompileContext, GraphRecord } from '../context.ts';
import type { NodeReader } from '../node-reader.ts';
import type { CompiledReturn, DynamicWork } from '../plan.ts';
import type { GraphScope } from '../scope.ts';
import { ValueCompiler } from '../value-compiler.ts';
import { assignedIn } from '../variables.ts';
import { callParts } from './action.ts';

export function dynamicWork(reader: NodeReader, call: ActionCall, action: Action | undefined): DynamicWork | undefined {
  const { context, definition, scope, index, depth } = reader.parts;
  const parts = callParts(reader, call, action, ['dynamic']);
  if (parts === undefined) return undefined;
  const secrets = new Set(Object.values(parts.credentials));
  const surroundings: ReturnContext = { context, scope, index, depth, bound: parts.granted, secrets };
  // The functions that the graph will call, and its nodes, are not known yet.
  Object.assign(context.workflows.uses, { draws: true, callbacks: true });
  const accepted = new WeakMap<object, CompiledReturn>();
  const known = new WeakMap<object, CompiledReturn>();
  function* compile(graph: Json, isNew: boolean): Steps<CompiledReturn> {
    if (typeof graph !== 'object' || graph === null) return yield* compileReturned(graph, surroundings, isNew);
    const outcome =
      accepted.get(graph) ??
      (isNew ? undefined : known.get(graph)) ??
      (yield* compileReturned(graph, surroundings, isNew));
    (isNew ? accepted : known).set(graph, outcome);
    return outcome;
  }
  return {
    kind: 'dynamic',
    ...parts,
    effect: definition.effect,
    prepare: (graph) => compile(graph, true),
    accept: (graph) => allSteps(compile(graph, true)),
    compile: (graph) => allSteps(compile(graph, false)),
  };
}

interface ReturnContext {
  readonly context: CompileContext;
  readonly scope: GraphScope;
  readonly index: number;
  readonly depth: number;
  /** The grant of the dynamic node, which the returned graph can only narrow. */
  readonly bound: Capabilities;
  /** The secrets that the dynamic node names, and shares with the returned graph. */
  readonly secrets: ReadonlySet<string>;
}

/**
 * With `isNew`, the shape is checked, and constructs that can never work are errors, too. A graph from the journal was
 * accepted before and stays accepted: it is compiled like a registered definition.
 */
function* compileReturned(returned: Json, surroundings: ReturnContext, isNew: boolean): Steps<CompiledReturn> {
  const { context, scope, index, depth, bound, secrets } = surroundings;
  const problems = new ProblemList(new TextSourceMap('', undefined, () => undefined), !isNew);
  const body = isNew ? yield* readBody(returned, problems, depth + 1) : journalledBody(returned, problems);
  yield;
  const graph = body && checkedGraph(body, [], problems);
  yield;
  if (body === undefined || graph === undefined || problems.hasErrors) return { problems: errorsIn(problems) };
  const graphs: GraphRecord[] = [];
  const inner: CompileContext = {
    ...context,
    bound,
    secrets: isNew ? secrets : undefined,
    workflows: context.workflows.within(bound),
    problems,
    values: new ValueCompiler(problems, undefined),
    variables: new Set([...context.variables, ...assignedIn(body)]),
    graphs: new Map(),
    isGraphWhole: true,
    record: isNew ? (record): unknown => graphs.push(record) : undefined,
  };
  const { plan } = yield* inner.compileGraph(
    { body, path: [], graph, outer: { scope, node: index }, depth: depth + 1 },
    inner,
  );
  if (isNew && !problems.hasErrors) yield* context.verify(context.definition, graphs, context.workflows.find, problems);
  return plan === undefined || problems.hasErrors ? { problems: errorsIn(problems) } : { body: plan };
}

/** Warnings are dropped, because nobody reads them at run time. */
function errorsIn(problems: ProblemList): Problem[] {
  return problems.sorted().filter(({ severity }) => severity === 'error');
}

function journalledBody(returned: Json, problems: ProblemList): BodyDefinition | undefined {
  if (isJsonObject(returned)) return normaliseBody(returned);
  reportNoGraph(problems);
  return undefined;
}

function* readBody(returned: Json, problems: ProblemList, depth: number): Steps<BodyDefinition | undefined> {
  if (!isJsonObject(returned)) return void reportNoGraph(problems);
  if (nestsDeeper(returned, DEFINITION_LIMITS.maxNestingDepth)) {
    const message = `the graph nests deeper than ${DEFINITION_LIMITS.maxNestingDepth} levels`;
    return void problems.error({ code: 'TOO_DEEP', message });
  }
  yield;
  // Counted before anything is built from it, as far as possible: a chain of edges is one text.
  if (!checkCounts(returned as BodyDefinition, problems)) return undefined;
  const { maxDynamicValues } = DEFINITION_LIMITS;
  if (hasMoreValues(returned, maxDynamicValues)) {
    const message = `the graph has more than ${maxDynamicValues} values`;
    return void problems.error({ code: 'TOO_LARGE', message, hint: RETURN_LESS });
  }
  yield;
  const bytes = new TextEncoder().encode(JSON.stringify(returned)).length;
  if (bytes > DEFINITION_LIMITS.maxDynamicBytes) {
    const message = `the graph has a size of ${formatSize(bytes)}; the limit is ${formatSize(DEFINITION_LIMITS.maxDynamicBytes)}`;
    return void problems.error({ code: 'TOO_LARGE', message, hint: RETURN_LESS });
  }
  yield;
  checkData(returned, problems);
  yield;
  checkBodyShape(returned, problems, depth);
  if (problems.hasErrors) return undefined;
  yield;
  const body = normaliseBody(returned);
  return checkCounts(body, problems) ? body : undefined;
}

function reportNoGraph(problems: ProblemList): void {
  const message = 'the action did not return a graph';
  problems.error({ code: 'WRONG_TYPE', message, hint: 'it must return { nodes, edges, output }' });
}

const RETURN_LESS = 'return a smaller graph, and pass large data in a separate output';

function checkCounts(body: BodyDefinition, problems: ProblemList): boolean {
  const { maxDynamicNodes, maxDynamicEdges } = DEFINITION_LIMITS;
  const { nodes, edges } = countGraphs(body);
  if (nodes > maxDynamicNodes) {
    const message = `the graph has ${nodes} nodes; the limit is ${maxDynamicNodes}`;
    problems.error({
      code: 'TOO_LARGE',
      message,
      hint: 'run a loop over the items, or a child workflow for each part',
    });
  } else if (edges > maxDynamicEdges) {
    const message = `the graph has ${edges} edges; the limit is ${maxDynamicEdges}`;
    problems.error({ code: 'TOO_LARGE', message, hint: 'connect two groups of nodes through one node between them' });
  }
  return !problems.hasErrors;
}
