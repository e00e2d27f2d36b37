/**
 * Redacts secrets from everything an attempt returns, in every form in which they are likely to appear. Redaction is a
 * safety net for mistakes: an action that wants to leak a secret can always encode it differently.
 *
 * The secret parts of a value are the value; its lines, if it has several (a key in PEM is printed line by line); and the
 * texts in it, if it is JSON (an action uses the fields, not the whole).
 */
import { inspect } from 'node:util';
import type { Json } from '@nebula/core';
import { SECRET_LIMITS } from '@nebula/ports';

const REDACTED = '[redacted]';

/** The shortest line of a value that is redacted; shorter ones are the brackets of JSON and the like. */
const MIN_LINE_CHARS = 8;
/**
 * The shortest text whose base64 is recognised inside a longer text, where its characters depend on those before it.
 */
const MIN_INNER_CHARS = 8;
/** The shortest part of a secret that is redacted at the end of a cut text; fewer characters reveal too little. */
const MIN_CUT_CHARS = 6;

/** The number of characters of every form that are indexed. */
const START_CHARS = SECRET_LIMITS.minValueChars;
/** A power of two. */
const HASHES = 65_536;

/** The shifts differ, so that the order of the characters counts. */
function hashAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 6) ^ (text.charCodeAt(at + 1) << 3);
  return (first ^ (text.charCodeAt(at + 2) << 1) ^ (text.charCodeAt(at + 3) << 9)) & (HASHES - 1);
}

/** Finds the forms of values in a text. */
class FormIndex {
  readonly forms = new Set<string>();
  /** Forms by their first characters, the longest one first. */
  readonly #byStart = new Map<string, string[]>();
  /** A hash set of beginnings: nearly every position of a text is skipped with one lookup. */
  #starts: Uint8Array | undefined;

  add(form: string): void {
    if (form.length < START_CHARS || this.forms.has(form)) return;
    this.forms.add(form);
    const start = form.slice(0, START_CHARS);
    const same = [...(this.#byStart.get(start) ?? []), form];
    this.#byStart.set(
      start,
      same.sort((a, b) => b.length - a.length),
    );
    // Most attempts are given no secret: their index costs nothing.
    this.#starts ??= new Uint8Array(HASHES);
    this.#starts[hashAt(form, 0)] = 1;
  }

  /**
   * Ranges in order. Overlapping ranges are merged, so that no part of a value is left because another one began before
   * it.
   */
  ranges(text: string): Range[] {
    const starts = this.#starts;
    const found: Range[] = [];
    if (starts === undefined) return found;
    for (let at = 0; at <= text.length - START_CHARS; at++) {
      if (starts[hashAt(text, at)] === 0) continue;
      const form = this.#byStart.get(text.slice(at, at + START_CHARS))?.find((one) => text.startsWith(one, at));
      if (form === undefined) continue;
      const last = found.at(-1);
      if (last !== undefined && at <= last.end) last.end = Math.max(last.end, at + form.length);
      else found.push({ start: at, end: at + form.length });
    }
    return found;
  }
}

interface Range {
  readonly start: number;
  end: number;
}

export class Redactor {
  readonly #parent: Redactor | undefined;
  readonly #conceal: ((text: string) => string) | undefined;
  #plain = new FormIndex();
  /** Encodings that programs break into lines (`base64`, `xxd`), searched for as if there were no line breaks. */
  #encoded = new FormIndex();
  #isNumeric = false;

  /** `parent`: its values are redacted too, including later ones. `conceal` is applied to texts before. */
  constructor(parent?: Redactor, conceal?: (text: string) => string) {
    this.#parent = parent;
    this.#conceal = conceal;
  }

  /** Redacts this value from now on. */
  add(value: string): void {
    for (const text of partsOf(value)) {
      for (const form of formsOf(text)) this.#addForm(form);
      for (const form of encodedForms(text)) {
        this.#addForm(form);
        if (form.length >= MIN_INNER_CHARS) this.#encoded.add(form);
      }
    }
  }

