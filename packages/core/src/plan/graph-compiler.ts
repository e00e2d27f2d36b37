/** The graph of a definition (later: of a body) → a `GraphPlan`: nodes and edges with everything resolved. */
import type { Action, Catalog } from '../action.ts';
import type { EdgeDefinition, NodeDefinition, TimeoutDefinition, WorkflowDefinition } from '../definition/model.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import {
  buildGraph,
  checkGraph,
  criticalPathRanks,
  edgePath,
  edgesAt,
  endNodes,
  entryNodes,
  type Graph,
  nodeLevels,
  Reachability,
  topologicalOrder,
} from '../graph/index.ts';
import { RUN_DEFAULTS } from '../limits.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { joinCapabilities } from './capabilities.ts';
import { checkParameters } from './parameters.ts';
import type { EdgePlan, GraphPlan, NodePlan, Timeouts } from './plan.ts';
import { References } from './references.ts';
import { durationOf, isBuiltIn, retryPlan } from './retry-plan.ts';
import { ValueCompiler } from './value-compiler.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A node without an estimate counts as much as a short call over the network. */
const DEFAULT_ESTIMATE_MS = 100;

export class GraphCompiler {
  private readonly definition: WorkflowDefinition;
  private readonly catalog: Catalog;
  private readonly problems: ProblemList;
  private readonly graph: Graph;
  private readonly order: Int32Array;
  private readonly isAcyclic: boolean;
  private readonly values: ValueCompiler;
  private readonly references: References;
  private readonly actions: (Action | undefined)[];

  constructor(
    definition: WorkflowDefinition,
    catalog: Catalog,
    problems: ProblemList,
    { graph, isGraphWhole = true }: { readonly graph?: Graph; readonly isGraphWhole?: boolean } = {},
  ) {
    this.definition = definition;
    this.catalog = catalog;
    this.problems = problems;
    this.graph = graph ?? this.checkedGraph();
    this.order = topologicalOrder(this.graph);
    this.isAcyclic = this.order.length === this.graph.ids.length;
    this.values = new ValueCompiler(problems);
    this.actions = this.graph.ids.map((id) => this.findAction(id));
    const reach = this.isAcyclic && isGraphWhole ? new Reachability(this.graph, this.order) : undefined;
    this.references = new References({ definition, graph: this.graph, problems, reach, actions: this.actions });
  }

  private checkedGraph(): Graph {
    const { graph, problems: found } = buildGraph(this.definition);
    for (const { severity, ...finding } of [...found, ...checkGraph(graph, this.definition.nodes ?? {})]) {
      this.problems[severity](finding);
    }
    return graph;
  }

  /** Undefined when there are errors. */
  compile(): GraphPlan | undefined {
    const nodes = this.graph.ids.map((id, index) => this.node(id, index));
    const edges = this.edges(nodes);
    const output = this.values.value(this.definition.output, ['output']);
    const outputReads = this.references.check(output, ['output'], { place: 'output' });
    if (this.problems.hasErrors || !this.isAcyclic) return undefined;
    return this.assemble(nodes, edges, output, outputReads);
  }

  private assemble(
    nodes: Mutable<NodePlan>[],
    edges: EdgePlan[],
    output: GraphPlan['output'],
    outputReads: readonly number[],
  ): GraphPlan {
    const levelOf = nodeLevels(this.graph, this.order);
    const isSequential = this.definition.config?.mode === 'sequential';
    const estimates = nodes.map((node) => this.estimateOf(node.id));
    const ranks = criticalPathRanks(this.graph, this.order, estimates);
    const levels: NodePlan[][] = [];
    for (const node of nodes) {
      node.level = levelOf[node.index] as number;
      // One at a time, the order of the definition is what people expect.
      node.rank = isSequential ? 0 : (ranks[node.index] as number);
      node.incoming = [...edgesAt(this.graph.incoming, node.index)].map((edge) => edges[edge] as EdgePlan);
      node.outgoing = [...edgesAt(this.graph.outgoing, node.index)].map((edge) => edges[edge] as EdgePlan);
      levels[node.level] ??= [];
      levels[node.level]?.push(node);
    }
    return {
      nodes,
      indexOf: this.graph.indexOf,
      entries: entryNodes(this.graph).map((index) => nodes[index] as NodePlan),
      ends: endNodes(this.graph).map((index) => nodes[index] as NodePlan),
      levels,
      output,
      outputReads: outputReads.map((index) => nodes[index] as NodePlan),
    };
  }

  private nodeDefinition(id: string): NodeDefinition {
    return this.definition.nodes?.[id] as NodeDefinition;
  }

  private estimateOf(id: string): number {
    return durationOf(this.nodeDefinition(id).estimate) ?? DEFAULT_ESTIMATE_MS;
  }

