/** Copies of nodes as text, with the edges between them. Pasted nodes get new ids. */
import type { Change } from './changes.ts';
import { edgeId, type Graph, type GraphEdge, type GraphNode, withContents } from './graph.ts';

interface Copied {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const FORMAT = 'nebula-graph-1';

/** A node that is in a copied group is copied with it, not a second time. */
export function copyText(graph: Graph, ids: Iterable<string>): string {
  const chosen = new Map<string, GraphNode>();
  for (const id of ids) for (const node of withContents(graph, id)) chosen.set(node.id, node);
  const nodes = [...graph.nodes.values()].filter(({ id }) => chosen.has(id));
  const edges = [...graph.edges.values()].filter(({ from, to }) => chosen.has(from) && chosen.has(to));
  return JSON.stringify({ format: FORMAT, nodes, edges });
}

/** The change that pastes the text into a group, or at the top; undefined if the text is something else. */
export function pasteChange(graph: Graph, text: string, into?: string): Extract<Change, { type: 'add' }> | undefined {
  const copied = readCopied(text);
  if (copied === undefined) return undefined;
  const newIds = new Map<string, string>();
  const taken = new Set(graph.nodes.keys());
  const nodes = copied.nodes.map((node): GraphNode => {
    const parent = node.parent === undefined ? into : (newIds.get(node.parent) ?? into);
    const id = freeId(parent, node.id.slice(node.id.lastIndexOf('/') + 1), taken);
    newIds.set(node.id, id);
    const { parent: _, ...rest } = node;
    return { ...rest, id, ...(parent === undefined ? {} : { parent }) };
  });
  const edges = copied.edges.map((edge): GraphEdge => {
    const [from, to] = [newIds.get(edge.from)!, newIds.get(edge.to)!];
    return { ...edge, from, to, id: edgeId({ ...edge, from, to }) };
  });
  return { type: 'add', nodes, edges };
}

function freeId(parent: string | undefined, name: string, taken: Set<string>): string {
  const prefix = parent === undefined ? '' : `${parent}/`;
  const base = name.replace(/-\d+$/, '');
  let id = `${prefix}${name}`;
  for (let number = 2; taken.has(id); number++) id = `${prefix}${base}-${number}`;
  taken.add(id);
  return id;
}

function readCopied(text: string): Copied | undefined {
  try {
    const value = JSON.parse(text) as Copied & { readonly format?: string };
    if (value.format !== FORMAT || !Array.isArray(value.nodes) || !Array.isArray(value.edges)) return undefined;
    const ids = new Set(value.nodes.map(({ id }) => id));
    const isText = (one: unknown): boolean => typeof one === 'string';
    const isNode = (node: GraphNode): boolean => isText(node.id) && isText(node.kind) && isText(node.label);
    const isEdge = (edge: GraphEdge): boolean => isText(edge.id) && ids.has(edge.from) && ids.has(edge.to);
    return value.nodes.every(isNode) && value.edges.every(isEdge) ? value : undefined;
  } catch {
    return undefined;
  }
}
