/** A component by layers, with virtual nodes. */

/** Nodes and virtual nodes by layer, with the edges between neighbouring layers. */
export interface Layered {
  /** The number of nodes; the numbers above are virtual nodes. */
  readonly real: number;
  readonly layer: Int32Array;
  readonly layers: Int32Array[];
  readonly from: Int32Array;
  readonly to: Int32Array;
}

export interface Neighbours {
  readonly before: readonly (readonly number[])[];
  readonly after: readonly (readonly number[])[];
}

export function neighboursOf({ layer, from, to }: Layered): Neighbours {
  const before: number[][] = Array.from(layer, () => []);
  const after: number[][] = Array.from(layer, () => []);
  for (let edge = 0; edge < from.length; edge++) {
    after[from[edge]!]!.push(to[edge]!);
    before[to[edge]!]!.push(from[edge]!);
  }
  return { before, after };
}
