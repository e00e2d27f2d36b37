/**
 * Compiles split and merge to a loop. The nodes between a split and its merge become the body of the split, which is a
 * parallel forEach; the merge collects its results.
 *
 *   a → split → b → c → merge → d        a → split{ b → c } → merge → d
 *
 * A split without an error edge passes its failures to the merge, along an implicit error edge between the two.
 */
import { BODY_KEYS, type BodyDefinition, type EdgeDefinition, type NodeDefinition } from '../definition/model.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import type { CompiledValue } from '../expression/index.ts';
import { buildGraph } from '../graph/index.ts';
import { RUN_DEFAULTS } from '../limits.ts';
import type { Steps } from '../steps.ts';
import { isJsonObject, type JsonSchema } from '../value.ts';
import type { CompiledGraph, GraphSource } from './context.ts';
import { itemOf } from './kinds/loops.ts';
import type { NodeReader } from './node-reader.ts';
import type { ForEachWork, GraphPlan } from './plan.ts';
import type { Holder } from './scope.ts';
import type { MergeKeys } from './settings.ts';
import { nestSplits, type SplitNesting } from './split-nesting.ts';
import { listSchema } from './value-schema.ts';

/** The nodes between a split and its merge. */
export interface Region {
  readonly source: GraphSource;
  readonly until: ForEachWork['until'];
  readonly merge: MergeKeys;
}

export interface Unfolded {
  /** The graph without the nodes inside splits. */
  readonly outer: GraphSource;
  readonly regions: ReadonlyMap<string, Region>;
  /** Merge → split. */
  readonly splitOf: ReadonlyMap<string, string>;
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** Splits inside splits are unfolded when the enclosing region is compiled. */
export function unfoldSplits(source: GraphSource, problems: ProblemList): Unfolded {
  if (!Object.values(source.body.nodes ?? {}).some(isPart))
    return { outer: source, regions: NOTHING, splitOf: NOTHING };
  const nesting = nestSplits(source, problems);
  // With errors there is no plan; the rest is checked without unfolding.
  if (nesting === undefined) return { outer: { ...source, loop: 'any' }, regions: NOTHING, splitOf: NOTHING };
  return new Unfolding(source, nesting).unfold();
}

function isPart(node: NodeDefinition): boolean {
  return isJsonObject(node) && (Object.hasOwn(node, 'split') || Object.hasOwn(node, 'merge'));
}

class Unfolding {
  private readonly source: GraphSource;
  private readonly nesting: SplitNesting;
  /** Node id → the enclosing split of this graph; undefined outside all splits. */
  private readonly regionOf = new Map<string, string | undefined>();

  constructor(source: GraphSource, nesting: SplitNesting) {
    this.source = source;
    this.nesting = nesting;
    const { ids } = source.graph;
    for (const [index, id] of ids.entries()) {
      const split = nesting.outermostSplit(index);
      this.regionOf.set(id, split === undefined ? undefined : ids[split]);
    }
  }

  unfold(): Unfolded {
    const { ids } = this.source.graph;
    const regions = new Map<string, Region>();
    const splitOf = new Map<string, string>();
    for (const [merge, split] of this.nesting.splitOf) {
      const [mergeId, splitId] = [ids[merge] as string, ids[split] as string];
      if (this.regionOf.get(splitId) !== undefined) continue;
      splitOf.set(mergeId, splitId);
      regions.set(splitId, this.region(splitId, merge));
    }
    const outer = this.part(undefined, (id, node) => {
      const split = splitOf.get(id);
      return split === undefined ? node : { ...node, needs: [split] };
    });
    return { outer: this.withFailures(outer, splitOf), regions, splitOf };
  }

  /** Seen from outside, the pair fails at the merge. */
  private withFailures(outer: GraphSource, splitOf: ReadonlyMap<string, string>): GraphSource {
    const edges = [...(outer.body.edges ?? [])];
    for (const [merge, split] of splitOf) {
      const hasOwn = edges.some(({ from, on }) => from === split && on === 'error');
      if (!hasOwn && this.definitionOf(split).onError === undefined)
        edges.push({ from: split, to: merge, on: 'error' });
    }
    const body = { ...outer.body, edges };
    return { ...outer, body, graph: buildGraph(body).graph };
  }

