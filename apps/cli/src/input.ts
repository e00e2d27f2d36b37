/** JSON from the command line: given as text, in a file or on stdin, and changed field by field. */
import { describePath, isJsonObject, type Json, NebulaError, RUN_DEFAULTS, readDefinition } from '@nebula/core';
import { textOption } from './command-options.ts';
import { readNamedFile } from './named-file.ts';
import type { Call } from './services.ts';
import type { Io } from './terminal/io.ts';

const MAX_DEPTH = RUN_DEFAULTS.maxInputDepth;
const SHOWN_SETTING = 80;
const INLINE_HINT = `give JSON (a string in double quotes: '"abc"'), @file, or - for stdin`;

/** The JSON of an option: `JSON`, `@file` or `-`. */
export async function jsonOption({ io, options }: Call, name: string): Promise<Json | undefined> {
  const text = textOption(options, name);
  return text === undefined ? undefined : await readJson(io, text, `--${name}`);
}

/** `JSON`, `@file` or `-`. `name` is how the user knows the value: `--input`. */
export async function readJson(io: Io, text: string, name: string): Promise<Json> {
  if (text === '-') return parse(decode(await io.readStdin(), `${name} (stdin)`), `${name} (stdin)`, undefined);
  if (!text.startsWith('@')) {
    const hint = /^\s*[{[]/.test(text)
      ? 'JSON wants double quotes around keys and strings: \'{"id": 7}\''
      : INLINE_HINT;
    return parse(text, name, hint);
  }
  const source = `${name} (${text.slice(1)})`;
  return parse(decode(await readFileOf(io, text.slice(1), name), source), source, undefined);
}

async function readFileOf(io: Io, file: string, name: string): Promise<Uint8Array> {
  try {
    return await readNamedFile(io, file, 'a JSON file');
  } catch (error) {
    if (!(error instanceof NebulaError) || error.code === 'TOO_LARGE') throw error;
    throw new NebulaError('INPUT_INVALID', `${name}: ${error.message}`, {
      hint: 'after @ comes the path of a JSON file',
      cause: error,
    });
  }
}

/** Rejects text that is not UTF-8, which would otherwise be changed silently. */
function decode(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const problem = readDefinition(bytes, { format: 'json' }).problems.find(({ code }) => code === 'NOT_UTF8');
    throw new NebulaError('INPUT_INVALID', `${source}: ${problem?.message ?? 'this is not UTF-8'}`, {
      hint: 'save it with the encoding UTF-8',
    });
  }
}

function parse(text: string, source: string, hint: string | undefined): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw notJson(text, source, hint, error as Error);
  }
  const refused = refusalOf(value);
  if (refused !== undefined) throw new NebulaError('INPUT_INVALID', `${source}: ${refused.message}`, refused);
  return value;
}

/** Uses the reader of definitions, which reports the position and cause of a JSON error; `JSON.parse` often does not. */
function notJson(text: string, source: string, hint: string | undefined, error: Error): NebulaError {
  if (text.trim() === '') {
    return new NebulaError('INPUT_INVALID', `${source} is not JSON: it is empty`, {
      hint: hint ?? 'write {} for nothing',
    });
  }
  const { problems } = readDefinition(text, { format: 'json' });
  const found = problems.find(({ code }) => code === 'JSON_SYNTAX' || code === 'BINARY_FILE');
  const at = found?.range === undefined ? '' : ` (line ${found.range.line}, column ${found.range.column})`;
  const why = found?.message ?? error.message;
  return new NebulaError('INPUT_INVALID', `${source} is not JSON: ${why}${at}`, {
    hint: hint ?? found?.hint ?? 'is a bracket or a quote not closed?',
  });
}

interface Refusal {
  readonly message: string;
  readonly hint: string;
}

const TOO_DEEP: Refusal = {
  message: `it nests deeper than ${MAX_DEPTH} levels`,
  hint: 'flatten it, or pass a part of it as text',
};

