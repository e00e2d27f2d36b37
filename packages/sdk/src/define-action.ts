/** `defineAction` converts an author's typed definition to the engine's `Action`, or throws a helpful error. */
import type {
  Action,
  ActionContext,
  Capabilities,
  Effect,
  Json,
  JsonSchema,
  Reaches,
  Verification,
} from '@nebula/core';
import { didYouMean, NebulaError } from '@nebula/core/authoring';
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
  const label = `${id}@${version}`;
  const action = {
    id,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
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
    const told = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
    throw new ActionError(`${side} of ${label} does not match its schema: ${told}`, {
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
const LISTS: readonly string[] = [
  'network',
  'files.read',
  'files.write',
  'shell',
  'env',
] satisfies (keyof Reaches<never>)[];
const KEYS = [
  'id',
  'version',
  'title',
  'description',
  'input',
  'output',
  'effect',
  'capabilities',
  'reaches',
  'credentials',
  'run',
  'verify',
] satisfies (keyof ActionDefinition<undefined, undefined, unknown>)[];

const ID_PATTERN = /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+$/;
const ALIAS_PATTERN = /^[a-zA-Z0-9_-]+$/;
const VERSION_PATTERN = /^(0|[1-9]\d*)(\.(0|[1-9]\d*))?$/;

/** Node strips types without checking them, so the errors that the compiler would report are reported here, too. */
function checkDefinition(definition: unknown): void {
  if (typeof definition !== 'object' || definition === null) {
    fail('defineAction needs an object', 'Write defineAction({ id, version, run })');
  }
  const { id, version, title, description, input, output, effect, capabilities, reaches, credentials, run, verify } =
    definition as Partial<Record<(typeof KEYS)[number], unknown>>;
  if (typeof id !== 'string' || !ID_PATTERN.test(id)) {
    fail(`action id ${show(id)} is not a dotted lower-case name`, idHint(id));
  }
  const known: readonly string[] = KEYS;
  for (const key of Object.keys(definition)) {
    if (!known.includes(key)) fail(`action ${id} has an unknown key ${show(key)}`, meant(key, known));
  }
  if (typeof version !== 'string' || !VERSION_PATTERN.test(version)) {
    fail(`action ${id} has version ${show(version)}`, "Use 'major' or 'major.minor' as text: version: '1'");
  }
  for (const [key, text] of Object.entries({ title, description })) {
    if (text !== undefined && typeof text !== 'string')
      fail(`${key} of action ${id} is not a string`, `Set ${key} to a string`);
  }
  for (const [key, schema] of Object.entries({ input, output })) {
    if (schema !== undefined && !isStandardSchema(schema) && !isJsonSchema(schema)) {
      fail(`${key} of action ${id} is not a schema`, 'Use a Standard Schema (zod 4 and others) or a JSON Schema');
    }
  }
  if (effect !== undefined && typeof effect !== 'function' && !EFFECTS.includes(effect as string)) {
    fail(`action ${id} has effect ${show(effect)}`, meant(effect, EFFECTS));
  }
  checkCapabilities(id, capabilities);
  checkReaches(id, reaches, capabilities ?? []);
  checkCredentials(id, credentials);
  if (typeof run !== 'function') fail(`action ${id} has no run function`, 'Add run(ctx, input) { … }');
  if (verify !== undefined && typeof verify !== 'function') {
    fail(`verify of action ${id} is not a function`, 'Write verify(ctx, input) { … } or remove it');
  }
}

function checkCapabilities(id: string, capabilities: unknown): void {
  if (capabilities === undefined) return;
  if (!Array.isArray(capabilities)) {
    fail(
      `capabilities of action ${id} is not a list`,
      "List the kinds that it needs, e.g. ['network']; the workflow grants the exact resources",
    );
  }
  for (const capability of capabilities) {
    if (!CAPABILITIES.includes(capability)) {
      fail(`action ${id} asks for an unknown capability ${show(capability)}`, meant(capability, CAPABILITIES));
    }
  }
}

function checkReaches(id: string, reaches: unknown, capabilities: unknown): void {
  if (reaches === undefined) return;
  if (typeof reaches !== 'object' || reaches === null) {
    fail(`reaches of action ${id} is not an object`, 'Write reaches: { network: ({ url }) => … }');
  }
  for (const [list, tell] of Object.entries(reaches)) {
    if (!LISTS.includes(list)) fail(`reaches of action ${id} names an unknown list ${show(list)}`, meant(list, LISTS));
    if (typeof tell !== 'function') fail(`reaches.${list} of action ${id} is not a function`, 'Write (input) => …');
    const [kind = ''] = list.split('.');
    if (!(capabilities as readonly string[]).includes(kind)) {
      fail(`action ${id} reaches ${list} without declaring it`, `Add '${kind}' to its capabilities`);
    }
  }
}

function checkCredentials(id: string, credentials: unknown): void {
  if (credentials === undefined) return;
  const isAlias = (alias: unknown): boolean => typeof alias === 'string' && ALIAS_PATTERN.test(alias);
  if (Array.isArray(credentials) && credentials.every(isAlias)) return;
  fail(
    `credentials of action ${id} is not a list of aliases`,
    "List the aliases, e.g. ['api']; the workflow maps secrets to them",
  );
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

function meant(word: unknown, candidates: readonly string[]): string {
  const guess = typeof word === 'string' ? didYouMean(word, candidates) : undefined;
  return guess === undefined ? `Use one of: ${candidates.join(', ')}` : `Did you mean '${guess}'?`;
}

function show(value: unknown): string {
  return typeof value === 'string'
    ? `'${value}'`
    : value === undefined
      ? 'undefined'
      : (JSON.stringify(value) ?? typeof value);
}

function fail(message: string, hint: string): never {
  throw new NebulaError('ACTION_DEFINITION_INVALID', message, { hint });
}
