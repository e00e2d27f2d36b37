/** Words for the errors of the validator. */
import { didYouMean, TYPE_WORDS } from '@nebula/core';
import type { ErrorObject } from 'ajv';

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly description?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

export interface SchemaErrorText {
  /** The predicate of a sentence whose subject is the wrong member. */
  readonly detail: string;
  readonly hint?: string;
}

/** Needs a validator with `verbose`. */
export function describeSchemaError({ keyword, params, message, parentSchema }: ErrorObject): SchemaErrorText {
  const own = (parentSchema ?? {}) as Schema;
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'type':
    case 'const':
    case 'anyOf':
      return { detail: `must be ${kindOf(own)}` };
    case 'required':
      return { detail: `lacks '${params['missingProperty']}'` };
    case 'additionalProperties':
      return unknownMember(String(params['additionalProperty']), Object.keys(own.properties ?? {}));
    case 'pattern':
      return own.description === undefined
        ? { detail: `must match ${params['pattern']}` }
        : { detail: 'is not valid', hint: `It is: ${own.description}` };
    case 'format':
      return { detail: 'must be a time', hint: 'E.g. 2026-01-31T12:00:00Z.' };
    case 'minLength':
      return { detail: limit === 1 ? 'is empty' : `has fewer than ${limit} characters` };
    case 'maxLength':
      return { detail: `has more than ${limit} characters` };
    case 'minItems':
      return { detail: `has fewer than ${limit} items` };
    case 'maxItems':
      return { detail: `has more than ${limit} items` };
    case 'minimum':
      return { detail: `must be at least ${limit}` };
    case 'maximum':
      return { detail: `must be at most ${limit}` };
    default:
      return { detail: message ?? 'is not valid' };
  }
}

function unknownMember(name: string, known: readonly string[]): SchemaErrorText {
  const near = didYouMean(name, known);
  const all = known.length === 0 ? 'It has none.' : `It may have ${known.join(', ')}.`;
  return { detail: `has an unknown member '${name}'`, hint: near === undefined ? all : `Did you mean '${near}'?` };
}

function kindOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return listed(schema.anyOf.map(kindOf));
  return listed([schema.type ?? ''].flat().map((type) => TYPE_WORDS[type] ?? 'JSON'));
}

function listed(kinds: readonly string[]): string {
  const last = kinds.at(-1) ?? '';
  return kinds.length < 2 ? last : `${kinds.slice(0, -1).join(', ')} or ${last}`;
}
