/** The types that describe the language's keys. Validation, JSON Schema and reference are derived from them. */

export const ID_PATTERN = '^[a-zA-Z0-9_-]+$';
export const ACTION_PATTERN = '^[a-z][a-z0-9_.-]*(@[0-9]+(\\.[0-9]+)?)?$';
/** From 0% to 100%. */
export const PERCENT_PATTERN = '^(?:100(?:\\.0+)?|[0-9]{1,2}(?:\\.[0-9]+)?)%$';

export type ValueType =
  /** `plain`: compared literally; an expression inside is never evaluated. */
  | { readonly is: 'text'; readonly plain?: boolean }
  | { readonly is: 'id' }
  /** `expression`: a text that consists of one {{ expression }} is allowed. */
  | { readonly is: 'integer'; readonly min: number; readonly max: number; readonly expression?: boolean }
  | { readonly is: 'number'; readonly min: number; readonly max: number; readonly expression?: boolean }
  | { readonly is: 'boolean' }
  | { readonly is: 'choice'; readonly of: readonly string[] }
  /** A choice that registered names extend; unknown names are checked later. */
  | { readonly is: 'name'; readonly known: readonly string[] }
  /**
   * `positive`: longer than zero. `or`: words allowed instead of a duration. `expression`: a text with {{ }} is
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
  readonly name:
    | 'workflow'
    | 'config'
    | 'start'
    | 'body'
    | 'branch'
    | 'case'
    | 'forEach'
    | 'while'
    | 'retryUntil'
    | 'backoff'
    | 'subWorkflow'
    | 'dynamic'
    | 'wait'
    | 'waitOne'
    | 'approval'
    | 'split'
    | 'merge'
    | 'compensate'
    | 'cache'
    | 'concurrency'
    | 'rateLimit'
    | 'node'
    | 'edge'
    | 'retry'
    | 'timeout'
    | 'capabilities'
    | 'files'
    | 'errorMatch'
    | 'trigger'
    | 'webhook'
    | 'signature'
    | 'schedule'
    | 'interval'
    | 'event'
    | 'file';
  /** The name with its article, for messages. */
  readonly title: string;
  readonly doc: string;
  readonly keys: Readonly<Record<string, KeyType>>;
  /** Keys of earlier versions, with the replacement. */
  readonly removed?: Readonly<Record<string, string>>;
}

/** The expected type in a message, e.g. "a whole number from 1 to 9". */
export function describeType(type: ValueType): string {
  switch (type.is) {
    case 'text':
      return 'a text';
    case 'id':
      return 'an id';
    case 'integer':
      return `a whole number ${describeRange(type.min, type.max)}`;
    case 'number':
      return `a number ${describeRange(type.min, type.max)}`;
    case 'boolean':
      return 'true or false';
    case 'choice':
      return type.of.length === 1 ? `'${type.of[0]}'` : `one of ${type.of.join(', ')}`;
    case 'name':
      return `one of ${type.known.join(', ')} or a registered name`;
    case 'duration':
      return ['a duration such as 10s', ...(type.moment ? ['a date'] : []), ...(type.or ?? [])].join(' or ');
    case 'moment':
      return 'a date such as 2030-01-01T08:00:00Z or an expression';
    case 'percent':
      return 'a share such as 80%';
    case 'expression':
      return 'an expression';
    case 'action':
      return 'an action such as http.request@1';
    case 'edgeText':
      return "a text such as 'a -> b'";
    case 'value':
      return 'any value';
    case 'object':
    case 'map':
    case 'record':
      return 'a mapping';
    case 'schema':
      return 'a JSON Schema (a mapping, or true or false)';
    case 'list':
      return type.orOne ? `${describeType(type.of)} or a list` : 'a list';
    case 'either':
      return type.of.map(describeType).join(' or ');
  }
}

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
    case 'object':
    case 'map':
    case 'record':
      return isMapping(value);
    case 'schema':
      return isMapping(value) || typeof value === 'boolean';
    case 'list':
      return Array.isArray(value) || (type.orOne === true && acceptsJsonType(type.of, value));
    case 'either':
      return type.of.some((alternative) => acceptsJsonType(alternative, value));
  }
}

const WRITTEN_OUT: ReadonlySet<ValueType['is']> = new Set([
  'text',
  'integer',
  'number',
  'duration',
  'percent',
  'either',
]);

/** True for an expression in a position whose value must be known before any expression is evaluated. */
export function isMisplacedExpression(type: ValueType, value: unknown): boolean {
  return typeof value === 'string' && WRITTEN_OUT.has(type.is) && value.includes('{{') && !takesExpression(type);
}

function takesExpression(type: ValueType): boolean {
  switch (type.is) {
    case 'text':
      return type.plain !== true;
    case 'integer':
    case 'number':
    case 'duration':
    case 'percent':
      return type.expression === true;
    case 'choice':
    case 'record':
    case 'list':
      return false;
    case 'either':
      return type.of.some(takesExpression);
    case 'id':
    case 'boolean':
    case 'name':
    case 'moment':
    case 'expression':
    case 'action':
    case 'edgeText':
    case 'value':
    case 'object':
    case 'schema':
    case 'map':
      return true;
  }
}

/** True for a text that consists of one expression, which can evaluate to a number. */
export function isExpression(value: unknown): boolean {
  return typeof value === 'string' && /^\s*\{\{.*\}\}\s*$/s.test(value);
}

function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
