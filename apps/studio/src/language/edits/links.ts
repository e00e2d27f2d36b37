/** Operations on edges, in all the forms of the language: `needs`, `edges`, and the cases of a branch. */
import { type DocumentPath, isJsonObject, type Json } from '@nebula/core';
import { DefinitionDraft } from './definition-draft.ts';
import { graphPlace, nodePlace, splitPath, textsOf } from './graph-places.ts';
import { chainOf } from './node-references.ts';
import { attempt, type EditResult, refuse } from './refusal.ts';

export type EdgeKind = 'success' | 'error' | 'always' | 'result' | 'case';

export interface Connection {
  /** Paths of two nodes of the same graph. */
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  /** The outlet of a branch: the key or the number of a case, or `default`. */
  readonly port?: string | undefined;
  readonly match?: Json;
  readonly when?: string;
}

/** An edge on success without a condition is written as `needs`, any other one in `edges`. */
export function connect(text: string, { from, to, kind, port, match, when }: Connection): EditResult {
  return attempt(() => {
    const draft = new DefinitionDraft(text);
    const source = splitPath(from);
    const target = splitPath(to);
    if (source.graph !== target.graph) refuse('The nodes are in different graphs.');
    if (from === to) refuse('An edge cannot lead from a node to itself.');
    const place = graphPlace(draft.value, source.graph);
    const [sourcePlace, targetPlace] = [nodePlace(draft.value, from), nodePlace(draft.value, to)];
    if (kind === 'case' || (port !== undefined && isBranch(draft.at(sourcePlace)))) {
      addTarget(draft, [...sourcePlace, 'branch'], port ?? 'default', target.id);
    } else if (kind === 'success' && match === undefined && when === undefined) {
      addNeed(draft, targetPlace, source.id);
    } else {
      const edge = {
        from: source.id,
        to: target.id,
        ...(kind !== 'success' && { on: kind }),
        ...(match !== undefined && { match }),
        ...(when !== undefined && { when }),
      };
      const edges = draft.at([...place, 'edges']);
      if (Array.isArray(edges)) draft.insert([...place, 'edges'], undefined, edge);
      else draft.insert(place, 'edges', [edge], { after: 'nodes' });
    }
    return draft.edits();
  });
}

function isBranch(node: Json | undefined): boolean {
  return isJsonObject(node) && isJsonObject(node.branch);
}

/** Adds an id to `needs`, which may be a text, a list or missing. */
export function addNeed(draft: DefinitionDraft, node: DocumentPath, id: string): void {
  const path = [...node, 'needs'];
  const needs = draft.at(path);
  if (textsOf(needs).includes(id)) return;
  if (Array.isArray(needs)) draft.insert(path, undefined, id);
  else if (needs === undefined) {
    const value = draft.at(node);
    if (value === null) draft.set(node, { needs: [id] });
    else draft.insert(node, 'needs', [id], 'first');
  } else draft.set(path, [...textsOf(needs), id]);
}

function addTarget(draft: DefinitionDraft, branch: DocumentPath, port: string, id: string): void {
  const cases = draft.at([...branch, 'cases']);
  const index = Number(port);
  const path =
    port === 'default' && !(isJsonObject(cases) && Object.hasOwn(cases, 'default'))
      ? [...branch, 'default']
      : Array.isArray(cases)
        ? [...branch, 'cases', index, 'to']
        : [...branch, 'cases', port];
  if (Array.isArray(cases) && path.includes('cases') && cases[index] === undefined)
    refuse(`The branch has no case ${port}.`);
  const targets = draft.at(path);
  if (textsOf(targets).includes(id)) return;
  if (targets === undefined) draft.set(path, id);
  else if (Array.isArray(targets)) draft.insert(path, undefined, id);
  else draft.set(path, [...textsOf(targets), id]);
}

/** Removes an edge. Without a kind, all edges between the two nodes. */
export function disconnect(
  text: string,
  { from, to, kind, port }: Omit<Connection, 'kind'> & { kind?: EdgeKind },
): EditResult {
  return attempt(() => {
    const draft = new DefinitionDraft(text);
    const source = splitPath(from);
    const place = graphPlace(draft.value, source.graph);
    nodePlace(draft.value, from);
    nodePlace(draft.value, to);
    removeLinks(draft, place, {
      from: source.id,
      to: splitPath(to).id,
      ...(kind !== undefined && { kind }),
      ...(port !== undefined && { port }),
    });
    return draft.edits();
  });
}

/** Which edges of a graph are removed. */
export interface LinkFilter {
  /** All edges of this node. */
  readonly node?: string;
  readonly from?: string;
  readonly to?: string;
  readonly kind?: EdgeKind;
  readonly port?: string;
  /** Only edges on success without a condition. */
  readonly isPlainOnly?: boolean;
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  readonly port?: string;
  readonly isPlain: boolean;
}

