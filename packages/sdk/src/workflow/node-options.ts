/** What may be said about a node besides what it does. The keys are those of the language. */
import type { Json, NodeDefinition } from '@nebula/core';
import type { Call } from './call.ts';
import type { Condition, Expression, Ref, Resolved, Value } from './expression.ts';
import type { Before } from './node-handle.ts';

type Given<K extends keyof NodeDefinition> = NonNullable<NodeDefinition[K]>;
export type OnError = Given<'onError'>;

/** `Item` is that of the loop around; `E` is remembered because an ignored error means that the output may be null. */
export interface NodeOptions<Output, Item, E extends OnError = OnError> {
  readonly name?: string;
  /** What it comes after, besides the nodes that it reads. */
  readonly needs?: readonly Before[];
  readonly when?: Condition;
  readonly join?: Given<'join'>;
  /** One rule, or several of which the first that matches an error decides. */
  readonly retry?: Value<Given<'retry'>>;
  readonly timeout?: Value<Given<'timeout'>>;
  readonly onError?: E;
  readonly priority?: Value<number>;
  readonly estimate?: string;
  readonly enabled?: boolean;
  readonly notes?: string;
  /** In a loop: no round begins after this node. */
  readonly break?: boolean;
  /** In a forEach: items that are added when this node has completed. */
  readonly emit?: Emitted<Item> | ((output: Ref<Output>) => Emitted<Item>);
}

type Emitted<Item> = Expression<readonly Item[]> | readonly Value<Item>[];

/** For nodes that take time. */
export interface LastingOptions<Output, Item, E extends OnError = OnError> extends NodeOptions<Output, Item, E> {
  readonly concurrency?: { readonly key: Value<string>; readonly limit?: Value<number> };
}

/** For nodes that can be undone as a whole. */
export interface AttemptOptions<Output, Item, E extends OnError = OnError> extends LastingOptions<Output, Item, E> {
  /** Names of secrets by the alias that the action asks for. */
  readonly credentials?: Given<'credentials'>;
  /** What undoes the node when the run fails later. */
  readonly compensate?: Call | ((output: Ref<Output>) => Call);
}

/** For nodes that run an action. */
export interface ActionOptions<Output, Item, E extends OnError = OnError> extends AttemptOptions<Output, Item, E> {
  readonly effect?: Given<'effect'>;
  readonly capabilities?: Given<'capabilities'>;
  /** Of the workers that may run it. */
  readonly labels?: Given<'labels'>;
  readonly cache?: Value<Given<'cache'>>;
  readonly rateLimit?: {
    readonly key: Value<string>;
    readonly limit: Value<number>;
    readonly per: Value<string | number>;
  };
}

/** `M` is remembered because a round that may fail gives null. */
export interface ForEachOptions<Output, Item, M, E extends OnError> extends LastingOptions<Output, Item, E> {
  readonly parallel?: boolean;
  readonly maxConcurrency?: Value<number>;
  readonly minSuccess?: M;
}

export interface WhileOptions<Output, Item, E extends OnError> extends LastingOptions<Output, Item, E> {
  /** Asked before every round, with the output of the last one and the number of rounds so far. */
  readonly condition: Condition | ((last: Ref<Output | null>, index: Ref<number>) => Condition);
  readonly maxIterations?: Value<number>;
}

export interface RetryUntilOptions<Output, Item, E extends OnError> extends LastingOptions<Output, Item, E> {
  readonly attempts: Value<number>;
  /** Asked after every round that succeeded. */
  readonly until?: Condition | ((output: Ref<Output>, index: Ref<number>) => Condition);
  readonly backoff?: Value<NonNullable<Given<'retryUntil'>['backoff']>>;
}

/** What a merge gives: what came of the rounds, in the order of the items; with `wait: 'any'`, of the first alone. */
export interface Merged<Round> {
  readonly aggregated: readonly Round[];
}

/** It comes after its rounds, and nothing else. */
export interface MergeOptions<Round, Item, E extends OnError>
  extends Omit<NodeOptions<Merged<Round>, Item, E>, 'needs' | 'join' | 'timeout'> {
  readonly wait?: 'all' | 'any';
  /** How long the rounds may take together; a reference is read when the split becomes ready. */
  readonly timeout?: Value<string | number>;
}

export interface SubWorkflowOptions<Output, Mapped, Item, E extends OnError>
  extends AttemptOptions<MappedOutput<Output, Mapped>, Item, E> {
  readonly version?: number;
  readonly mode?: 'inline' | 'child';
  readonly isolation?: 'shared' | 'isolated' | 'transactional';
  /** The output of the node, made of that of the workflow. */
  readonly output?: (output: Ref<Output>) => Mapped;
}

/** A launch plan says which workflow and version run. */
export interface PlanOptions<Output, Mapped, Item, E extends OnError>
  extends Omit<SubWorkflowOptions<Output, Mapped, Item, E>, 'version' | 'mode' | 'isolation'> {}

export type MappedOutput<Output, Mapped> = [Mapped] extends [undefined] ? Output : Resolved<Mapped>;

/** `match` fits equal values, objects by the members that it has, or tests such as `{ gt: 5 }`. */
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
