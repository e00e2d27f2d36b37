import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDefinitionObject } from '../../src/definition/check.ts';
import { RECORDS } from '../../src/definition/keys.ts';
import { workflowJsonSchema } from '../../src/definition/schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/value.ts';

const schema = workflowJsonSchema();
const accepts = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(schema);

const GOOD = {
  nebula: 1,
  id: 'x',
  tags: ['a'],
  config: {
    mode: 'levels',
    timeout: '1h',
    retention: 'forever',
    retry: { policy: 'mine', attempts: 3 },
    failureNode: 'tell',
    start: { key: '$input.id', policy: 'debounce', window: '1s' },
  },
  nodes: {
    a: { action: 'http.request@1.2', with: { x: 1 }, timeout: { attempt: 'PT5M' }, join: 'all', onError: 'branch' },
    b: {
      action: 'y',
      needs: 'a',
      when: 'true',
      timeout: '1.5s',
      retry: { delay: '1s', attempts: 2 },
      capabilities: { files: { read: [] } },
    },
    route: {
      branch: { on: '$a.x', cases: { paid: 'pick', '': ['each'], 'any text': [] }, default: 'loop' },
    },
    pick: {
      branch: {
        cases: [
          { when: true, to: 'each' },
          { match: { n: { gt: 1 } }, to: ['loop'] },
        ],
        default: ['again'],
        many: true,
      },
    },
    each: {
      forEach: { in: [1, 'x'], parallel: true, maxConcurrency: 2, minSuccess: '50%' },
      do: {
        nodes: {
          x: { action: 'y', emit: '$self.output', break: true },
          inner: { forEach: { in: '$item.list' }, do: { nodes: { z: { action: 'y' } }, output: 1 } },
        },
        edges: ['x -> inner'],
        output: '{{ $x }}',
      },
      timeout: '1h',
      concurrency: { key: 'k' },
    },
    loop: { while: { condition: '$vars.n < 3', maxIterations: 5 }, do: { nodes: { s: { set: { n: 1 } } } } },
    again: {
      retryUntil: { until: '$self.output', attempts: 3, backoff: { initial: '1s', max: '3s', on: ['X'] } },
      do: { nodes: { s: { terminate: 'failed', with: { error: 'no' } } } },
    },
    sub: { workflow: { id: 'other', version: 2, mode: 'inline', input: { a: 1 }, output: 'x', isolation: 'shared' } },
    child: {
      workflow: { id: 'other', mode: 'child' },
      retry: { attempts: 2 },
      compensate: { action: 'y', timeout: '1s' },
    },
    dyn: {
      dynamic: { action: 'y', with: {} },
      cache: { version: 2, ttl: '1h', ignore: ['a'], overwrite: true },
      rateLimit: { key: 'k', limit: 1, per: '1s' },
      compensate: { action: 'y', with: { a: 1 }, retry: { attempts: 2 }, timeout: { total: '1s' } },
    },
    pause: { wait: { for: '{{ $input.d }}', deadline: '2030-01-01T00:00:00Z' } },
    hold: { wait: { any: [{ until: '$input.at' }, { signal: 's', key: 1, schema: true }], deadline: '7d' } },
    ask: { wait: { approval: { title: 't', form: {}, who: ['me'] } } },
    call: { wait: { callback: true } },
    tell: { action: 'y' },
    fan: { split: { in: '$input.list' } },
    work: { needs: 'fan', action: 'y' },
    fold: { needs: 'work', merge: { wait: 'any', timeout: '5s' } },
  },
  edges: ['a -> b', { from: 'a', to: 'b', on: 'error', match: { code: ['X'] } }],
  output: null,
};

/** Mistakes that a schema can see. A schema sees no mistake that depends on other keys or on the graph. */
const VISIBLE =
  /^(?:UNKNOWN_KEY|NOT_BUILT_YET|MISSING_KEY|MISSING_KIND|SEVERAL_KINDS|WRONG_TYPE|BAD_ID|OUT_OF_RANGE|UNKNOWN_CHOICE|BAD_ACTION_REFERENCE|BAD_EDGE|BAD_PERCENT|MISSING_BODY)$/;

function compare(document: Json): void {
  const { problems } = readDefinitionObject(document);
  const errors = problems.filter(({ severity }) => severity === 'error');
  const valid = accepts(document);
  if (errors.length === 0) expect(valid, JSON.stringify(accepts.errors)).toBe(true);
  // The inside of a matcher depends on `on`.
  if (errors.some(({ code, path }) => VISIBLE.test(code) && !path.includes('match'))) expect(valid).toBe(false);
}

describe('the published JSON Schema', () => {
  it('[DEF-69] is a valid schema of draft 2020-12 and accepts a good definition', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(accepts(GOOD)).toBe(true);
    expect(readDefinitionObject(GOOD).problems).toEqual([]);
  });

  it('[DEF-69] describes every key that is built, and no other', () => {
    const definitions = schema.$defs as JsonObject;
    for (const record of RECORDS) {
      const properties = (
        record.name === 'workflow' ? schema.properties : (definitions[record.name] as JsonObject).properties
      ) as JsonObject;
      const built = Object.keys(record.keys).filter((key) => !record.keys[key]?.later);
      expect(Object.keys(properties)).toEqual(built);
      for (const key of built) expect((properties[key] as JsonObject).description).toBeTruthy();
    }
  });

  it('[DEF-69] agrees with the reader, whatever value stands where', { timeout: 600_000 }, () => {
    const paths: (string | number)[][] = [];
    const collect = (value: unknown, path: (string | number)[]): void => {
      if (path.length > 0) paths.push(path);
      if (Array.isArray(value)) for (const [index, item] of value.entries()) collect(item, [...path, index]);
      else if (isJsonObject(value)) for (const [key, member] of Object.entries(value)) collect(member, [...path, key]);
    };
    collect(GOOD, []);
    for (const record of RECORDS)
      for (const key of Object.keys(record.keys))
        paths.push(
          [key],
          ['config', key],
          ['nodes', 'b', key],
          ['edges', 1, key],
          ['nodes', 'b', 'retry', key],
          ['nodes', 'each', 'forEach', key],
          ['nodes', 'hold', 'wait', key],
        );
    const value = fc.oneof(
      fc.constantFrom<Json>(
        null,
        true,
        false,
        0,
        1,
        5,
        10,
        1.5,
        -1,
        '',
        ' ',
        'a',
        'x y',
        '10s',
        'PT1H',
        '10',
        'any',
        'error',
        'always',
        'a -> b',
        'a -> b -> a',
        '{{ 1 }}',
        'http.request@1',
        '50%',
        '101%',
        '2030-01-01',
      ),
      fc.constantFrom<Json>(
        [],
        ['a'],
        [1],
        {},
        { a: 1 },
        { action: 'x' },
        { attempts: 1 },
        { from: 'a', to: 'b' },
        { read: ['x'] },
      ),
      fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    );
    fc.assert(
      fc.property(fc.constantFrom(...paths), value, (path, changed) => {
        const document = structuredClone(GOOD) as unknown as Record<string, Json>;
        let at = document as Record<string | number, unknown>;
        for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
        const last = path.at(-1) as string;
        if (last === '__proto__') return;
        at[last] = changed;
        compare(document);
      }),
      {
        numRuns: Number(process.env.FUZZ_RUNS ?? 3_000),
        ...(process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) }),
      },
    );
  });
});
