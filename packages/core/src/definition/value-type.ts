/** The types that describe the language's keys. Validation, JSON Schema and reference are derived from them. */
import { isJsonObject } from '../value.ts';

export const ID_PATTERN = '^[a-zA-Z0-9_-]+$';
export const ACTION_PATTERN = '^[a-z][a-z0-9_.-]*(@[0-9]+(\\.[0-9]+)?)?$';
/** From 0% to 100%. */
export const PERCENT_PATTERN = '^(?:100(?:\\.0+)?|[0-9]{1,2}(?:\\.[0-9]+)?)%$';

export type ValueType =
  /** `plain`: compared literally; an expression inside is never evaluated. */
  | { readonly is: 'text'; readonly plain?: boolean }
  | { readonly is: 'id' }
  /** `expression`: a string that consists of one {{ expression }} is allowed. */
  | { readonly is: 'integer'; readonly min: number; readonly max: number; readonly expression?: boolean }
  | { readonly is: 'number'; readonly min: number; readonly max: number; readonly expression?: boolean }
  | { readonly is: 'boolean' }
  | { readonly is: 'choice'; readonly of: readonly string[] }
  /** A choice that registered names extend; unknown names are checked later. */
  | { readonly is: 'name'; readonly known: readonly string[] }
  /**
   * `positive`: longer than zero. `or`: words allowed instead of a duration. `expression`: a string with {{ }} is
   * allowed. `moment`: a date is allowed.
   */
  | {
      readonly is: 'duration';
      readonly positive?: boolean;
      readonly or?: readonly string[];
      readonly expression?: boolean;
      readonly moment?: boolean;
    }
  /** A date, or a bare expression that evaluates to one. */
  | { readonly is: 'moment' }
  | { readonly is: 'percent'; readonly expression?: boolean }
  /** `textOnly`: true and false are not allowed. */
  | { readonly is: 'expression'; readonly textOnly?: boolean }
  | { readonly is: 'action' }
  | { readonly is: 'edgeText' }
  /** Any JSON value, with expressions in its strings. */
  | { readonly is: 'value' }
  /** Any JSON object, with expressions in its strings. */
  | { readonly is: 'object' }
  | { readonly is: 'schema' }
  /** `orOne`: a single item is allowed without brackets. */
  | { readonly is: 'list'; readonly of: ValueType; readonly orOne?: boolean }
  /** A mapping whose keys are ids or, with `anyKeys`, any text. */
  | { readonly is: 'map'; readonly of: ValueType; readonly anyKeys?: boolean }
  | { readonly is: 'record'; readonly record: RecordType }
  /** A value of a configuration or of code, which need not be JSON. `what` has an article. */
  | {
      readonly is: 'custom';
      readonly what: string;
      accepts(value: unknown): boolean;
      hintOf?(value: unknown): string | undefined;
    }
  /** Distinguished by the JSON type of the value, so no two alternatives share one. */
  | { readonly is: 'either'; readonly of: readonly ValueType[] };

export interface KeyType {
  readonly type: ValueType;
  /** One sentence for editors and the reference. */
  readonly doc: string;
  readonly required?: boolean;
  /** True for reserved keys that the engine does not implement; they are rejected. */
  readonly later?: boolean;
  /** True for the keys of which a node has exactly one. */
  readonly kind?: boolean;
  /** Names that other tools use for the key, for suggestions. */
  readonly alias?: readonly string[];
  /** An example, shown when the value has the wrong type. */
  readonly example?: string;
}

/** An object with these keys only. */
export interface RecordType {
  readonly name: string;
  /** The name with its article, for messages. */
  readonly title: string;
  readonly doc: string;
  readonly keys: Readonly<Record<string, KeyType>>;
  /** Keys of earlier versions, with the replacement. */
  readonly removed?: Readonly<Record<string, string>>;
}