  private region(split: string, merge: number): Region {
    const { ids } = this.source.graph;
    const last = this.nesting.before(merge).map((index) => ids[index] as string);
    const inside = last.filter((id) => id !== split);
    const mergeId = ids[merge] as string;
    const { merge: { wait, timeout } = {}, retry } = this.definitionOf(mergeId);
    return {
      source: { ...this.part(split, (_, node) => node), output: iterationOutput(inside), outputReads: inside },
      until: wait === 'any' ? 'first' : 'all',
      merge: { timeout, retry, path: [...this.source.path, 'nodes', mergeId] },
    };
  }

  /** The nodes of one region, or outside all regions, with the edges between them. */
  private part(region: string | undefined, change: (id: string, node: NodeDefinition) => NodeDefinition): GraphSource {
    const isHere = (id: string): boolean => this.regionOf.has(id) && this.regionOf.get(id) === region;
    const nodes: Record<string, NodeDefinition> = {};
    for (const id of this.source.graph.ids) {
      if (!isHere(id)) continue;
      const { needs = [], ...node } = this.definitionOf(id);
      nodes[id] = change(id, { ...node, needs: needs.filter(isHere) });
    }
    const edges: EdgeDefinition[] = [];
    const edgeIndexes: number[] = [];
    for (const [index, edge] of (this.source.body.edges ?? []).entries()) {
      if (!isHere(edge.from) || !isHere(edge.to)) continue;
      edges.push(edge);
      edgeIndexes.push(this.source.edgeIndexes?.[index] ?? index);
    }
    const { output } = this.source.body;
    const { order } = this.source.body;
    const body: BodyDefinition = {
      nodes,
      edges,
      ...(order !== undefined && { order }),
      ...(region === undefined && output !== undefined ? { output } : {}),
    };
    return { ...this.source, body, graph: buildGraph(body).graph, edgeIndexes };
  }

  private definitionOf(id: string): NodeDefinition {
    return this.source.body.nodes?.[id] ?? {};
  }
}

/**
 * With one node before the merge: its output. With several: the outputs of those that ran, by id. With none: the item
 * itself.
 */
function iterationOutput(last: readonly string[]): CompiledValue {
  const [only] = last;
  return {
    constant: false,
    references: [],
    evaluate: (scope) => {
      if (only === undefined) return scope.loop?.item ?? null;
      if (last.length === 1) return scope.node(only)?.output ?? null;
      const ran = last.map((id) => [id, scope.node(id)] as const).filter(([, node]) => node?.status === 'completed');
      return Object.fromEntries(ran.map(([id, node]) => [id, node?.output ?? null]));
    },
  };
}

export function* compileSplit(
  reader: NodeReader,
  region: Region | undefined,
): Steps<{ readonly work: ForEachWork; readonly body: CompiledGraph; readonly output: JsonSchema } | undefined> {
  const { context, definition, index, scope, depth } = reader.parts;
  const items = reader.condition(definition.split?.in, ['split', 'in']);
  if (region === undefined) return undefined;
  const source: GraphSource = {
    ...region.source,
    outer: { scope, node: index },
    loop: 'forEach',
    isParallel: true,
    isSplit: true,
    item: itemOf(reader, region.source.body, definition.split?.in),
    depth: depth + 1,
  };
  const body = yield* context.compileGraph(source, context);
  const work: ForEachWork = {
    kind: 'forEach',
    in: items as CompiledValue,
    maxConcurrency: RUN_DEFAULTS.maxConcurrency,
    until: region.until,
    isSplit: true,
    minSuccess: undefined,
    body: body.plan as GraphPlan,
  };
  return { work, body, output: listSchema(body.output) };
}

/** The composite node or split that contains a node with this id at any depth, and the node that has the result. */
export function findHolder(
  body: BodyDefinition,
  regions: Unfolded['regions'],
  splitOf: Unfolded['splitOf'],
  id: string,
): Holder | undefined {
  for (const [split, { source }] of regions) {
    if (!holds(source.body, id)) continue;
    const [result = split] = [...splitOf.keys()].filter((merge) => splitOf.get(merge) === split);
    return { id: split, result };
  }
  for (const [holder, node] of Object.entries(body.nodes ?? {})) {
    if (holdsInside(node, id)) return { id: holder, result: holder };
  }
  return undefined;
}

function holds({ nodes }: BodyDefinition, id: string): boolean {
  if (!isJsonObject(nodes)) return false;
  if (Object.hasOwn(nodes, id)) return true;
  return Object.values(nodes as BodyDefinition['nodes'] & object).some((node) => holdsInside(node, id));
}

function holdsInside(node: NodeDefinition | undefined, id: string): boolean {
  return BODY_KEYS.some((key) => isJsonObject(node?.[key]) && holds(node[key] as BodyDefinition, id));
}