  private node(id: string, index: number): Mutable<NodePlan> {
    const definition = this.nodeDefinition(id);
    const path = ['nodes', id];
    const { config = {} } = this.definition;
    const when = this.values.condition(definition.when, [...path, 'when']);
    const parameters = this.values.value(definition.with ?? {}, [...path, 'with']);
    const reads = new Set([
      ...this.references.check(when, [...path, 'when'], { place: 'node', node: index }),
      ...this.references.check(parameters, [...path, 'with'], { place: 'node', node: index }),
    ]);
    const action = this.actions[index];
    if (action !== undefined) checkParameters(this.problems, action, definition.with ?? {}, [...path, 'with']);
    this.checkPolicy(definition.retry?.policy, [...path, 'retry', 'policy']);
    const granted = joinCapabilities(this.catalog.capabilities, config.capabilities ?? {});
    return {
      index,
      id,
      name: definition.name ?? id,
      incoming: [],
      outgoing: [],
      join: definition.join === 'any' ? 1 : (definition.join ?? 'all'),
      level: 0,
      rank: 0,
      priority: definition.priority ?? config.priority ?? RUN_DEFAULTS.priority,
      enabled: definition.enabled ?? true,
      when,
      onError: definition.onError,
      retry: retryPlan(definition.retry, config.retry, this.catalog),
      timeouts: timeoutsOf(definition.timeout),
      action: action as Action,
      with: parameters as NodePlan['with'],
      effect: definition.effect,
      granted: definition.capabilities === undefined ? granted : joinCapabilities(granted, definition.capabilities),
      // Filled below, when all nodes exist.
      reads: [...reads] as unknown as NodePlan[],
    };
  }

  private edges(nodes: Mutable<NodePlan>[]): EdgePlan[] {
    for (const node of nodes) node.reads = node.reads.map((index) => nodes[index as unknown as number] as NodePlan);
    const { graph } = this;
    const timesSeen = new Map<string, number>();
    return Array.from(graph.edgeFrom, (from, edge) => {
      const to = graph.edgeTo[edge] as number;
      const path = edgePath(graph, edge);
      const origin = graph.edgeOrigin[edge] as number;
      const definition = origin < 0 ? undefined : this.definition.edges?.[origin];
      const pair = `${from} ${to}`;
      const nth = (timesSeen.get(pair) ?? 0) + 1;
      timesSeen.set(pair, nth);
      const id = graph.ids[to] as string;
      return {
        key: nth === 1 ? id : `${id}#${nth}`,
        from: nodes[from] as NodePlan,
        to: nodes[to] as NodePlan,
        on: definition?.on ?? 'success',
        ...this.edgeConditions(definition, path, from, nodes),
      };
    });
  }

  private edgeConditions(
    definition: EdgeDefinition | undefined,
    path: DocumentPath,
    from: number,
    nodes: readonly NodePlan[],
  ): Pick<EdgePlan, 'when' | 'match' | 'matchError' | 'reads'> {
    if (definition === undefined) return { when: undefined, match: undefined, matchError: undefined, reads: [] };
    const when = this.values.condition(definition.when, [...path, 'when']);
    const reads = this.references.check(when, [...path, 'when'], { place: 'edge', node: from });
    const isError = definition.on === 'error' || definition.on === 'always';
    return {
      when,
      match: isError ? undefined : this.values.matcher(definition.match, [...path, 'match']),
      matchError: isError ? this.values.errorMatcher(definition.match, [...path, 'match']) : undefined,
      reads: reads.map((index) => nodes[index] as NodePlan),
    };
  }

  private findAction(id: string): Action | undefined {
    // In a draft with other mistakes a node may have no action at all.
    const reference: string | undefined = this.nodeDefinition(id).action;
    if (reference === undefined) return undefined;
    const action = this.catalog.action(reference);
    if (action !== undefined) return action;
    const path = ['nodes', id, 'action'];
    const [name = ''] = reference.split('@');
    const versions = this.catalog.versionsOf(name);
    if (versions.length > 0) {
      const message = `there is no version of '${name}' that fits '${reference}'`;
      this.problems.error({
        code: 'UNKNOWN_ACTION_VERSION',
        message,
        hint: `it exists as ${versions.join(', ')}`,
        path,
      });
      return undefined;
    }
    const near = didYouMean(name, this.catalog.actionIds());
    const hint =
      near === undefined
        ? '`nebula actions` lists what there is; your own come from nebula.config.ts'
        : `did you mean '${near}'?`;
    this.problems.error({ code: 'UNKNOWN_ACTION', message: `there is no action '${name}'`, hint, path });
    return undefined;
  }

  private checkPolicy(policy: string | undefined, path: DocumentPath): void {
    if (policy === undefined || isBuiltIn(policy) || this.catalog.retryPolicy(policy) !== undefined) return;
    const known = ['fixed', 'exponential', 'exponential-jitter', ...this.catalog.retryPolicyNames()];
    const near = didYouMean(policy, known);
    const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean '${near}'?`;
    this.problems.error({ code: 'UNKNOWN_RETRY_POLICY', message: `there is no retry policy '${policy}'`, hint, path });
  }
}

function timeoutsOf(timeout: string | TimeoutDefinition | undefined): Timeouts {
  const { attempt, queued, total } = typeof timeout === 'string' ? { attempt: timeout } : (timeout ?? {});
  return {
    attemptMs: durationOf(attempt) ?? null,
    queuedMs: durationOf(queued) ?? null,
    totalMs: durationOf(total) ?? null,
  };
}
