/**
 * The graph for screen readers: a tree of its nodes beside the drawing, which is hidden from them. A large graph lists
 * its first nodes; the text says so.
 */
import { type Graph, linksOf } from '../model/graph.ts';
import type { NodeRunState } from '../model/run-state.ts';

const MAX_ITEMS = 500;
/** Successors of a node that are named. */
const MAX_NAMED = 10;

export interface TreeParts {
  readonly graph: Graph;
  stateOf(id: string): NodeRunState | undefined;
  isCollapsed(id: string): boolean;
}

export function fillTree(root: HTMLElement, { graph, stateOf, isCollapsed }: TreeParts): void {
  const { children, outgoing } = linksOf(graph);
  let left = MAX_ITEMS;
  const itemsOf = (parent: string | undefined): HTMLElement[] =>
    (children.get(parent) ?? []).flatMap(({ id, label, kind, isGroup }) => {
      if (left-- <= 0) return [];
      const item = document.createElement('li');
      item.role = 'treeitem';
      item.id = itemId(id);
      const leads = outgoing.get(id) ?? [];
      const next = leads.slice(0, MAX_NAMED).map(({ to }) => graph.nodes.get(to)!.label);
      if (leads.length > MAX_NAMED) next.push(`${leads.length - MAX_NAMED} more`);
      const status = stateOf(id)?.status;
      const text = document.createElement('span');
      text.textContent = `${label}, ${kind}${status === undefined ? '' : `, ${status}`}${next.length === 0 ? '' : `, leads to ${next.join(', ')}`}`;
      item.append(text);
      if (isGroup === true) {
        item.ariaExpanded = String(!isCollapsed(id));
        if (!isCollapsed(id)) {
          const group = document.createElement('ul');
          group.role = 'group';
          group.append(...itemsOf(id));
          item.append(group);
        }
      }
      return [item];
    });
  const items = itemsOf(undefined);
  if (left < 0) {
    const more = document.createElement('li');
    more.role = 'treeitem';
    more.textContent = `${graph.nodes.size - MAX_ITEMS} more nodes`;
    items.push(more);
  }
  root.replaceChildren(...items);
}

export function itemId(id: string): string {
  return `node-${id}`;
}
