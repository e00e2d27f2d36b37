/** The `w` of `workflow(…)` and the `b` of bodies: one method per kind of node. */
import type { Json, JsonObject, JsonSchema, RunError } from '@nebula/core';
import { type AnyAction, actionName, type Call, outputSchema, renderCall } from './call.ts';
import { type Expression, type Fields, type Ref, type Resolved, sourceOf, type Value } from './expression.ts';
import { GraphDraft, type NodeDraft } from './graph-draft.ts';
import {
  askBetweenIterations,
  type IterationRefs,
  indexOf,
  iterationRefs,
  previousOf,
  renderItems,
  schemaOfItems,
  selfReference,
} from './loop-refs.ts';
import {
  type AnyNode,
  type Before,
  Branch,
  type BranchHandle,
  Handle,
  type NodeHandle,
  type SplitHandle,
} from './node-handle.ts';
import type {
  ActionOptions,
  AttemptOptions,
  CaseTest,
  EdgeOptions,
  ForEachOptions,
  LastingOptions,
  LaunchPlanOptions,
  MappedOutput,
  Merged,
  MergeOptions,
  NodeOptions,
  OnError,
  RetryUntilOptions,
  SubWorkflowOptions,
  WhileOptions,
} from './node-options.ts';
import { invalid, type RenderScope, renderCondition, renderFields, renderValue } from './render.ts';
import { objectSchema } from './schema-path.ts';
import type { AnyWorkflow, Uses } from './uses.ts';
import { renderWait, type Wait, type WaitOutput } from './wait.ts';

/** The output is null after an ignored failure. */
type Output<Out, E> = Out | (E extends 'ignore' ? null : never);
type ItemOf<L> =
  L extends Expression<infer T>
    ? T extends readonly (infer Item)[]
      ? Item
      : never
    : L extends readonly (infer V)[]
      ? Resolved<V>
      : never;
type ItemList = Expression<readonly unknown[]> | readonly unknown[];
/** Without a minimum, every iteration has succeeded. */
type Rounds<R, M> = readonly (Resolved<R> | ([M] extends [never] ? never : null))[];
/** The nodes before a merge; undefined when the region is empty. */
type Ends = AnyNode | { readonly [id: string]: AnyNode } | undefined;
type IterationOf<R, Item> = [R] extends [undefined] ? Item : Resolved<R>;
type CaseValue = string | number | boolean | null;
/** Options of any kind, without type checks. */
type Options = Partial<ActionOptions<never, never>> & { readonly [key: string]: unknown };

/** State that a graph shares with the other graphs of its workflow. */
export interface Surroundings<Input, Vars> {
  readonly input: Ref<Input>;
  readonly vars: Ref<Vars>;
  readonly execution: Ref<Execution>;
  readonly trigger: Ref<unknown>;
  readonly about: Ref<{ readonly id: string; readonly version: number }>;
  readonly uses: Uses;
}

export interface Execution {
  readonly id: string;
  readonly startedAt: string;
  readonly attempt: number;
  /** In a failure node: the error of the run. */
  readonly error: RunError | null;
}

export class Graph<Input, Vars, Item> {
  readonly input: Ref<Input>;
  readonly vars: Ref<Vars>;
  readonly execution: Ref<Execution>;
  readonly trigger: Ref<unknown>;
  /** The id of the running workflow. */
  readonly id: Ref<string>;
  readonly version: Ref<number>;
  readonly #surroundings: Surroundings<Input, Vars>;
  readonly #draft: GraphDraft;

  constructor(draft: GraphDraft, surroundings: Surroundings<Input, Vars>) {
    this.#draft = draft;
    this.#surroundings = surroundings;
    this.input = surroundings.input;
    this.vars = surroundings.vars;
    this.execution = surroundings.execution;
    this.trigger = surroundings.trigger;
    this.id = surroundings.about.id;
    this.version = surroundings.about.version;
  }

