/** `npm run docs`: writes the reference pages and the published JSON Schema from the tables of the program itself. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Json, workflowJsonSchema } from '@nebula/core';
import { ROOT } from './playground.ts';
import { actionsPage } from './reference/actions.ts';
import { cliPage } from './reference/cli.ts';
import { configPage } from './reference/config.ts';
import { errorsPage } from './reference/errors.ts';
import { functionsPage } from './reference/functions.ts';
import { languagePage } from './reference/language.ts';
import { limitsPage } from './reference/limits.ts';
import type { Page } from './reference/page.ts';

export async function generatedPages(): Promise<Page[]> {
  return [
    await languagePage(),
    actionsPage(),
    functionsPage(),
    await cliPage(),
    configPage(),
    errorsPage(),
    await limitsPage(),
    { path: 'docs/workflow.schema.json', text: `${jsonText(workflowJsonSchema())}\n` },
  ];
}

const LINE_WIDTH = 120;

/** JSON in the layout of the formatter: objects on several lines, short lists on one. */
function jsonText(value: Json, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => jsonText(item, inner));
    const line = `[${items.join(', ')}]`;
    const fits = !line.includes('\n') && indent.length + line.length < LINE_WIDTH - 20;
    return fits ? line : `[\n${items.map((item) => inner + item).join(',\n')}\n${indent}]`;
  }
  const members = Object.entries(value).map(
    ([name, item]) => `${inner}${JSON.stringify(name)}: ${jsonText(item as Json, inner)}`,
  );
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}

if (import.meta.main) {
  for (const { path: name, text } of await generatedPages()) {
    const file = path.join(ROOT, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`${name}  ${text.split('\n').length - 1} lines`);
  }
}