function isMeant(filter: LinkFilter, { from, to, kind, port, isPlain }: Link): boolean {
  if (filter.node !== undefined && filter.node !== from && filter.node !== to) return false;
  if (filter.from !== undefined && filter.from !== from) return false;
  if (filter.to !== undefined && filter.to !== to) return false;
  if (filter.kind !== undefined && filter.kind !== kind) return false;
  if (filter.port !== undefined && filter.port !== port) return false;
  return filter.isPlainOnly !== true || isPlain;
}

export function removeLinks(draft: DefinitionDraft, place: DocumentPath, filter: LinkFilter): void {
  const nodes = draft.at([...place, 'nodes']);
  for (const id of isJsonObject(nodes) ? Object.keys(nodes) : []) {
    removeNeeds(draft, [...place, 'nodes', id], id, filter);
    removeTargets(draft, [...place, 'nodes', id, 'branch'], id, filter);
  }
  const edges = draft.at([...place, 'edges']);
  if (!Array.isArray(edges)) return;
  for (let index = edges.length - 1; index >= 0; index--) {
    removeEdge(draft, [...place, 'edges', index], edges[index] as Json, filter);
  }
}

function removeNeeds(draft: DefinitionDraft, node: DocumentPath, id: string, filter: LinkFilter): void {
  const path = [...node, 'needs'];
  const needs = draft.at(path);
  const isGone = (need: string): boolean => {
    // A need of a branch that has the node as a target is the same edge as the case.
    const isCase = targetsOf(draft.at([...node.slice(0, -1), need, 'branch'])).has(id);
    return isMeant(filter, { from: need, to: id, kind: isCase ? 'case' : 'success', isPlain: !isCase });
  };
  if (typeof needs === 'string' && isGone(needs)) draft.remove(path);
  if (!Array.isArray(needs)) return;
  for (let index = needs.length - 1; index >= 0; index--) {
    const need = needs[index];
    if (typeof need === 'string' && isGone(need)) draft.removeWithContainer([...path, index]);
  }
}

function targetsOf(branch: Json | undefined): Set<string> {
  if (!isJsonObject(branch)) return new Set();
  const cases = Array.isArray(branch.cases)
    ? branch.cases.map((one) => (isJsonObject(one) ? one.to : undefined))
    : Object.values((branch.cases ?? {}) as Record<string, Json>);
  return new Set([branch.default, ...cases].flatMap((one) => textsOf(one)));
}

function removeTargets(draft: DefinitionDraft, branch: DocumentPath, from: string, filter: LinkFilter): void {
  if (!isJsonObject(draft.at(branch))) return;
  const remove = (path: DocumentPath, port: string, whole: DocumentPath): void => {
    const targets = draft.at(path);
    const kept = textsOf(targets).filter((to) => !isMeant(filter, { from, to, kind: 'case', port, isPlain: false }));
    if (kept.length === textsOf(targets).length) return;
    if (kept.length === 0) draft.remove(whole);
    else draft.set(path, kept);
  };
  const cases = draft.at([...branch, 'cases']);
  if (Array.isArray(cases)) {
    for (let index = cases.length - 1; index >= 0; index--) {
      remove([...branch, 'cases', index, 'to'], String(index), [...branch, 'cases', index]);
    }
  } else if (isJsonObject(cases)) {
    for (const key of Object.keys(cases)) remove([...branch, 'cases', key], key, [...branch, 'cases', key]);
  }
  remove([...branch, 'default'], 'default', [...branch, 'default']);
}

function removeEdge(draft: DefinitionDraft, path: DocumentPath, edge: Json, filter: LinkFilter): void {
  const chain = chainOf(edge);
  if (chain !== undefined) return removeFromChain(draft, path, chain, filter);
  if (!isJsonObject(edge)) return;
  const { from, to, on = 'success' } = edge;
  const isPlain = on === 'success' && edge.when === undefined && edge.match === undefined;
  const link = { from: String(from), to: String(to), kind: on as EdgeKind, isPlain };
  if (isMeant(filter, link)) draft.removeWithContainer(path);
}

/** A chain that loses an edge in the middle becomes two. */
function removeFromChain(
  draft: DefinitionDraft,
  path: DocumentPath,
  chain: readonly string[],
  filter: LinkFilter,
): void {
  const parts: string[][] = [[chain[0] as string]];
  for (const [index, to] of chain.entries()) {
    if (index === 0) continue;
    const from = chain[index - 1] as string;
    if (isMeant(filter, { from, to, kind: 'success', isPlain: true })) parts.push([to]);
    else parts.at(-1)?.push(to);
  }
  if (parts.length === 1) return;
  const texts = parts.filter((part) => part.length > 1).map((part) => part.join(' -> '));
  const [first, ...more] = texts;
  if (first === undefined) return draft.removeWithContainer(path);
  draft.set(path, first);
  const list = path.slice(0, -1);
  for (const text of more.toReversed()) draft.insert(list, undefined, text, { after: path.at(-1) as number });
}
