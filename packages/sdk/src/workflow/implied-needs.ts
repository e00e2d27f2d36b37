/**
 * Derives edges from the reads of nodes.
 *
 * A node runs after the nodes that it reads. Where that already holds, through an explicit edge or another read, no
 * edge is added: a second edge past a branch would let the node run although its case was not taken.
 */
import { Heap } from '@nebula/core/authoring';

export interface Arrow {
  readonly from: string;
  readonly to: string;
  /** Taken whenever `from` succeeds. */
  readonly isPlain: boolean;
}

export interface Implied {
  /** Keyed by node, in the order of the nodes. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** Conditional nodes that read a node which does not run before the condition; the author must decide. */
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
  const positions = new Map(order.map((id, position) => [id, position]));
  const position = (id: string): number => positions.get(id) ?? -1;
  const needs = new Map<string, readonly string[]>();
  const unclear: { node: string; reads: string }[] = [];
  for (const node of order) {
    const added: string[] = [];
    const upstream = new Upstream(before, position, node);
    // Last first: predecessors of an added node need no edge.
    for (const read of [...(reads.get(node) ?? [])].sort((a, b) => position(b) - position(a))) {
      if (read === node || upstream.has(read)) continue;
      if (conditional.has(node)) unclear.push({ node, reads: read });
      added.push(read);
      upstream.add(read);
    }
    if (added.length > 0) needs.set(node, added.reverse());
    // All reads are predecessors now, which shortens later searches.
    for (const read of reads.get(node) ?? []) if (read !== node) before.get(node)?.add(read);
  }
  return { needs, unclear };
}

/** Sorts each node after its dependencies; a cycle, which `readDefinition` reports, keeps its order. */
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

/**
 * The predecessors of a node, computed on demand. Queried from the end of the order to its beginning, it visits nothing
 * before the wanted node, and nothing twice: without this, 8,000 nodes that all read the first one took 9 s.
 */
class Upstream {
  readonly #before: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #position: (id: string) => number;
  readonly #seen = new Set<string>();
  readonly #open: Heap<string>;

  constructor(before: ReadonlyMap<string, ReadonlySet<string>>, position: (id: string) => number, node: string) {
    this.#before = before;
    this.#position = position;
    this.#open = new Heap((a, b) => position(a) > position(b));
    for (const id of before.get(node) ?? []) this.add(id);
  }

  add(id: string): void {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    this.#open.push(id);
  }

  has(wanted: string): boolean {
    while (!this.#seen.has(wanted)) {
      const next = this.#open.peek();
      if (next === undefined || this.#position(next) <= this.#position(wanted)) return false;
      this.#open.pop();
      for (const id of this.#before.get(next) ?? []) this.add(id);
    }
    return true;
  }
}
