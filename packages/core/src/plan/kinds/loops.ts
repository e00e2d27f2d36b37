/** Compiles loops and their bodies. */
import { checkedGraph } from '../../definition/graphs.ts';
import type { BODY_KEYS, BodyDefinition, ForEachDefinition } from '../../definition/model.ts';
import { bodyKey } from '../../definition/source-map.ts';
import type { CompiledValue } from '../../expression/index.ts';
import { RUN_DEFAULTS } from '../../limits.ts';
import type { Steps } from '../../steps.ts';
import { isJsonObject, type Json, type JsonSchema } from '../../value.ts';
import type { CompiledGraph } from '../context.ts';
import type { NodeReader } from '../node-reader.ts';
import type { ForEachWork, GraphPlan, GroupWork, RetryUntilWork, WhileWork } from '../plan.ts';
import { numberOf, retryPlan } from '../retry-plan.ts';
import type { LoopKind } from '../scope.ts';
import { itemSchema, schemaOfCondition } from '../value-schema.ts';

/** Conditions between iterations see the output and the index of the last iteration. */
const BETWEEN_ROUNDS = { self: true, betweenIterations: true };

export function compileBody(reader: NodeReader, loop: LoopKind, isParallel = false): Steps<CompiledGraph> {
  return compileBodyAt(reader, 'do', loop, isParallel);
}

export function* groupWork(reader: NodeReader): Steps<{ readonly work: GroupWork; readonly body: CompiledGraph }> {
  const body = yield* compileBodyAt(reader, 'group');
  return { work: { kind: 'group', body: body.plan as GraphPlan }, body };
}

function compileBodyAt(
  reader: NodeReader,
  key: (typeof BODY_KEYS)[number],
  loop?: LoopKind,
  isParallel = false,
): Steps<CompiledGraph> {
  const { context, definition, index, scope, depth } = reader.parts;
  const body: BodyDefinition = definition[key] ?? {};
  const path = [...reader.parts.path, key];
  const graph = context.graphs.get(bodyKey(path)) ?? checkedGraph(body, path, context.problems);
  const outer = { scope, node: index };
  const item = loop === 'forEach' ? itemOf(reader, body, definition.forEach?.in) : undefined;
  const source = { body, path, graph, outer, isParallel, item, depth: depth + 1, ...(loop && { loop }) };
  return context.compileGraph(source, context);
}

/** Items that nodes add while the loop runs may have any type. */
export function itemOf(
  reader: NodeReader,
  { nodes = {} }: BodyDefinition,
  list: Json | undefined,
): JsonSchema | undefined {
  const { context, scope } = reader.parts;
  if (Object.values(nodes).some((node) => isJsonObject(node) && node.emit !== undefined)) return undefined;
  return itemSchema(schemaOfCondition(list, { scope, input: context.definition.input }));
}

export function forEachWork(reader: NodeReader, forEach: ForEachDefinition, body: CompiledGraph): ForEachWork {
  return {
    kind: 'forEach',
    in: reader.condition(forEach.in, ['forEach', 'in']) as CompiledValue,
    maxConcurrency: forEach.parallel === true ? (numberOf(forEach.maxConcurrency) ?? RUN_DEFAULTS.maxConcurrency) : 1,
    until: 'all',
    isSplit: false,
    minSuccess: minSuccessOf(forEach.minSuccess),
    body: body.plan as GraphPlan,
  };
}

function minSuccessOf(given: number | string | undefined): ForEachWork['minSuccess'] {
  if (given === undefined) return undefined;
  if (typeof given === 'number') return { count: given };
  // An expression sets the value later; until then the minimum is unknown and counts as 0.
  const ratio = Number.parseFloat(given) / 100;
  return { ratio: Number.isNaN(ratio) ? 0 : ratio };
}

export function whileWork(reader: NodeReader, body: CompiledGraph): WhileWork {
  const { condition, maxIterations } = reader.parts.definition.while ?? {};
  return {
    kind: 'while',
    condition: reader.condition(condition, ['while', 'condition'], BETWEEN_ROUNDS) as CompiledValue,
    maxIterations: numberOf(maxIterations) ?? RUN_DEFAULTS.maxIterations,
    body: body.plan as GraphPlan,
  };
}

export function retryUntilWork(reader: NodeReader, body: CompiledGraph): RetryUntilWork {
  const { definition, path } = reader.parts;
  const { until, attempts = 1, backoff } = definition.retryUntil ?? {};
  return {
    kind: 'retryUntil',
    until: reader.condition(until, ['retryUntil', 'until'], BETWEEN_ROUNDS),
    backoff: retryPlan({ ...backoff, attempts }, undefined, reader, [...path, 'retryUntil', 'backoff']),
    body: body.plan as GraphPlan,
  };
}
