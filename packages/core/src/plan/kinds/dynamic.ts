/** Nodes that run a graph which an action returns: it is checked and compiled when it is there. */
import type { Action } from '../../action.ts';
import { checkData } from '../../definition/data.ts';
import { checkedGraph, checkNodeCount } from '../../definition/graphs.ts';
import type { ActionCall, BodyDefinition } from '../../definition/model.ts';
import { normaliseBody } from '../../definition/normalise.ts';
import { ProblemList } from '../../definition/problem-list.ts';
import { checkBodyShape } from '../../definition/shape.ts';
import { TextSourceMap } from '../../definition/source-map.ts';
import { formatSize } from '../../duration.ts';
import { DEFINITION_LIMITS } from '../../limits.ts';
import { isJsonObject, type Json, nestsDeeper } from '../../value.ts';
import type { CompileContext } from '../context.ts';
import type { NodeReader } from '../node-reader.ts';
import type { DynamicWork } from '../plan.ts';
import type { GraphScope } from '../scope.ts';
import { ValueCompiler } from '../value-compiler.ts';
import { assignedIn } from '../variables.ts';
import { callParts } from './action.ts';

type Outcome = ReturnType<DynamicWork['compile']>;

export function dynamicWork(reader: NodeReader, call: ActionCall, action: Action | undefined): DynamicWork | undefined {
  const { context, definition, scope, index, depth } = reader.parts;
  const parts = callParts(reader, call, action, ['dynamic']);
  if (parts === undefined) return undefined;
  const place: Place = { context, scope, index, depth };
  const known = new WeakMap<object, Outcome>();
  const compile = (graph: Json): Outcome => {
    if (typeof graph !== 'object' || graph === null) return compileReturned(graph, place);
    const outcome = known.get(graph) ?? compileReturned(graph, place);
    known.set(graph, outcome);
    return outcome;
  };
  return { kind: 'dynamic', ...parts, effect: definition.effect, compile };
}

interface Place {
  readonly context: CompileContext;
  readonly scope: GraphScope;
  readonly index: number;
  readonly depth: number;
}

function compileReturned(returned: Json, { context, scope, index, depth }: Place): Outcome {
  const problems = new ProblemList(new TextSourceMap('', undefined, () => undefined));
  const body = readBody(returned, problems, depth + 1);
  const graph = body && checkedGraph(body, [], problems);
  if (body === undefined || graph === undefined || problems.hasErrors) return { problems: problems.sorted() };
  const inner: CompileContext = {
    ...context,
    problems,
    values: new ValueCompiler(problems),
    variables: new Set([...context.variables, ...assignedIn(body)]),
    graphs: new Map(),
    isGraphWhole: true,
    record: undefined,
  };
  const { plan } = inner.compileGraph(
    { body, path: [], graph, outer: { scope, node: index }, depth: depth + 1 },
    inner,
  );
  return plan === undefined || problems.hasErrors ? { problems: problems.sorted() } : { body: plan };
}

function readBody(returned: Json, problems: ProblemList, depth: number): BodyDefinition | undefined {
  if (!isJsonObject(returned)) {
    const message = 'the action returned no graph';
    problems.error({ code: 'WRONG_TYPE', message, hint: 'it must return { nodes, edges, output }' });
    return undefined;
  }
  if (nestsDeeper(returned, DEFINITION_LIMITS.maxNestingDepth)) {
    const message = `the graph nests deeper than ${DEFINITION_LIMITS.maxNestingDepth} levels`;
    problems.error({ code: 'TOO_DEEP', message });
    return undefined;
  }
  const bytes = new TextEncoder().encode(JSON.stringify(returned)).length;
  if (bytes > DEFINITION_LIMITS.maxDynamicBytes) {
    const message = `the graph has ${formatSize(bytes)}; the limit is ${formatSize(DEFINITION_LIMITS.maxDynamicBytes)}`;
    problems.error({ code: 'TOO_LARGE', message, hint: 'return less, or hand large data over as a value of its own' });
    return undefined;
  }
  checkData(returned, problems);
  checkBodyShape(returned, problems, depth);
  if (problems.hasErrors) return undefined;
  const body = normaliseBody(returned);
  return checkNodeCount(body, problems, ['nodes']) ? body : undefined;
}
