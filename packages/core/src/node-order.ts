/**
 * The order of a graph's nodes. Objects of JavaScript, and so JSON that is parsed, list keys that look like integers
 * first, in numerical order. Where that is not the order of the file, a definition says it in `order`.
 */
export interface OrderedNodes {
  readonly nodes?: Readonly<Record<string, unknown>>;
  readonly order?: readonly string[];
}

const INTEGER = /^(?:0|[1-9]\d*)$/;

/** The ids as they must be written down; undefined when an object keeps their order. */
export function writtenOrder(ids: readonly string[]): readonly string[] | undefined {
  if (!ids.some((id) => INTEGER.test(id))) return undefined;
  const kept = Object.keys(Object.fromEntries(ids.map((id) => [id, true])));
  return kept.every((id, index) => id === ids[index]) ? undefined : [...ids];
}

/** Integers come first in an object, so its first key tells whether it has any. */
export function mayLoseOrder(nodes: object): boolean {
  for (const id in nodes) return INTEGER.test(id);
  return false;
}

/** Nodes that `order` does not name come after those that it names. */
export function idsInOrder({ nodes = {}, order }: OrderedNodes): string[] {
  const ids = Object.keys(nodes);
  // A draft may have anything there.
  if (!Array.isArray(order)) return ids;
  const known = new Set(ids);
  const first = new Set((order as readonly string[]).filter((id) => known.has(id)));
  return [...first, ...ids.filter((id) => !first.has(id))];
}
