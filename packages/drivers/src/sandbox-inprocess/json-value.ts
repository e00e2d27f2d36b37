/** Converts outputs of actions to JSON, as copies: an action may keep the value and change it later. */
import { type Json, NebulaError } from '@nebula/core';
import { SANDBOX_LIMITS } from './limits.ts';

type Segment = string | number;

/** Thrown for a value that JSON cannot hold, and completed with its path on the way up. */
class NotJson {
  readonly path: Segment[] = [];
  readonly code: 'OUTPUT_NOT_JSON' | 'OUTPUT_TOO_LARGE';
  what: string;
  /** Set when the depth limit was exceeded: a container that occurs twice on the way up contains itself. */
  containers: Set<object> | undefined;

  constructor(what: string, code: NotJson['code'] = 'OUTPUT_NOT_JSON') {
    this.what = what;
    this.code = code;
  }
}

const MAX_PATH_SHOWN = 12;

/** `undefined` becomes null, a value with `toJSON` (a Date) becomes its result, and undefined members are left out. */
export function toJson(value: unknown, name: string): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  try {
    return walk(value, 0, { left: SANDBOX_LIMITS.maxOutputValues });
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const path = error.path.slice(0, MAX_PATH_SHOWN);
    const shown = path.map((at) => (typeof at === 'number' ? `[${at}]` : `.${at}`)).join('');
    const more = error.path.length > path.length ? '…' : '';
    throw new NebulaError(error.code, `${name}${shown}${more} ${error.what}`, { details: { path } });
  }
}

function walk(value: unknown, depth: number, budget: { left: number }): Json {
  if (--budget.left < 0) throw new NotJson('has too many values', 'OUTPUT_TOO_LARGE');
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(`is ${value}, which JSON cannot hold`);
      return value === 0 ? 0 : value;
    case 'undefined':
      return null;
    case 'object':
      if (value === null) return null;
      if (depth >= SANDBOX_LIMITS.maxOutputDepth) throw tooDeep();
      if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
        return walk(callToJson(value), depth + 1, budget);
      return Array.isArray(value) ? walkArray(value, depth, budget) : walkObject(value, depth, budget);
    default:
      throw new NotJson(`is a ${typeof value}, which JSON cannot hold`);
  }
}

function walkArray(array: readonly unknown[], depth: number, budget: { left: number }): readonly Json[] {
  const copy: Json[] = [];
  try {
    for (let index = 0; index < array.length; index++) copy.push(walk(array[index], depth + 1, budget));
  } catch (error) {
    throw at(copy.length, array, error);
  }
  return copy;
}

function walkObject(object: object, depth: number, budget: { left: number }): Json {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    const unboxed = unbox(object);
    if (unboxed !== undefined) return walk(unboxed, depth, budget);
  }
  const copy = spreadOf(object);
  // JSON has neither undefined members nor members that are named by symbols.
  let isPlain = Object.getOwnPropertySymbols(copy).length === 0;
  for (const key of Object.keys(copy)) {
    const member = copy[key];
    if (member === undefined) {
      isPlain = false;
      continue;
    }
    try {
      const json = walk(member, depth + 1, budget);
      // -0 becomes 0.
      if (!Object.is(json, member)) copy[key] = json;
    } catch (error) {
      throw at(key, object, error);
    }
  }
  return (isPlain ? copy : Object.fromEntries(Object.entries(copy).filter(([, one]) => one !== undefined))) as Json;
}

/** Reads every member once. A spread keeps the hidden class, which matters for many different objects. */
function spreadOf(object: object): Record<string, unknown> {
  try {
    return { ...object };
  } catch (error) {
    const member = unreadableIn(object);
    throw member === undefined ? new NotJson(`cannot be read: ${describe(error)}`) : at(member, object, error);
  }
}

/** The member whose getter throws; undefined if the names of the members cannot be read. */
function unreadableIn(object: object): string | undefined {
  let last: string | undefined;
  try {
    for (last of Object.keys(object)) void (object as Readonly<Record<string, unknown>>)[last];
  } catch {
    return last;
  }
  return last;
}

/** Records the path of an invalid value; any other error was thrown by a getter of the author. */
function at(segment: Segment, container: object, error: unknown): NotJson {
  const notJson = error instanceof NotJson ? error : new NotJson(`cannot be read: ${describe(error)}`);
  if (notJson.containers?.has(container)) notJson.what = 'is circular';
  notJson.containers?.add(container);
  notJson.path.unshift(segment);
  return notJson;
}

function callToJson(value: object): unknown {
  try {
    return (value as { toJSON(): unknown }).toJSON();
  } catch (error) {
    throw new NotJson(`cannot be read: ${describe(error)}`);
  }
}

function describe(error: unknown): string {
  return error instanceof RangeError ? 'it is nested too deeply' : error instanceof Error ? error.message : 'it threw';
}

/** Objects whose members JSON does not see: rejected, because JSON would silently make `{}` of them. */
const OPAQUE: Readonly<Record<string, string>> = {
  Map: 'use Object.fromEntries',
  Set: 'use [...set]',
  WeakMap: '',
  WeakSet: '',
  Promise: 'await it',
  RegExp: 'use its source',
  Error: 'use its message',
  ArrayBuffer: 'use base64 text',
  DataView: 'use base64 text',
};

/** The primitive in a boxed value; undefined for a class instance, whose own members count. */
function unbox(object: object): unknown {
  const tag = Object.prototype.toString.call(object).slice(8, -1);
  if (tag === 'Number' || tag === 'String' || tag === 'Boolean') return object.valueOf();
  const advice = ArrayBuffer.isView(object) ? 'use base64 text' : Object.hasOwn(OPAQUE, tag) ? OPAQUE[tag] : undefined;
  if (advice === undefined) return undefined;
  throw new NotJson(`is a ${tag}, which JSON cannot hold${advice === '' ? '' : ` (${advice})`}`);
}

function tooDeep(): NotJson {
  const notJson = new NotJson('is nested too deeply');
  notJson.containers = new Set();
  return notJson;
}
