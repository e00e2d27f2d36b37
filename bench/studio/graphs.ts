/** Random graphs for the drawing: layers of nodes, each with one to three successors in the next layers. */

export interface BenchGraph {
  readonly ids: readonly string[];
  readonly edges: readonly (readonly [from: string, to: string])[];
}

/** The same for every drawing: made from a seed. */
export function randomGraph(count: number, seed = 1): BenchGraph {
  const next = lcg(seed);
  const breadth = Math.max(4, Math.round(Math.sqrt(count) / 1.6));
  const ids = Array.from({ length: count }, (_, at) => `node-${at}`);
  const edges = new Map<string, readonly [string, string]>();
  for (let at = 0; at + breadth < count; at++) {
    for (let edge = 0; edge <= next() * 1.4; edge++) {
      const to = Math.min(count - 1, at - (at % breadth) + breadth + Math.floor(next() * breadth));
      edges.set(`${at}-${to}`, [ids[at]!, ids[to]!]);
    }
  }
  return { ids, edges: [...edges.values()] };
}

function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
