/**
 * The graph of a workflow definition, as the API returns definitions: loops, groups and inlined bodies are groups, cases
 * of a branch are its ports.
 */
import type { NodeDefinition, WorkflowDefinition } from '@nebula/core';
import {
  type EdgeKind,
  edgeId,
  type Graph,
  type GraphEdge,
  type GraphNode,
  graphOf,
  type NodeKind,
  type Port,
} from './graph.ts';

type BodyDefinition = NonNullable<NodeDefinition['do']>;
type BranchDefinition = NonNullable<NodeDefinition['branch']>;

/** Definitions of called workflows, by the path of the node that calls them: they are drawn as its contents. */
export type Bodies = Readonly<Record<string, WorkflowDefinition>>;

interface Drawn {
  readonly nodes: GraphNode[];
  readonly edges: Map<string, GraphEdge>;
  readonly bodies: Bodies;
}

export function graphOfDefinition(definition: WorkflowDefinition, bodies: Bodies = {}): Graph {
  const drawn: Drawn = { nodes: [], edges: new Map(), bodies };
  addBody(definition, undefined, drawn);
  return graphOf(drawn.nodes, drawn.edges.values());
}

function addBody(body: BodyDefinition, parent: string | undefined, drawn: Drawn): void {
  const { nodes, edges, bodies } = drawn;
  const own = body.nodes ?? {};
  const ids = body.order ?? Object.keys(own);
  const pathOf = (id: string): string => (parent === undefined ? id : `${parent}/${id}`);
  for (const id of ids) {
    const node = own[id];
    if (node === undefined) continue;
    const path = pathOf(id);
    const called = node.workflow !== undefined && Object.hasOwn(bodies, path) ? bodies[path] : undefined;
    const inner = node.do ?? node.group ?? called;
    nodes.push(nodeOf(path, id, parent, node, inner !== undefined));
    if (inner !== undefined) addBody(inner, path, drawn);
  }
  const connect = (from: string, to: string, kind: EdgeKind, more: Partial<GraphEdge> = {}): void => {
    if (!Object.hasOwn(own, from) || !Object.hasOwn(own, to) || from === to) return;
    const edge = { from: pathOf(from), to: pathOf(to), kind, ...more };
    const id = edgeId(edge);
    if (!edges.has(id)) edges.set(id, { id, ...edge });
  };
  for (const id of ids) {
    const node = own[id];
    for (const { target, port } of node?.branch === undefined ? [] : casesOf(node.branch))
      connect(id, target, 'case', { port });
    for (const need of node?.needs ?? []) {
      const isCase = own[need]?.branch !== undefined && casesOf(own[need].branch).some(({ target }) => target === id);
      if (!isCase) connect(need, id, 'success');
    }
  }
  for (const edge of body.edges ?? []) {
    const label = edge.when ?? edge.match;
    connect(edge.from, edge.to, edge.on ?? 'success', label === undefined ? {} : { label: shortText(label) });
  }
}

function nodeOf(
  path: string,
  id: string,
  parent: string | undefined,
  node: NodeDefinition,
  isGroup: boolean,
): GraphNode {
  const detail = detailOf(node);
  const category = node.action?.split(/[.@]/, 1)[0];
  return {
    id: path,
    kind: kindOf(node),
    label: node.name ?? id,
    ...(parent === undefined ? {} : { parent }),
    ...(detail === undefined ? {} : { detail }),
    ...(node.branch === undefined ? {} : { ports: portsOf(node.branch) }),
    ...(category === undefined || category === '' ? {} : { category }),
    ...(isGroup ? { isGroup } : {}),
    ...(node.enabled === false ? { isDisabled: true } : {}),
  };
}

function kindOf(node: NodeDefinition): NodeKind {
  if (node.forEach !== undefined || node.while !== undefined || node.retryUntil !== undefined) return 'loop';
  for (const kind of [
    'branch',
    'wait',
    'group',
    'workflow',
    'dynamic',
    'set',
    'split',
    'merge',
    'terminate',
  ] as const) {
    if (node[kind] !== undefined) return kind;
  }
  return 'action';
}

function detailOf(node: NodeDefinition): string | undefined {
  if (node.action !== undefined) return node.action;
  if (node.forEach !== undefined) return `for each of ${shortText(node.forEach.in)}`;
  if (node.while !== undefined) return `while ${shortText(node.while.condition)}`;
  if (node.retryUntil !== undefined)
    return node.retryUntil.until === undefined ? 'until it succeeds' : `until ${shortText(node.retryUntil.until)}`;
  if (node.workflow !== undefined) return node.workflow.id ?? node.workflow.plan;
  if (node.dynamic !== undefined) return node.dynamic.action;
  if (node.set !== undefined) return Object.keys(node.set).join(', ');
  if (node.terminate !== undefined) return node.terminate;
  if (node.branch?.on !== undefined) return shortText(node.branch.on);
  return node.wait === undefined ? undefined : waitText(node.wait);
}

type Wait = NonNullable<NodeDefinition['wait']>;

function waitText(wait: Wait): string {
  if (wait.any !== undefined) return wait.any.map((one) => waitText(one)).join(' or ');
  if (wait.for !== undefined) return wait.for;
  if (wait.until !== undefined) return `until ${shortText(wait.until)}`;
  if (wait.signal !== undefined) return `signal ${wait.signal}`;
  if (wait.approval !== undefined) return wait.approval.title ?? 'approval';
  return wait.callback === true ? 'callback' : 'wait';
}

interface Case {
  readonly port: string;
  readonly label: string;
  readonly target: string;
}

function casesOf({ cases, default: otherwise }: BranchDefinition): Case[] {
  const found: Case[] = [];
  const add = (port: string, label: string, to: string | readonly string[]): void => {
    for (const target of typeof to === 'string' ? [to] : to) found.push({ port, label, target });
  };
  if (isList(cases)) {
    for (const [index, one] of cases.entries()) {
      add(String(index), shortText(one.when ?? one.match ?? one.error ?? true), one.to);
    }
  } else {
    for (const [value, to] of Object.entries(cases)) add(value, value, to);
  }
  if (otherwise !== undefined) add('default', 'otherwise', otherwise);
  return found;
}

function isList(cases: BranchDefinition['cases']): cases is Extract<BranchDefinition['cases'], readonly unknown[]> {
  return Array.isArray(cases);
}

function portsOf(branch: BranchDefinition): Port[] {
  const ports = new Map(casesOf(branch).map(({ port, label }) => [port, { id: port, label }]));
  return [...ports.values()];
}

/** An expression without its braces; the members of an object without theirs: `code: CARD_DECLINED`. */
function shortText(value: unknown): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value)
      .map(([key, member]) => `${key}: ${shortText(member)}`)
      .join(', ');
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replace(/^\s*\{\{\s*|\s*\}\}\s*$/g, '').replace(/\s+/g, ' ');
}
