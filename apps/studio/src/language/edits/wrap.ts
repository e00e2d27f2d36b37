/** Puts nodes of a graph into the body of a new loop or group. */
import { type DocumentPath, isJsonObject, type Json, type JsonObject } from '@nebula/core';
import { DefinitionDraft } from './definition-draft.ts';
import { fragmentOf, linesOfNode } from './fragments.ts';
import { checkId, graphPlace, idsIn, nodePlace, splitPath, textsOf } from './graph-places.ts';
import { addNeed, removeLinks } from './links.ts';
import { chainOf, type Link, linksIn, renameInExpressions, sitesThatSee } from './node-references.ts';
import { isBracketed } from './nodes.ts';
import { attempt, type EditResult, refuse } from './refusal.ts';
import { blockLines } from './rendering.ts';
import { indented, insertLines } from './splices.ts';

export interface WrapNodes {
  /** Nodes of one graph. */
  readonly paths: readonly string[];
  /** The id of the new node. */
  readonly id: string;
  readonly kind: 'forEach' | 'while' | 'retryUntil' | 'group';
  /** The settings of the loop, such as `{ in: '$input.items' }`. */
  readonly setting?: JsonObject;
}

export function wrapNodes(text: string, { paths, id, kind, setting = {} }: WrapNodes): EditResult {
  return attempt(() => {
    checkId(id);
    const draft = new DefinitionDraft(text);
    const graphs = new Set(paths.map((path) => splitPath(path).graph));
    const [graph] = graphs;
    if (graph === undefined || graphs.size > 1) refuse('The nodes are in different graphs.');
    for (const path of paths) nodePlace(draft.value, path);
    const place = graphPlace(draft.value, graph);
    const all = idsIn(draft.value, place);
    const inner = new Set(paths.map((path) => splitPath(path).id));
    if (all.includes(id)) refuse(`There is a node '${id}' already.`);
    const links = linksIn(draft.value, place);
    checkWrap(draft.value, place, inner, links);
    const body = bodyOf(draft, place, inner);
    redirect(draft, place, inner, id);
    const needs = [
      ...new Set(
        links.filter(({ to, isNeed, from }) => isNeed && inner.has(to) && !inner.has(from)).map(({ from }) => from),
      ),
    ];
    const head: JsonObject = { ...(needs.length > 0 && { needs }), ...(kind !== 'group' && { [kind]: setting }) };
    const first = all.find((one) => inner.has(one)) as string;
    addComposite(draft, place, { id, head, key: kind === 'group' ? 'group' : 'do', body, after: first });
    const ends = [...inner].filter((one) => !links.some(({ from, to }) => from === one && inner.has(to)));
    // The output of a body with one end node is that of the end node.
    if (kind !== 'forEach' && ends.length === 1) readFromOutside(draft, place, ends[0] as string, id);
    for (const one of inner) draft.remove([...place, 'nodes', one], true);
    return draft.edits();
  });
}

function checkWrap(value: Json, place: DocumentPath, inner: ReadonlySet<string>, links: readonly Link[]): void {
  const leaving = links.find(({ from, to, isCase }) => isCase && inner.has(from) && !inner.has(to));
  if (leaving !== undefined) refuse(`The branch '${leaving.from}' leads to '${leaving.to}', outside of the selection.`);
  const config = isJsonObject(value) && isJsonObject(value.config) ? value.config : {};
  if (place.length === 0 && inner.has(String(config.failureNode))) refuse('The failure node cannot be in a body.');
  const reached = new Set<string>();
  const queue = links.filter(({ from, to }) => inner.has(from) && !inner.has(to)).map(({ to }) => to);
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (inner.has(node)) refuse('A path leaves the selection and comes back to it. Select the nodes on it, too.');
    if (reached.has(node)) continue;
    reached.add(node);
    for (const { from, to } of links) if (from === node) queue.push(to);
  }
}

/** The nodes and edges of the body. */
function bodyOf(draft: DefinitionDraft, place: DocumentPath, inner: ReadonlySet<string>): DefinitionDraft {
  const body = new DefinitionDraft(fragmentOf(draft, place, [...inner]));
  for (const id of inner) {
    for (const need of textsOf(body.at(['nodes', id, 'needs']))) {
      if (!inner.has(need)) removeLinks(body, [], { from: need, to: id });
    }
  }
  return body;
}

