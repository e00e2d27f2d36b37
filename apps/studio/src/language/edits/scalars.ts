/** How a single value is written: plain where YAML reads it back as the same value, else in quotes. */
import type { Json, ScalarStyle } from '@nebula/core';

/** Words and numbers that YAML reads as something else than text. */
const NOT_TEXT =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$/;
/** Characters that are written as escapes, or that YAML treats as line breaks or marks. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]|\p{Cs}/u;

export function isPlainSafe(text: string, inFlow: boolean): boolean {
  if (text === '' || text.trim() !== text || UNPRINTABLE.test(text)) return false;
  if (/^[?:,[\]{}#&*!|>'"%@`]/.test(text) || /^-(?:\s|$)|^(?:---|\.\.\.)/.test(text)) return false;
  if (/:(?:\s|$)|\s#/.test(text) || NOT_TEXT.test(text) || text === '<<') return false;
  return !inFlow || !/[,[\]{}#]|:$/.test(text);
}

function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** On one line, in the style of the value that it replaces if that is possible. */
export function scalarText(value: Json, inFlow: boolean, style?: ScalarStyle): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPrintable = !UNPRINTABLE.test(value);
  if (style === 'double') return doubleQuoted(value);
  if (style === 'single' && isPrintable) return singleQuoted(value);
  if (isPlainSafe(value, inFlow)) return value;
  return isPrintable && /["\\]/.test(value) && !value.includes("'") ? singleQuoted(value) : doubleQuoted(value);
}

export function keyText(key: string, isJson: boolean): string {
  if (isJson) return JSON.stringify(key);
  return /^[A-Za-z0-9_$][\w$./-]*$/.test(key) && !NOT_TEXT.test(key) ? key : doubleQuoted(key);
}

/** Lines below a key, after `|` or `|-`; undefined if the text cannot be written so. */
export function literalText(text: string, indent: number, lineBreak: string): string | undefined {
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  if (!body.includes('\n') && body === text) return undefined;
  const lines = body.split('\n');
  const isWritable = lines.every((line) => !UNPRINTABLE.test(line) && (line === '' || line.trim() !== ''));
  if (!isWritable || lines[0]?.trimStart() !== lines[0] || lines[0] === '' || lines.at(-1) === '') return undefined;
  const pad = ' '.repeat(indent);
  const written = lines.map((line) => (line === '' ? '' : pad + line));
  return [text === body ? '|-' : '|', ...written].join(lineBreak);
}
