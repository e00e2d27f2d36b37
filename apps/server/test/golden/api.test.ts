/**
 * The shapes of the API, without its texts, as clients rely on them. After a change that is meant, and that CHANGELOG.md names,
 * `GOLDEN=record npm test -- apps/server/test/golden` writes the file again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openApiDocument } from '../../src/http/openapi.ts';

const FILE = new URL('api.golden.json', import.meta.url);
const TEXTS = new Set(['description', 'summary', 'tags']);

it('[SRV-675] the API has the shapes that are recorded', () => {
  const { paths, components } = JSON.parse(JSON.stringify(openApiDocument('0.0.0')), bare);
  const shapes: Record<string, unknown> = { ...components.schemas };
  for (const [path, methods] of Object.entries<object>(paths)) {
    for (const [method, operation] of Object.entries(methods)) shapes[`${method.toUpperCase()} ${path}`] = operation;
  }
  if (process.env.GOLDEN === 'record') writeFileSync(FILE, lines(shapes));
  expect(shapes).toEqual(JSON.parse(readFileSync(FILE, 'utf8')));
});

/** Leaves out texts. In `properties` a member of such a name is an object: a field. */
function bare(key: string, value: unknown): unknown {
  return TEXTS.has(key) && (typeof value === 'string' || Array.isArray(value)) ? undefined : value;
}

/** One line for each operation and each schema. */
function lines(shapes: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(shapes).sort();
  return `{\n${names.map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(shapes[name])}`).join(',\n')}\n}\n`;
}
