/** What expressions at a place can read: the roots, the nodes before it, and what is known of their values. */
import { type DocumentPath, isJsonObject, type Json, type JsonSchema } from '@nebula/core';
import { type ActionInfo, findAction } from './catalog.ts';
import { idsIn } from './edits/graph-places.ts';
import { linksIn } from './edits/node-references.ts';
import { valueAt } from './edits/source-tree.ts';
import { type LoopValues, type RunValues, scopeOf } from './run-values.ts';
import type { Known } from './value-types.ts';

/** The part of a definition in which an expression stands. */
export interface Place {
  /** The document path of the graph: empty, or that of a body. */
  readonly graph: DocumentPath;
  /** The id of the node in that graph; undefined: the output of the graph. */
  readonly node: string | undefined;
}

/** `nodes.items.do.nodes.pack.with.url` is in the node `pack` of the graph `nodes.items.do`. */
export function placeIn(path: DocumentPath): Place {
  let graph: DocumentPath = [];
  let at = 0;
  while (path[at] === 'nodes' && (path[at + 2] === 'do' || path[at + 2] === 'group')) {
    at += 3;
    graph = path.slice(0, at);
  }
  const node = path[at] === 'nodes' && path[at + 1] !== undefined ? String(path[at + 1]) : undefined;
  return { graph, node };
}

/** The path of the node whose body the graph is: `items`, or `outer/inner`. */
export function graphName(graph: DocumentPath): string {
  return graph.filter((_, index) => index % 3 === 1).join('/');
}

/** Nodes that an expression may read, the nearest graph first. */
export function readableNodes(
  data: Json,
  { graph, node }: Place,
): { readonly id: string; readonly graph: DocumentPath }[] {
  const found = new Map<string, DocumentPath>();
  let at: Place | undefined = { graph, node };
  while (at !== undefined) {
    const own: Place = at;
    const ids = own.node === undefined ? idsIn(data, own.graph) : [...nodesBefore(data, own.graph, own.node)];
    for (const id of ids) if (!found.has(id)) found.set(id, own.graph);
    at = own.graph.length === 0 ? undefined : { graph: own.graph.slice(0, -3), node: String(own.graph.at(-2)) };
  }
  return [...found].map(([id, place]) => ({ id, graph: place }));
}

/** All nodes from which a path leads to this one, the nearest first. */
function nodesBefore(data: Json, graph: DocumentPath, node: string): Set<string> {
  const links = linksIn(data, graph);
  const found = new Set<string>();
  const queue = [node];
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    for (const { from, to } of links) {
      if (to !== id || found.has(from) || from === node) continue;
      found.add(from);
      queue.push(from);
    }
  }
  return found;
}

export interface ScopeFacts {
  readonly data: Json;
  readonly actions: readonly ActionInfo[];
  readonly run?: RunValues | undefined;
}

export function inputKnown({ data, run }: ScopeFacts): Known {
  const schema = isJsonObject(data) ? data.input : undefined;
  return { schema: isJsonObject(schema) ? schema : undefined, value: run?.input };
}

export function variablesKnown({ data, run }: ScopeFacts): Known {
  const initial = isJsonObject(data) && isJsonObject(data.variables) ? data.variables : {};
  const assigned = idsIn(data, []).flatMap((id) => {
    const set = valueAt(data, ['nodes', id, 'set']);
    return isJsonObject(set) ? Object.keys(set) : [];
  });
  const value = { ...Object.fromEntries(assigned.map((name) => [name, null])), ...initial, ...run?.variables };
  return { value };
}

/** The output of a node: the schema of its action, and the value of the run. */
export function outputKnown(facts: ScopeFacts, graph: DocumentPath, id: string): Known {
  const node = valueAt(facts.data, [...graph, 'nodes', id]);
  const value = facts.run === undefined ? undefined : scopeOf(facts.run, graphName(graph)).node(id)?.output;
  return { schema: isJsonObject(node) ? outputSchema(node, facts) : undefined, value: value ?? undefined };
}

const ANY: JsonSchema = {};

function outputSchema(node: Readonly<Record<string, Json>>, { actions }: ScopeFacts): JsonSchema | undefined {
  if (typeof node.action === 'string') return schemaOr(findAction(actions, node.action)?.output);
  if (isJsonObject(node.set)) {
    return { type: 'object', properties: Object.fromEntries(Object.keys(node.set).map((key) => [key, ANY as Json])) };
  }
  if (node.branch !== undefined) {
    return { type: 'object', properties: { taken: { type: 'array', items: { type: 'string' } } } };
  }
  if (node.forEach !== undefined) return { type: 'array' };
  if (node.merge !== undefined) return { type: 'object', properties: { aggregated: { type: 'array' } } };
  if (node.wait !== undefined) {
    return { type: 'object', properties: { event: { type: 'string' }, payload: {}, at: { type: 'string' } } };
  }
  return undefined;
}

function schemaOr(value: unknown): JsonSchema | undefined {
  return isJsonObject(value) ? (value as JsonSchema) : undefined;
}

/** The loop around a graph; its first item, where the list is a literal or the run has it. */
export function loopAround(graph: DocumentPath): DocumentPath | undefined {
  for (let end = graph.length; end > 0; end -= 3) if (graph[end - 1] === 'do') return graph.slice(0, end);
  return undefined;
}

export function firstItem(items: Json | undefined): LoopValues | undefined {
  return Array.isArray(items) && items.length > 0 ? { item: items[0] as Json, index: 0, items } : undefined;
}
