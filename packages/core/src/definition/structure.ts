/**
 * What is different between the graphs of two definitions, for people.
 *
 *  1 The order of members, nodes and edges is no difference.
 *  2 A node with another id and the same content is renamed. Names of renamed nodes in `needs`, edges, targets and
 *    expressions are no differences.
 *  3 `needs`, `edges` and the targets of branches are compared as edges, everything else as keys of nodes.
 *  4 Of an added or removed node with a body only the node itself is listed.
 */
import type { Steps } from '../steps.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject, jsonEquals, mapTexts } from '../value.ts';
import { BODY_KEYS, type BodyDefinition, bodyOf, type NodeDefinition, type WorkflowDefinition } from './model.ts';

export interface StructureChanges {
  /** Changed keys of the workflow itself. */
  readonly workflow: readonly string[];
  readonly nodes: readonly NodeChange[];
  readonly edges: readonly EdgeChange[];
}

export interface NodeChange {
  readonly change: 'added' | 'removed' | 'renamed' | 'changed';
  /** `items/pack`; of a removed node, its path in the older definition. */
  readonly path: string;
  /** The path of a renamed node in the older definition. */
  readonly from?: string;
  /** The changed keys of a changed node. */
  readonly keys?: readonly string[];
}

export interface EdgeChange {
  readonly change: 'added' | 'removed';
  /** Paths; of a removed edge, those in the older definition. */
  readonly from: string;
  readonly to: string;
  /** The case of a branch, or the condition of the edge. */
  readonly label?: string;
}

/** Renames that depend on each other are found one after the other. */
const MAX_ROUNDS = 5;
const MAX_LABEL_CHARS = 200;

type Nodes = Readonly<Record<string, NodeDefinition>>;
type Edge = Omit<EdgeChange, 'change'>;

export function* structureChanges(before: WorkflowDefinition, after: WorkflowDefinition): Steps<StructureChanges> {
  const nodes: NodeChange[] = [];
  const edges: EdgeChange[] = [];
  const renamed = yield* compareBodies({ before, after, beforePath: '', afterPath: '' }, { nodes, edges });
  const own = renamedTexts(keysOf(before, WORKFLOW_PARTS), renamed);
  return { workflow: changedKeys(own, keysOf(after, WORKFLOW_PARTS)), nodes, edges };
}

/** Members of a workflow or a body that are compared as nodes and edges, or not at all. */
const BODY_PARTS: ReadonlySet<string> = new Set(['nodes', 'edges', 'order']);
const WORKFLOW_PARTS: ReadonlySet<string> = new Set([...BODY_PARTS, 'version']);

interface Bodies {
  readonly before: BodyDefinition;
  readonly after: BodyDefinition;
  /** With a slash at the end, or empty. */
  readonly beforePath: string;
  readonly afterPath: string;
}

interface Found {
  readonly nodes: NodeChange[];
  readonly edges: EdgeChange[];
}

/** Returns the renamed nodes of the body itself: the new id by the old one. */
function* compareBodies(bodies: Bodies, found: Found): Steps<ReadonlyMap<string, string>> {
  const { before, after, beforePath, afterPath } = bodies;
  const [old, now]: [Nodes, Nodes] = [before.nodes ?? {}, after.nodes ?? {}];
  const renamed = yield* renamedNodes(old, now);
  const renamedTo = new Set(renamed.values());
  for (const id of Object.keys(old)) {
    yield;
    const newId = renamed.get(id) ?? id;
    const [was, is] = [old[id] as NodeDefinition, Object.hasOwn(now, newId) ? now[newId] : undefined];
    const [wasAt, isAt] = [beforePath + id, afterPath + newId];
    if (is === undefined) found.nodes.push({ change: 'removed', path: wasAt });
    else if (newId !== id) found.nodes.push({ change: 'renamed', path: isAt, from: wasAt });
    else yield* compareNodes({ was, is, wasAt, isAt, renamed }, found);
  }
  for (const id of Object.keys(now)) {
    if (!renamedTo.has(id) && !Object.hasOwn(old, id)) found.nodes.push({ change: 'added', path: afterPath + id });
  }
  yield* compareEdges(bodies, renamed, found.edges);
  return renamed;
}

