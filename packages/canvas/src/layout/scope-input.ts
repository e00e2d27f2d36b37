/** The nodes of one scope, and where they are placed. `along` is the direction of the flow, `across` the other one. */

export interface ScopeInput {
  readonly length: Float64Array;
  readonly breadth: Float64Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** The space that each edge needs before its end. */
  readonly space: Float64Array;
}

export interface Placed {
  /** The corner of each node with the smallest coordinates. */
  readonly along: Float64Array;
  readonly across: Float64Array;
  /** Points (along, across) at which an edge bends. */
  readonly bends: readonly (readonly number[] | undefined)[];
  readonly length: number;
  readonly breadth: number;
}
