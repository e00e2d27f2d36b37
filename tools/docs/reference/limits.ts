/** The budgets of everything that comes from outside. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../playground.ts';
import { cell, code, type Page, page, table } from './page.ts';

const AREAS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Connections, heads and bodies', /^(connection|head|body|request|input|time)\./],
  ['Log lines', /^(log|chunk)\./],
  ['Definitions and expressions', /^(definition|expression)\./],
  ['Drafts and layouts', /^(draft|layout)\./],
  ['JSON Schemas', /^schema\./],
  ['File triggers', /^(pattern|watch)\./],
  ['Followers', /^(follower|socket)\./],
  ['Remote workers', /^announced\./],
  ['Launch plans and schedules', /^(plan|schedule)\./],
  ['Backups and notifications', /^(backup|notification)\./],
  ['Graphs that actions return', /^returned\./],
  ['Test runs', /^test\./],
];

interface Budget {
  readonly of: string;
  readonly limit: number;
  readonly unit: string;
  readonly what: string;
  readonly over: string;
}

export async function limitsPage(): Promise<Page> {
  // The table of an app is read by path, because no package imports an app.
  const file = path.join(ROOT, 'apps/server/src/budgets.ts');
  const { BUDGETS } = (await import(pathToFileURL(file).href)) as {
    readonly BUDGETS: Readonly<Record<string, Budget>>;
  };
  const rows = Object.entries(BUDGETS);
  const homeless = rows.filter(([name]) => !AREAS.some(([, names]) => names.test(name)));
  if (homeless.length > 0) throw new Error(`no area of the page has ${homeless.map(([name]) => name).join(', ')}`);
  const parts = AREAS.map(([title, names]) => {
    const own = rows.filter(([name]) => names.test(name));
    const cells = own.map(([name, { of, limit, unit, what, over }]) => [
      code(name),
      cell(what),
      of,
      `${limit.toLocaleString('en')} ${unit}`,
      cell(over),
    ]);
    return `## ${title}\n\n${table(['budget', 'applies to', 'kind', 'limit', 'above the limit'], cells)}`;
  });
  const about =
    'All input from outside has a named budget. [Security](../security.md) lists the guarantees that follow from it.';
  return page('limits', 'Limits', '`apps/server/src/budgets.ts`', [about, ...parts].join('\n\n'));
}