/** Edges that cross the border of the body lead to the new node, or from it; those inside are removed. */
function redirect(draft: DefinitionDraft, place: DocumentPath, inner: ReadonlySet<string>, id: string): void {
  for (const node of idsIn(draft.value, place)) {
    if (inner.has(node)) continue;
    const path = [...place, 'nodes', node];
    const needs = textsOf(draft.at([...path, 'needs']));
    if (needs.some((need) => inner.has(need))) {
      for (const need of needs) if (inner.has(need)) removeNeed(draft, path, need);
      addNeed(draft, path, id);
    }
    redirectTargets(draft, [...path, 'branch'], inner, id);
  }
  redirectEdges(draft, [...place, 'edges'], inner, id);
}

function removeNeed(draft: DefinitionDraft, node: DocumentPath, need: string): void {
  const path = [...node, 'needs'];
  const needs = draft.at(path);
  if (Array.isArray(needs) && needs.length > 1) draft.remove([...path, needs.indexOf(need)]);
  else draft.remove(path);
}

function redirectTargets(draft: DefinitionDraft, branch: DocumentPath, inner: ReadonlySet<string>, id: string): void {
  if (!isJsonObject(draft.at(branch))) return;
  const cases = draft.at([...branch, 'cases']);
  const keys: DocumentPath[] = Array.isArray(cases)
    ? cases.map((_, index) => [...branch, 'cases', index, 'to'])
    : Object.keys((cases ?? {}) as object).map((key) => [...branch, 'cases', key]);
  for (const path of [...keys, [...branch, 'default']]) {
    const targets = draft.at(path);
    const list = textsOf(targets);
    if (!list.some((one) => inner.has(one))) continue;
    const mapped = [...new Set(list.map((one) => (inner.has(one) ? id : one)))];
    draft.set(path, Array.isArray(targets) ? mapped : (mapped[0] as string));
  }
}

function redirectEdges(draft: DefinitionDraft, list: DocumentPath, inner: ReadonlySet<string>, id: string): void {
  const edges = draft.at(list);
  if (!Array.isArray(edges)) return;
  const outside = (one: string): string => (inner.has(one) ? id : one);
  for (let index = edges.length - 1; index >= 0; index--) {
    const edge = edges[index] as Json;
    const chain = chainOf(edge);
    if (chain !== undefined) {
      const mapped = chain.map(outside).filter((one, at, all) => one !== all[at - 1]);
      if (mapped.length < 2) draft.removeWithContainer([...list, index]);
      else if (chain.some((one) => inner.has(one))) draft.set([...list, index], mapped.join(' -> '));
    } else if (isJsonObject(edge)) {
      const [from, to] = [String(edge.from), String(edge.to)];
      if (inner.has(from) && inner.has(to)) draft.removeWithContainer([...list, index]);
      else {
        draft.set([...list, index, 'from'], outside(from));
        draft.set([...list, index, 'to'], outside(to));
      }
    }
  }
}

interface Composite {
  readonly id: string;
  readonly head: JsonObject;
  readonly key: 'do' | 'group';
  readonly body: DefinitionDraft;
  readonly after: string;
}

function addComposite(draft: DefinitionDraft, place: DocumentPath, { id, head, key, body, after }: Composite): void {
  const nodes = [...place, 'nodes'];
  const edges = body.at(['edges']);
  if (draft.tree.isJson || isBracketed(draft, place)) {
    draft.insert(nodes, id, { ...head, [key]: body.value }, { after });
    return;
  }
  const inside = idsIn(body.value, []).map((one) => linesOfNode(body, [], one));
  const isSpaced = inside.some((lines) => lines.includes('\n')) && inside.length > 1;
  const headLines = Object.keys(head).length === 0 ? [] : [blockLines(head, 2, '\n')];
  const lines = [
    `${id}:`,
    ...headLines,
    `  ${key}:`,
    '    nodes:',
    inside.map((one) => indented(one, 6, '\n')).join(isSpaced ? '\n\n' : '\n'),
    ...(Array.isArray(edges) && edges.length > 0 ? ['    edges:', blockLines(edges, 6, '\n')] : []),
  ];
  draft.splice(insertLines(draft.tree, nodes, [lines.join('\n')], { after }));
}

/** Expressions outside of the body that read its end node read the new node. */
function readFromOutside(draft: DefinitionDraft, place: DocumentPath, end: string, id: string): void {
  const around = [...place, 'nodes', id];
  const sites = sitesThatSee(draft.value, place, end).filter(
    ({ path }) =>
      !around.every((key, index) => path[index] === key) &&
      !(path[place.length] === 'nodes' && path[place.length + 1] === end),
  );
  renameInExpressions(draft, sites, new Map([[end, id]]));
}
