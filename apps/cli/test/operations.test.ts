import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROUTES } from '@nebula/client/routes';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/command-table.ts';
import { COMMAND_OPERATIONS } from './support/command-operations.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Operations by a name of their own in `NebulaClient`. */
const BY_NAME: readonly (readonly [call: RegExp, operation: string])[] = [
  [/\.events\(/, 'followExecution'],
  [/\.logs\(/, 'followLogs'],
  [/\.allEvents\(/, 'followAll'],
  [/\.blob\(/, 'getBlob'],
  [/\.result\(/, 'getResult'],
];

/** Operations for foreign workers: ours is seen by its claims and leases. */
const UNCALLED: ReadonlySet<string> = new Set(['beatWorker']);

function sourcesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(path.join(root, folder, name), 'utf8'));
}

/** The operations that programs call, by their literals: the types allow only existing operations. */
function called(): Set<string> {
  const found = new Set<string>();
  for (const text of [...sourcesIn('apps/cli/src'), ...sourcesIn('packages/worker/src')]) {
    for (const [, operation = ''] of text.matchAll(/(?:call|all|deleteCommand)\(\s*'(\w+)'/g)) found.add(operation);
    for (const [, operation = ''] of text.matchAll(/operation: '(\w+)'/g)) found.add(operation);
    for (const [call, operation] of BY_NAME) if (call.test(text)) found.add(operation);
  }
  return found;
}

describe('commands and operations', () => {
  test('[CLI-400] every operation of the contract has a command, which calls it', () => {
    const spoken = new Set(Object.values(COMMAND_OPERATIONS).flat());
    const operations = Object.keys(ROUTES);
    expect(operations.filter((operation) => !spoken.has(operation as never))).toEqual([]);
    const calls = called();
    expect(operations.filter((operation) => !calls.has(operation) && !UNCALLED.has(operation))).toEqual([]);
  });

  test('[CLI-400] every command says which operations it speaks', () => {
    expect(COMMANDS.map(({ name }) => name).toSorted()).toEqual(Object.keys(COMMAND_OPERATIONS).toSorted());
  });
});
