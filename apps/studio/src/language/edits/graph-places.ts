/** The nodes and bodies of a definition by path: `items/pack` is `nodes.items.do.nodes.pack` in the text. */
import { type DocumentPath, isJsonObject, type Json } from '@nebula/core';
import { refuse } from './refusal.ts';
import { valueAt } from './source-tree.ts';

const BODY_KEYS = ['do', 'group'] as const;

/** The document path of the graph inside a composite node; the empty path: the workflow itself. */
export function graphPlace(value: Json, graph: string): DocumentPath {
  if (graph === '') return [];
  let place: DocumentPath = [];
  for (const id of graph.split('/')) {
    place = [...place, 'nodes', id];
    const node = valueAt(value, place);
    const key = BODY_KEYS.find((name) => isJsonObject(node) && isJsonObject(node[name]));
    if (key === undefined) refuse(`The node '${id}' has no body.`);
    place = [...place, key];
  }
  return place;
}

/** `items/pack` is the node `pack` in the graph `items`. */
export function splitPath(path: string): { readonly graph: string; readonly id: string } {
  const at = path.lastIndexOf('/');
  return { graph: at === -1 ? '' : path.slice(0, at), id: path.slice(at + 1) };
}

export function nodePlace(value: Json, path: string): DocumentPath {
  const { graph, id } = splitPath(path);
  const place = [...graphPlace(value, graph), 'nodes', id];
  if (valueAt(value, place) === undefined) refuse(`There is no node '${path}'.`);
  return place;
}

/** The ids of the nodes of a graph. */
export function idsIn(value: Json, place: DocumentPath): string[] {
  const nodes = valueAt(value, [...place, 'nodes']);
  return isJsonObject(nodes) ? Object.keys(nodes) : [];
}

/** All bodies inside a graph, the graph itself included. */
export function bodiesIn(value: Json, place: DocumentPath): DocumentPath[] {
  const found: DocumentPath[] = [place];
  for (const id of idsIn(value, place)) {
    for (const key of BODY_KEYS) {
      const inner = [...place, 'nodes', id, key];
      if (isJsonObject(valueAt(value, inner))) found.push(...bodiesIn(value, inner));
    }
  }
  return found;
}

/** An id that no node of the graph has: `fetch`, `fetch_2`, `fetch_3`. */
export function freeId(taken: Iterable<string>, wanted: string): string {
  const used = new Set(taken);
  const base = wanted.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '') || 'node';
  if (!used.has(base)) return base;
  const stem = base.replace(/_\d+$/, '');
  for (let count = 2; ; count++) if (!used.has(`${stem}_${count}`)) return `${stem}_${count}`;
}

export function checkId(id: string): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) refuse('An id consists of letters, digits, _ and -.');
}

/** A text or a list of texts, as `needs` and the targets of a case are written. */
export function textsOf(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
