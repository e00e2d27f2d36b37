/**
 * Normalises the alternative spellings of a definition: `needs` and `labels` become lists, edges get `from` and `to`,
 * keys for editors are removed. Accepts definitions with errors and leaves out the parts it cannot understand, so that
 * the graph can be checked as well.
 */

import type { TextProblem } from '../duration.ts';
import { mayLoseOrder, writtenOrder } from '../node-order.ts';
import { clipped, type DocumentPath } from '../problem.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../value.ts';
import { BODY_KEYS, type BodyDefinition, type EdgeDefinition, type WorkflowDefinition } from './model.ts';
import { bodyKey, type EdgeOrigin } from './source-map.ts';
import { ID_PATTERN } from './value-type.ts';

export interface Normalised {
  readonly definition: WorkflowDefinition;
  /** For each graph with rewritten edges, the origin of each edge; keyed by `bodyKey`. */
  readonly edgeOrigins: ReadonlyMap<string, readonly EdgeOrigin[]>;
}

/** Positions in the source, as far as they are known. */
interface Written {
  readonly origins: Map<string, readonly EdgeOrigin[]>;
  /** The keys of the mapping at a path, in source order. */
  readonly keysAt: (path: DocumentPath) => readonly string[] | undefined;
}

/** Does not change its input; unchanged parts are shared with it. */
export function normalise(workflow: JsonObject, keysAt: Written['keysAt'] = () => undefined): Normalised {
  const { $schema: _, ...rest } = workflow;
  const written: Written = { origins: new Map(), keysAt };
  const definition = normaliseGraph(rest, [], written) as unknown as WorkflowDefinition;
  return { definition, edgeOrigins: written.origins };
}

export function normaliseBody(body: JsonObject): BodyDefinition {
  return normaliseGraph(body, [], { origins: new Map(), keysAt: () => undefined }) as unknown as BodyDefinition;
}

function normaliseGraph(graph: JsonObject, path: DocumentPath, written: Written): JsonObject {
  const nodes = memberOf(graph, 'nodes');
  const edges = memberOf(graph, 'edges');
  const normalEdges = Array.isArray(edges) ? normaliseEdges(edges) : undefined;
  if (normalEdges?.origins) written.origins.set(bodyKey(path), normalEdges.origins);
  return {
    ...graph,
    ...(nodes === undefined ? {} : { nodes: normaliseNodes(nodes, path, written), ...orderOf(graph, path, written) }),
    ...(edges === undefined ? {} : { edges: (normalEdges?.edges ?? []) as unknown as Json }),
  };
}

function orderOf({ nodes, order }: JsonObject, path: DocumentPath, { keysAt }: Written): { order?: string[] } {
  if (order !== undefined || !isJsonObject(nodes) || !mayLoseOrder(nodes)) return {};
  const kept = writtenOrder(keysAt([...path, 'nodes']) ?? []);
  return kept === undefined ? {} : { order: [...kept] };
}

function normaliseNodes(nodes: Json, path: DocumentPath, written: Written): JsonObject {
  if (!isJsonObject(nodes)) return {};
  const result: Record<string, Json> = {};
  for (const [id, node] of Object.entries(nodes)) {
    if (id !== '__proto__') result[id] = isJsonObject(node) ? normaliseNode(node, id, path, written) : {};
  }
  return result;
}

function normaliseNode(node: JsonObject, id: string, path: DocumentPath, written: Written): JsonObject {
  let normal = listed(listed(node, 'needs'), 'labels');
  for (const key of BODY_KEYS) {
    const body = memberOf(node, key);
    if (!isJsonObject(body)) continue;
    normal = { ...normal, [key]: normaliseGraph(body, [...path, 'nodes', id, key], written) };
  }
  return normal;
}

/** Wraps a single text in a list. */
function listed(node: JsonObject, key: string): JsonObject {
  const texts = memberOf(node, key);
  if (texts === undefined) return node;
  if (typeof texts === 'string') return { ...node, [key]: [texts] };
  if (!Array.isArray(texts)) return { ...node, [key]: [] };
  return texts.every((text) => typeof text === 'string')
    ? node
    : { ...node, [key]: texts.filter((text) => typeof text === 'string') };
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

/** The short form of edges: `a -> b`, or a chain `a -> b -> c`. */
interface EdgeTextPart {
  readonly id: string;
  /** Offset of the id in the text. */
  readonly offset: number;
}

const ID = new RegExp(ID_PATTERN);

/** Returns the ids along the chain, at least two. */
export function parseEdgeText(text: string): EdgeTextPart[] | TextProblem {
  const parts: EdgeTextPart[] = [];
  let offset = 0;
  for (const piece of text.split('->')) {
    const id = piece.trim();
    parts.push({ id, offset: offset + piece.indexOf(id) });
    offset += piece.length + 2;
  }
  if (parts.length >= 2 && parts.every(({ id }) => ID.test(id))) return parts;
  return { message: `'${clipped(text)}' is not an edge`, hint: suggest(text) };
}

function suggest(text: string): string {
  const general = "write it as 'a -> b', or as { from: a, to: b }";
  if (text.length > 1_000) return general;
  const mended = text.replace(/\s*(?:→|=>|⇒|-{1,2}>|—>|–>|>)\s*/g, ' -> ').trim();
  return mended !== text && mended.includes('->') && Array.isArray(parseEdgeText(mended))
    ? `did you mean '${mended}'?`
    : general;
}
