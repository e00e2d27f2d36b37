/**
 * The order of a graph's nodes. JavaScript objects, including parsed JSON, list keys that look like integers first, in
 * numerical order. Where that differs from the order in the file, the definition has an `order`.
 */
export interface OrderedNodes {
  readonly nodes?: Readonly<Record<string, unknown>>;
  readonly order?: readonly string[];
}

const INTEGER = /^(?:0|[1-9]\d*)$/;

/** Returns the ids to store in `order`, or `undefined` when an object preserves their order. */
export function writtenOrder(ids: readonly string[]): readonly string[] | undefined {
  if (!ids.some((id) => INTEGER.test(id))) return undefined;
  const kept = Object.keys(Object.fromEntries(ids.map((id) => [id, true])));
  return kept.every((id, index) => id === ids[index]) ? undefined : [...ids];
}

/** Objects list integer keys first, so the first key tells whether there are any. */
export function mayLoseOrder(nodes: object): boolean {
  for (const id in nodes) return INTEGER.test(id);
  return false;
}

/** Nodes that `order` does not list come last. */
export function idsInOrder({ nodes = {}, order }: OrderedNodes): string[] {
  const ids = Object.keys(nodes);
  // In a draft, `order` may have any type.
  if (!Array.isArray(order)) return ids;
  const known = new Set(ids);
  const first = new Set((order as readonly string[]).filter((id) => known.has(id)));
  return [...first, ...ids.filter((id) => !first.has(id))];
}