  /** Runs an action. */
  node<In, Out, E extends OnError = 'halt'>(
    id: string,
    action: AnyAction<In, Out>,
    parameters: Fields<In>,
    options: ActionOptions<Out, Item, E> = {},
  ): NodeHandle<Output<Out, E>> {
    const kind = (scope: RenderScope) => ({
      action: actionName(action),
      with: renderFields(parameters, scope, `${id}.with`),
    });
    return this.#add(id, kind, options, outputSchema(action)) as NodeHandle<Output<Out, E>>;
  }

  /** Runs an action, then the graph that it returned. */
  dynamic<In, E extends OnError = 'halt'>(
    id: string,
    action: AnyAction<In, unknown>,
    parameters: Fields<In>,
    options: ActionOptions<unknown, Item, E> = {},
  ): NodeHandle<unknown> {
    const kind = (scope: RenderScope) => ({
      dynamic: { action: actionName(action), with: renderFields(parameters, scope, `${id}.with`) },
    });
    return this.#add(id, kind, options, true);
  }

  /** Continues with the matching case: by the value of an expression, or by a test per case. */
  branch<T extends CaseValue>(
    id: string,
    on: Expression<T>,
    options?: NodeOptions<never, Item>,
  ): BranchHandle<Exclude<T, null>>;
  branch<Name extends string>(
    id: string,
    cases: { readonly [K in Name]: CaseTest },
    options?: NodeOptions<never, Item> & { readonly on?: Expression<unknown>; readonly many?: boolean },
  ): BranchHandle<Name>;
  branch(
    id: string,
    by: object,
    options: NodeOptions<never, Item> & { readonly on?: Expression<unknown>; readonly many?: boolean } = {},
  ): BranchHandle<CaseValue> {
    const node = this.#draft.add(id);
    const scope = node.scope();
    const { on = sourceOf(by) && by, many, ...common } = options;
    const tests =
      sourceOf(by) === undefined
        ? new Map(Object.entries(by).map(([name, test]) => [name, caseTest(test, scope, id)]))
        : undefined;
    node.branch = {
      tests,
      targets: new Map(),
      head: {
        ...(on !== undefined && { on: renderCondition(on, scope, `${id}.on`) }),
        ...(many !== undefined && { many }),
      },
    };
    this.#describe(node, common, undefined);
    const schema = objectSchema({ taken: { type: 'array', items: { type: 'string' } } });
    return new Branch(node, schema) as unknown as BranchHandle<CaseValue>;
  }

