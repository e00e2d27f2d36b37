/** `workflow` converts typed code to the same data as a YAML file. */
import type {
  ConfigDefinition,
  Json,
  JsonObject,
  JsonSchema,
  Problem,
  TriggerDefinition,
  WorkflowDefinition,
} from '@nebula/core';
import { isJsonObject, NebulaError, readDefinitionObject } from '@nebula/core/authoring';
import type { Parsed, Schema, Written } from '../define-action.ts';
import { type Expression, type Resolved, type Root, rootReference } from './expression.ts';
import { Graph } from './graph.ts';
import { GraphDraft } from './graph-draft.ts';
import type { AnyNode } from './node-handle.ts';
import { invalid, type RenderScope, renderCondition, renderValue } from './render.ts';
import { objectSchema, withDefaults } from './schema-path.ts';
import { Uses, type Workflow } from './uses.ts';
import { dataSchema } from './workflow-schema.ts';

export interface WorkflowOptions<I extends Schema | undefined, Vars> {
  /** The version of the language. */
  readonly nebula?: 1;
  readonly name?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly version?: number;
  readonly input?: I;
  /** Initial values of `w.vars`. */
  readonly variables?: Vars;
  readonly config?: Omit<ConfigDefinition, 'failureNode' | 'start'>;
  /** Triggers that start the workflow on a server, as in YAML; `w.startsOn` adds those that read `w.input`. */
  readonly triggers?: readonly TriggerDefinition[];
}

type TriggerKeys<K extends keyof TriggerDefinition> = Omit<NonNullable<TriggerDefinition[K]>, 'input' | 'key'> & {
  /** Maps the received data to the input; may read `w.input` (the received data) and `w.trigger`. */
  readonly input?: unknown;
};

/** A trigger that starts the workflow on a server. */
export type TriggerOptions =
  | { readonly webhook: TriggerKeys<'webhook'> }
  | { readonly schedule: TriggerKeys<'schedule'> }
  | { readonly interval: TriggerKeys<'interval'> }
  | { readonly event: TriggerKeys<'event'> & { readonly key?: Expression<unknown> } }
  | { readonly file: TriggerKeys<'file'> };

/** The root graph, with the methods that concern the whole run. */
export class WorkflowGraph<Input, Vars> extends Graph<Input, Vars, never> {
  readonly #root: GraphDraft;
  readonly #config: Record<string, Json>;
  /** The triggers, as data. */
  readonly #triggers: Json[];

  constructor(
    draft: GraphDraft,
    config: Record<string, Json>,
    triggers: Json[],
    surroundings: ConstructorParameters<typeof Graph<Input, Vars, never>>[1],
  ) {
    super(draft, surroundings);
    this.#root = draft;
    this.#config = config;
    this.#triggers = triggers;
  }

  /** Sets the node that runs only after a failure and its compensation; `w.execution.error` is the error. */
  onFailure(node: AnyNode): void {
    this.#root.failureNode = this.#root.draftOf(node).id;
    this.#config.failureNode = this.#root.failureNode;
  }

  /** Sets how starts with the same key are admitted. The key may read `w.input` and `w.trigger`. */
  startsBy(
    key: Expression<unknown>,
    options: { readonly policy?: 'allow' | 'singleton' | 'debounce'; readonly window?: string } = {},
  ): void {
    this.#config.start = { key: renderCondition(key, this.#atStart(), 'the key of starts'), ...options };
  }

  /** Adds a trigger that starts the active version on a server. */
  startsOn(trigger: TriggerOptions): void {
    const [kind, keys] = Object.entries(trigger)[0] as [string, JsonObject & { input?: unknown; key?: unknown }];
    const { input, key, ...rest } = keys;
    const scope = this.#atStart();
    this.#triggers.push({
      [kind]: {
        ...rest,
        ...(key !== undefined && { key: renderCondition(key as Expression<unknown>, scope, 'the key of events') }),
        ...(input !== undefined && { input: renderValue(input, scope, `the input of a ${kind}`) }),
      },
    });
  }

  #atStart(): RenderScope {
    const read = () => {
      throw invalid('no node has run when the workflow starts', 'read only w.input and w.trigger here');
    };
    return { workflow: this.#root.workflow, loops: [], read };
  }
}

export function workflow<
  const I extends Schema | undefined = undefined,
  Vars extends Readonly<Record<string, unknown>> = Readonly<Record<never, never>>,
  R = void,
>(
  id: string,
  options: WorkflowOptions<I, Vars>,
  build: (w: WorkflowGraph<Parsed<I>, Vars>) => R,
): Workflow<Written<I>, Resolved<R>> {
  const { input: schema, variables, config: given, triggers: listed = [], ...about } = options;
  const input = dataSchema(schema, `the input of workflow '${id}'`);
  const of = {};
  const draft = new GraphDraft(of);
  const config: Record<string, Json> = { ...(given as JsonObject | undefined) };
  const triggers: Json[] = [...(listed as unknown as readonly Json[])];
  const uses = new Uses();
  const fact = <T>(name: Extract<Root, { kind: 'run' }>['name'], known?: JsonSchema) =>
    rootReference<T>({ kind: 'run', name, of }, known);
  const w = new WorkflowGraph<Parsed<I>, Vars>(draft, config, triggers, {
    input: fact('input', input && withDefaults(input)),
    vars: fact('vars', objectSchema(Object.fromEntries(Object.keys(variables ?? {}).map((name) => [name, true])))),
    execution: fact('execution', EXECUTION),
    trigger: fact('trigger'),
    about: fact('workflow', ABOUT),
    uses,
  });
  const { body } = draft.finish(build(w));
  const definition = checked(id, {
    id,
    ...about,
    ...(input !== undefined && { input }),
    ...(variables !== undefined && { variables }),
    ...(Object.keys(config).length > 0 && { config }),
    ...(triggers.length > 0 && { triggers }),
    ...body,
  });
  return Object.freeze({ id, definition, uses: uses.list(), toJSON: () => definition });
}

const ABOUT = objectSchema({ id: { type: 'string' }, version: { type: 'integer' } });

const EXECUTION = objectSchema({
  id: { type: 'string' },
  startedAt: { type: 'string' },
  attempt: { type: 'integer' },
  error: true,
});

/** Validates again, because Node strips types without checking them, and types cannot express some rules. */
function checked(id: string, written: object): WorkflowDefinition {
  const { definition, problems } = readDefinitionObject(dropUndefined(written));
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (definition !== undefined && errors.length === 0) return definition;
  const [first] = errors;
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
  throw new NebulaError('WORKFLOW_INVALID', `workflow '${id}' is not valid: ${first && problemText(first)}${more}`, {
    ...(first?.hint !== undefined && { hint: first.hint }),
    details: { problems: errors.map((problem) => ({ code: problem.code, message: problemText(problem) })) },
  });
}

function problemText({ message, path }: Problem): string {
  return path.length === 0 ? message : `${message} (${path.join('.')})`;
}

function dropUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropUndefined);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, dropUndefined(member)]));
}
