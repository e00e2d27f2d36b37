/** What an expression can see. Everything is data; nothing of the host is reachable. */
import type { RunError } from '../error.ts';
import type { Json, JsonObject } from '../value.ts';

/** A node as expressions see it: `$nodes.<id>`. */
export interface NodeView {
  readonly output: Json;
  readonly status: string;
  readonly success: boolean;
  readonly error: RunError | null;
  readonly attempts: number;
  readonly input: Json;
  /** Where a call for a `wait: {callback}` is made; undefined for other nodes. Throws where there is no server. */
  readonly callbackUrl?: string | undefined;
}

export interface LoopView {
  readonly item: Json;
  readonly index: number;
  readonly items: Json;
  /** The result of the round before; null in the first one. */
  readonly previous?: Json;
  readonly parent?: LoopView | undefined;
}

export interface Scope {
  readonly input: Json;
  readonly trigger: Json;
  readonly vars: JsonObject;
  readonly execution: JsonObject;
  readonly workflow: JsonObject;
  /** Undefined: no such node in this scope or an enclosing one. */
  node(id: string): NodeView | undefined;
  /** The ids that `node` knows, for suggestions. */
  nodeIds?(): Iterable<string>;
  readonly loop?: LoopView | undefined;
  readonly self?: NodeView;
  /** The next 32 random bytes of this evaluation: the same ones whenever it is repeated. Undefined: nothing is drawn here. */
  draw?(): Uint8Array;
}
