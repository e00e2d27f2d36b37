/** Options of nodes besides their kind. The keys are those of the language. */
import type { Json, NodeDefinition } from '@nebula/core';
import type { Call } from './call.ts';
import type { Condition, Expression, Ref, Resolved, Value } from './expression.ts';
import type { Before } from './node-handle.ts';

type ValueOf<K extends keyof NodeDefinition> = NonNullable<NodeDefinition[K]>;
export type OnError = ValueOf<'onError'>;

/**
 * `Item` is the item type of the enclosing loop; `E` is tracked because the output may be null after an ignored error.
 */
export interface NodeOptions<Output, Item, E extends OnError = OnError> {
  readonly name?: string;
  /** Predecessors in addition to the nodes that it reads. */
  readonly needs?: readonly Before[];
  readonly when?: Condition;
  readonly join?: ValueOf<'join'>;
  /** One rule, or a list in which the first rule that matches an error applies. */
  readonly retry?: Value<ValueOf<'retry'>>;
  readonly timeout?: Value<ValueOf<'timeout'>>;
  readonly onError?: E;
  readonly priority?: Value<number>;
  readonly estimate?: string;
  readonly enabled?: boolean;
  readonly notes?: string;
  /** In a loop: ends it when this node has completed; the rest of the iteration is cancelled. */
  readonly break?: boolean;
  /** In a forEach: items to add when this node completes. */
  readonly emit?: Emitted<Item> | ((output: Ref<Output>) => Emitted<Item>);
}

type Emitted<Item> = Expression<readonly Item[]> | readonly Value<Item>[];

/** Options of nodes that take time. */
export interface LastingOptions<Output, Item, E extends OnError = OnError> extends NodeOptions<Output, Item, E> {
  readonly concurrency?: { readonly key: Value<string>; readonly limit?: Value<number> };
}

/** Options of nodes that can be compensated. */
export interface AttemptOptions<Output, Item, E extends OnError = OnError> extends LastingOptions<Output, Item, E> {
  /** Alias → name of the secret. */
  readonly credentials?: ValueOf<'credentials'>;
  /** The action that undoes the node when the run fails later. */
  readonly compensate?: Call | ((output: Ref<Output>) => Call);
}

/** Options of nodes that run an action. */
export interface ActionOptions<Output, Item, E extends OnError = OnError> extends AttemptOptions<Output, Item, E> {
  readonly effect?: ValueOf<'effect'>;
  readonly capabilities?: ValueOf<'capabilities'>;
  /** Labels that a worker must have to run the node. */
  readonly labels?: ValueOf<'labels'>;
  readonly cache?: Value<ValueOf<'cache'>>;
  readonly rateLimit?: {
    readonly key: Value<string>;
    readonly limit: Value<number>;
    readonly per: Value<string | number>;
  };
}

/** `M` is tracked because the result of a failed iteration is null. */
export interface ForEachOptions<Output, Item, M, E extends OnError> extends LastingOptions<Output, Item, E> {
  readonly parallel?: boolean;
  readonly maxConcurrency?: Value<number>;
  readonly minSuccess?: M;
}

export interface WhileOptions<Output, Item, E extends OnError> extends LastingOptions<Output, Item, E> {
  /** Evaluated before every iteration, with the last output and the number of iterations so far. */
  readonly condition: Condition | ((last: Ref<Output | null>, index: Ref<number>) => Condition);
  readonly maxIterations?: Value<number>;
}

export interface RetryUntilOptions<Output, Item, E extends OnError> extends LastingOptions<Output, Item, E> {
  readonly attempts: Value<number>;
  /** Evaluated after every successful iteration. */
  readonly until?: Condition | ((output: Ref<Output>, index: Ref<number>) => Condition);
  readonly backoff?: Value<NonNullable<ValueOf<'retryUntil'>['backoff']>>;
}

/** The output of a merge: the results of the iterations in item order; with `wait: 'any'`, only that of the first. */
export interface Merged<Round> {
  readonly aggregated: readonly Round[];
}

/** A merge comes only after its iterations. */
export interface MergeOptions<Round, Item, E extends OnError>
  extends Omit<NodeOptions<Merged<Round>, Item, E>, 'needs' | 'join' | 'timeout'> {
  readonly wait?: 'all' | 'any';
  /** The maximum duration of all iterations together; a reference is read when the split becomes ready. */
  readonly timeout?: Value<string | number>;
}

export interface SubWorkflowOptions<Output, Mapped, Item, E extends OnError>
  extends AttemptOptions<MappedOutput<Output, Mapped>, Item, E> {
  readonly version?: number;
  readonly mode?: 'inline' | 'child';
  readonly isolation?: 'shared' | 'isolated' | 'transactional';
  /** Maps the output of the workflow to the output of the node. */
  readonly output?: (output: Ref<Output>) => Mapped;
}

/** The launch plan selects workflow and version. */
export interface LaunchPlanOptions<Output, Mapped, Item, E extends OnError>
  extends Omit<SubWorkflowOptions<Output, Mapped, Item, E>, 'version' | 'mode' | 'isolation'> {}

export type MappedOutput<Output, Mapped> = [Mapped] extends [undefined] ? Output : Resolved<Mapped>;

/** Matches equal values, objects by the members of the pattern, or operators such as `{ gt: 5 }`. */
export type Pattern<T> = unknown extends T
  ? Json
  :
      | Tests<T>
      | (T extends string | number | boolean | null | undefined
          ? T
          : T extends readonly unknown[]
            ? T
            : { readonly [K in keyof T]?: Pattern<T[K]> });

interface Tests<T> {
  readonly gt?: T & (number | string);
  readonly gte?: T & (number | string);
  readonly lt?: T & (number | string);
  readonly lte?: T & (number | string);
  readonly in?: readonly T[];
  readonly type?: 'null' | 'boolean' | 'number' | 'integer' | 'string' | 'array' | 'object';
  readonly exists?: boolean;
  readonly regex?: string;
}

export interface ErrorPattern {
  readonly code?: string | readonly string[];
  readonly kind?: 'USER' | 'SYSTEM' | readonly ('USER' | 'SYSTEM')[];
  readonly message?: string | readonly string[];
}

export type EdgeOptions<Output> = { readonly when?: Condition } & (
  | { readonly on?: 'success' | 'always' }
  | { readonly on: 'error'; readonly match?: ErrorPattern }
  | { readonly on: 'result'; readonly match: Pattern<Output> }
);

/** Exactly one test. */
export type CaseTest = { readonly when: Condition } | { readonly match: Json } | { readonly error: ErrorPattern };
