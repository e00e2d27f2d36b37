/** The fields of the inspector: parameters of an action by its schema, each as text that may be an expression. */
import {
  compileCondition,
  compileValue,
  ExpressionError,
  isJsonObject,
  type Json,
  type JsonSchema,
} from '@nebula/core';
import { membersOf, typeText } from '../language/value-types.ts';

/** `any`: a value of any type. What reads as JSON is JSON, everything else is text. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'choice' | 'json' | 'any' | 'expression';

export interface ParameterField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly type: string;
  readonly doc: string | undefined;
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  readonly placeholder: string;
}

/** The parameters that the schema names, then those that the node has besides. */
export function fieldsOf(schema: JsonSchema | undefined, value: Json | undefined): ParameterField[] {
  const required = isJsonObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return membersOf({ schema, value }).map(({ key, known, doc }) => ({
    name: key,
    kind: kindOf(known.schema, known.value),
    type: typeText(known.schema === undefined ? known : { ...known, value: undefined }),
    doc,
    isRequired: required.includes(key),
    choices: choicesOf(known.schema),
    placeholder: placeholderOf(known.schema),
  }));
}

const KIND_OF_TYPE: Readonly<Record<string, FieldKind>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'json',
  object: 'json',
};

function kindOf(schema: JsonSchema | undefined, value: Json | undefined): FieldKind {
  const kind = !isJsonObject(schema)
    ? 'any'
    : Array.isArray(schema.enum)
      ? 'choice'
      : (KIND_OF_TYPE[String(schema.type)] ?? 'any');
  const isExpression = typeof value === 'string' && value.includes('{{');
  return isExpression && kind !== 'any' && kind !== 'json' ? 'expression' : kind;
}

function choicesOf(schema: JsonSchema | undefined): string[] {
  return isJsonObject(schema) && Array.isArray(schema.enum) ? schema.enum.map(String) : [];
}

function placeholderOf(schema: JsonSchema | undefined): string {
  if (!isJsonObject(schema)) return '';
  const [example] = Array.isArray(schema.examples) ? schema.examples : [];
  const shown = schema.default ?? example;
  return shown === undefined ? '' : typeof shown === 'string' ? shown : JSON.stringify(shown);
}

/** A value as the text of its field. `valueOfText` reads the same value from it. */
export function textOf(kind: FieldKind, value: Json | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && kind === 'any' && jsonOf(value) !== undefined) return JSON.stringify(value);
  return typeof value === 'string' ? value : JSON.stringify(value, null, typeof value === 'object' ? 2 : 0);
}

/** The value that a text means. An empty text removes the parameter. */
export function valueOfText(
  kind: FieldKind,
  text: string,
): { readonly value: Json | undefined } | { readonly problem: 'number' | 'json' } {
  if (text.trim() === '') return { value: undefined };
  const json = kind === 'json' || kind === 'any' ? jsonOf(text) : undefined;
  if (json !== undefined) return { value: json };
  if (text.includes('{{')) return { value: text };
  switch (kind) {
    case 'number': {
      const number = Number(text);
      return Number.isFinite(number) ? { value: number } : { problem: 'number' };
    }
    case 'boolean':
      return { value: text === 'true' };
    case 'json':
      return { problem: 'json' };
    case 'any':
      return /^\s*[[{"]/.test(text) ? { problem: 'json' } : { value: text };
    default:
      return { value: text };
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What is wrong with an expression, and where. */
export interface ExpressionProblem {
  readonly message: string;
  readonly hint: string | undefined;
}

/** `bare`: the whole text is an expression. */
export function expressionProblem(text: string, isBare: boolean): ExpressionProblem | undefined {
  if (text.trim() === '' || (!isBare && !text.includes('{{'))) return undefined;
  try {
    if (isBare) compileCondition(text);
    else compileValue(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { message: error.message, hint: error.hint };
  }
}
