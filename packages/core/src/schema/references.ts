/** Resolves `$ref` and similar keywords to pointers, anchors and ids within one schema. Nothing is fetched. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../value.ts';
import { ROOT_RESOURCE } from './trail.ts';

/** Keywords that contain schemas by name. */
const BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];
/** Keywords that contain data, even if it looks like a schema. */
const DATA = new Set(['default', 'const', 'enum', 'examples', 'required']);

export interface Target {
  readonly schema: Json;
  /** The resource that contains the schema. */
  readonly resource: string;
}

export class References {
  readonly #resources = new Map<string, JsonObject>();
  readonly #anchors = new Map<string, JsonObject>();
  readonly #dynamic = new Map<string, Map<string, JsonObject>>();
  readonly #resourceOf = new Map<JsonObject, string>();
  /** Whether some schema has `$async`, which would make checks asynchronous. */
  isAsync = false;
  /** Whether some schema depends on what other schemas have evaluated. */
  tracks = false;

  constructor(root: JsonObject) {
    this.#collect(root, ROOT_RESOURCE);
    this.#resources.set(ROOT_RESOURCE, root);
  }

  resourceOf(schema: JsonObject): string {
    return this.#resourceOf.get(schema) ?? ROOT_RESOURCE;
  }

  /** Returns undefined when the reference cannot be resolved. */
  find(reference: string, from: JsonObject): Target | undefined {
    const url = URL.parse(reference, this.resourceOf(from));
    if (url === null) return undefined;
    const fragment = safelyDecoded(url.hash.slice(1));
    url.hash = '';
    const resource = url.href;
    const root = this.#resources.get(resource);
    if (root === undefined || fragment === undefined) return undefined;
    if (fragment === '') return { schema: root, resource };
    if (!fragment.startsWith('/')) {
      const schema = this.#anchors.get(`${resource}#${fragment}`);
      return schema === undefined ? undefined : { schema, resource };
    }
    const schema = walk(root, fragment);
    if (schema === undefined) return undefined;
    return { schema, resource: isJsonObject(schema) ? (this.#resourceOf.get(schema) ?? resource) : resource };
  }

  /** Resource → the schema that it declares under this dynamic anchor. */
  dynamic(anchor: string): ReadonlyMap<string, JsonObject> {
    return this.#dynamic.get(anchor) ?? new Map();
  }

  /** Not recursive, because the nesting depth is not known yet. */
  #collect(root: JsonObject, base: string): void {
    const open: (readonly [JsonObject, string])[] = [[root, base]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [schema, outer] = next;
      if (this.#resourceOf.has(schema)) continue;
      const resource = this.#note(schema, outer);
      for (const [name, member] of Object.entries(schema)) {
        if (DATA.has(name)) continue;
        const isNamed = BY_NAME.includes(name) && isJsonObject(member);
        const inner = isNamed ? Object.values(member) : isJsonList(member) ? member : [member];
        for (const one of inner) if (isJsonObject(one)) open.push([one, resource]);
      }
    }
  }

  #note(schema: JsonObject, outer: string): string {
    const { $id: id, $anchor: anchor, $dynamicAnchor: dynamic } = schema;
    let resource = outer;
    if (typeof id === 'string' && !id.startsWith('#')) {
      const url = URL.parse(id, outer);
      if (url !== null) {
        url.hash = '';
        resource = url.href;
        this.#resources.set(resource, schema);
      }
    }
    this.#resourceOf.set(schema, resource);
    for (const name of [anchor, dynamic]) {
      if (typeof name === 'string') this.#anchors.set(`${resource}#${name}`, schema);
    }
    if (typeof dynamic === 'string') {
      const same = this.#dynamic.get(dynamic) ?? new Map<string, JsonObject>();
      this.#dynamic.set(dynamic, same.set(resource, schema));
    }
    this.isAsync ||= schema['$async'] !== undefined;
    this.tracks ||= schema['unevaluatedProperties'] !== undefined || schema['unevaluatedItems'] !== undefined;
    return resource;
  }
}

function walk(root: JsonObject, pointer: string): Json | undefined {
  let found: Json | undefined = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, Json>>)[key];
  }
  return found;
}

function safelyDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
