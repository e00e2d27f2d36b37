/** Handles of nodes: references to their results, used to order other nodes after them. */
import type { JsonSchema, NodeStatus, RunError } from '@nebula/core';
import { type NodeAddress, type Ref, rootReference } from './expression.ts';
import { objectSchema } from './schema-path.ts';

export interface AnyNode {
  readonly id: string;
  /** Null unless the node has failed. */
  readonly error: Ref<RunError | null>;
  readonly status: Ref<NodeStatus>;
  readonly success: Ref<boolean>;
  readonly attempts: Ref<number>;
  readonly input: Ref<unknown>;
}

export interface NodeHandle<Output> extends AnyNode {
  readonly output: Ref<Output>;
}

/** A case of a branch, for `needs` or `w.edge`. */
export interface BranchCase {
  readonly branch: string;
  readonly case: string | null;
}

/** `Value` is the type of the values that distinguish the cases. */
export interface BranchHandle<Value> extends NodeHandle<{ readonly taken: readonly string[] }> {
  case(value: Value): BranchCase;
  /** Taken when no case matches. */
  readonly otherwise: BranchCase;
}

/**
 * A split, for its merge; `Round` is the result type of an iteration. Outside, only its status and error can be read.
 */
export interface SplitHandle<Round> extends Pick<AnyNode, 'id' | 'error' | 'status' | 'success'> {
  readonly '~round'?: Round;
}

/** A node or case that another node can come after. */
export type Before = AnyNode | BranchCase;

const ERROR: JsonSchema = {
  anyOf: [
    objectSchema({ code: { type: 'string' }, kind: { type: 'string' }, message: { type: 'string' } }),
    { type: 'null' },
  ],
};

export class Handle implements NodeHandle<unknown> {
  readonly id: string;
  readonly output: Ref<unknown>;
  readonly error: Ref<RunError | null>;
  readonly status: Ref<NodeStatus>;
  readonly success: Ref<boolean>;
  readonly attempts: Ref<number>;
  readonly input: Ref<unknown>;

  constructor(node: NodeAddress, schema: JsonSchema, isNullable: boolean) {
    const member = <T>(name: string, known: JsonSchema = true) =>
      rootReference<T>({ kind: 'node', node, member: name }, known);
    this.id = node.id;
    this.output = rootReference({ kind: 'node', node, member: 'output' }, schema, isNullable);
    this.error = member('error', ERROR);
    this.status = member('status');
    this.success = member('success');
    this.attempts = member('attempts');
    this.input = member('input');
    addresses.set(this, node);
  }
}

const addresses = new WeakMap<object, NodeAddress>();

export function addressOf(handle: object): NodeAddress | undefined {
  return addresses.get(handle);
}

export class Branch extends Handle {
  readonly otherwise: BranchCase;
  readonly #node: NodeAddress;

  constructor(node: NodeAddress, schema: JsonSchema) {
    super(node, schema, false);
    this.#node = node;
    this.otherwise = this.#way(null);
  }

  case(value: unknown): BranchCase {
    return this.#way(String(value));
  }

  #way(name: string | null): BranchCase {
    const way: BranchCase = Object.freeze({ branch: this.id, case: name });
    addresses.set(way, this.#node);
    return way;
  }
}