/** Rejects valid JSON that a run cannot store: too deep, or with a number that is too large. */
function refusalOf(value: Json): Refusal | undefined {
  const path: (string | number)[] = [];
  const within = (key: string | number, part: Json): Refusal | undefined => {
    path.push(key);
    const refused = walk(part);
    if (refused === undefined) path.pop();
    return refused;
  };
  const walk = (part: Json): Refusal | undefined => {
    if (typeof part === 'number' && !Number.isFinite(part)) return tooLargeNumber(describePath(path, ''));
    if (typeof part !== 'object' || part === null) return undefined;
    if (path.length >= MAX_DEPTH) return TOO_DEEP;
    if (isJsonObject(part)) return firstOf(Object.entries(part), ([key, member]) => within(key, member));
    return firstOf(part as readonly Json[], (item, index) => within(index, item));
  };
  return walk(value);
}

function firstOf<Item>(items: readonly Item[], find: (item: Item, index: number) => Refusal | undefined) {
  for (let index = 0; index < items.length; index++) {
    const found = find(items[index] as Item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tooLargeNumber(where: string): Refusal {
  return {
    message: where === '' ? 'the number is too large' : `the number at ${shown(where)} is too large`,
    hint: 'numbers go up to 1.8e308; write it as a string',
  };
}

/** Applies `a.b=v` settings in order and creates missing objects and lists. */
export function applySettings(input: Json | undefined, settings: readonly string[]): Json | undefined {
  let result: unknown = input === undefined ? undefined : structuredClone(input);
  for (const setting of settings) {
    const { keys, value } = parseSetting(setting);
    result = setAt(result, keys, 0, value, setting);
  }
  return result as Json | undefined;
}

function parseSetting(setting: string): { keys: string[]; value: Json } {
  const cut = setting.indexOf('=');
  const keys = setting
    .slice(0, Math.max(0, cut))
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.');
  if (cut <= 0 || keys.some((key) => key === '')) {
    throw new NebulaError('USAGE', `--set ${shown(setting)}: not of the form key=value`, {
      hint: 'write NAME=VALUE, e.g. --set order.items.0.sku=A7',
    });
  }
  const value = settingValue(setting.slice(cut + 1));
  const refused = keys.length > MAX_DEPTH ? TOO_DEEP : refusalOf(value);
  if (refused !== undefined) throw new NebulaError('USAGE', `--set ${shown(setting)}: ${refused.message}`, refused);
  return { keys, value };
}

function shown(setting: string): string {
  return setting.length > SHOWN_SETTING ? `${setting.slice(0, SHOWN_SETTING)}…` : setting;
}

/** The parsed value of valid JSON; any other text stays text. */
function settingValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function setAt(target: unknown, keys: readonly string[], at: number, value: Json, setting: string): unknown {
  if (at === keys.length) return value;
  const key = keys[at] as string;
  const isIndex = /^(0|[1-9]\d*)$/.test(key);
  if (Array.isArray(target) || ((target === undefined || target === null) && isIndex)) {
    const list = (target ?? []) as unknown[];
    const index = Number(key);
    if (!isIndex || index > list.length) {
      const hint = `the list has ${list.length} items: use an index from 0 to ${list.length}`;
      throw new NebulaError('USAGE', `--set ${shown(setting)}: ${shown(key)} is not a place in the list`, { hint });
    }
    list[index] = setAt(list[index], keys, at + 1, value, setting);
    return list;
  }
  if (target !== undefined && target !== null && typeof target !== 'object') {
    const where = keys.slice(0, at).join('.');
    const is = shown(JSON.stringify(target));
    throw new NebulaError('USAGE', `--set ${shown(setting)}: ${shown(where)} is ${is}, which has no fields`, {
      hint: 'set the whole of it, or another field',
    });
  }
  const object = (target ?? {}) as Record<string, unknown>;
  // `defineProperty`, not assignment, so that `__proto__` becomes a plain field.
  const member = Object.hasOwn(object, key) ? object[key] : undefined;
  Object.defineProperty(object, key, {
    value: setAt(member, keys, at + 1, value, setting),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return object;
}
