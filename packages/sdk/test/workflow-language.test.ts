import {
  canonicalJson,
  compilePlan,
  createCatalog,
  isJsonObject,
  type Json,
  type JsonObject,
  type Plan,
  readDefinition,
  readDefinitionObject,
  type WorkflowDefinition,
  workflowJsonSchema,
} from '@nebula/core';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Workflow } from '../src/index.ts';
import type {
  ActionOptions,
  ForEachOptions,
  LastingOptions,
  MergeOptions,
  NodeOptions,
  RetryUntilOptions,
  SubWorkflowOptions,
  WhileOptions,
} from '../src/workflow/node-options.ts';
import { allActions } from './workflow-actions.ts';
import { everything, ship, variants } from './workflow-everything.ts';

const catalog = createCatalog(allActions);
const workflows: readonly Workflow<unknown, unknown>[] = [everything, ship, ...variants];
const schema = workflowJsonSchema();
const records = schema.$defs as Readonly<Record<string, JsonObject>>;
const { node } = records as { readonly node: JsonObject };
const nodeKeys = propertiesOf(node);
const kinds = (node.oneOf as { required: [string] }[]).map(({ required: [kind] }) => kind);

function propertiesOf(record: JsonObject | undefined): Readonly<Record<string, JsonObject>> {
  return (record?.properties ?? {}) as Readonly<Record<string, JsonObject>>;
}

/** Every key of the schema as `record.key`, and every choice as `record.key=value`. */
function wordsOf(name: string, record: JsonObject): string[] {
  return Object.entries(propertiesOf(record)).flatMap(([key, type]) => {
    const at = `${name}.${key}`;
    return [at, ...choicesOf(type).map((choice) => `${at}=${choice}`)];
  });
}

function choicesOf({ enum: choices, anyOf, items }: JsonObject): string[] {
  const inner = [...((anyOf ?? []) as JsonObject[]), ...(isJsonObject(items) ? [items] : [])];
  return [...((choices ?? []) as string[]), ...inner.flatMap(choicesOf)];
}

/** Collects the words that a definition uses. */
function note(type: JsonObject, value: Json, at: string, found: Set<string>): void {
  if (typeof type.$ref === 'string') {
    const name = type.$ref.replace('#/$defs/', '');
    return note(records[name] as JsonObject, value, name, found);
  }
  for (const one of (type.anyOf ?? []) as JsonObject[]) note(one, value, at, found);
  if (typeof value === 'string' && ((type.enum ?? []) as Json[]).includes(value)) found.add(`${at}=${value}`);
  if (Array.isArray(value)) {
    if (isJsonObject(type.items)) for (const item of value) note(type.items, item, at, found);
  } else if (isJsonObject(value)) {
    const properties = propertiesOf(type);
    for (const [key, member] of Object.entries(value)) {
      const known = properties[key];
      if (known !== undefined) {
        found.add(`${at}.${key}`);
        note(known, member, `${at}.${key}`, found);
      } else if (isJsonObject(type.additionalProperties)) note(type.additionalProperties, member, at, found);
    }
  }
}

/** A plan as data: functions, which its expressions are, by their text. */
function planText(plan: Plan | undefined): string {
  const seen = new Map<object, number>();
  return JSON.stringify(plan, (_, value: unknown) => {
    if (typeof value === 'function') return String(value);
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    const known = seen.get(value);
    if (known !== undefined) return `#${known}`;
    seen.set(value, seen.size);
    return value instanceof Map || value instanceof Set ? [...value] : value;
  });
}

