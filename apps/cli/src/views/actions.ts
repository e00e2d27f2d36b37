/** The actions that workflows can use, and the inputs and outputs of one of them. */
import type { AnswerOf } from '@nebula/client';
import { isJsonObject, type Json, type JsonObject } from '@nebula/core';
import type { Colors, View } from '../terminal/io.ts';
import { printableLine, wrap } from '../terminal/width.ts';
import { tableLines } from './table.ts';

export type ShownAction = AnswerOf<'getAction'>;

export function actionListLines(actions: readonly ShownAction[], options: View): string[] {
  const { colors } = options;
  const headings = ['ACTION', 'EFFECT', 'NEEDS', 'WHAT IT DOES'];
  const rows = actions.map((action) => [
    `${colors.bold(action.id)}${colors.dim(`@${action.version}`)}`,
    effectText(action),
    colors.yellow(action.capabilities.join(' ')),
    printableLine(firstSentence(action.description ?? action.title ?? '')),
  ]);
  return tableLines(headings, rows, options);
}

function effectText({ effect }: ShownAction): string {
  return effect === 'depends on the input' ? 'by input' : effect;
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

export function actionLines(action: ShownAction, options: View): string[] {
  const { colors, width } = options;
  const lines = [`${colors.bold(action.id)}${colors.dim(`@${action.version}`)}  ${action.title ?? ''}`.trimEnd()];
  if (action.description !== null) lines.push('', ...wrap(action.description, Math.min(width, 100)));
  const needs = action.capabilities.length > 0 ? action.capabilities.join(', ') : 'nothing';
  lines.push('', `${colors.dim('effect')}  ${EFFECTS[effectText(action)] ?? ''}`, `${colors.dim('needs')}   ${needs}`);
  if (action.credentials?.length)
    lines.push(`${colors.dim('asks')}    for ${action.credentials.join(', ')} (credentials)`);
  lines.push(...schemaPart('input', action.input, options), ...schemaPart('output', action.output, options));
  return lines;
}

const EFFECTS: Readonly<Record<string, string>> = {
  pure: 'pure: may run as often as needed',
  idempotent: 'idempotent: a repeat with the same key does no harm',
  once: 'once: never repeated while its outcome is unknown',
  'by input': 'depends on the input',
};

function schemaPart(title: string, given: unknown, options: View): string[] {
  const schema = given as Json;
  if (!isJsonObject(schema)) return [];
  const fields = fieldRows(schema, options.colors);
  if (fields.length > 0) {
    const headings = [{ title: title.toUpperCase() }, ''];
    return ['', ...tableLines(headings, fields, options)];
  }
  const text = [typeText(schema), descriptionOf(schema)].filter((part) => part !== '').join('  ');
  return ['', options.colors.dim(title.toUpperCase()), text];
}

function fieldRows(schema: JsonObject, colors: Colors): string[][] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).flatMap(([name, field]) => {
    if (!isJsonObject(field)) return [];
    const isRequired = required.includes(name);
    const fallback = field.default === undefined ? '' : colors.dim(`default ${JSON.stringify(field.default)}`);
    const label = isRequired ? colors.bold(name) : `${name}${colors.dim('?')}`;
    const parts = [colors.cyan(typeText(field)), printableLine(descriptionOf(field)), fallback];
    return [[label, parts.filter((part) => part !== '').join('  ')]];
  });
}

function descriptionOf(schema: JsonObject): string {
  return typeof schema.description === 'string' ? schema.description : '';
}

function typeText(schema: JsonObject): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value: Json) => JSON.stringify(value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const { type } = schema;
  const words = Array.isArray(type) ? type : typeof type === 'string' ? [type] : ['anything'];
  return words.map((word) => (word === 'array' ? listText(schema) : String(word))).join(' | ');
}

function listText(schema: JsonObject): string {
  return isJsonObject(schema.items) ? `${typeText(schema.items)}[]` : 'list';
}
