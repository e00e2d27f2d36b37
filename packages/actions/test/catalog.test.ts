import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Action, isJsonObject, type Json, type JsonObject } from '@nebula/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { builtinActions } from '../src/index.ts';

const byId = builtinActions.map((action) => [action.id, action] as const);
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateSchema: true });

describe.each(byId)('%s', (_, action) => {
  test('[ACT-1] is described for forms and for the reference', () => {
    expect(action.title).toBeTruthy();
    expect(action.description).toMatch(/\.$/);
    expect(action.effect).toBeDefined();
    expect(action.capabilities).toBeDefined();
    expect(action.input).toBeDefined();
    expect(action.output).toBeDefined();
    expect(action.category).toMatch(/^(data|files|flow|network|system|time)$/);
    expect(action.icon).toMatch(/^[a-z][a-z-]+$/);
  });

  test('[ACT-1] has an example whose parameters fit its schema', () => {
    const fits = ajv.compile(action.input as JsonObject);
    expect(action.examples?.length).toBeGreaterThan(0);
    for (const { title, with: parameters } of action.examples ?? []) {
      // The value of an expression may have any type.
      const isOpen = JSON.stringify(parameters).includes('{{');
      const given = isOpen ? Object.keys(parameters) : [];
      const known = Object.keys(((action.input as JsonObject).properties as JsonObject | undefined) ?? {});
      expect([title, isOpen || fits(parameters)]).toEqual([title, true]);
      if (known.length > 0) expect(known).toEqual(expect.arrayContaining(given));
    }
  });

  test('[ACT-1] has members with titles and descriptions, whose defaults and examples fit', () => {
    const schema = action.input as JsonObject;
    ajv.compile(schema);
    ajv.compile(action.output as JsonObject);
    if (schema.properties === undefined) return;
    expect(schema.additionalProperties).toBe(false);
    for (const [name, member] of Object.entries(schema.properties as Record<string, JsonObject>)) {
      expect([name, typeof member.title, typeof member.description]).toEqual([name, 'string', 'string']);
      const fits = ajv.compile(member);
      const samples = [
        ...((member.examples as Json[] | undefined) ?? []),
        ...('default' in member ? [member.default] : []),
      ];
      for (const sample of samples) {
        const isExpression = typeof sample === 'string' && sample.includes('{{');
        expect([name, sample, isExpression || fits(sample)]).toEqual([name, sample, true]);
      }
    }
  });
});

test('[ACT-1] ids are unique and sorted', () => {
  const ids = builtinActions.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids).toHaveLength(10);
  expect(builtinActions.every((action) => isJsonObject(action.input))).toBe(true);
});

test('[ACT-2] importing the actions loads nothing heavy', async () => {
  const index = new URL('../src/index.ts', import.meta.url).href;
  const script = `
    const before = new Set(process.moduleLoadList);
    await import(${JSON.stringify(index)});
    const { createRequire } = await import('node:module');
    const packages = Object.keys(createRequire(${JSON.stringify(index)}).cache);
    console.log(JSON.stringify([...process.moduleLoadList.filter((name) => !before.has(name)), ...packages]));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const loaded: string[] = JSON.parse(stdout);
  expect(loaded.filter((name) => name.includes('/node_modules/ajv'))).toEqual([]);
  for (const heavy of ['child_process', 'undici', 'http', 'net', 'tls', 'worker_threads']) {
    expect(loaded).not.toContain(`NativeModule ${heavy}`);
    expect(loaded).not.toContain(`NativeModule internal/deps/undici/${heavy}`);
  }
});

test('[PLN-86] the resources of built-in actions are derived from their parameters', () => {
  const reach = (id: string, list: keyof NonNullable<Action['reaches']>, input: Json) =>
    builtinActions.find((action) => action.id === id)?.reaches?.[list]?.(input);
  expect(reach('http.request', 'network', { url: 'https://API.example.com/a?b' })).toBe('api.example.com');
  expect(reach('http.request', 'network', { url: 'http://localhost:8080' })).toBe('localhost:8080');
  // Not where an expression, of which a private character is left, may change the host.
  for (const url of [
    '\u{E000}',
    'https://a.example\u{E000}/',
    'https://\u{E000}@a.example/',
    'https://a.example:\u{E000}/x',
  ]) {
    expect(reach('http.request', 'network', { url })).toBeUndefined();
  }
  expect(reach('file.read', 'files.read', { path: 'data/x.csv' })).toBe('data/x.csv');
  expect(reach('file.write', 'files.write', { path: 'out/x', content: '' })).toBe('out/x');
  expect(reach('shell.run', 'shell', { program: 'git' })).toBe('git');
  expect(reach('shell.run', 'shell', { command: 'ls | wc' })).toBe('sh');
});
