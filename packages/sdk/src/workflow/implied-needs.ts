/**
 * Which edges follow from what nodes read.
 *
 * A node that reads another one comes after it. Where it already does, by an edge of the author's or by another node
 * that it reads, nothing is added: a second edge past a branch would let the node run although its case was not taken.
 */

export interface Arrow {
  readonly from: string;
  readonly to: string;
  /** Taken whenever `from` succeeds. */
  readonly isPlain: boolean;
}

export interface Implied {
  /** Per node, in the order of the nodes. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** Nodes that are reached under a condition, and read something that is not before it: the author must decide. */
  readonly unclear: readonly { readonly node: string; readonly reads: string }[];
}

export function impliedNeeds(
  ids: readonly string[],
  arrows: readonly Arrow[],
  reads: ReadonlyMap<string, ReadonlySet<string>>,
): Implied {
  const before = new Map<string, Set<string>>(ids.map((id) => [id, new Set()]));
  for (const { from, to } of arrows) before.get(to)?.add(from);
  const conditional = new Set(arrows.filter(({ isPlain }) => !isPlain).map(({ to }) => to));
  const order = orderOf(ids, (id) => [...(before.get(id) ?? []), ...(reads.get(id) ?? [])]);
  const needs = new Map<string, string[]>();
  const unclear: { node: string; reads: string }[] = [];
  for (const node of order) {
    // The last first: what is before it needs no edge of its own.
    for (const read of order.filter((id) => reads.get(node)?.has(id)).reverse()) {
      if (read === node || isBefore(before, read, node)) continue;
      if (conditional.has(node)) unclear.push({ node, reads: read });
      before.get(node)?.add(read);
      needs.set(node, [read, ...(needs.get(node) ?? [])]);
    }
  }
  return { needs, unclear };
}

/** Each after what it depends on; in a cycle, which the reader of the definition reports, as they come. */
function orderOf(ids: readonly string[], dependencies: (id: string) => readonly string[]): string[] {
  const order: string[] = [];
  const seen = new Set<string>();
  for (const start of ids) {
    const stack = [{ id: start, left: [...dependencies(start)] }];
    if (seen.has(start)) continue;
    seen.add(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.left.pop();
      if (next === undefined) {
        order.push(top.id);
        stack.pop();
      } else if (!seen.has(next)) {
        seen.add(next);
        stack.push({ id: next, left: [...dependencies(next)] });
      }
    }
  }
  return order;
}

function isBefore(before: ReadonlyMap<string, ReadonlySet<string>>, wanted: string, node: string): boolean {
  const seen = new Set<string>();
  const left = [node];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    for (const one of before.get(id) ?? []) {
      if (one === wanted) return true;
      if (!seen.has(one)) left.push(one);
      seen.add(one);
    }
  }
  return false;
}