/** A record of a format without a generated reference. `required` has an example of each required key, `examples` others. */
export function recordOf(
  name: string,
  title: string,
  types: Readonly<Record<string, ValueType>>,
  required: Readonly<Record<string, string>> = {},
  examples: Readonly<Record<string, string>> = {},
): RecordType {
  const keys = Object.entries(types).map(([key, type]): [string, KeyType] => {
    const example = required[key] ?? examples[key];
    return [key, { type, doc: '', required: key in required, ...(example !== undefined && { example }) }];
  });
  return { name, title, doc: '', keys: Object.fromEntries(keys) };
}

/** The expected type in a message, e.g. "a whole number from 1 to 9". */
export function describeType(type: ValueType): string {
  if (type.is === 'integer') return `a whole number ${describeRange(type.min, type.max)}`;
  if (type.is === 'number') return `a number ${describeRange(type.min, type.max)}`;
  if (type.is === 'choice') return type.of.length === 1 ? `'${type.of[0]}'` : `one of ${type.of.join(', ')}`;
  if (type.is === 'name') return `one of ${type.known.join(', ')} or a registered name`;
  if (type.is === 'duration') {
    return ['a duration such as 10s', ...(type.moment ? ['a date'] : []), ...(type.or ?? [])].join(' or ');
  }
  if (type.is === 'list') return type.orOne ? `${describeType(type.of)} or a list` : 'a list';
  if (type.is === 'either') return type.of.map(describeType).join(' or ');
  return type.is === 'custom' ? type.what : DESCRIPTIONS[type.is];
}

const DESCRIPTIONS = {
  text: 'a string',
  id: 'an id',
  boolean: 'true or false',
  moment: 'a date such as 2030-01-01T08:00:00Z or an expression',
  percent: 'a share such as 80%',
  expression: 'an expression',
  action: 'an action such as http.request@1',
  edgeText: "a string such as 'a -> b'",
  value: 'any value',
  object: 'a mapping',
  map: 'a mapping',
  record: 'a mapping',
  schema: 'a JSON Schema (a mapping, or true or false)',
} as const;

function describeRange(min: number, max: number): string {
  return max >= Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
}

/** Whether a value has the JSON type that `type` requires; its content is checked later. */
export function acceptsJsonType(type: ValueType, value: unknown): boolean {
  switch (type.is) {
    case 'text':
    case 'id':
    case 'choice':
    case 'name':
    case 'duration':
    case 'moment':
    case 'percent':
    case 'action':
    case 'edgeText':
      return typeof value === 'string';
    case 'integer':
    case 'number':
      return typeof value === 'number' || (type.expression === true && isExpression(value));
    case 'boolean':
      return typeof value === 'boolean';
    case 'expression':
      return typeof value === 'string' || (typeof value === 'boolean' && type.textOnly !== true);
    case 'value':
      return true;
    case 'custom':
      return type.accepts(value);
    case 'object':
    case 'map':
    case 'record':
      return isJsonObject(value);
    case 'schema':
      return isJsonObject(value) || typeof value === 'boolean';
    case 'list':
      return Array.isArray(value) || (type.orOne === true && acceptsJsonType(type.of, value));
    case 'either':
      return type.of.some((alternative) => acceptsJsonType(alternative, value));
  }
}

/** True for an expression in a position whose value must be known before any expression is evaluated. */
export function isMisplacedExpression(type: ValueType, value: unknown): boolean {
  return typeof value === 'string' && value.includes('{{') && isWrittenOut(type);
}

/** Whether a string of this type is used as it is written. */
function isWrittenOut(type: ValueType): boolean {
  if (type.is === 'text') return type.plain === true;
  if (type.is === 'either') return !type.of.some(takesExpression);
  return isSettingType(type) && type.expression !== true;
}

function takesExpression(type: ValueType): boolean {
  return type.is !== 'choice' && type.is !== 'record' && type.is !== 'list' && !isWrittenOut(type);
}

export type SettingType = Extract<ValueType, { is: 'integer' | 'number' | 'duration' | 'percent' }>;

export function isSettingType(type: ValueType): type is SettingType {
  return type.is === 'integer' || type.is === 'number' || type.is === 'duration' || type.is === 'percent';
}

/** True for a string that consists of one expression, which can evaluate to a number. */
export function isExpression(value: unknown): boolean {
  return typeof value === 'string' && /^\s*\{\{.*\}\}\s*$/s.test(value);
}
