/** Compiles the graph of a workflow or body to a `GraphPlan`, with all nodes and edges resolved. */
import type { Action } from '../action.ts';
import type { EdgeDefinition, NodeDefinition, NodeKind } from '../definition/model.ts';
import { kindOf } from '../definition/rules.ts';
import {
  type Adjacency,
  criticalPathRanks,
  edgePath,
  endNodes,
  entryNodes,
  type Graph,
  nodeLevels,
  Reachability,
  topologicalOrder,
} from '../graph/index.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import { isJsonObject, type JsonSchema } from '../value.ts';
import { findAction } from './actions.ts';
import type { CompileContext, CompiledGraph, GraphSource } from './context.ts';
import { linkSubject } from './kinds/branch.ts';
import { compileNode } from './node-compiler.ts';
import { NodeReader } from './node-reader.ts';
import type { BranchWork, EdgePlan, GraphPlan, Mutable, NodePlan, NodeRead } from './plan.ts';
import { References } from './references.ts';
import type { GraphScope } from './scope.ts';
import { findHolder, type Region, unfoldSplits } from './split.ts';
import { closed, outputSchema, schemaOfValue, withMembers } from './value-schema.ts';
import type { Surroundings } from './work.ts';

const NODES_PER_STEP = 8;
const EDGES_PER_STEP = 64;

/** Kinds whose output schema is more exact after compilation. */
const COMPOSITE: readonly NodeKind[] = ['forEach', 'while', 'retryUntil', 'group', 'workflow', 'split'];

export function* compileGraph(source: GraphSource, context: CompileContext): Steps<CompiledGraph> {
  const { outer, regions, splitOf } = unfoldSplits(source, context.problems);
  yield;
  return yield* new GraphCompiler(outer, context, regions, splitOf).compile();
}

class GraphCompiler {
  private readonly source: GraphSource;
  private readonly context: CompileContext;
  private readonly regions: ReadonlyMap<string, Region>;
  private readonly splitOf: ReadonlyMap<string, string>;
  private readonly graph: Graph;
  private readonly order: Int32Array;
  private readonly isAcyclic: boolean;
  private readonly levels: Int32Array;
  private readonly kinds: readonly (NodeKind | undefined)[];
  private readonly actions: readonly (Action | undefined)[];
  private readonly scope: GraphScope;
  private readonly references: References;
  private readonly failureNode: string | undefined;

  constructor(
    source: GraphSource,
    context: CompileContext,
    regions: ReadonlyMap<string, Region>,
    splitOf: ReadonlyMap<string, string>,
  ) {
    this.source = source;
    this.context = context;
    this.regions = regions;
    this.splitOf = splitOf;
    this.graph = source.graph;
    this.order = topologicalOrder(this.graph);
    this.isAcyclic = this.order.length === this.graph.ids.length;
    // In a cycle there are no levels; the plan of such a graph is not assembled.
    this.levels = nodeLevels(this.graph, this.order);
    this.kinds = this.graph.ids.map((id) => kindOf(this.nodeDefinition(id)));
    this.actions = this.findActions();
    this.scope = this.newScope();
    this.references = new References(context, this.scope);
    this.failureNode = source.depth === 0 ? context.definition.config?.failureNode : undefined;
  }

  private newScope(): GraphScope {
    const { source, graph, kinds, actions } = this;
    const isKnown = this.isAcyclic && this.context.isGraphWhole;
    return {
      graph,
      reach: isKnown ? new Reachability(graph, this.order, this.levels) : undefined,
      outputs: graph.ids.map((id, index): JsonSchema | undefined =>
        outputSchema(kinds[index], actions[index], this.nodeDefinition(id)),
      ),
      outer: source.outer,
      loop: source.loop,
      item: source.item,
      isParallel: source.isParallel ?? false,
      isSplit: source.isSplit ?? false,
      holderOf: (id) => findHolder(source.body, this.regions, this.splitOf, id),
    };
  }

  *compile(): Steps<CompiledGraph> {
    const { problems, values } = this.context;
    const { nodes, estimates } = yield* this.nodes();
    const edges = yield* this.edges(nodes);
    const path = [...this.source.path, 'output'];
    const output = this.source.output ?? values.forPart().value(this.source.body.output, path);
    const outputReads = this.source.outputReads
      ? this.readsOf(this.source.outputReads)
      : this.references.check(output, path, { kind: 'output' });
    // In a draft, a node may have no kind.
    const isWhole = this.isAcyclic && nodes.every(({ work }) => work !== undefined);
    yield;
    if (problems.isBroken || !isWhole) return { plan: undefined, longestMs: 0 };
    const ranks = criticalPathRanks(this.graph, this.order, estimates);
    const plan = this.assemble(nodes, edges, ranks, output, outputReads);
    const { source, scope } = this;
    this.context.record?.({ source, scope, plan, edgePath: (edge) => this.edgePath(edge) });
    const longestMs = ranks.reduce((longest, rank) => Math.max(longest, rank), 0);
    return { plan, longestMs, output: this.outputSchema(plan) };
  }

