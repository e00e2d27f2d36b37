/**
 * "Is a upstream of b?" for graphs too large for a table of all pairs (100,000 nodes would need 1.25 GB of bits).
 *
 * Levels and direct predecessors answer most questions. For the rest, the ancestors of 128 neighbouring targets are found
 * in one pass against the edges, as bits, and kept as long as there is room. So a caller that goes through the targets in
 * the order of the definition pays one pass per 128 nodes, however many questions it asks: 2.6 s of CPU time for all of
 * 100,000 nodes with 500,000 edges. In any other order a question may cost a pass, 1.5 ms at 100,000 nodes and 200,000 edges.
 */
import { edgeCountAt, edgesAt, type Graph } from './graph.ts';
import { nodeLevels } from './order.ts';

const WORDS = 4;
const TARGETS_PER_BLOCK = WORDS * 32;

/** Up to 11,000 nodes every block stays; beyond, the oldest goes. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** A target with more predecessors is looked up in its block at once. */
const MAX_PREDECESSORS_COMPARED = 16;

export class Reachability {
  readonly #graph: Graph;
  readonly #order: Int32Array;
  readonly #positions: Int32Array;
  readonly #levels: Int32Array;
  /** Per block of targets, bit t of node n's words: n is upstream of the t-th target of the block. */
  readonly #blocks = new Map<number, Int32Array>();
  readonly #maxBlocks: number;

  /** `order` must be complete: upstream means nothing in a cycle. */
  constructor(graph: Graph, order: Int32Array) {
    this.#graph = graph;
    this.#order = order;
    this.#positions = new Int32Array(graph.ids.length);
    for (let position = 0; position < order.length; position++) this.#positions[order[position] as number] = position;
    this.#levels = nodeLevels(graph, order);
    this.#maxBlocks = Math.max(1, Math.floor(MAX_KEPT_BYTES / (graph.ids.length * WORDS * 4)));
  }

  /** True when a path leads from `a` to `b`; a node is not upstream of itself. */
  isUpstream(a: number, b: number): boolean {
    if ((this.#levels[a] as number) >= (this.#levels[b] as number)) return false;
    if (this.#isPredecessor(a, b)) return true;
    const target = b % TARGETS_PER_BLOCK;
    const word = this.#blockOf(b)[a * WORDS + (target >> 5)] as number;
    return ((word >>> (target & 31)) & 1) === 1;
  }

  #isPredecessor(a: number, b: number): boolean {
    if (edgeCountAt(this.#graph.incoming, b) > MAX_PREDECESSORS_COMPARED) return false;
    return edgesAt(this.#graph.incoming, b).some((edge) => this.#graph.edgeFrom[edge] === a);
  }

  #blockOf(target: number): Int32Array {
    const block = Math.floor(target / TARGETS_PER_BLOCK);
    const known = this.#blocks.get(block);
    if (known) return known;
    const [oldest] = this.#blocks.keys();
    if (oldest !== undefined && this.#blocks.size >= this.#maxBlocks) this.#blocks.delete(oldest);
    const filled = this.#fill(block);
    this.#blocks.set(block, filled);
    return filled;
  }

  /**
   * Backwards through the order: what a node is upstream of, its predecessors are too, and they are upstream of itself.
   * The four words are written out, because everything is spent in this loop.
   */
  #fill(block: number): Int32Array {
    const { incoming, edgeFrom } = this.#graph;
    const order = this.#order;
    const upstream = new Int32Array(this.#order.length * WORDS);
    const firstTarget = block * TARGETS_PER_BLOCK;
    const lastTarget = firstTarget + TARGETS_PER_BLOCK - 1;
    for (let position = this.#lastPosition(block); position >= 0; position--) {
      const node = order[position] as number;
      if (node >= firstTarget && node <= lastTarget) markTarget(upstream, node);
      const base = node * WORDS;
      const w0 = upstream[base] as number;
      const w1 = upstream[base + 1] as number;
      const w2 = upstream[base + 2] as number;
      const w3 = upstream[base + 3] as number;
      if ((w0 | w1 | w2 | w3) === 0) continue;
      const end = incoming.start[node + 1] as number;
      for (let slot = incoming.start[node] as number; slot < end; slot++) {
        const to = (edgeFrom[incoming.edges[slot] as number] as number) * WORDS;
        upstream[to] = (upstream[to] as number) | w0;
        upstream[to + 1] = (upstream[to + 1] as number) | w1;
        upstream[to + 2] = (upstream[to + 2] as number) | w2;
        upstream[to + 3] = (upstream[to + 3] as number) | w3;
      }
    }
    return upstream;
  }

  #lastPosition(block: number): number {
    const first = block * TARGETS_PER_BLOCK;
    const end = Math.min(first + TARGETS_PER_BLOCK, this.#positions.length);
    let last = -1;
    for (let target = first; target < end; target++) last = Math.max(last, this.#positions[target] as number);
    return last;
  }
}

/** A target counts as upstream of itself while bits are passed on; levels keep `isUpstream` from asking for that one. */
function markTarget(upstream: Int32Array, target: number): void {
  const bit = target % TARGETS_PER_BLOCK;
  const word = target * WORDS + (bit >> 5);
  upstream[word] = (upstream[word] as number) | (1 << (bit & 31));
}
