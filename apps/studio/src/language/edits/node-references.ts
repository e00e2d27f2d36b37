/** Everything in a graph that names a node: needs, edges, targets of branches, the failure node, and expressions. */
import { type DocumentPath, isJsonObject, type Json, type Located } from '@nebula/core';
import type { DefinitionDraft } from './definition-draft.ts';
import { type ExpressionSite, nodeReferences, referenceText, sitesOfGraph } from './expression-sites.ts';
import { bodiesIn, idsIn } from './graph-places.ts';
import { refuse } from './refusal.ts';
import { isPlainSafe, scalarText } from './scalars.ts';
import { isFlow, locate, SHARED, type SourceTree, valueAt } from './source-tree.ts';
import { applyEdits, type TextEdit } from './text-edit.ts';

/** The paths of the strings that are the id of a node of this graph; short edges (`a -> b`) are apart. */
export function idSites(value: Json, place: DocumentPath): { path: DocumentPath; id: string }[] {
  const graph = valueAt(value, place);
  if (!isJsonObject(graph)) return [];
  const found: { path: DocumentPath; id: string }[] = [];
  const add = (path: DocumentPath, one: Json | undefined): void => {
    if (typeof one === 'string') found.push({ path, id: one });
    else if (Array.isArray(one)) for (const [index, item] of one.entries()) add([...path, index], item);
  };
  const nodes = graph.nodes;
  for (const [id, node] of isJsonObject(nodes) ? Object.entries(nodes) : []) {
    if (!isJsonObject(node)) continue;
    const path = [...place, 'nodes', id];
    add([...path, 'needs'], node.needs);
    if (isJsonObject(node.branch)) addTargets(node.branch, [...path, 'branch'], add);
  }
  if (Array.isArray(graph.edges)) {
    for (const [index, edge] of graph.edges.entries()) {
      if (!isJsonObject(edge)) continue;
      add([...place, 'edges', index, 'from'], edge.from);
      add([...place, 'edges', index, 'to'], edge.to);
    }
  }
  add([...place, 'order'], graph.order);
  if (place.length === 0 && isJsonObject(graph.config)) add(['config', 'failureNode'], graph.config.failureNode);
  return found;
}

function addTargets(
  branch: Readonly<Record<string, Json>>,
  path: DocumentPath,
  add: (path: DocumentPath, value: Json | undefined) => void,
): void {
  add([...path, 'default'], branch.default);
  const { cases } = branch;
  if (Array.isArray(cases)) {
    for (const [index, one] of cases.entries()) if (isJsonObject(one)) add([...path, 'cases', index, 'to'], one.to);
  } else if (isJsonObject(cases)) {
    for (const [key, to] of Object.entries(cases)) add([...path, 'cases', key], to);
  }
}

/** The sites whose expressions see the nodes of a graph: its own, and those of bodies without a node of the same id. */
export function sitesThatSee(value: Json, place: DocumentPath, id: string): ExpressionSite[] {
  const hidden: DocumentPath[] = [];
  const found: ExpressionSite[] = [];
  for (const body of bodiesIn(value, place)) {
    if (hidden.some((one) => one.every((key, index) => body[index] === key))) continue;
    if (body.length > place.length && idsIn(value, body).includes(id)) {
      hidden.push(body);
      continue;
    }
    found.push(...sitesOfGraph(valueAt(value, body) as Json, body));
  }
  return found;
}

/** Replaces references to nodes in the expressions of sites; `names` has the new ids. */
export function renameInExpressions(
  draft: DefinitionDraft,
  sites: readonly ExpressionSite[],
  names: ReadonlyMap<string, string>,
): void {
  draft.splice(sites.flatMap((site) => siteEdits(draft.tree, site, names)));
}

function siteEdits(tree: SourceTree, site: ExpressionSite, names: ReadonlyMap<string, string>): TextEdit[] {
  const references = nodeReferences(site).filter(({ id }) => names.has(id));
  if (references.length === 0) return [];
  const part = locate(tree, site.path) as Located;
  if (part.isShared) refuse(SHARED);
  const changes = references.map(({ id, offset, length, isShort }) => ({
    from: offset,
    to: offset + length,
    insert: referenceText(names.get(id) as string, isShort),
  }));
  const renamed = applyEdits(site.text, changes);
  const inFlow = isBetweenBrackets(tree, site.path);
  if (part.style === 'plain' && !isPlainSafe(renamed.replace(/\s+/g, ' '), inFlow)) {
    return [{ from: part.start, to: part.end, insert: scalarText(renamed, inFlow) }];
  }
  return changes.flatMap(({ from, to, insert }) => {
    const range = tree.source.rangeInside(site.path, from, to - from);
    if (range === undefined) return [];
    const written = part.style === 'single' ? insert.replaceAll("'", "''") : insert;
    return [{ from: range.offset, to: range.offset + range.length, insert: written }];
  });
}

function isBetweenBrackets(tree: SourceTree, path: DocumentPath): boolean {
  return path.some((_, index) => {
    const around = locate(tree, path.slice(0, index));
    return around !== undefined && isFlow(tree.text, around);
  });
}

/** The ids along a short edge (`a -> b -> c`), or undefined. */
export function chainOf(edge: Json): string[] | undefined {
  if (typeof edge !== 'string') return undefined;
  return edge.split('->').map((piece) => piece.trim());
}

/** An edge of a graph. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly isNeed: boolean;
  readonly isCase: boolean;
}

/** All edges of a graph, in whatever form they are written. */
export function linksIn(value: Json, place: DocumentPath): Link[] {
  const links: Link[] = [];
  for (const { path, id } of idSites(value, place)) {
    const own = path.slice(place.length);
    if (own[0] !== 'nodes') continue;
    const node = String(own[1]);
    if (own[2] === 'needs') links.push({ from: id, to: node, isNeed: true, isCase: false });
    else links.push({ from: node, to: id, isNeed: false, isCase: true });
  }
  const edges = valueAt(value, [...place, 'edges']);
  for (const edge of Array.isArray(edges) ? edges : []) {
    const chain = chainOf(edge) ?? (isJsonObject(edge) ? [String(edge.from), String(edge.to)] : []);
    for (const [index, to] of chain.entries()) {
      if (index > 0) links.push({ from: chain[index - 1] as string, to, isNeed: false, isCase: false });
    }
  }
  return links;
}
