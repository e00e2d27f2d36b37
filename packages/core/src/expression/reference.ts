/** The references of an expression to its scope, known without evaluating it. */
import type { Span } from './expression-error.ts';
import type { NodeView } from './scope.ts';

/** Members of `$nodes.<id>` and `$self`. `result` is a synonym of `output`. */
export type NodeMember = keyof NodeView | 'result';

export const NODE_MEMBERS: readonly NodeMember[] = [
  'output',
  'result',
  'status',
  'success',
  'error',
  'attempts',
  'input',
  'callbackUrl',
];

export const LOOP_MEMBERS = ['item', 'index', 'items', 'parent'] as const;

/** Names after `$` that are not shorthand for a node's output. */
export const RESERVED_ROOTS = [
  'input',
  'trigger',
  'nodes',
  'vars',
  'item',
  'index',
  'items',
  'parent',
  'execution',
  'workflow',
  'self',
  'previous',
] as const;

interface ReferenceFacts extends Span {
  /**
   * The static members, in order. For a node and for `$self`, the first one is the node's member: `['output', 'body',
   * 'total']`; for `$parent` it is `item`, `index` or `items`.
   */
  readonly path: readonly (string | number)[];
  /** Guarded by `?.` or `??`: a missing member is not an error. */
  readonly optional: boolean;
}

interface NodeReference extends ReferenceFacts {
  readonly kind: 'node';
  readonly id: string;
  readonly member: NodeMember;
}

interface ScopeReference extends ReferenceFacts {
  readonly kind:
    | 'input'
    | 'trigger'
    | 'vars'
    | 'execution'
    | 'workflow'
    | 'item'
    | 'index'
    | 'items'
    | 'previous'
    | 'self'
    /** Not part of the scope: `uuid()` or `random()` is called. */
    | 'draw';
}

interface ParentReference extends ReferenceFacts {
  readonly kind: 'parent';
  /** 1 for `$parent.item`, 2 for `$parent.parent.item`. */
  readonly level: number;
}

export type Reference = NodeReference | ScopeReference | ParentReference;

/** A reference whose chain is still being parsed. */
export interface ReferenceDraft {
  readonly kind: Reference['kind'];
  readonly id?: string;
  readonly member?: NodeMember;
  readonly level?: number;
  path: readonly (string | number)[];
  optional: boolean;
  readonly offset: number;
  length: number;
}
