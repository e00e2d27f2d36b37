/**
 * Copies of nodes as text. A fragment is YAML with the nodes and the edges between them; it keeps the comments of the
 * nodes, and can be pasted into any graph of any workflow.
 */
import { type DocumentPath, isJsonObject, type Json, type JsonObject } from '@nebula/core';
import { DefinitionDraft } from './definition-draft.ts';
import { freeId, graphPlace, idsIn, nodePlace, splitPath, textsOf } from './graph-places.ts';
import { removeLinks } from './links.ts';
import { chainOf } from './node-references.ts';
import { isBracketed, nodeValue, renameNodes } from './nodes.ts';
import { attempt, type EditResult, Refusal, refuse } from './refusal.ts';
import { blockLines } from './rendering.ts';
import { columnOf, extentEnd, headStart, mustBeOwn } from './source-tree.ts';
import { indented, insertLines, memberLines, partAt } from './splices.ts';
import type { TextEdit } from './text-edit.ts';

/** The nodes of one graph as a fragment; undefined if they are of different graphs, or the text cannot be read. */
export function copyNodes(text: string, paths: readonly string[]): string | undefined {
  try {
    const draft = new DefinitionDraft(text);
    const graphs = new Set(paths.map((path) => splitPath(path).graph));
    const [graph] = graphs;
    if (graph === undefined || graphs.size > 1) return undefined;
    const place = graphPlace(draft.value, graph);
    return fragmentOf(
      draft,
      place,
      paths.map((path) => splitPath(path).id),
    );
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** `ids` in any order; the nodes keep the order of the text. */
export function fragmentOf(draft: DefinitionDraft, place: DocumentPath, ids: readonly string[]): string {
  const chosen = idsIn(draft.value, place).filter((id) => ids.includes(id));
  const lines = chosen.map((id) => indented(linesOfNode(draft, place, id), 2, '\n'));
  const edges = edgesBetween(draft.at([...place, 'edges']), new Set(chosen));
  const edgeLines = edges.length === 0 ? '' : `edges:\n${blockLines(edges, 2, '\n')}\n`;
  return `nodes:\n${lines.join('\n')}\n${edgeLines}`;
}

/** The lines of a node from column 0, with the comments above it. */
export function linesOfNode(draft: DefinitionDraft, place: DocumentPath, id: string): string {
  const path = [...place, 'nodes', id];
  if (isBracketed(draft, place)) return memberLines(id, nodeValue(draft.value, path), '\n');
  const { text } = draft.tree;
  const part = partAt(draft.tree, path);
  mustBeOwn(part);
  const column = columnOf(text, part.keyStart);
  const lines = text.slice(headStart(text, part), extentEnd(text, part, column)).split(/\r?\n/);
  return lines.map((line) => line.slice(Math.min(column, line.length - line.trimStart().length))).join('\n');
}

/** Edges with both ends among the nodes; chains are divided. */
function edgesBetween(edges: Json | undefined, ids: ReadonlySet<string>): Json[] {
  if (!Array.isArray(edges)) return [];
  return edges.flatMap((edge): Json[] => {
    const chain = chainOf(edge);
    if (chain === undefined) {
      return isJsonObject(edge) && ids.has(String(edge.from)) && ids.has(String(edge.to)) ? [edge] : [];
    }
    const pairs = chain.slice(1).map((to, index) => [chain[index] as string, to] as const);
    return pairs.filter(([from, to]) => ids.has(from) && ids.has(to)).map(([from, to]) => `${from} -> ${to}`);
  });
}

export interface PasteNodes {
  /** The graph that gets the nodes. */
  readonly graph: string;
  readonly fragment: string;
  /** The nodes are written below this one. */
  readonly after?: string;
}

export type PasteResult =
  | { readonly edits: readonly TextEdit[]; readonly paths: readonly string[] }
  | { readonly refused: string };

/** Ids that the graph has already get a number; needs that it does not have are dropped. */
export function pasteNodes(text: string, { graph, fragment, after }: PasteNodes): PasteResult {
  const paths: string[] = [];
  const result: EditResult = attempt(() => {
    const draft = new DefinitionDraft(text);
    const place = graphPlace(draft.value, graph);
    const copied = readFragment(fragment);
    const ids = idsIn(copied.value, []);
    const taken = idsIn(draft.value, place);
    const names = new Map<string, string>();
    for (const id of ids) {
      if (taken.includes(id)) names.set(id, freeId([...taken, ...ids, ...names.values()], id));
    }
    renameNodes(copied, [], names);
    dropUnknown(copied, new Set([...idsIn(copied.value, []), ...taken]));
    paths.push(...idsIn(copied.value, []).map((id) => (graph === '' ? id : `${graph}/${id}`)));
    addNodes(draft, place, copied, after);
    return draft.edits();
  });
  return 'refused' in result ? result : { ...result, paths };
}

function readFragment(fragment: string): DefinitionDraft {
  try {
    const copied = new DefinitionDraft(fragment.endsWith('\n') ? fragment : `${fragment}\n`);
    const nodes = copied.at(['nodes']);
    if (isJsonObject(nodes) && Object.values(nodes).every((node) => isJsonObject(node))) return copied;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  refuse('The clipboard has no nodes.');
}

function dropUnknown(copied: DefinitionDraft, known: ReadonlySet<string>): void {
  const unknown = new Set<string>();
  for (const id of idsIn(copied.value, [])) {
    for (const need of textsOf(copied.at(['nodes', id, 'needs']))) if (!known.has(need)) unknown.add(need);
  }
  for (const id of unknown) removeLinks(copied, [], { from: id });
}

/** Writes the nodes and edges of a fragment into a graph. */
function addNodes(draft: DefinitionDraft, place: DocumentPath, copied: DefinitionDraft, after?: string): void {
  const nodes = [...place, 'nodes'];
  const ids = idsIn(copied.value, []);
  if (!draft.has(nodes)) draft.set(nodes, {});
  if (draft.tree.isJson || isBracketed(draft, place)) {
    let last = after;
    for (const id of ids) {
      draft.insert(nodes, id, nodeValue(copied.value, ['nodes', id]), last === undefined ? 'last' : { after: last });
      last = id;
    }
  } else {
    const lines = ids.map((id) => linesOfNode(copied, [], id));
    draft.splice(insertLines(draft.tree, nodes, lines, after === undefined ? 'last' : { after }));
  }
  addEdges(draft, place, copied.at(['edges']));
}

function addEdges(draft: DefinitionDraft, place: DocumentPath, edges: Json | undefined): void {
  for (const edge of Array.isArray(edges) ? edges : []) {
    if (Array.isArray(draft.at([...place, 'edges']))) draft.insert([...place, 'edges'], undefined, edge);
    else draft.insert(place, 'edges', [edge], { after: 'nodes' });
  }
}

/** Copies nodes beside themselves: the copies need what the originals need, and each other. */
export function duplicateNodes(text: string, paths: readonly string[]): PasteResult {
  const fragment = copyNodes(text, paths);
  if (fragment === undefined) return { refused: 'The nodes are in different graphs.' };
  const last = paths.map(splitPath).at(-1);
  if (last === undefined) return { edits: [], paths: [] };
  return pasteNodes(text, { graph: last.graph, fragment, after: lastInText(text, last.graph, paths) });
}

function lastInText(text: string, graph: string, paths: readonly string[]): string {
  const { value } = new DefinitionDraft(text);
  const ids = new Set(paths.map((path) => splitPath(path).id));
  const [first = ''] = ids;
  return idsIn(value, graphPlace(value, graph)).findLast((id) => ids.has(id)) ?? first;
}

export function nodeAt(text: string, path: string): JsonObject | undefined {
  try {
    const { value } = new DefinitionDraft(text);
    return nodeValue(value, nodePlace(value, path));
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
