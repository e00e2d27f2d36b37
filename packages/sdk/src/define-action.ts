/** `defineAction` converts an author's typed definition to the engine's `Action`, or throws a helpful error. */
import type {
  Action,
  ActionContext,
  ActionExample,
  Capabilities,
  Effect,
  Json,
  JsonSchema,
  Reaches,
  RuleContext,
  ValueType,
  Verification,
} from '@nebula/core';
import { isJsonObject, NebulaError, problemsOf, recordOf } from '@nebula/core/authoring';
import { ActionError } from './action-error.ts';
import { type FromSchema, isJsonSchema } from './json-schema.ts';
import {
  describeStandardSchema,
  isStandardSchema,
  issuePath,
  type Side,
  type StandardInput,
  type StandardOutput,
  type StandardResult,
  type StandardSchema,
} from './standard-schema.ts';

/** A Standard Schema (zod 4 and others) or a JSON Schema. */
export type Schema = StandardSchema | JsonSchema;

/** The value as written in `with` by a workflow. */
export type Written<S> = S extends StandardSchema ? StandardInput<S> : FromSchema<S, 'written'>;
/** The value as passed to the code. */
export type Parsed<S> = S extends StandardSchema ? StandardOutput<S> : FromSchema<S, 'parsed'>;
/** The return type of `run`. Without a schema, anything that JSON can represent. */
type Returned<S> = [S] extends [undefined] ? unknown : Written<S>;
/** The value that other nodes read as `output`. */
type Seen<S, R> = [S] extends [undefined] ? R : S extends StandardSchema ? StandardOutput<S> : FromSchema<S, 'written'>;

type VerificationOf<Output> = Exclude<Verification, { happened: true }> | { happened: true; output: Output };

export interface ActionDefinition<I extends Schema | undefined, O extends Schema | undefined, R> {
  /** Dotted lower-case name, e.g. `payment.charge`. */
  readonly id: string;
  /** `major` or `major.minor`. */
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  /** The heading under which the Studio lists the action: one lower-case word, e.g. `payments`. */
  readonly category?: string;
  /** The name of an icon of the Studio, e.g. `credit-card`. */
  readonly icon?: string;
  /** More about the action than its description, as Markdown. */
  readonly docs?: string;
  /** Parameters that show how the action is used. */
  readonly examples?: readonly ActionExample[];
  readonly input?: I;
  readonly output?: O;
  /**
   * The consequence of running the action twice; default `once`. A function decides from the input as the workflow
   * wrote it, before defaults and conversions.
   */
  readonly effect?: Effect | ((input: Written<I>) => Effect);
  readonly capabilities?: readonly (keyof Capabilities)[];
  /**
   * The resources that the action always needs, derived from the parameters as written, so that `nebula validate` can
   * report a missing grant.
   */
  readonly reaches?: Reaches<Written<I>>;
  /**
   * The aliases that the action reads with `ctx.credential`. A workflow that maps no secret to one of them does not
   * compile.
   */
  readonly credentials?: readonly string[];
  run(ctx: ActionContext, input: Parsed<I>): Promise<R> | R;
  /** Determines whether an earlier attempt with an unknown outcome took effect. */
  verify?(ctx: ActionContext, input: Parsed<I>): Promise<VerificationOf<Returned<O>>> | VerificationOf<Returned<O>>;
}

