/** Every budget of what comes from outside. */
import { BUDGETS, type Budget } from '@nebula/server/budgets';
import { cell, code, type Page, page, table } from './page.ts';

const AREAS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Connections, heads and bodies', /^(connection|head|body|request|input|time)\./],
  ['Log lines', /^(log|chunk)\./],
  ['Definitions and expressions', /^(definition|expression)\./],
  ['JSON Schemas', /^schema\./],
  ['Patterns of file triggers', /^pattern\./],
  ['Followers', /^(follower|socket)\./],
];

export function limitsPage(): Page {
  const rows = Object.entries(BUDGETS) as [string, Budget][];
  const parts = AREAS.map(([title, names]) => {
    const own = rows.filter(([name]) => names.test(name));
    const cells = own.map(([name, { of, limit, unit, what, over }]) => [
      code(name),
      cell(what),
      of,
      `${limit.toLocaleString('en')} ${unit}`,
      cell(over),
    ]);
    return `## ${title}\n\n${table(['budget', 'what', 'of', 'limit', 'above it'], cells)}`;
  });
  const about =
    'Every place that takes input from outside has a named budget. [Security](../security.md) says what follows from that.';
  return page('limits', 'Limits', '`apps/server/src/budgets.ts`', [about, ...parts].join('\n\n'));
}
