/** JSON for people: short lists and objects on one line, keys and values in colour, large values cut. */
import { isJsonObject, type Json } from '@nebula/core';
import type { Colors, View } from '../terminal/io.ts';
import { printable, visibleWidth } from '../terminal/width.ts';
import { shortened } from './words.ts';

export interface JsonOptions extends View {
  readonly maxLines?: number;
  /** The most characters shown of a text; its length follows. */
  readonly maxText?: number;
}

/** A JSON document for programs. Control characters are escaped, which does not change the parsed value. */
export function jsonDocument(value: unknown): string {
  return `${printable(JSON.stringify(value, null, 2))}\n`;
}

/** One of many documents, on a line of its own. */
export function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`;
}

/** Lines of pretty JSON; when cut to `maxLines`, `cut` says how many lines are missing. */
export function jsonLines(
  value: Json,
  options: JsonOptions,
): { readonly lines: string[]; readonly cut: number; readonly hasCutText: boolean } {
  const maxLines = options.maxLines ?? Number.POSITIVE_INFINITY;
  const writer = new JsonWriter(options.colors, options.width, maxLines, options.maxText ?? Number.POSITIVE_INFINITY);
  writer.write(value, '', '', '');
  return { lines: writer.lines, cut: writer.total - writer.lines.length, hasCutText: writer.hasCutText };
}

class JsonWriter {
  readonly lines: string[] = [];
  total = 0;
  hasCutText = false;
  readonly #colors: Colors;
  readonly #width: number;
  readonly #maxLines: number;
  readonly #maxText: number;

  constructor(colors: Colors, width: number, maxLines: number, maxText: number) {
    this.#colors = colors;
    this.#width = width;
    this.#maxLines = maxLines;
    this.#maxText = maxText;
  }

  write(value: Json, indent: string, label: string, end: string): void {
    const entries = entriesOf(value);
    const line = this.#oneLine(value, this.#width - indent.length - visibleWidth(label) - end.length);
    if (line !== undefined || entries === undefined) {
      this.#push(indent + label + (line ?? this.#scalar(value as string)) + end);
      return;
    }
    const isList = Array.isArray(value);
    this.#push(`${indent}${label}${isList ? '[' : '{'}`);
    entries.forEach(([key, item], at) => {
      const itemLabel = isList ? '' : `${this.#key(key)}: `;
      this.write(item, `${indent}  `, itemLabel, at === entries.length - 1 ? '' : ',');
    });
    this.#push(`${indent}${isList ? ']' : '}'}${end}`);
  }

  /** Returns undefined if the value does not fit into `room` cells. */
  #oneLine(value: Json, room: number): string | undefined {
    const entries = entriesOf(value);
    if (entries === undefined) {
      const text = this.#scalar(value as string);
      return visibleWidth(text) <= room || typeof value === 'string' ? text : undefined;
    }
    const isList = Array.isArray(value);
    if (entries.length === 0) return isList ? '[]' : '{}';
    if (entries.length * 3 > room) return undefined;
    const parts: string[] = [];
    let used = isList ? 2 : 4;
    for (const [key, item] of entries) {
      const text = this.#oneLine(item, room - used);
      if (text === undefined) return undefined;
      const part = isList ? text : `${this.#key(key)}: ${text}`;
      used += visibleWidth(part) + 2;
      if (used > room) return undefined;
      parts.push(part);
    }
    return isList ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`;
  }

  #key(key: string): string {
    return this.#colors.blue(JSON.stringify(printable(key)));
  }

  #scalar(value: string | number | boolean | null): string {
    if (value === null) return this.#colors.dim('null');
    if (typeof value !== 'string') return this.#colors.yellow(String(value));
    const { kept, note } = shortened(value, this.#maxText);
    if (note !== '') this.hasCutText = true;
    return this.#colors.green(printable(JSON.stringify(kept))) + this.#colors.dim(note);
  }

  #push(line: string): void {
    this.total++;
    if (this.lines.length < this.#maxLines) this.lines.push(line);
  }
}

function entriesOf(value: Json): readonly (readonly [string, Json])[] | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => ['', item] as const);
  return isJsonObject(value) ? Object.entries(value) : undefined;
}