describe('everything the language can express', () => {
  test('[SDK-20] there is no key and no choice that the builder cannot write', () => {
    const all = [
      ...wordsOf('workflow', schema),
      ...Object.entries(records).flatMap(([name, one]) => wordsOf(name, one)),
    ];
    const found = new Set<string>();
    for (const { definition } of workflows) note(schema, definition as unknown as Json, 'workflow', found);
    // The member is for editors, and not part of the workflow.
    found.add('workflow.$schema');
    expect(all.filter((word) => !found.has(word))).toEqual([]);
  });

  test.each(kinds)('[SDK-20] a node of the kind %s takes the options that it takes in YAML', (kind) => {
    const keys = Object.keys(nodeKeys).filter((key) => !kinds.includes(key) && key !== 'with' && key !== 'do');
    expect(keys.filter((key) => isTaken(kind, key) && !(key in OPTIONS[kind as Kind]))).toEqual([]);
  });

  test.each(workflows.map((one) => [one.id, one] as const))(
    '[SDK-10] %s: TypeScript to JSON to YAML and back is the same plan',
    (_, { definition, uses }) => {
      const used = (id: string) => uses.find((one) => one.id === id);
      const compiled = compilePlan(definition, catalog, { workflows: used });
      expect(compiled.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
      const text = JSON.stringify(definition);
      const viaJson = readDefinition(text, { file: 'a.json' });
      const viaYaml = readDefinition(stringify(JSON.parse(text)), { file: 'a.yaml' });
      for (const read of [viaJson, viaYaml]) {
        const again = read.definition as WorkflowDefinition;
        expect(canonicalJson(again as unknown as Json)).toBe(canonicalJson(definition as unknown as Json));
        const { plan } = compilePlan(again, catalog, { workflows: used });
        expect(planText(plan)).toBe(planText(compiled.plan));
      }
    },
  );
});

/** Returns whether YAML allows the key. */
function isTaken(kind: string, key: string): boolean {
  const samples: Readonly<Record<string, Json>> = {
    action: 'a.b@1',
    workflow: { id: 'other', mode: 'child' },
    terminate: 'completed',
  };
  const written = { [kind]: samples[kind] ?? {}, [key]: null };
  const { problems } = readDefinitionObject({ id: 'w', nodes: { a: written } });
  return !problems.some(({ code, path }) => code === 'MISPLACED_KEY' && path.at(-1) === key);
}

/** The compiler sees to it that these are just the options of each method. */
type Keys<O> = { readonly [K in keyof Required<O>]: true };

const NODE: Keys<NodeOptions<never, never>> = {
  name: true,
  needs: true,
  when: true,
  join: true,
  retry: true,
  timeout: true,
  onError: true,
  priority: true,
  estimate: true,
  enabled: true,
  notes: true,
  break: true,
  emit: true,
};
const LASTING: Keys<LastingOptions<never, never>> = { ...NODE, concurrency: true };
const ATTEMPTS = { ...LASTING, compensate: true, credentials: true } as const;
const ACTION: Keys<ActionOptions<never, never>> = {
  ...ATTEMPTS,
  effect: true,
  capabilities: true,
  labels: true,
  cache: true,
  rateLimit: true,
};
const FOR_EACH: Keys<ForEachOptions<never, never, never, never>> = {
  ...LASTING,
  parallel: true,
  maxConcurrency: true,
  minSuccess: true,
};
const WHILE: Keys<WhileOptions<never, never, never>> = { ...LASTING, condition: true, maxIterations: true };
const RETRY_UNTIL: Keys<RetryUntilOptions<never, never, never>> = {
  ...LASTING,
  attempts: true,
  until: true,
  backoff: true,
};
const WORKFLOW: Keys<SubWorkflowOptions<never, never, never, never>> = {
  ...ATTEMPTS,
  version: true,
  mode: true,
  isolation: true,
  output: true,
};
const { needs: _, join: __, timeout: ___, ...MERGED } = NODE;
const MERGE: Keys<MergeOptions<never, never, never>> = { ...MERGED, wait: true, timeout: true };

type Kind = keyof typeof OPTIONS;
const OPTIONS = {
  action: ACTION,
  dynamic: ACTION,
  branch: NODE,
  forEach: FOR_EACH,
  while: WHILE,
  retryUntil: RETRY_UNTIL,
  group: ATTEMPTS,
  workflow: WORKFLOW,
  wait: LASTING,
  set: NODE,
  terminate: NODE,
  split: LASTING,
  // The split of a merge takes its edges: nothing else leads to a merge.
  merge: { ...MERGE, needs: true, join: true },
};
