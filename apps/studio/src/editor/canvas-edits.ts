/** What gestures on the canvas mean for the text. */
import type { Graph, GraphEdge } from '@nebula/canvas/model';
import type { JsonObject } from '@nebula/core';
import { freeId, splitPath } from '../language/edits/graph-places.ts';
import { connect, disconnect, type EdgeKind } from '../language/edits/links.ts';
import { insertNode, removeNodes } from '../language/edits/nodes.ts';
import type { EditResult } from '../language/edits/refusal.ts';
import { TextDraft } from '../language/edits/text-edit.ts';

/** The id of a new node that is free in its graph. */
function newId(graph: Graph, parent: string, wanted: string): string {
  const taken = [...graph.nodes.keys()].flatMap((path) => {
    const { graph: around, id } = splitPath(path);
    return around === parent ? [id] : [];
  });
  return freeId(taken, wanted);
}

export interface AddRequest {
  readonly node: JsonObject;
  /** The wanted id. */
  readonly id: string;
  /** The graph: a group, or empty. */
  readonly into: string;
  readonly after?: string | undefined;
  /** The edge that the new node divides. */
  readonly edge?: GraphEdge | undefined;
  /** The outlet of `after`. */
  readonly kind?: EdgeKind | undefined;
  readonly port?: string | undefined;
}

export type Added = { readonly edits: TextEdits; readonly path: string } | { readonly refused: string };
type TextEdits = Extract<EditResult, { edits: unknown }>['edits'];

/** Adds a node: alone, after another one, or into an edge. */
export function addNode(text: string, graph: Graph, request: AddRequest): Added {
  const { node, into, edge } = request;
  const after = edge?.from ?? request.after;
  const parent = after === undefined ? into : splitPath(after).graph;
  const id = newId(graph, parent, request.id);
  const path = parent === '' ? id : `${parent}/${id}`;
  const isPlain =
    edge === undefined ? request.kind === undefined || request.kind === 'success' : edge.kind === 'success';
  const source = after === undefined ? undefined : splitPath(after).id;
  if (isPlain || after === undefined) {
    const before = edge === undefined || !isPlain ? undefined : splitPath(edge.to).id;
    const result = insertNode(text, {
      graph: parent,
      id,
      node,
      ...(source !== undefined && { after: source }),
      ...(before !== undefined && { before }),
    });
    return 'refused' in result ? result : { edits: result.edits, path };
  }
  // From an outlet, or into an edge that has a condition: the new node takes the end of that edge.
  const kind = edge?.kind ?? request.kind ?? 'success';
  const port = edge?.port ?? request.port;
  const steps: ((text: string) => EditResult)[] = [
    (before) => insertNode(before, { graph: parent, id, node }),
    ...(edge === undefined
      ? []
      : [
          (before: string) =>
            disconnect(before, { from: edge.from, to: edge.to, kind, ...(port !== undefined && { port }) }),
        ]),
    (before) => connect(before, { from: after, to: path, kind, ...(port !== undefined && { port }) }),
    ...(edge === undefined ? [] : [(before: string) => connect(before, { from: path, to: edge.to, kind: 'success' })]),
  ];
  const result = inSteps(text, steps);
  return 'refused' in result ? result : { edits: result.edits, path };
}

/** Several operations as one. */
function inSteps(text: string, steps: readonly ((text: string) => EditResult)[]): EditResult {
  const draft = new TextDraft(text);
  for (const step of steps) {
    const result = step(draft.text);
    if ('refused' in result) return result;
    draft.apply(result.edits);
  }
  return { edits: draft.edits() };
}

/** Removes nodes and edges that were selected. */
export function removeSelected(
  text: string,
  graph: Graph,
  nodes: readonly string[],
  edges: readonly string[],
): EditResult {
  const gone = new Set(nodes);
  const links = edges
    .flatMap((id) => graph.edges.get(id) ?? [])
    .filter(({ from, to }) => !gone.has(from) && !gone.has(to));
  return inSteps(text, [
    ...links.map(
      ({ from, to, kind, port }) =>
        (before: string) =>
          disconnect(before, { from, to, kind, ...(port !== undefined && { port }) }),
    ),
    ...(nodes.length === 0 ? [] : [(before: string) => removeNodes(before, nodes)]),
  ]);
}

export function connectNodes(
  text: string,
  edge: Pick<GraphEdge, 'from' | 'to' | 'kind'> & { port?: string | undefined },
): EditResult {
  return connect(text, {
    from: edge.from,
    to: edge.to,
    kind: edge.kind,
    ...(edge.port !== undefined && { port: edge.port }),
  });
}
