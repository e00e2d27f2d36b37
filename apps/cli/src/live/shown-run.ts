/**
 * A run on the screen: its newest document, and the progress and last log lines of its actions, which no document has.
 *
 * A document is laid out once, however often it is painted; the spinners of 100,000 nodes cost nothing.
 */
import {
  type BareNode,
  type BareRun,
  idsInOrder,
  type NodeStatus,
  type RunStatus,
  type ScopeDocument,
} from '@nebula/core';
import type { OutlineRow } from '../views/outline.ts';

export interface Hint {
  readonly fraction?: number;
  readonly message?: string;
  readonly log?: string;
}

export interface ShownNode {
  readonly path: string;
  readonly name: string;
  readonly prefix: string;
  /** The position among its siblings. */
  readonly order: number;
  readonly state: BareNode;
  readonly scopes: readonly ShownScope[];
}

export interface ShownScope {
  readonly state: ScopeDocument;
  /** An iteration that was under way when its loop failed: its error is of a node outside it. */
  readonly isCancelled: boolean;
  readonly nodes: readonly ShownNode[];
}

/** A node of which no event has arrived yet. */
const PENDING: BareNode = {
  status: 'pending',
  attempts: 0,
  error: null,
  queuedAt: null,
  startedAt: null,
  finishedAt: null,
  durationMs: null,
};

export class ShownRun {
  readonly executionId: string;
  readonly title: string;
  /** Nodes of the workflow itself. */
  nodes: readonly ShownNode[] = [];
  counts: Readonly<Record<NodeStatus, number>> = { ...NONE };
  /** Nodes that are always shown, however large the graph is. */
  notable: readonly ShownNode[] = [];
  /** The last finished nodes, newest first. */
  recent: readonly ShownNode[] = [];
  /** The scope in which the run compensates its finished nodes. */
  undo: ShownScope | undefined;
  /** Undefined until the run has begun. */
  document: BareRun | undefined;
  /** Grows with every change, so that a painter can skip an unchanged run. */
  revision = 0;
  readonly #outline: readonly OutlineRow[];
  readonly #hints = new Map<string, Hint>();

  constructor(executionId: string, title: string, outline: readonly OutlineRow[], document?: BareRun) {
    this.executionId = executionId;
    this.title = title;
    this.#outline = outline;
    if (document !== undefined) this.show(document);
  }

  get status(): RunStatus {
    return this.document?.status ?? 'pending';
  }

  get isOpen(): boolean {
    return this.document === undefined || this.document.finishedAt === null;
  }

  show(document: BareRun): void {
    this.revision++;
    this.document = document;
    const layout = new Layout(document);
    this.nodes = layout.nodesIn('', this.#outline);
    this.undo = layout.undoOf('');
    const counts = { ...NONE };
    for (const { state } of this.nodes) counts[state.status]++;
    this.counts = counts;
    this.notable = this.nodes.filter(({ state }) => NOTABLE.has(state.status));
    this.recent = lastFinished(this.nodes, RECENT_LIMIT);
    for (const path of this.#hints.keys()) if (nodeIn(document, path)?.status !== 'running') this.#hints.delete(path);
  }

  hint(path: string, hint: Hint): void {
    this.revision++;
    this.#hints.set(path, { ...this.#hints.get(path), ...hint });
  }

  hintOf(path: string): Hint {
    return this.#hints.get(path) ?? {};
  }

  /** Nodes at any depth that wait for an event, in the order of the definition. */
  get waiting(): [path: string, state: BareNode][] {
    return this.document === undefined ? [] : waitingIn(this.document);
  }
}

const NOTABLE: ReadonlySet<NodeStatus> = new Set<NodeStatus>(['running', 'waiting', 'failed', 'unknown']);
const RECENT_LIMIT = 64;

/** The newest nodes first. Sorts by the hundred, so that 100,000 nodes are not sorted. */
function lastFinished(nodes: readonly ShownNode[], count: number): ShownNode[] {
  const at = ({ state }: ShownNode): string => state.finishedAt ?? '';
  const newest = (some: ShownNode[]): ShownNode[] =>
    some.sort((a, b) => (at(a) < at(b) ? 1 : at(a) > at(b) ? -1 : b.order - a.order)).slice(0, count);
  let last: ShownNode[] = [];
  for (const node of nodes) {
    if (node.state.finishedAt === null) continue;
    last.push(node);
    if (last.length >= 2 * count) last = newest(last);
  }
  return newest(last);
}

/** Waiting nodes in the order of the definition. */
export function waitingIn(document: BareRun): [path: string, state: BareNode][] {
  return idsInOrder(document).flatMap((path): [string, BareNode][] => {
    const state = nodeIn(document, path);
    return state?.waitsFor?.kind === 'event' ? [[path, state]] : [];
  });
}

function nodeIn({ nodes }: BareRun, path: string): BareNode | undefined {
  return Object.hasOwn(nodes, path) ? nodes[path] : undefined;
}

const NONE: Record<NodeStatus, number> = {
  pending: 0,
  queued: 0,
  running: 0,
  waiting: 0,
  completed: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
  unknown: 0,
};

/** The nested nodes and scopes of a document. */
class Layout {
  readonly #document: BareRun;
  /** Ids of nodes by the path of their scope. */
  readonly #ids = new Map<string, string[]>();
  /** Scopes by the path of their composite node. */
  readonly #scopes = new Map<string, [path: string, state: ScopeDocument][]>();

  constructor(document: BareRun) {
    this.#document = document;
    for (const path of idsInOrder(document)) {
      const cut = path.lastIndexOf('/');
      pushTo(this.#ids, path.slice(0, Math.max(0, cut)), path.slice(cut + 1));
    }
    for (const [path, state] of Object.entries(document.scopes)) pushTo(this.#scopes, state.node ?? '', [path, state]);
  }

  /** Nodes in the order of the outline; nodes that it does not know come last, e.g. those of returned graphs. */
  nodesIn(scope: string, outline: readonly OutlineRow[], nameOf = (id: string): string => id): ShownNode[] {
    const known = new Set(outline.map(({ id }) => id));
    const others = (this.#ids.get(scope) ?? []).filter((id) => !known.has(id));
    const rows = [...outline, ...others.map((id): OutlineRow => ({ id, name: nameOf(id), prefix: '' }))];
    return rows.map(({ id, name, prefix, body = [] }, order) => {
      const path = scope === '' ? id : `${scope}/${id}`;
      const scopes = this.#scopes.get(path)?.map(([inner, state]) => this.#scopeAt(inner, state, body)) ?? [];
      return { path, name, prefix, order, state: nodeIn(this.#document, path) ?? PENDING, scopes };
    });
  }

  undoOf(scope: string): ShownScope | undefined {
    const found = Object.entries(this.#document.scopes).find(([, { undoes }]) => undoes === scope);
    return found && this.#scopeAt(found[0], found[1], []);
  }

  #scopeAt(path: string, state: ScopeDocument, outline: readonly OutlineRow[]): ShownScope {
    const at = state.status === 'failed' && state.round !== null ? state.error?.node : undefined;
    const isCancelled = at !== undefined && !at.startsWith(`${path}/`);
    if (state.undoes === undefined) return { state, isCancelled, nodes: this.nodesIn(path, outline) };
    return { state, isCancelled, nodes: this.nodesIn(path, [], (id) => id.replaceAll(':', '/')) };
  }
}

function pushTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