  /** Runs a body for every item. */
  forEach<L extends ItemList, R, M extends Value<number | string> = never, E extends OnError = 'halt'>(
    id: string,
    items: L,
    body: (b: Graph<Input, Vars, ItemOf<L>>, ...round: [...IterationRefs<ItemOf<L>>, previous: Ref<unknown>]) => R,
    options: ForEachOptions<NoInfer<Rounds<R, M>>, Item, M, E> = {},
  ): NodeHandle<Output<Rounds<R, M>, E>> {
    const { parallel, maxConcurrency, minSuccess, ...common } = options;
    const loop = {};
    let round: JsonSchema = true;
    const kind = (scope: RenderScope) => {
      const inner = this.#body<ItemOf<L>>(loop, scope, (b) =>
        body(b, ...iterationRefs<ItemOf<L>>(loop, items), previousOf(loop)),
      );
      round = minSuccess === undefined ? inner.schema : true;
      return {
        forEach: {
          in: renderItems(items, scope, id),
          ...rendered({ parallel, maxConcurrency, minSuccess }, scope, id),
        },
        do: inner.body,
      };
    };
    return this.#add(id, kind, common, () => ({ type: 'array', items: round })) as never;
  }

  /**
   * Runs the nodes that its function defines once per item, in parallel, up to the merge; `s` adds nodes to this graph.
   */
  split<L extends ItemList, R extends Ends, E extends OnError = 'halt'>(
    id: string,
    items: L,
    between: (s: Graph<Input, Vars, ItemOf<L>>, ...round: IterationRefs<ItemOf<L>>) => R,
    options: LastingOptions<ItemOf<L>, Item, E> = {},
  ): SplitHandle<IterationOf<R, ItemOf<L>>> {
    const kind = (scope: RenderScope, node: NodeDraft) => {
      const loop = {};
      const draft = new GraphDraft(this.#draft.workflow, this.#draft, loop, true);
      const s = new Graph<Input, Vars, ItemOf<L>>(draft, this.#surroundings);
      const ends = between(s, ...iterationRefs<ItemOf<L>>(loop, items));
      node.region = draft.finishRegion(node, ends, schemaOfItems(items));
      return { split: { in: renderItems(items, scope, id) } };
    };
    return this.#add(id, kind, options, true);
  }

  /** Collects the results of the iterations of a split. */
  merge<Round, E extends OnError = 'halt'>(
    id: string,
    split: SplitHandle<Round>,
    options: MergeOptions<Round, Item, E> = {},
  ): NodeHandle<Output<Merged<Round>, E>> {
    const { wait, timeout, ...common } = options;
    const source = this.#draft.draftOf(split);
    const { region } = source;
    if (region === undefined) throw invalid(`'${source.id}' is not a split`, 'pass the result of w.split()');
    if (region.merge !== undefined) throw invalid(`'${source.id}' has two merges`, 'a split can have only one merge');
    const kind = (_: RenderScope, node: NodeDraft) => {
      region.merge = node;
      node.split = source;
      node.needs.push(source.id);
      return { merge: rendered({ wait, timeout }, source.scope(), id) };
    };
    const schema = objectSchema({ aggregated: { type: 'array', items: region.round } });
    return this.#add(id, kind, common, schema) as never;
  }

  /** Runs a body as long as a condition holds. The output is null when it never held. */
  while<R, E extends OnError = 'halt'>(
    id: string,
    body: (b: Graph<Input, Vars, never>, index: Ref<number>, previous: Ref<unknown>) => R,
    options: WhileOptions<Resolved<R>, Item, E>,
  ): NodeHandle<Resolved<R> | null> {
    const { condition, maxIterations, ...common } = options;
    const loop = {};
    const kind = (scope: RenderScope, node: NodeDraft) => {
      const inner = this.#body<never>(loop, scope, (b) => body(b, indexOf(loop), previousOf(loop)));
      const asked = askBetweenIterations(node, loop, condition, true);
      return { while: { condition: asked, ...rendered({ maxIterations }, scope, id) }, do: inner.body };
    };
    return this.#add(id, kind, common, true, true) as never;
  }

  /** Runs a body until it succeeds and a condition holds. */
  retryUntil<R, E extends OnError = 'halt'>(
    id: string,
    body: (b: Graph<Input, Vars, never>, index: Ref<number>, previous: Ref<unknown>) => R,
    options: RetryUntilOptions<Resolved<R>, Item, E>,
  ): NodeHandle<Output<Resolved<R>, E>> {
    const { attempts, until, backoff, ...common } = options;
    const loop = {};
    let schema: JsonSchema = true;
    const kind = (scope: RenderScope, node: NodeDraft) => {
      const inner = this.#body<never>(loop, scope, (b) => body(b, indexOf(loop), previousOf(loop)));
      schema = inner.schema;
      const asked = until === undefined ? undefined : askBetweenIterations(node, loop, until, false, schema);
      return {
        retryUntil: { ...definedMembers({ until: asked }), ...rendered({ attempts, backoff }, scope, id) },
        do: inner.body,
      };
    };
    return this.#add(id, kind, common, () => schema) as never;
  }

  /** Runs a body once, in its own scope: retry, timeout, error edges and compensate apply to the whole body. */
  group<R, E extends OnError = 'halt'>(
    id: string,
    body: (b: Graph<Input, Vars, Item>) => R,
    options: AttemptOptions<Resolved<NoInfer<R>>, Item, E> = {},
  ): NodeHandle<Output<Resolved<R>, E>> {
    let schema: JsonSchema = true;
    const kind = (scope: RenderScope) => {
      const inner = this.#body<Item>(undefined, scope, body);
      schema = inner.schema;
      return { group: inner.body };
    };
    return this.#add(id, kind, options, () => schema) as never;
  }

  /** Runs another workflow, inline or as a separate run. */
  workflow<In, Out, Mapped = undefined, E extends OnError = 'halt'>(
    id: string,
    used: AnyWorkflow<In, Out>,
    input: Value<In>,
    options: SubWorkflowOptions<Out, Mapped, Item, E> = {},
  ): NodeHandle<Output<MappedOutput<Out, Mapped>, E>> {
    const { version, mode, isolation, output, ...common } = options;
    this.#surroundings.uses.add(used);
    const kind = (scope: RenderScope, node: NodeDraft) => {
      const self = {};
      const mapped = output?.(selfReference(self));
      return {
        workflow: {
          id: used.id,
          ...definedMembers({ version, mode, isolation }),
          input: renderValue(input, scope, `${id}.input`),
          ...(mapped !== undefined && { output: renderValue(mapped, node.scope({ self }), `${id}.output`) }),
        },
      };
    };
    return this.#add(id, kind, common, true) as never;
  }

  /** Runs a launch plan of the same project as a separate run. */
  plan<Out = Json, Mapped = undefined, E extends OnError = 'halt'>(
    id: string,
    plan: string,
    input: Value<Record<string, Json>> = {},
    options: LaunchPlanOptions<Out, Mapped, Item, E> = {},
  ): NodeHandle<Output<MappedOutput<Out, Mapped>, E>> {
    const { output, ...common } = options;
    const kind = (scope: RenderScope, node: NodeDraft) => {
      const self = {};
      const mapped = output?.(selfReference<Out>(self));
      return {
        workflow: {
          plan,
          input: renderValue(input, scope, `${id}.input`),
          ...(mapped !== undefined && { output: renderValue(mapped, node.scope({ self }), `${id}.output`) }),
        },
      };
    };
    return this.#add(id, kind, common, true) as never;
  }

  /** Waits for one condition, or for the first of several. */
  wait<Event extends string, Payload, E extends OnError = 'halt'>(
    id: string,
    waits: Wait<Event, Payload> | readonly Wait<Event, Payload>[],
    options: LastingOptions<WaitOutput<Event, Payload>, Item, E> & { readonly deadline?: Value<string | number> } = {},
  ): NodeHandle<Output<WaitOutput<Event, Payload>, E>> {
    const { deadline, ...common } = options;
    let schema: JsonSchema = true;
    const kind = (scope: RenderScope) => {
      const rendered = renderWait(waits, scope);
      schema = rendered.schema;
      const until: JsonObject =
        deadline === undefined ? {} : { deadline: renderValue(deadline, scope, `${id}.deadline`) };
      return { wait: { ...rendered.definition, ...until } };
    };
    return this.#add(id, kind, common, () => schema) as never;
  }

  /** Assigns variables. */
  set<Name extends keyof Vars & string>(
    id: string,
    values: { readonly [K in Name]: Value<Vars[K]> },
    options: NodeOptions<Pick<Vars, Name>, Item> = {},
  ): NodeHandle<Pick<Vars, Name>> {
    const kind = (scope: RenderScope) => ({ set: renderFields(values, scope, `${id}.set`) });
    const schema = objectSchema(Object.fromEntries(Object.keys(values).map((name) => [name, true])));
    return this.#add(id, kind, options, schema) as never;
  }

  /** Ends the run immediately. */
  terminate(
    id: string,
    ...[status, outcome, options = {}]:
      | [status: 'completed', outcome?: { readonly output?: Value<unknown> }, options?: NodeOptions<never, Item>]
      | [status: 'failed', outcome?: { readonly error?: Value<string | Failure> }, options?: NodeOptions<never, Item>]
  ): NodeHandle<unknown> {
    const kind = (scope: RenderScope) => ({
      terminate: status,
      ...(outcome !== undefined && { with: renderFields(outcome, scope, `${id}.with`) }),
    });
    return this.#add(id, kind, options, true);
  }

  /**
   * Adds an edge between two nodes. An edge out of a branch has no options; out of a split, only error edges are
   * allowed.
   */
  edge<Out>(from: NodeHandle<Out>, to: AnyNode, options?: EdgeOptions<NoInfer<Out>>): void;
  edge(from: SplitHandle<unknown>, to: AnyNode, options: EdgeOptions<never> & { readonly on: 'error' }): void;
  edge(from: Before, to: AnyNode): void;
  edge(from: Before | SplitHandle<unknown>, to: AnyNode, options: object = {}): void {
    const { when, ...rest } = options as { readonly when?: unknown };
    const scope = this.#draft.draftOf(from).scope();
    this.#draft.link(from as Before, this.#draft.draftOf(to).id, {
      ...definedMembers(rest),
      ...(when !== undefined && { when: renderCondition(when, scope, 'when of an edge') }),
    });
  }

  /** `schema` may be available only after the definition is built. */
  #add(
    id: string,
    kind: (scope: RenderScope, node: NodeDraft) => JsonObject,
    options: object,
    schema: JsonSchema | (() => JsonSchema),
    isNullable = false,
  ): Handle {
    const node = this.#draft.add(id);
    const definition = kind(node.scope(), node);
    const known = typeof schema === 'function' ? schema() : schema;
    this.#describe(node, options, known);
    node.definition = { ...node.definition, ...definition };
    return new Handle(node, known, isNullable || (options as Options).onError === 'ignore');
  }

  /** Unknown options are passed on to `readDefinition`, which reports them with a suggestion. */
  #describe(node: NodeDraft, options: object, schema: JsonSchema | undefined): void {
    const { needs = [], when, emit, compensate, ...written } = options as Options;
    const { retry, timeout, priority, cache, concurrency, rateLimit, ...plain } = written;
    this.#draft.comesAfter(node, needs);
    const scope = node.scope();
    const self = {};
    const after = node.scope({ self });
    const output = selfReference<never>(self, schema);
    const items = typeof emit === 'function' ? (emit as (output: Ref<never>) => unknown)(output) : emit;
    const undo = typeof compensate === 'function' ? (compensate as (output: Ref<never>) => Call)(output) : compensate;
    node.definition = {
      ...definedMembers(plain),
      ...rendered({ retry, timeout, priority, cache, concurrency, rateLimit }, scope, node.id),
      ...(when !== undefined && { when: renderCondition(when, scope, `${node.id}.when`) }),
      ...(items !== undefined && {
        emit: sourceOf(items) ? renderCondition(items, after, 'emit') : renderValue(items, after, 'emit'),
      }),
      ...(undo !== undefined && { compensate: renderCall(undo, after) }),
    };
  }

  #body<Inner>(loop: object | undefined, holder: RenderScope, build: (b: Graph<Input, Vars, Inner>) => unknown) {
    const draft = new GraphDraft(this.#draft.workflow, this.#draft, loop);
    return draft.finish(build(new Graph<Input, Vars, Inner>(draft, this.#surroundings)), holder);
  }
}

/** The error of a terminated run. */
export interface Failure {
  readonly code?: string;
  readonly message: string;
  readonly details?: unknown;
}

function caseTest(test: CaseTest, scope: RenderScope, id: string): JsonObject {
  if ('when' in test) return { when: renderCondition(test.when, scope, `${id}.when`) };
  return { ...(test as unknown as JsonObject) };
}

/** Options that may contain expressions. */
function rendered(options: object, scope: RenderScope, id: string): JsonObject {
  const written = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(written.map(([key, value]) => [key, renderValue(value, scope, `${id}.${key}`)]));
}

function definedMembers(options: object): JsonObject {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as JsonObject;
}
