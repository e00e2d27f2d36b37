/**
 * Icons of kinds of nodes and of categories of actions: lines in a box of 16 by 16 pixels around its centre. A category
 * without an icon has its first letter.
 */
import type { GraphNode, NodeKind } from '../model/graph.ts';

/** Paths in the words of SVG: they are drawn, never parsed as markup. */
const KINDS: Readonly<Partial<Record<NodeKind, string>>> = {
  branch: 'M-6.5 0H-2M-2 0L2.5-4.5H6.5M-2 0L2.5 4.5H6.5M4.5-6.5L6.5-4.5L4.5-2.5M4.5 2.5L6.5 4.5L4.5 6.5',
  wait: 'M0-6.5A6.5 6.5 0 1 1-.01-6.5M0-3.5V0L2.6 1.8',
  loop: 'M5.5-1.5A5.5 5.5 0 0 0-5-2.6M-5.5 1.5A5.5 5.5 0 0 0 5 2.6M-5.6-6V-2.4H-2M5.6 6V2.4H2',
  group: 'M0-6.5L6.5-3L0 .5L-6.5-3ZM-6.5 0L0 3.5L6.5 0M-6.5 3L0 6.5L6.5 3',
  workflow: 'M-6.5-6H-1.5V-1.5H-6.5ZM1.5 1.5H6.5V6H1.5ZM-4-1.5V3.8H1.5',
  dynamic: 'M0-6.5L1.6-1.6L6.5 0L1.6 1.6L0 6.5L-1.6 1.6L-6.5 0L-1.6-1.6Z',
  set: 'M-5.5-2.2H5.5M-5.5 2.2H5.5',
  split: 'M-6.5 0H-1M-1 0L3-5H6.5M-1 0H6.5M-1 0L3 5H6.5',
  merge: 'M6.5 0H1M1 0L-3-5H-6.5M1 0H-6.5M1 0L-3 5H-6.5',
  terminate: 'M-2.7-6.5H2.7L6.5-2.7V2.7L2.7 6.5H-2.7L-6.5 2.7V-2.7ZM-3 0H3',
};

const CATEGORIES: Readonly<Record<string, string>> = {
  http: 'M0-6.5A6.5 6.5 0 1 1-.01-6.5M-6.5 0H6.5M0-6.5C-4-2.5-4 2.5 0 6.5M0-6.5C4-2.5 4 2.5 0 6.5',
  file: 'M-4.5-6.5H1.5L4.5-3.5V6.5H-4.5ZM1.5-6.5V-3.5H4.5M-2 0H2M-2 3H2',
  shell: 'M-5.5-4L-1.5 0L-5.5 4M.5 4.5H5.5',
  core: 'M-4-6H-5.5V6H-4M4-6H5.5V6H4M-2 0H-1.9M0 0H.1M2 0H2.1',
  mail: 'M-6.5-4.5H6.5V4.5H-6.5ZM-6.5-4.5L0 .8L6.5-4.5',
  email: 'M-6.5-4.5H6.5V4.5H-6.5ZM-6.5-4.5L0 .8L6.5-4.5',
  sql: 'M-5.5-4C-5.5-7 5.5-7 5.5-4V4C5.5 7-5.5 7-5.5 4ZM-5.5-4C-5.5-1 5.5-1 5.5-4M-5.5 0C-5.5 3 5.5 3 5.5 0',
  db: 'M-5.5-4C-5.5-7 5.5-7 5.5-4V4C5.5 7-5.5 7-5.5 4ZM-5.5-4C-5.5-1 5.5-1 5.5-4M-5.5 0C-5.5 3 5.5 3 5.5 0',
  payment: 'M-6.5-4.5H6.5V4.5H-6.5ZM-6.5-1.5H6.5M-4 2H-1',
  warehouse: 'M-6-3L0-6L6-3V3.5L0 6.5L-6 3.5ZM-6-3L0 0L6-3M0 0V6.5',
  courier: 'M-6.5-4H1.5V3H-6.5ZM1.5-1.5H4.5L6.5 .7V3H1.5M-3.5 3V5H-3.4M4 3V5H4.1',
  pager: 'M-4.5 3C-3.5 1-4-1-3.5-2.5C-2.5-6 2.5-6 3.5-2.5C4-1 3.5 1 4.5 3ZM-1.5 5.5H1.5',
  script: 'M-3-5L-6.5 0L-3 5M3-5L6.5 0L3 5',
  git: 'M-4-6V6M-4-1C0-1 4-2 4-5M4-6.5V-5M-5.5 6H-2.5M-5.5-6H-2.5M2.5-5H5.5',
  queue: 'M-6.5-5H6.5M-6.5-1.6H6.5M-6.5 1.8H2M-6.5 5.2H0',
};

const known = new Map<string, Path2D | null>();

/** Null: the node has no icon. */
export function iconOf({ kind, category }: GraphNode): Path2D | null {
  const key = category ?? `:${kind}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const words =
    category === undefined ? KINDS[kind] : Object.hasOwn(CATEGORIES, category) ? CATEGORIES[category] : undefined;
  const path = words === undefined ? null : new Path2D(words);
  // Categories are texts of definitions, without a limit to their number.
  if (known.size < 1_000) known.set(key, path);
  return path;
}

export function letterOf({ category, label }: GraphNode): string {
  const [first = '·'] = category ?? label;
  return first.toUpperCase();
}