interface Pair {
  readonly was: NodeDefinition;
  readonly is: NodeDefinition;
  readonly wasAt: string;
  readonly isAt: string;
  /** Renamed nodes beside it, which its expressions may name. */
  readonly renamed: ReadonlyMap<string, string>;
}

function* compareNodes({ was, is, wasAt, isAt, renamed }: Pair, found: Found): Steps<void> {
  const keys = changedKeys(renamedTexts(contentOf(was), renamed), contentOf(is));
  if (keys.length > 0) found.nodes.push({ change: 'changed', path: isAt, keys });
  const [before, after] = [bodyOf(was), bodyOf(is)];
  if (before === undefined || after === undefined) return;
  const inner = renamed.size === 0 ? before : (renamedTexts(before as JsonObject, renamed) as BodyDefinition);
  yield* compareBodies({ before: inner, after, beforePath: `${wasAt}/`, afterPath: `${isAt}/` }, found);
}

/** A removed and an added node with the same content are one renamed node. */
function* renamedNodes(old: Nodes, now: Nodes): Steps<ReadonlyMap<string, string>> {
  const renamed = new Map<string, string>();
  const removed = new Set(Object.keys(old).filter((id) => !Object.hasOwn(now, id)));
  const added = new Map<string, string[]>();
  for (const id of removed.size === 0 ? [] : Object.keys(now)) {
    if (Object.hasOwn(old, id)) continue;
    yield;
    const content = wholeOf(now[id] as NodeDefinition);
    added.set(content, [...(added.get(content) ?? []), id]);
  }
  for (let round = 0; round < MAX_ROUNDS && removed.size > 0; round++) {
    const count = renamed.size;
    for (const id of removed) {
      yield;
      const node = renamedTexts(old[id] as JsonObject, renamed) as NodeDefinition;
      const newId = added.get(wholeOf(node))?.shift();
      if (newId === undefined) continue;
      renamed.set(id, newId);
      removed.delete(id);
    }
    if (renamed.size === count) break;
  }
  return renamed;
}

/** Replaces the names of renamed nodes in expressions. */
function renamedTexts(value: JsonObject, renamed: ReadonlyMap<string, string>): JsonObject {
  if (renamed.size === 0) return value;
  return mapTexts(value, (text) =>
    text.includes('$nodes')
      ? text.replace(NODE_NAME, (all, opening: string, id: string) =>
          renamed.has(id) ? `${opening}${renamed.get(id)}` : all,
        )
      : text,
  ) as JsonObject;
}

/** `$nodes.fetch` and `$nodes["fetch"]`. */
const NODE_NAME = /(\$nodes(?:\.|\[["']))([A-Za-z0-9_-]+)/g;

/** The keys of a node that are its content, not its edges; a body without its nodes. */
function contentOf(node: NodeDefinition): JsonObject {
  const { needs: _, branch, ...rest } = node;
  const body = BODY_KEYS.find((key) => node[key] !== undefined);
  return {
    ...(rest as JsonObject),
    ...(branch !== undefined && { branch: withoutTargets(branch as unknown as Json) }),
    ...(body !== undefined && { [body]: keysOf(node[body] ?? {}, BODY_PARTS) }),
  };
}

/** The text of everything that a node is, without the nodes beside it. */
function wholeOf(node: NodeDefinition): string {
  const { needs: _, branch, ...rest } = node;
  return canonicalJson({
    ...(rest as JsonObject),
    ...(branch !== undefined && { branch: withoutTargets(branch as unknown as Json) }),
  });
}

function withoutTargets(branch: Json): Json {
  if (!isJsonObject(branch)) return branch;
  const { cases, default: otherwise, ...rest } = branch;
  const conditions = Array.isArray(cases)
    ? cases.map((one: Json) => (isJsonObject(one) ? keysOf(one, TARGET) : one))
    : Object.keys(isJsonObject(cases) ? cases : {}).sort();
  return { ...rest, cases: conditions, ...(otherwise !== undefined && { default: true }) };
}

const TARGET: ReadonlySet<string> = new Set(['to']);

function keysOf(value: object, except: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !except.has(key)));
}

function changedKeys(before: JsonObject, after: JsonObject): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => {
    if (!Object.hasOwn(before, name) || !Object.hasOwn(after, name)) return true;
    return !jsonEquals(before[name] as Json, after[name] as Json);
  });
}

