/** How new values are written: in block style with short lists and small settings on one line, or as JSON. */
import { isJsonObject, type Json } from '@nebula/core';
import { keyText, literalText, scalarText } from './scalars.ts';

const INDENT = 2;
const MAX_LINE = 80;
/** Keys whose mappings are written as lines, however short. */
const BLOCK_KEYS = new Set([
  ...['nodes', 'with', 'do', 'group', 'config', 'input', 'output', 'set', 'properties', 'variables', 'branch', 'cases'],
]);

/** On one line. */
export function flowText(value: Json, isJson: boolean): string {
  if (isJson) return jsonLine(value);
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, false)).join(', ')}]`;
  if (!isJsonObject(value)) return scalarText(value, true);
  const members = Object.entries(value).map(([key, member]) => `${keyText(key, false)}: ${flowText(member, false)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function jsonLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(jsonLine).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${jsonLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** JSON on several lines; the first one continues a line whose indentation is `indent`. */
export function jsonText(value: Json, indent: number, lineBreak: string): string {
  return JSON.stringify(value, null, INDENT).replaceAll('\n', lineBreak + ' '.repeat(indent));
}

function isFlat(value: Json): boolean {
  const members = Array.isArray(value) ? value : Object.values(value as object);
  return members.every((member) => member === null || typeof member !== 'object' || Array.isArray(member));
}

/** Whether a container is written on the line of its key. */
function fitsLine(value: Json, key: string | undefined): boolean {
  if (Array.isArray(value)) {
    return (
      value.every((item) => item === null || typeof item !== 'object') && flowText(value, false).length <= MAX_LINE
    );
  }
  if (Object.keys(value as object).length === 0) return true;
  if (key !== undefined && BLOCK_KEYS.has(key)) return false;
  return isFlat(value) && flowText(value, false).length <= MAX_LINE && !hasLines(value);
}

function hasLines(value: Json): boolean {
  return Object.values(value as object).some((member) => typeof member === 'string' && member.includes('\n'));
}

/**
 * The text after `key:`: begins with a blank or a line break. `indent` is the column of the key.
 */
export function afterKey(value: Json, indent: number, lineBreak: string, key?: string): string {
  if (typeof value === 'string') {
    const literal = literalText(value, indent + INDENT, lineBreak);
    return ` ${literal ?? scalarText(value, false)}`;
  }
  if (value === null || typeof value !== 'object') return ` ${scalarText(value, false)}`;
  if (fitsLine(value, key)) return ` ${flowText(value, false)}`;
  return lineBreak + blockLines(value, indent + INDENT, lineBreak);
}

/** The members of a container as lines; the first one with its indentation. */
export function blockLines(value: Json, indent: number, lineBreak: string): string {
  const pad = ' '.repeat(indent);
  if (Array.isArray(value)) {
    return value.map((item) => `${pad}-${afterDash(item, indent, lineBreak)}`).join(lineBreak);
  }
  return Object.entries(value as Record<string, Json>)
    .map(([key, member]) => `${pad}${keyText(key, false)}:${afterKey(member, indent, lineBreak, key)}`)
    .join(lineBreak);
}

/** The text after the dash of a list item whose dash is at column `indent`. */
export function afterDash(value: Json, indent: number, lineBreak: string): string {
  if (isJsonObject(value) && !fitsLine(value, undefined)) {
    return ` ${blockLines(value, indent + INDENT, lineBreak).trimStart()}`;
  }
  return afterKey(value, indent, lineBreak);
}
