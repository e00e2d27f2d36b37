/**
 * The graph for screen readers: a tree of its nodes beside the drawing, which is hidden from them. A large graph lists
 * its first nodes, and the one with the focus; the text says how many more there are.
 */
import { type Graph, type GraphNode, linksOf } from '../model/graph.ts';
import type { Mark } from '../model/marks.ts';
import type { NodeRunState } from '../model/run-state.ts';
import type { GraphWords } from '../view/words.ts';

const MAX_ITEMS = 500;
/** Successors of a node that are named. */
const MAX_NAMED = 10;

export interface TreeParts {
  readonly graph: Graph;
  readonly words: GraphWords;
  readonly focused: string | undefined;
  stateOf(id: string): NodeRunState | undefined;
  markOf(id: string): Mark | undefined;
  isCollapsed(id: string): boolean;
  isSelected(id: string): boolean;
}

export class GraphTree {
  readonly #root: HTMLElement;
  readonly #items = new Map<string, HTMLElement>();

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  fill(parts: TreeParts): void {
    const { graph, words, isCollapsed } = parts;
    const { children } = linksOf(graph);
    this.#items.clear();
    let left = MAX_ITEMS;
    const itemsOf = (parent: string | undefined): HTMLElement[] =>
      (children.get(parent) ?? []).flatMap((node) => {
        if (left-- <= 0) return [];
        const item = this.#item(node, parts);
        if (node.isGroup === true && !isCollapsed(node.id)) {
          const group = document.createElement('ul');
          group.role = 'group';
          group.append(...itemsOf(node.id));
          item.append(group);
        }
        return [item];
      });
    const items = itemsOf(undefined);
    if (left < 0) {
      const more = document.createElement('li');
      more.role = 'treeitem';
      more.textContent = words.moreNodes(graph.nodes.size - MAX_ITEMS);
      items.push(more);
    }
    // A tree without items is none.
    this.#root.role = items.length === 0 ? 'group' : 'tree';
    this.#root.ariaMultiSelectable = items.length === 0 ? null : 'true';
    this.#root.replaceChildren(...items);
    this.focus(parts);
  }

  /** Only these nodes have changed: costs what they are many. */
  update(ids: Iterable<string>, parts: TreeParts): void {
    for (const id of ids) {
      const item = this.#items.get(id);
      const node = parts.graph.nodes.get(id);
      if (item !== undefined && node !== undefined) describe(item, node, parts);
    }
  }

  focus(parts: TreeParts): void {
    const { focused, graph } = parts;
    const node = focused === undefined ? undefined : graph.nodes.get(focused);
    if (node === undefined) {
      this.#root.removeAttribute('aria-activedescendant');
      return;
    }
    if (!this.#items.has(node.id)) this.#root.append(this.#item(node, parts));
    this.#root.setAttribute('aria-activedescendant', itemId(node.id));
  }

  /** The node whose item contains an element. */
  nodeOf(element: Element): string | undefined {
    const item = element.closest<HTMLElement>('[data-node]');
    return item?.dataset.node;
  }

  #item(node: GraphNode, parts: TreeParts): HTMLElement {
    const item = document.createElement('li');
    item.role = 'treeitem';
    item.id = itemId(node.id);
    item.dataset.node = node.id;
    item.append(document.createElement('span'));
    if (node.isGroup === true) item.ariaExpanded = String(!parts.isCollapsed(node.id));
    describe(item, node, parts);
    this.#items.set(node.id, item);
    return item;
  }
}

function describe(item: HTMLElement, node: GraphNode, parts: TreeParts): void {
  item.ariaSelected = String(parts.isSelected(node.id));
  item.firstElementChild!.textContent = textOf(node, parts);
}

function textOf({ id, label, kind }: GraphNode, { graph, words, stateOf, markOf }: TreeParts): string {
  const leads = linksOf(graph).outgoing.get(id) ?? [];
  const next = leads.slice(0, MAX_NAMED).map(({ to }) => graph.nodes.get(to)!.label);
  if (leads.length > MAX_NAMED) next.push(words.moreNodes(leads.length - MAX_NAMED));
  const state = stateOf(id);
  const { errors = 0, warnings = 0, pin, change } = markOf(id) ?? {};
  const { failed = 0 } = state?.iterations ?? {};
  const parts = [
    label,
    words.kind[kind],
    state === undefined ? '' : words.status[state.status],
    failed === 0 ? '' : words.failed(words.number(failed)),
    change === undefined ? '' : words.change[change],
    errors === 0 ? '' : words.errors(errors),
    warnings === 0 ? '' : words.warnings(warnings),
    pin === undefined ? '' : words.pinned,
    next.length === 0 ? '' : words.leadsTo(next.join(', ')),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function itemId(id: string): string {
  return `node-${id}`;
}