  private *nodes(): Steps<{ readonly nodes: Mutable<NodePlan>[]; readonly estimates: number[] }> {
    const nodes: Mutable<NodePlan>[] = new Array(this.graph.ids.length);
    const estimates: number[] = new Array(this.graph.ids.length);
    let compiled = 0;
    for (const index of this.compileOrder()) {
      if (compiled++ % NODES_PER_STEP === 0) yield;
      const id = this.graph.ids[index] as string;
      const { node, estimateMs, output } = yield* compileNode(this.reader(id, index), this.surroundings(index));
      nodes[index] = node;
      estimates[index] = estimateMs;
      if (output !== undefined) this.learn(index, output);
    }
    return { nodes, estimates };
  }

  /** Composite nodes first, in topological order, because other nodes may read the outputs of their bodies. */
  private compileOrder(): Iterable<number> {
    const isFirst = this.kinds.map((kind) => kind !== undefined && COMPOSITE.includes(kind));
    if (!isFirst.includes(true)) return this.graph.ids.keys();
    const first = this.isAcyclic ? [...this.order] : [...this.graph.ids.keys()];
    const rest = Array.from(this.graph.ids.keys()).filter((index) => !isFirst[index]);
    return [...first.filter((index) => isFirst[index]), ...rest];
  }

  private learn(index: number, output: JsonSchema): void {
    this.scope.outputs[index] = output;
    for (const [merge, split] of this.splitOf) {
      if (this.graph.indexOf.get(split) !== index) continue;
      this.scope.outputs[this.graph.indexOf.get(merge) as number] = closed([['aggregated', output]]);
    }
  }

  /** The schema of the graph's output, as far as known. */
  private outputSchema({ ends }: GraphPlan): JsonSchema | undefined {
    const { source, scope, context } = this;
    if (source.body.output !== undefined) {
      return schemaOfValue(source.body.output, { scope, input: context.definition.input });
    }
    const schemaOf = (id: string): JsonSchema | undefined => scope.outputs[this.graph.indexOf.get(id) ?? -1];
    // The output of a workflow has the end nodes that ran.
    if (source.depth === 0) return withMembers(ends.map(({ id }) => [id, schemaOf(id)]));
    const [only, ...more] = source.outputReads ?? ends.map(({ id }) => id);
    if (only === undefined) return source.outputReads && source.item;
    return more.length === 0 ? schemaOf(only) : undefined;
  }

  private readsOf(ids: readonly string[]): NodeRead[] {
    return ids.map((id) => ({ up: 0, index: this.graph.indexOf.get(id) as number }));
  }

  private reader(id: string, index: number): NodeReader {
    return new NodeReader({
      id,
      index,
      definition: this.nodeDefinition(id),
      path: [...this.source.path, 'nodes', id],
      context: this.context,
      scope: this.scope,
      references: this.references,
      depth: this.source.depth,
      ignoresErrors: this.ignoresErrors,
      isLast: id === this.failureNode,
    });
  }

  private readonly ignoresErrors = (node: number): boolean =>
    this.nodeDefinition(this.graph.ids[node] as string).onError === 'ignore';

  private surroundings(index: number): Surroundings {
    const { kinds, actions, source, splitOf, regions } = this;
    return { kind: kinds[index], action: actions[index], edges: source.body.edges ?? [], splitOf, regions };
  }

  private assemble(
    nodes: Mutable<NodePlan>[],
    edges: EdgePlan[],
    ranks: readonly number[],
    output: GraphPlan['output'],
    outputReads: readonly NodeRead[],
  ): GraphPlan {
    const isSequential = this.context.definition.config?.mode === 'sequential';
    const levels: NodePlan[][] = [];
    for (const node of nodes) {
      node.level = this.levels[node.index] ?? 0;
      // In sequential mode, people expect the order of the definition.
      node.rank = isSequential ? 0 : (ranks[node.index] ?? 0);
      node.incoming = plansOf(edges, this.graph.incoming, node.index);
      node.outgoing = plansOf(edges, this.graph.outgoing, node.index);
      node.sources = sourcesOf(node.incoming);
      // Joins counted edges once: a definition from then may ask for more sources than there are.
      if (typeof node.join === 'number') node.join = Math.min(node.join, Math.max(1, node.sources));
      if (node.work.kind === 'branch') linkSubject(node.work as Mutable<BranchWork>, node.incoming);
      if (node.id === this.failureNode) continue;
      levels[node.level] ??= [];
      levels[node.level]?.push(node);
    }
    // The failure node has an index among the nodes and comes last, but no edge leads to it.
    for (const node of nodes) if (node.id === this.failureNode) node.level = levels.push([node]) - 1;
    const withoutLast = (indexes: readonly number[]): NodePlan[] =>
      indexes.map((index) => nodes[index] as NodePlan).filter(({ id }) => id !== this.failureNode);
    return {
      nodes,
      indexOf: this.graph.indexOf,
      entries: withoutLast(entryNodes(this.graph)),
      ends: withoutLast(endNodes(this.graph)),
      levels,
      output,
      outputReads,
    };
  }

