/** Operations on nodes: add, rename, remove. Nodes are named by their path: `pack`, or `items/pack` in a body. */
import { type DocumentPath, isJsonObject, type Json, type JsonObject } from '@nebula/core';
import { DefinitionDraft } from './definition-draft.ts';
import { bodiesIn, checkId, graphPlace, idsIn, nodePlace, splitPath, textsOf } from './graph-places.ts';
import { addNeed, removeLinks } from './links.ts';
import { chainOf, idSites, renameInExpressions, sitesThatSee } from './node-references.ts';
import { attempt, type EditResult, refuse } from './refusal.ts';
import { keyText } from './scalars.ts';
import { isFlow, locate, valueAt } from './source-tree.ts';

export interface InsertNode {
  /** The graph that gets the node: empty for the workflow, else the path of the node with the body. */
  readonly graph: string;
  readonly id: string;
  readonly node: JsonObject;
  /** The new node needs this one, and is written below it. */
  readonly after?: string;
  /** An edge that the new node divides: `after` leads to it, and it leads to this node. */
  readonly before?: string;
}

export function insertNode(text: string, { graph, id, node, after, before }: InsertNode): EditResult {
  return attempt(() => {
    checkId(id);
    const draft = new DefinitionDraft(text);
    const place = graphPlace(draft.value, graph);
    if (idsIn(draft.value, place).includes(id)) refuse(`There is a node '${id}' already.`);
    const connected = after === undefined ? node : { needs: [after], ...node };
    const nodes = [...place, 'nodes'];
    if (!draft.has(nodes)) draft.set([...nodes, id], connected);
    else draft.insert(nodes, id, connected, after === undefined ? 'last' : { after });
    if (after !== undefined && before !== undefined) {
      removeLinks(draft, place, { from: after, to: before, isPlainOnly: true });
      addNeed(draft, [...nodes, before], id);
    }
    return draft.edits();
  });
}

/** Renames a node, with everything that names it: needs, edges, branches, expressions. */
export function renameNode(text: string, path: string, id: string): EditResult {
  return attempt(() => {
    checkId(id);
    const draft = new DefinitionDraft(text);
    const old = splitPath(path);
    nodePlace(draft.value, path);
    if (old.id === id) return [];
    const place = graphPlace(draft.value, old.graph);
    checkFree(draft.value, place, id);
    renameNodes(draft, place, new Map([[old.id, id]]));
    return draft.edits();
  });
}

/** A name that a graph inside or around it uses would be hidden, or hide the other. */
function checkFree(value: Json, place: DocumentPath, id: string): void {
  if (idsIn(value, place).includes(id)) refuse(`There is a node '${id}' already.`);
  const around: DocumentPath[] = [];
  for (let end = place.length - 3; end >= 0; end -= 3) around.push(place.slice(0, end));
  const used = [...around, ...bodiesIn(value, place).slice(1)].some((graph) => idsIn(value, graph).includes(id));
  if (used) refuse(`A graph inside or around this one has a node '${id}': expressions would read the wrong one.`);
}

/** Renames nodes of one graph; the new ids are free. */
export function renameNodes(draft: DefinitionDraft, place: DocumentPath, names: ReadonlyMap<string, string>): void {
  for (const [old] of names) {
    const sites = sitesThatSee(draft.value, place, old);
    renameInExpressions(draft, sites, new Map([[old, names.get(old) as string]]));
  }
  for (const { path, id } of idSites(draft.value, place)) {
    const renamed = names.get(id);
    if (renamed !== undefined) draft.set(path, renamed);
  }
  renameInChains(draft, place, names);
  const nodes = [...place, 'nodes'];
  for (const [old, id] of names) {
    const part = locate(draft.tree, [...nodes, old]);
    if (part === undefined) continue;
    const { tree } = draft;
    const quoted = /^["']/.exec(tree.text.slice(part.keyStart))?.[0];
    const key = quoted === undefined ? keyText(id, false) : `${quoted}${id}${quoted}`;
    draft.splice([{ from: part.keyStart, to: part.keyEnd, insert: key }]);
  }
}

function renameInChains(draft: DefinitionDraft, place: DocumentPath, names: ReadonlyMap<string, string>): void {
  const edges = draft.at([...place, 'edges']);
  for (const [index, edge] of Array.isArray(edges) ? edges.entries() : []) {
    if (typeof edge !== 'string' || chainOf(edge)?.some((id) => names.has(id)) !== true) continue;
    const renamed = edge.replace(/[A-Za-z0-9_-]+(?=\s*(?:->|$))/g, (id) => names.get(id) ?? id);
    draft.set([...place, 'edges', index], renamed);
  }
}

/** Removes nodes with their edges. Expressions that read them stay, and are reported. */
export function removeNodes(text: string, paths: readonly string[]): EditResult {
  return attempt(() => {
    const draft = new DefinitionDraft(text);
    // A node inside of another one that is removed goes with it.
    const outer = paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
    for (const path of outer) {
      const place = nodePlace(draft.value, path);
      const { graph, id } = splitPath(path);
      const graphAt = graphPlace(draft.value, graph);
      removeLinks(draft, graphAt, { node: id });
      removeName(draft, graphAt, id);
      draft.remove(place);
    }
    return draft.edits();
  });
}

function removeName(draft: DefinitionDraft, place: DocumentPath, id: string): void {
  const order = textsOf(draft.at([...place, 'order']));
  if (order.includes(id)) draft.removeWithContainer([...place, 'order', order.indexOf(id)]);
  if (place.length === 0 && draft.at(['config', 'failureNode']) === id)
    draft.removeWithContainer(['config', 'failureNode']);
}

/** Sets a value at a path below a node, or of the workflow (an empty node path); undefined removes it. */
export function setValue(text: string, node: string, keys: DocumentPath, value: Json | undefined): EditResult {
  return attempt(() => {
    const draft = new DefinitionDraft(text);
    const base = node === '' ? [] : nodePlace(draft.value, node);
    const path = [...base, ...keys];
    if (value !== undefined) {
      if (keys.length > 0 && draft.at(base) === null) draft.set(base, {});
      draft.set(path, value);
    } else if (keys.length > 1) draft.removeWithContainer(path);
    else draft.remove(path);
    return draft.edits();
  });
}

/** An empty list removes the key. */
export function setTriggers(text: string, triggers: readonly JsonObject[]): EditResult {
  return setValue(text, '', ['triggers'], triggers.length === 0 ? undefined : triggers);
}

/** Whether the nodes of a graph are written between brackets, so that they cannot be moved as lines. */
export function isBracketed(draft: DefinitionDraft, place: DocumentPath): boolean {
  for (let length = 0; length <= place.length + 1; length++) {
    const part = locate(draft.tree, [...place, 'nodes'].slice(0, length));
    if (part !== undefined && isFlow(draft.tree.text, part) && part.members().size > 0) return true;
  }
  return false;
}

/** A node as data. */
export function nodeValue(value: Json, place: DocumentPath): JsonObject {
  const node = valueAt(value, place);
  return isJsonObject(node) ? node : {};
}
