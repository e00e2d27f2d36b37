/**
 * Several ways of writing → one model: `needs` is a list, edges have `from` and `to`, what is for editors is gone.
 * Works on definitions with mistakes too, leaving out what cannot be understood, so that the graph is checked as well.
 */
import { isJsonObject, type Json, type JsonObject, memberOf } from '../value.ts';
import { parseEdgeText } from './edge-text.ts';
import type { EdgeDefinition, NodeDefinition, WorkflowDefinition } from './model.ts';
import type { ProblemList } from './problem-list.ts';
import type { EdgeOrigin } from './source-map.ts';

export interface Normalised {
  readonly definition: WorkflowDefinition;
  /** Per edge of the definition, where it was written; undefined when the two lists are the same. */
  readonly edgeOrigins: readonly EdgeOrigin[] | undefined;
}

/** The input is not changed; what needs no change is shared with it. */
export function normalise(workflow: JsonObject): Normalised {
  const nodes = memberOf(workflow, 'nodes');
  const edges = memberOf(workflow, 'edges');
  const normalEdges = Array.isArray(edges) ? normaliseEdges(edges) : undefined;
  const { $schema: _, ...rest } = workflow;
  const definition = {
    ...rest,
    ...(nodes === undefined ? {} : { nodes: normaliseNodes(nodes) }),
    ...(edges === undefined ? {} : { edges: normalEdges?.edges ?? [] }),
  };
  return { definition: definition as unknown as WorkflowDefinition, edgeOrigins: normalEdges?.origins };
}

function normaliseNodes(nodes: Json): Record<string, NodeDefinition> {
  if (!isJsonObject(nodes)) return {};
  const result: Record<string, Json> = {};
  for (const [id, node] of Object.entries(nodes)) {
    if (id !== '__proto__') result[id] = isJsonObject(node) ? normaliseNeeds(node) : {};
  }
  return result as unknown as Record<string, NodeDefinition>;
}

function normaliseNeeds(node: JsonObject): JsonObject {
  const needs = memberOf(node, 'needs');
  if (needs === undefined) return node;
  if (typeof needs === 'string') return { ...node, needs: [needs] };
  if (!Array.isArray(needs)) return { ...node, needs: [] };
  return needs.every((id) => typeof id === 'string')
    ? node
    : { ...node, needs: needs.filter((id) => typeof id === 'string') };
}

function normaliseEdges(list: readonly Json[]): { edges: EdgeDefinition[]; origins: EdgeOrigin[] | undefined } {
  const edges: EdgeDefinition[] = [];
  const origins: EdgeOrigin[] = [];
  let same = true;
  list.forEach((edge, index) => {
    if (isJsonObject(edge) && typeof edge.from === 'string' && typeof edge.to === 'string') {
      edges.push(edge as unknown as EdgeDefinition);
      origins.push({ index });
      return;
    }
    same = false;
    const parts = typeof edge === 'string' ? parseEdgeText(edge) : undefined;
    if (!Array.isArray(parts)) return;
    for (const [position, to] of parts.entries()) {
      const from = parts[position - 1];
      if (!from) continue;
      edges.push({ from: from.id, to: to.id });
      origins.push({
        index,
        from: { offset: from.offset, length: from.id.length },
        to: { offset: to.offset, length: to.id.length },
      });
    }
  });
  return { edges, origins: same ? undefined : origins };
}

/** `onError: branch` promises edges that take the error. */
export function checkErrorBranches({ nodes = {}, edges = [] }: WorkflowDefinition, problems: ProblemList): void {
  const branching = Object.keys(nodes).filter((id) => nodes[id]?.onError === 'branch');
  if (branching.length === 0) return;
  const taken = new Set(edges.filter(({ on }) => on === 'error' || on === 'always').map(({ from }) => from));
  for (const id of branching) {
    if (taken.has(id)) continue;
    problems.error({
      code: 'BRANCH_WITHOUT_EDGE',
      message: `'${id}' sends its errors to a branch, but no edge on error or always leaves it`,
      hint: `add an edge, e.g. { from: ${id}, to: …, on: error }`,
      path: ['nodes', id, 'onError'],
    });
  }
}