  private nodeDefinition(id: string): NodeDefinition {
    const node = this.source.body.nodes?.[id];
    return isJsonObject(node) ? (node as NodeDefinition) : {};
  }

  /** The action of each node. A reference is looked up once, and again only while it is not found. */
  private findActions(): (Action | undefined)[] {
    const known = new Map<string | undefined, Action>();
    return this.graph.ids.map((id, index) => {
      const kind = this.kinds[index];
      if (kind !== 'action' && kind !== 'dynamic') return undefined;
      const definition = this.nodeDefinition(id);
      const reference = kind === 'action' ? definition.action : definition.dynamic?.action;
      const keys = kind === 'action' ? ['action'] : ['dynamic', 'action'];
      const action =
        known.get(reference) ?? findAction(this.context, reference, [...this.source.path, 'nodes', id, ...keys]);
      if (action !== undefined) known.set(reference, action);
      return action;
    });
  }

  private *edges(nodes: readonly NodePlan[]): Steps<EdgePlan[]> {
    const { graph } = this;
    // Only explicit edges can duplicate one; `needs` lists a node once.
    const mayRepeat = (this.source.body.edges?.length ?? 0) > 0;
    const firsts = new Map<number, Mutable<EdgePlan>>();
    const edges: EdgePlan[] = [];
    for (let edge = 0; edge < graph.edgeFrom.length; edge++) {
      const from = graph.edgeFrom[edge] ?? 0;
      const to = graph.edgeTo[edge] ?? 0;
      const origin = graph.edgeOrigin[edge] ?? 0;
      const definition = origin < 0 ? undefined : this.source.body.edges?.[origin];
      if (definition !== undefined || edge % EDGES_PER_STEP === 0) yield;
      const pair = from * graph.ids.length + to;
      const first = mayRepeat ? firsts.get(pair) : undefined;
      const id = graph.ids[to] as string;
      // A spread would take 3 µs here.
      const { when, match, matchError, reads } = this.edgeConditions(definition, edge, from);
      const plan: Mutable<EdgePlan> = {
        key: first === undefined ? id : `${id}#${(first.twins?.length ?? 0) + 2}`,
        from: nodes[from] as NodePlan,
        to: nodes[to] as NodePlan,
        on: definition?.on ?? 'success',
        when,
        match,
        matchError,
        reads,
        twins: undefined,
        isTwin: first !== undefined,
      };
      if (first !== undefined) {
        first.twins ??= [];
        (first.twins as EdgePlan[]).push(plan);
      } else if (mayRepeat) firsts.set(pair, plan);
      edges.push(plan);
    }
    return edges;
  }

  private edgeConditions(
    definition: EdgeDefinition | undefined,
    edge: number,
    from: number,
  ): Pick<EdgePlan, 'when' | 'match' | 'matchError' | 'reads'> {
    if (definition === undefined) return PLAIN_EDGE;
    const path = this.edgePath(edge);
    const values = this.context.values.forPart();
    const when = values.condition(definition.when, [...path, 'when']);
    const reads = this.references.check(when, [...path, 'when'], { kind: 'after', node: from });
    const isError = definition.on === 'error' || definition.on === 'always';
    return {
      when,
      match: isError ? undefined : values.matcher(definition.match, [...path, 'match']),
      matchError: isError ? values.errorMatcher(definition.match, [...path, 'match']) : undefined,
      reads,
    };
  }

  private edgePath(edge: number): DocumentPath {
    const { edgeIndexes, path } = this.source;
    const origin = this.graph.edgeOrigin[edge] ?? 0;
    return edgeIndexes && origin >= 0
      ? [...path, 'edges', edgeIndexes[origin] ?? 0]
      : [...path, ...edgePath(this.graph, edge)];
  }
}

/** Without an iterator, which is half of the time where the code is cold. */
function plansOf(edges: readonly EdgePlan[], { start, edges: numbers }: Adjacency, node: number): EdgePlan[] {
  const found: EdgePlan[] = [];
  const end = start[node + 1] ?? 0;
  for (let at = start[node] ?? 0; at < end; at++) found.push(edges[numbers[at] ?? 0] as EdgePlan);
  return found;
}

/** Edges between the same two nodes have one source. */
function sourcesOf(incoming: readonly EdgePlan[]): number {
  let sources = 0;
  for (const { isTwin } of incoming) if (!isTwin) sources++;
  return sources;
}

const PLAIN_EDGE = { when: undefined, match: undefined, matchError: undefined, reads: [] } as const;