function* compareEdges(bodies: Bodies, renamed: ReadonlyMap<string, string>, found: EdgeChange[]): Steps<void> {
  const { before, after, beforePath, afterPath } = bodies;
  const named = (id: string): string => renamed.get(id) ?? id;
  const old = edgesOf(before, (edge) =>
    keyOf({
      from: named(edge.from),
      to: named(edge.to),
      ...(edge.label !== undefined && {
        label: (renamedTexts({ label: edge.label }, renamed) as Edge).label as string,
      }),
    }),
  );
  yield;
  const now = edgesOf(after, keyOf);
  yield;
  for (const [key, edge] of old) if (!now.has(key)) found.push({ change: 'removed', ...placed(edge, beforePath) });
  for (const [key, edge] of now) if (!old.has(key)) found.push({ change: 'added', ...placed(edge, afterPath) });
}

function placed({ from, to, ...rest }: Edge, path: string): Edge {
  return { from: path + from, to: path + to, ...rest };
}

function keyOf({ from, to, label = '' }: Edge): string {
  return JSON.stringify([from, to, label]);
}

/** The edges of a body, each once: `needs`, targets of branches and `edges`. */
function edgesOf({ nodes = {}, edges = [] }: BodyDefinition, key: (edge: Edge) => string): Map<string, Edge> {
  const found = new Map<string, Edge>();
  const add = (edge: Edge): void => void found.set(key(edge), edge);
  for (const [id, { needs = [], branch }] of Object.entries(nodes)) {
    for (const need of needs) add({ from: need, to: id });
    if (branch !== undefined)
      for (const target of targetsOf(branch as unknown as JsonObject)) add({ from: id, ...target });
  }
  for (const { from, to, on = 'success', when, match } of edges) {
    const conditions = [
      ...(on === 'success' ? [] : [`on ${on}`]),
      ...(when === undefined ? [] : [`when ${valueText(when)}`]),
      ...(match === undefined ? [] : [`match ${valueText(match)}`]),
    ];
    add({ from, to, ...(conditions.length > 0 && { label: conditions.join(', ').slice(0, MAX_LABEL_CHARS) }) });
  }
  return found;
}

function* targetsOf({ cases, default: otherwise }: JsonObject): Generator<Omit<Edge, 'from'>> {
  if (Array.isArray(cases)) {
    for (const one of cases as readonly Json[]) {
      if (!isJsonObject(one)) continue;
      const { to, ...condition } = one;
      const label = Object.entries(condition).map(([name, value]) => `${name} ${valueText(value)}`);
      yield* each(to, label.join(', '));
    }
  } else {
    for (const [name, targets] of Object.entries(isJsonObject(cases) ? cases : {})) yield* each(targets, name);
  }
  yield* each(otherwise, 'default');
}

function* each(targets: Json | undefined, label: string): Generator<Omit<Edge, 'from'>> {
  const ids = Array.isArray(targets) ? (targets as readonly Json[]) : [targets];
  for (const to of ids) if (typeof to === 'string') yield { to, label: label.slice(0, MAX_LABEL_CHARS) };
}

function valueText(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}
