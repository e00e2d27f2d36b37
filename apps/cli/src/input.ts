/** JSON from the command line: given as text, in a file or on stdin, and changed field by field. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Json, NebulaError } from '@nebula/core';
import type { Io } from './terminal/io.ts';

/** `JSON`, `@file` or `-`. `name` is how the user knows the value: `--input`. */
export async function readJson(io: Io, text: string, name: string): Promise<Json> {
  if (text === '-') return parse(await io.readStdin(), `${name} (stdin)`);
  if (!text.startsWith('@')) return parse(text, name);
  const file = path.resolve(io.cwd, text.slice(1));
  return parse(await readText(file, name), `${name} (${text.slice(1)})`);
}

async function readText(file: string, name: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message;
    throw new NebulaError('INPUT_INVALID', `${name}: cannot read ${file}: ${reason}`, {
      hint: 'after @ comes the path of a JSON file',
    });
  }
}

function parse(text: string, name: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const hint = /^\s*[{[]/.test(text)
      ? 'JSON wants double quotes around keys and texts: \'{"id": 7}\''
      : `give JSON (a text in double quotes: '"abc"'), @file, or - for stdin`;
    throw new NebulaError('INPUT_INVALID', `${name} is not JSON: ${(error as Error).message}`, { hint });
  }
}

/** Applies `a.b=v` settings in order; objects and lists on the way are made where they are missing. */
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
    throw new NebulaError('USAGE', `--set ${setting}: not of the form key=value`, {
      hint: '--set order.items.0.sku=A7',
    });
  }
  return { keys, value: settingValue(setting.slice(cut + 1)) };
}

/** JSON where it is valid JSON, else the text as it stands. */
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
      throw new NebulaError('USAGE', `--set ${setting}: ${key} is not a place in the list`, { hint });
    }
    list[index] = setAt(list[index], keys, at + 1, value, setting);
    return list;
  }
  if (target !== undefined && target !== null && typeof target !== 'object') {
    const where = keys.slice(0, at).join('.');
    throw new NebulaError('USAGE', `--set ${setting}: ${where} is ${JSON.stringify(target)}, which has no fields`);
  }
  const object = (target ?? {}) as Record<string, unknown>;
  // Defined, not assigned: `__proto__` is a field like any other.
  const member = Object.hasOwn(object, key) ? object[key] : undefined;
  Object.defineProperty(object, key, {
    value: setAt(member, keys, at + 1, value, setting),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return object;
}
