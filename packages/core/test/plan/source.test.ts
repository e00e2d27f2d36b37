import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Action, compileSource, createCatalog, readDefinition } from '../../src/index.ts';
import { catalog as everyAction } from './compiling.ts';
import { EVERY_KIND } from './every-kind.ts';

const actions: readonly Action[] = [{ id: 'core.noop', version: '1', run: () => null }];
const catalog = createCatalog(actions);
const codes = (text: string): string[] => compileSource(text, catalog).problems.map(({ code }) => code);

describe('a source as a whole', () => {
  it('[PLN-4] mistakes of shape, graph, names and expressions are reported together, in order', () => {
    const found = codes(`id: x
nam: typo
config: { timeout: soon }
nodes:
  a: { action: core.nop, needs: [b], with: { v: "{{ 1 + }}" } }
  b: { action: core.noop, needs: [a], retry: { attempts: none } }
  c: { needs: [nobody], when: "$d.x" }
  d: { action: core.noop, with: [1] }
edges: [{ from: a, to: d, on: somtimes, when: "1 +" }]
output: "{{ $nowhere }}"`);
    expect(found).toEqual([
      'UNKNOWN_KEY',
      'BAD_DURATION',
      'UNKNOWN_ACTION',
      'CYCLE',
      'EXPRESSION_SYNTAX',
      'WRONG_TYPE',
      'MISSING_KIND',
      'UNKNOWN_NODE',
      'UNREACHABLE',
      'WRONG_TYPE',
      'UNKNOWN_CHOICE',
      'EXPRESSION_SYNTAX',
      'UNKNOWN_REFERENCE',
    ]);
  });

  it('[PLN-2] a misspelt need does not make its target look unreachable', () => {
    const found = codes(`id: x
nodes:
  a: { action: core.noop }
  b: { action: core.noop, needs: [aa], with: { v: "{{ $a }}" } }`);
    expect(found).toEqual(['UNKNOWN_NODE']);
  });

  it('[PLN-10] compiling never throws, for any definition', () => {
    const keys = fc.constantFrom(
      'action',
      'needs',
      'when',
      'with',
      'retry',
      'timeout',
      'join',
      'onError',
      'effect',
      'x',
    );
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom('{{ $a }}', '{{', 'core.noop', 'a', ['a', 'b'], { attempts: 2 }, '10s', 'all', 3),
    );
    const node = fc.oneof({ weight: 4, arbitrary: fc.dictionary(keys, anything) }, { weight: 1, arbitrary: anything });
    const definition = fc.record(
      {
        id: fc.oneof({ weight: 9, arbitrary: fc.constant('x') }, { weight: 1, arbitrary: anything }),
        input: anything,
        variables: anything,
        config: fc.oneof(
          anything,
          fc.dictionary(fc.constantFrom('mode', 'timeout', 'retry', 'capabilities'), anything),
        ),
        nodes: fc.oneof(anything, fc.dictionary(fc.constantFrom('a', 'b', 'c'), node)),
        edges: fc.oneof(
          anything,
          fc.array(fc.oneof(anything, fc.dictionary(fc.constantFrom('from', 'to', 'when', 'on', 'match'), anything))),
        ),
        output: anything,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(definition, (value) => {
        const { plan, problems } = compileSource(JSON.stringify(value), catalog, { format: 'json' });
        expect(plan === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 1_000) },
    );
  });

  it('[PLN-10] garbage anywhere in a workflow of every kind gives problems, never an exception', {
    timeout: 600_000,
  }, () => {
    const whole = readDefinition(EVERY_KIND).definition as unknown as Record<string, unknown>;
    const paths: (string | number)[][] = [];
    const collect = (value: unknown, path: (string | number)[]): void => {
      if (path.length > 0) paths.push(path);
      if (typeof value !== 'object' || value === null) return;
      for (const [key, member] of Object.entries(value))
        collect(member, [...path, Array.isArray(value) ? Number(key) : key]);
    };
    collect(whole, []);
    const garbage = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>('{{ $a }}', '{{', '$item', 'fetch', ['fetch'], {}, [], '10s', 3, true, null, undefined),
      fc.constantFrom<unknown>(
        { nodes: { q: { action: 'core.noop' } } },
        { nodes: { q: 5 }, edges: ['q -> q', 7, 'x'], output: '{{ $q }}' },
        { in: [1], wait: 'any', cases: [{ to: 'fetch' }, 5], id: 'sub' },
        { split: { in: 1 }, merge: {}, needs: ['sp'] },
      ),
    );
    const change = fc.record({
      path: fc.constantFrom(...paths),
      value: garbage,
      key: fc.constantFrom(
        undefined,
        ...'do branch forEach split merge set wait needs with retry edges output break emit'.split(' '),
      ),
    });
    const workflows = (id: string) => (id === 'sub' ? { id, nodes: { a: { action: 'core.noop' } } } : undefined);
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const value = structuredClone(whole);
        for (const { path, value: put, key } of changes) {
          const way = key === undefined ? path : [...path, key];
          let at: unknown = value;
          for (const step of way.slice(0, -1)) at = (at as Record<string | number, unknown> | undefined)?.[step];
          if (typeof at === 'object' && at !== null)
            (at as Record<string | number, unknown>)[way.at(-1) as string] = structuredClone(put);
        }
        const { plan, problems } = compileSource(JSON.stringify(value), everyAction, { format: 'json', workflows });
        expect(plan === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 1_000) },
    );
  });

  const corpus = join(import.meta.dirname, '../../../../../shared/corpora/bad-input');
  // The corpus lies beside the repository and is not part of it.
  it.skipIf(!existsSync(corpus))('[PLN-10] every file of the bad-input corpus gives a plan or problems', () => {
    const files = readdirSync(corpus, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(50);
    for (const { parentPath, name } of files) {
      const { plan, problems } = compileSource(readFileSync(join(parentPath, name)), catalog, { file: name });
      expect(plan === undefined, name).toBe(problems.some(({ severity }) => severity === 'error'));
    }
  });
});
