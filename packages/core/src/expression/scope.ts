/** The values that an expression can read. The scope consists of data; nothing of the host is reachable. */
import type { RunError } from '../error.ts';
import type { Json, JsonObject } from '../value.ts';

/** A node as seen by expressions: `$nodes.<id>`. */
export interface NodeView {
  readonly output: Json;
  readonly status: string;
  readonly success: boolean;
  readonly error: RunError | null;
  readonly attempts: number;
  readonly input: Json;
  /**
   * The URL for the call that a `wait: {callback}` expects; undefined for other nodes. Throws where there is no server.
   */
  readonly callbackUrl?: string | undefined;
}

export interface LoopView {
  readonly item: Json;
  readonly index: number;
  readonly items: Json;
  /** The result of the previous iteration; null in the first one, undefined where iterations run at the same time. */
  readonly previous?: Json | undefined;
  readonly parent?: LoopView | undefined;
}

export interface Scope {
  readonly input: Json;
  readonly trigger: Json;
  readonly vars: JsonObject;
  readonly execution: JsonObject;
  readonly workflow: JsonObject;
  /** Returns undefined when neither this scope nor an enclosing one has the node. */
  node(id: string): NodeView | undefined;
  /** The ids that `node` accepts, for suggestions. */
  nodeIds?(): Iterable<string>;
  readonly loop?: LoopView | undefined;
  readonly self?: NodeView;
  /**
   * The next 32 random bytes of this evaluation; a repeated evaluation gets the same bytes. Undefined: no randomness is
   * available.
   */
  draw?(): Uint8Array;
}