/** An `Action` that carries its types for the compiler; at run time it is a plain `Action`. */
export interface TypedAction<Input, Output> extends Action {
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

/** The type of `with` for the action. */
export type InputOf<A> = A extends TypedAction<infer Input, unknown> ? Input : Json;
/** The type of the output of the action's node. */
export type OutputOf<A> = A extends TypedAction<unknown, infer Output> ? Output : Json;

export function defineAction<
  const I extends Schema | undefined = undefined,
  const O extends Schema | undefined = undefined,
  R extends Returned<O> = Returned<O>,
>(definition: ActionDefinition<I, O, R>): TypedAction<Written<I>, Seen<O, R>> {
  checkDefinition(definition);
  const { id, version, title, description, effect, capabilities, credentials, reaches } = definition;
  const { category, icon, docs, examples } = definition;
  const label = `${id}@${version}`;
  const action = {
    id,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
    ...(icon !== undefined && { icon }),
    ...(docs !== undefined && { docs }),
    ...(examples !== undefined && { examples }),
    effect: typeof effect === 'function' ? guardEffect(effect) : (effect ?? 'once'),
    capabilities: capabilities ?? [],
    ...(reaches !== undefined && { reaches }),
    ...(credentials !== undefined && { credentials }),
    run: (ctx: ActionContext, input: Parsed<I>) => definition.run(ctx, input),
    ...(definition.verify && { verify: (ctx: ActionContext, input: Parsed<I>) => definition.verify?.(ctx, input) }),
  };
  attachSchema(action, 'input', definition.input, label);
  attachSchema(action, 'output', definition.output, label);
  // The author's types end here: from now on the schemas carry them and are checked at run time.
  return Object.freeze(action) as unknown as TypedAction<Written<I>, Seen<O, R>>;
}

function attachSchema(action: object, side: Side, schema: Schema | undefined, label: string): void {
  if (schema === undefined) return;
  if (!isStandardSchema(schema)) {
    Object.defineProperty(action, side, { value: schema, enumerable: true });
    return;
  }
  // Derived on first access: a project may have a hundred actions, and a run needs no forms.
  let description: { readonly schema: JsonSchema | undefined } | undefined;
  Object.defineProperty(action, side, {
    enumerable: true,
    get: () => {
      description ??= { schema: describeStandardSchema(schema, side) };
      return description.schema;
    },
  });
  const key = side === 'input' ? 'parseInput' : 'parseOutput';
  Object.defineProperty(action, key, { enumerable: true, value: parser(schema, side, label) });
  const described = (action as { describeOnly?: readonly Side[] }).describeOnly ?? [];
  Object.defineProperty(action, 'describeOnly', { enumerable: true, configurable: true, value: [...described, side] });
}

const MAX_ISSUES_SHOWN = 10;

function parser(schema: StandardSchema, side: Side, label: string) {
  const accept = (result: StandardResult<unknown>): unknown => {
    if (!result.issues) return result.value;
    const problems = result.issues.slice(0, MAX_ISSUES_SHOWN).map((issue) => ({
      path: issuePath(issue),
      message: issue.message,
    }));
    const texts = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
    throw new ActionError(`${side} of ${label} does not match its schema: ${texts}`, {
      code: side === 'input' ? 'INPUT_INVALID' : 'OUTPUT_INVALID',
      details: { problems },
    });
  };
  return (value: unknown) => {
    const result = schema['~standard'].validate(value);
    return result instanceof Promise ? result.then(accept) : accept(result);
  };
}

/** A function that throws, or returns nonsense, for an unexpected input must not make a repeat look safe. */
function guardEffect<Input>(effect: (input: Input) => Effect): (input: Input) => Effect {
  return (input) => {
    try {
      const decided = effect(input);
      return EFFECTS.includes(decided) ? decided : 'once';
    } catch {
      return 'once';
    }
  };
}

const EFFECTS: readonly string[] = ['pure', 'idempotent', 'once'] satisfies Effect[];
const CAPABILITIES: readonly string[] = ['network', 'files', 'shell', 'env'] satisfies (keyof Capabilities)[];
const LISTS = ['network', 'files.read', 'files.write', 'shell', 'env'] satisfies (keyof Reaches<never>)[];

const ID_PATTERN = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+$/;

const custom = (what: string, accepts: (value: unknown) => boolean, hint?: string): ValueType => ({
  is: 'custom',
  what,
  accepts,
  hintOf: () => hint,
});
const matching = (what: string, pattern: RegExp, hint?: string): ValueType =>
  custom(what, (value) => typeof value === 'string' && pattern.test(value), hint);
const functionOf = (example: string): ValueType =>
  custom('a function', (value) => typeof value === 'function', `write ${example}`);

const TEXT: ValueType = { is: 'text' };
const SCHEMA = custom(
  'a schema',
  (value) => isStandardSchema(value) || isJsonSchema(value),
  'use a Standard Schema (zod 4 and others) or a JSON Schema',
);
const WORD = matching('a lower-case word', /^[a-z][a-z0-9-]{0,49}$/, "write one word, e.g. 'network'");
const EXAMPLE = recordOf(
  'example',
  'an example',
  { title: TEXT, with: { is: 'object' } },
  { title: "title: 'Charge 10 €'", with: 'with: { amount: 10 }' },
);
const ACTION_KEYS: Readonly<Record<keyof ActionDefinition<undefined, undefined, unknown>, ValueType>> = {
  id: { ...matching('a dotted lower-case name', ID_PATTERN), hintOf: idHint } as ValueType,
  version: matching(
    "a string 'major' or 'major.minor'",
    /^(0|[1-9]\d*)(\.(0|[1-9]\d*))?$/,
    "write 'major' or 'major.minor' as text: version: '1'",
  ),
  title: TEXT,
  description: TEXT,
  category: WORD,
  icon: WORD,
  docs: TEXT,
  examples: { is: 'list', of: { is: 'record', record: EXAMPLE } },
  input: SCHEMA,
  output: SCHEMA,
  effect: { is: 'either', of: [{ is: 'choice', of: EFFECTS }, functionOf('effect: (input) => …')] },
  capabilities: { is: 'list', of: { is: 'choice', of: CAPABILITIES } },
  reaches: {
    is: 'record',
    record: recordOf('reaches', 'reaches', Object.fromEntries(LISTS.map((list) => [list, functionOf('(input) => …')]))),
  },
  credentials: { is: 'list', of: matching('an alias', /^[a-zA-Z0-9_-]+$/, "list the aliases, e.g. ['api']") },
  run: functionOf('run(ctx, input) { … }'),
  verify: functionOf('verify(ctx, input) { … } or remove it'),
};
const ACTION = recordOf(
  'action',
  'an action',
  ACTION_KEYS,
  { id: "id: 'payment.charge'", version: "version: '1'" },
  { capabilities: "capabilities: ['network']", credentials: "credentials: ['api']" },
);

function checkAction({ value: { run, reaches, capabilities }, meant, report }: RuleContext): void {
  if (run === undefined && !meant.has('run')) {
    report({
      code: 'ACTION_DEFINITION_INVALID',
      message: 'an action has no run function',
      hint: 'add run(ctx, input) { … }',
    });
  }
  const declared: readonly unknown[] = Array.isArray(capabilities) ? capabilities : [];
  for (const list of isJsonObject(reaches) ? Object.keys(reaches) : []) {
    const [kind = ''] = list.split('.');
    if (declared.includes(kind) || !CAPABILITIES.includes(kind)) continue;
    const message = `it reaches ${list} without declaring it`;
    report({ code: 'ACTION_DEFINITION_INVALID', message, hint: `add '${kind}' to its capabilities` });
  }
}

/** Node strips types without checking them, so the errors that the compiler would report are reported here, too. */
function checkDefinition(definition: unknown): void {
  if (!isJsonObject(definition)) {
    throw new NebulaError('ACTION_DEFINITION_INVALID', 'defineAction needs an object', {
      hint: 'Write defineAction({ id, version, run })',
    });
  }
  const [first] = problemsOf(ACTION, definition, { action: checkAction });
  if (first === undefined) return;
  const { id } = definition;
  const { path, message, hint = 'docs/actions.md shows how to write one' } = first;
  const place = [typeof id === 'string' ? `action ${id}: ` : '', path.length > 1 ? `${path.join('.')}: ` : ''];
  throw new NebulaError('ACTION_DEFINITION_INVALID', `${place.join('')}${message}`, { hint });
}

function idHint(id: unknown): string {
  const example = "Use a name such as 'payment.charge'";
  if (typeof id !== 'string') return example;
  const mended = id
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[/: ]+/g, '.');
  if (ID_PATTERN.test(mended)) return `Did you mean '${mended}'?`;
  return ID_PATTERN.test(`my.${mended}`) ? `A name has at least two parts: 'my.${mended}'` : example;
}
