/** Every rule of ports/SPEC.md has a test in the contract suites, and every test names rules that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const PORTS = new URL('../../ports/', import.meta.url);
const PREFIXES = ['STO', 'QUE', 'BLO', 'LOG', 'CLK', 'RND'];

test('rules and tests fit together', () => {
  const spec = readFileSync(new URL('SPEC.md', PORTS), 'utf8');
  const rules = [...spec.matchAll(/^- \*\*([A-Z]{3}-\d+)\*\*/gm)].map((match) => match[1] as string);
  const folder = new URL('src/conformance/', PORTS);
  const suites = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const tagged = suites.flatMap((text) => [...text.matchAll(/\[([A-Z]{3}-\d+)\]/g)].map((match) => match[1] as string));
  const ours = new Set(tagged.filter((id) => PREFIXES.includes(id.slice(0, 3))));
  expect(new Set(rules).size).toBe(rules.length);
  expect([...ours].sort()).toEqual(rules.filter((id) => PREFIXES.includes(id.slice(0, 3))).sort());
});
