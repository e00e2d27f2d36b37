/** Builds and checks the graphs of a workflow: its own graph and the graph of every body. */
import { buildGraph, checkGraph, edgeCountAt, type Graph } from '../graph/index.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { isJsonList, isJsonObject } from '../value.ts';
import {
  BODY_KEYS,
  type BodyDefinition,
  type EdgeDefinition,
  type NodeDefinition,
  type WorkflowDefinition,
} from './model.ts';
import type { ProblemList } from './problem-list.ts';
import { bodyKey } from './source-map.ts';

/** Keyed by `bodyKey`. */
export type Graphs = ReadonlyMap<string, Graph>;

/** Returns `undefined` when there are too many nodes to check further. */
export function checkGraphs(definition: WorkflowDefinition, problems: ProblemList): Graphs | undefined {
  const bodies = allBodies(definition);
  if (!checkNodeCount(bodies, problems, ['nodes'])) return undefined;
  const graphs = new Map<string, Graph>();
  for (const { body, path } of bodies) graphs.set(bodyKey(path), checkedGraph(body, path, problems));
  checkFailureNode(definition, graphs.get(bodyKey([])) as Graph, problems);
  return graphs;
}

/** The failure node has no edges: it runs after everything else has ended. */
function checkFailureNode({ config }: WorkflowDefinition, graph: Graph, problems: ProblemList): void {
  const id: unknown = isJsonObject(config) ? config.failureNode : undefined;
  if (typeof id !== 'string') return;
  const path = ['config', 'failureNode'];
  const index = graph.indexOf.get(id);
  if (index === undefined) {
    const near = didYouMean(id, graph.ids);
    const hint = near === undefined ? 'name a top-level node of the workflow' : `did you mean '${near}'?`;
    problems.error({ code: 'UNKNOWN_NODE', message: `there is no node '${id}'`, hint, path });
  } else if (edgeCountAt(graph.incoming, index) + edgeCountAt(graph.outgoing, index) > 0) {
    const hint = 'remove the edges; to run several steps, make the failure node run a workflow';
    problems.error({ code: 'LINKED_FAILURE_NODE', message: `the failure node '${id}' has edges`, hint, path });
  }
}

function checkNodeCount(bodies: readonly BodyAtPath[], problems: ProblemList, path: DocumentPath): boolean {
  let count = 0;
  for (const { body } of bodies) count += Object.keys(body.nodes ?? {}).length;
  if (count <= DEFINITION_LIMITS.maxNodes) return true;
  const message = `the workflow has ${count} nodes; the limit is ${DEFINITION_LIMITS.maxNodes}`;
  problems.error({ code: 'TOO_MANY_NODES', message, hint: 'split it into several workflows', path, at: 'key' });
  return false;
}

/** Counts the nodes and edges of all bodies. Members of `needs` and `edges`, cases and their targets are edges. */
export function countGraphs(definition: BodyDefinition): { readonly nodes: number; readonly edges: number } {
  let nodes = 0;
  let edges = 0;
  for (const { body } of allBodies(definition)) {
    edges += sizeOf(body.edges);
    for (const node of Object.values(body.nodes ?? {})) {
      nodes++;
      edges += sizeOf(node?.needs) + targetsOf(node?.branch);
    }
  }
  return { nodes, edges };
}

/** A case counts as an edge, also one without a new target. */
function targetsOf(branch: unknown): number {
  if (!isJsonObject(branch)) return 0;
  const { cases, default: otherwise } = branch;
  let count = sizeOf(otherwise);
  for (const one of Object.values(typeof cases === 'object' && cases !== null ? cases : {})) {
    const to: unknown = isJsonObject(one) ? one.to : one;
    count += Math.max(1, sizeOf(to));
  }
  return count;
}

/** The number of members of a list or a mapping; 0 for anything else, which a draft may contain. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

export function checkedGraph(body: BodyDefinition, path: DocumentPath, problems: ProblemList): Graph {
  const { graph, problems: found } = buildGraph(body);
  for (const { severity, ...finding } of [...found, ...checkGraph(graph, body.nodes ?? {})]) {
    problems[severity]({ ...finding, path: [...path, ...finding.path] });
  }
  checkErrorBranches(body, path, problems);
  checkOrder(body, path, problems);
  return graph;
}

function checkOrder({ nodes = {}, order }: BodyDefinition, path: DocumentPath, problems: ProblemList): void {
  if (!isJsonList(order)) return;
  for (const [index, id] of order.entries()) {
    if (typeof id !== 'string' || Object.hasOwn(nodes, id)) continue;
    const near = didYouMean(id, Object.keys(nodes));
    const hint = near === undefined ? '`order` lists the ids of the nodes' : `did you mean '${near}'?`;
    problems.error({
      code: 'UNKNOWN_NODE',
      message: `there is no node '${id}'`,
      hint,
      path: [...path, 'order', index],
    });
  }
}

interface BodyAtPath {
  readonly body: BodyDefinition;
  readonly path: DocumentPath;
}

/** The definition itself and every body inside, outer bodies first. Works on drafts. */
function allBodies(body: BodyDefinition, path: DocumentPath = [], found: BodyAtPath[] = []): readonly BodyAtPath[] {
  found.push({ body, path });
  const nodes: Readonly<Record<string, NodeDefinition>> = body.nodes ?? {};
  for (const id of Object.keys(nodes)) {
    for (const key of BODY_KEYS) {
      const inner = nodes[id]?.[key];
      if (isJsonObject(inner)) allBodies(inner as BodyDefinition, [...path, 'nodes', id, key], found);
    }
  }
  return found;
}

export function allNodes(definition: BodyDefinition): readonly NodeDefinition[] {
  return allBodies(definition).flatMap(({ body }) => Object.values(body.nodes ?? {}));
}

/** A node with `onError: branch` needs an edge that handles the error; an always edge sufficed once. */
function checkErrorBranches(
  { nodes = {}, edges = [] }: BodyDefinition,
  path: DocumentPath,
  problems: ProblemList,
): void {
  const branching = Object.keys(nodes).filter((id) => nodes[id]?.onError === 'branch');
  if (branching.length === 0) return;
  const sourcesOf = (kind: EdgeDefinition['on']): ReadonlySet<string> =>
    new Set(edges.filter(({ on }) => on === kind).map(({ from }) => from));
  const [handled, always] = [sourcesOf('error'), sourcesOf('always')];
  for (const id of branching) {
    if (handled.has(id)) continue;
    problems.error({
      code: 'BRANCH_WITHOUT_EDGE',
      message: `'${id}' has onError: branch, but no error edge leaves it`,
      hint: `add an edge, e.g. { from: ${id}, to: …, on: error }`,
      path: [...path, 'nodes', id, 'onError'],
      isTightened: always.has(id),
    });
  }
}