  clear(): void {
    this.#plain = new FormIndex();
    this.#encoded = new FormIndex();
    this.#isNumeric = false;
  }

  #addForm(form: string): void {
    this.#plain.add(form);
    this.#isNumeric ||= form.length >= START_CHARS && /^[\d.eE+-]+$/.test(form);
  }

  /** Returns whether the text contains one of the values. */
  finds(text: string): boolean {
    return this.text(text) !== text;
  }

  text(given: string): string {
    const text = this.#conceal === undefined ? given : this.#conceal(given);
    const whole = without(text, this.#plain.ranges(text));
    const clean = this.#encoded.forms.size > 0 && /[\r\n]/.test(whole) ? this.#acrossLines(whole) : whole;
    return this.#parent === undefined ? clean : this.#parent.text(clean);
  }

  #acrossLines(text: string): string {
    const { joined, offsets } = withoutLineBreaks(text);
    const found = this.#encoded.ranges(joined);
    const ranges = found.map(({ start, end }) => ({
      start: offsets[start] as number,
      end: (offsets[end - 1] as number) + 1,
    }));
    return without(text, ranges);
  }

  /**
   * Redacts a text that may have been cut anywhere, as logs and errors are: parts of a value at its ends are redacted
   * too. Not for outputs: a workflow continues with them, and `production` may be one and also the beginning of a
   * password.
   */
  excerpt(text: string): string {
    const left = this.text(text);
    let [start, end] = [0, left.length];
    for (const form of this.#plain.forms) {
      start = Math.max(start, cutAtStart(left, form));
      end = Math.min(end, left.length - cutAtEnd(left, form));
    }
    const whole = start === 0 && end === left.length;
    if (!whole && start >= end) return REDACTED;
    const cut = `${start > 0 ? REDACTED : ''}${left.slice(start, end)}${end < left.length ? REDACTED : ''}`;
    return this.#parent?.excerpt(cut) ?? cut;
  }

  /** Returns the same value if there is nothing to redact. */
  json(value: Json, take: (text: string) => string = (text) => this.text(text)): Json {
    if (typeof value === 'string') return take(value);
    if (typeof value === 'number') return this.#redactsNumbers && this.finds(String(value)) ? REDACTED : value;
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value)) return this.#object(value as Readonly<Record<string, Json>>, take);
    const items = value.map((item) => this.json(item, take));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }

  get #redactsNumbers(): boolean {
    const parent = this.#parent;
    return this.#isNumeric || (parent === undefined ? false : parent.#redactsNumbers);
  }

  #object(object: Readonly<Record<string, Json>>, take: (text: string) => string): Json {
    const keys = Object.keys(object);
    const names = keys.map((key) => this.text(key));
    const parts = keys.map((key) => this.json(object[key] as Json, take));
    if (keys.every((key, at) => names[at] === key && parts[at] === object[key])) return object;
    const members = new Map<string, Json>();
    for (const [at, name] of names.entries()) members.set(free(members, name), parts[at] as Json);
    return Object.fromEntries(members);
  }
}

function without(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  let clean = '';
  let from = 0;
  for (const { start, end } of ranges) {
    clean += text.slice(from, start) + REDACTED;
    from = end;
  }
  return clean + text.slice(from);
}

/** The text without line breaks and the white space around them, and the original position of each character. */
function withoutLineBreaks(text: string): { readonly joined: string; readonly offsets: Uint32Array } {
  const offsets = new Uint32Array(text.length);
  let joined = '';
  let from = 0;
  for (const { index, 0: gap } of text.matchAll(/[ \t]*[\r\n]\s*/g)) {
    for (let at = from; at < index; at++) offsets[joined.length + at - from] = at;
    joined += text.slice(from, index);
    from = index + gap.length;
  }
  for (let at = from; at < text.length; at++) offsets[joined.length + at - from] = at;
  return { joined: joined + text.slice(from), offsets };
}

