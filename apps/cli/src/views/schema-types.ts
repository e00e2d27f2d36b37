/**
 * JSON Schema → TypeScript. Rules that types cannot express (patterns, ranges, `if`, `not`) are left out; unknown types are
 * `unknown`. A library for it would bring a formatter and 30 MB along.
 */
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '@nebula/core';

const MAX_DEPTH = 40;

/** Declarations of a type called `name`, and of the definitions that it refers to. */
export function typeDeclarations(name: string, schema: JsonSchema | undefined): string {
  return new TypeWriter(name, schema ?? true).declarations();
}

class TypeWriter {
  readonly #root: JsonSchema;
  readonly #name: string;
  /** Type names of `$ref` targets, by pointer. */
  readonly #names = new Map<string, string>();
  readonly #open: { readonly name: string; readonly schema: JsonSchema }[] = [];

  constructor(name: string, root: JsonSchema) {
    this.#name = name;
    this.#root = root;
    this.#names.set('#', name);
    this.#open.push({ name, schema: root });
  }

  declarations(): string {
    const written: string[] = [];
    for (let next = this.#open.shift(); next !== undefined; next = this.#open.shift()) {
      const found = this.#typeOf(next.schema, '', 0);
      const type = found === next.name ? 'unknown' : found;
      const isInterface = type.startsWith('{\n') && !/^\}(?!$)/m.test(type);
      written.push(isInterface ? `export interface ${next.name} ${type}` : `export type ${next.name} = ${type};`);
    }
    return written.join('\n\n');
  }

  #typeOf(schema: Json | undefined, indent: string, depth: number): string {
    if (schema === false) return 'never';
    if (!isJsonObject(schema) || depth > MAX_DEPTH) return 'unknown';
    const parts: string[] = [];
    if (typeof schema.$ref === 'string') parts.push(this.#reference(schema.$ref));
    else if (Object.hasOwn(schema, 'const')) parts.push(literal(schema.const as Json));
    else if (Array.isArray(schema.enum)) parts.push(union(schema.enum.map(literal)));
    else parts.push(...this.#typesByKeyword(schema, indent, depth));
    for (const choices of [schema.anyOf, schema.oneOf]) {
      if (Array.isArray(choices)) parts.push(union(choices.map((one) => this.#typeOf(one, indent, depth + 1))));
    }
    if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map((one) => this.#typeOf(one, indent, depth + 1)));
    const type = intersection(parts);
    return schema.nullable === true ? union([type, 'null']) : type;
  }

  #reference(pointer: string): string {
    const known = this.#names.get(pointer);
    if (known !== undefined) return known;
    const schema = follow(this.#root, pointer);
    if (schema === undefined) return 'unknown';
    const name = uniqueName(`${this.#name}${pascal(pointer.split('/').at(-1) ?? '')}`, new Set(this.#names.values()));
    this.#names.set(pointer, name);
    this.#open.push({ name, schema });
    return name;
  }

  /** The types from the schema's own keywords; empty without any. */
  #typesByKeyword(schema: JsonObject, indent: string, depth: number): string[] {
    const { type } = schema;
    const types = Array.isArray(type) ? type : type === undefined ? guessTypes(schema) : [type];
    return types.length === 0 ? [] : [union(types.map((one) => this.#ofType(one, schema, indent, depth)))];
  }

  #ofType(type: Json, schema: JsonObject, indent: string, depth: number): string {
    if (typeof type !== 'string') return 'unknown';
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'number':
        return type;
      case 'integer':
        return 'number';
      case 'array':
        return this.#list(schema, indent, depth);
      case 'object':
        return this.#object(schema, indent, depth);
      default:
        return 'unknown';
    }
  }

  #list({ items, prefixItems, minItems }: JsonObject, indent: string, depth: number): string {
    const item = this.#typeOf(items, indent, depth + 1);
    if (!Array.isArray(prefixItems)) return `readonly ${wrapped(item)}[]`;
    const least = typeof minItems === 'number' ? minItems : 0;
    const first = prefixItems.map((one, index) => {
      const type = this.#typeOf(one, indent, depth + 1);
      return index < least ? type : `${wrapped(type)}?`;
    });
    return `readonly [${[...first, ...(items === false ? [] : [`...readonly ${wrapped(item)}[]`])].join(', ')}]`;
  }

  #object(schema: JsonObject, indent: string, depth: number): string {
    const { properties, additionalProperties: others, patternProperties } = schema;
    const inner = `${indent}  `;
    const required = Array.isArray(schema.required) ? schema.required : [];
    const lines = Object.entries(isJsonObject(properties) ? properties : {}).map(([key, member]) => {
      const mark = required.includes(key) ? '' : '?';
      return `${comment(member, inner)}${inner}readonly ${keyText(key)}${mark}: ${this.#typeOf(member, inner, depth + 1)};\n`;
    });
    if (lines.length === 0 && !isJsonObject(patternProperties)) {
      if (others === false) return 'Readonly<Record<string, never>>';
      return `{ readonly [key: string]: ${isJsonObject(others) ? this.#typeOf(others, indent, depth + 1) : 'unknown'} }`;
    }
    // Named members have types of their own, so the others can only be `unknown`.
    const isOpen = isJsonObject(others) || isJsonObject(patternProperties);
    return `{\n${lines.join('')}${isOpen ? `${inner}readonly [key: string]: unknown;\n` : ''}${indent}}`;
  }
}

function guessTypes(schema: JsonObject): Json[] {
  if (['properties', 'additionalProperties', 'patternProperties', 'required'].some((key) => Object.hasOwn(schema, key)))
    return ['object'];
  return Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems') ? ['array'] : [];
}

/** A pointer into the same schema: `#/$defs/order`. */
function follow(root: JsonSchema, pointer: string): JsonSchema | undefined {
  if (!pointer.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const part of pointer.slice(2).split('/')) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isJsonObject(at) || typeof at === 'boolean' ? at : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function literal(value: Json): string {
  if (Array.isArray(value)) return `readonly [${value.map(literal).join(', ')}]`;
  if (!isJsonObject(value)) return typeof value === 'string' ? quoted(value) : String(value);
  const members = Object.entries(value).map(([key, member]) => `readonly ${keyText(key)}: ${literal(member)}`);
  return `{ ${members.join('; ')} }`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes('unknown')) return 'unknown';
  const possible = distinct.filter((type) => type !== 'never');
  return possible.length === 0 ? 'never' : possible.join(' | ');
}

function intersection(types: readonly string[]): string {
  const telling = [...new Set(types)].filter((type) => type !== 'unknown');
  if (telling.length < 2) return telling[0] ?? 'unknown';
  return telling.map((type) => (type.includes(' | ') ? `(${type})` : type)).join(' & ');
}

function wrapped(type: string): string {
  return /^[\w]+$/.test(type) ? type : `(${type})`;
}

function comment(schema: Json, indent: string): string {
  if (!isJsonObject(schema) || typeof schema.description !== 'string') return '';
  const text = schema.description.replace(/\s+/g, ' ').replaceAll('*/', '* /').trim();
  return text === '' ? '' : `${indent}/** ${text} */\n`;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);
}

export function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}

/** `http.request@1` → `HttpRequest1`. */
export function pascal(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^\d/.test(name) || name === '' ? `_${name}` : name;
}

export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let unique = name;
  for (let count = 2; taken.has(unique); count++) unique = `${name}_${count}`;
  return unique;
}
