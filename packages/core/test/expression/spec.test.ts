/** Rules and tests name each other: a rule without a test, or a test of an unknown rule, fails. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const folder = import.meta.dirname;

it('every rule of spec/expression.md has a test, and every test a rule', () => {
  const spec = readFileSync(join(folder, '../../spec/expression.md'), 'utf8');
  const rules = [...spec.matchAll(/^- \*\*(EXP-\d+)\*\* /gm)].map((match) => match[1] as string);
  const tests = readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const named = new Set([...tests.matchAll(/\[(EXP-\d+)\]/g)].map((match) => match[1] as string));
  expect(new Set(rules).size).toBe(rules.length);
  expect(rules.filter((rule) => !named.has(rule))).toEqual([]);
  expect([...named].filter((rule) => !rules.includes(rule))).toEqual([]);
});