/** The length of the longest beginning of the form at the end of the text. */
function cutAtEnd(text: string, form: string): number {
  const beginning = form.slice(0, MIN_CUT_CHARS);
  const from = Math.max(0, text.length - form.length + 1);
  for (let at = text.indexOf(beginning, from); at >= 0; at = text.indexOf(beginning, at + 1)) {
    if (form.startsWith(text.slice(at))) return text.length - at;
  }
  return 0;
}

/** The length of the longest end of the form at the beginning of the text. */
function cutAtStart(text: string, form: string): number {
  const ending = form.slice(-MIN_CUT_CHARS);
  const head = text.slice(0, form.length - 1);
  for (let at = head.lastIndexOf(ending); at >= 0; at = at === 0 ? -1 : head.lastIndexOf(ending, at - 1)) {
    if (form.endsWith(head.slice(0, at + ending.length))) return at + ending.length;
  }
  return 0;
}

/** Keeps two keys apart that become the same by redaction. */
function free(members: ReadonlyMap<string, Json>, name: string): string {
  let found = name;
  for (let number = 2; members.has(found); number++) found = `${name} ${number}`;
  return found;
}

function partsOf(value: string): Set<string> {
  const parts = new Set([value, value.trim()]);
  for (const line of value.split(/[\r\n]+/)) if (line.trim().length >= MIN_LINE_CHARS) parts.add(line.trim());
  addTexts(fieldsOf(value), parts);
  return parts;
}

function fieldsOf(value: string): unknown {
  if (!/^\s*[{[]/.test(value)) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function addTexts(value: unknown, parts: Set<string>): void {
  if (typeof value === 'string' && value.trim().length >= SECRET_LIMITS.minValueChars) {
    for (const part of partsOf(value)) parts.add(part);
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) addTexts(member, parts);
  }
}

function formsOf(text: string): Set<string> {
  const forms = new Set([text, ...jsonForms(text), ...urlForms(text), ...inspectForms(text)]);
  // A text in JSON in JSON, such as a body that is logged as a field.
  for (const form of jsonForms(text)) for (const again of jsonForms(form)) forms.add(again);
  return forms;
}

function encodedForms(text: string): Set<string> {
  const bytes = Buffer.from(text, 'utf8');
  const hex = bytes.toString('hex');
  const forms = new Set([hex, hex.toUpperCase()]);
  for (const encoding of ['base64', 'base64url'] as const) {
    const encoded = bytes.toString(encoding);
    forms.add(encoded).add(encoded.replace(/=+$/, ''));
    for (const inner of innerBase64(bytes, encoding)) forms.add(inner);
  }
  return forms;
}

/** The forms that `console.log` and `util.inspect` show inside an object, in each kind of quotes. */
function inspectForms(text: string): string[] {
  const plain = inspect(text, { breakLength: Number.POSITIVE_INFINITY }).slice(1, -1);
  const bare = plain.replace(/\\(['"`])/g, '$1');
  return [plain, bare, ...["'", '"', '`'].map((quote) => bare.replaceAll(quote, `\\${quote}`))];
}

/** The forms that `JSON.stringify` writes, and those of writers that keep to ASCII or escape slashes. */
function jsonForms(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = plain.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [plain, ascii, plain.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/')];
}

/** The forms in a path, a query and a form, with lower-case and upper-case digits. */
function urlForms(text: string): string[] {
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams({ '': text }).toString().slice(1);
  const forms = [component, strict, form, encodeURI(text)];
  return [...forms, ...forms.map((one) => one.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase()))];
}

/**
 * Base64 encodes three bytes at a time, so the text before a value shifts its encoding: there are three ways to write
 * it inside a longer text (`user:password`). Returns the characters of each that do not depend on the neighbours.
 */
function innerBase64(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
  return [0, 1, 2]
    .map((shift) => {
      const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString(encoding);
      const first = Math.ceil((shift * 8) / 6);
      const last = Math.floor(((shift + bytes.length) * 8) / 6);
      return encoded.slice(first, last);
    })
    .filter((inner) => inner.length >= MIN_INNER_CHARS);
}
