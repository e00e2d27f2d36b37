/** The keys of the configuration, from the table that checks it. */
import { CONFIG_KEYS, type ConfigKey } from '@nebula/sdk';
import { typeText } from './language.ts';
import { cell, code, type Page, page, table } from './page.ts';

type Entry = readonly [path: string, key: ConfigKey];

export function configPage(): Page {
  const entries = Object.entries(CONFIG_KEYS) as Entry[];
  const sections = entries.filter(([path]) => isSection(path) && !path.includes('.'));
  const plain = entries.filter(([path]) => !path.includes('.') && !isSection(path));
  return page(
    'config',
    'Configuration',
    '`packages/sdk/src/config-keys.ts`',
    [
      'A project is configured in `nebula.config.ts` (or `.mts`, `.js`, `.mjs`), or in `nebula.config.yaml` with the same keys except those that are code. A misspelt key or a value of the wrong type is `CONFIG_INVALID` before anything runs.',
      'A command uses one configuration file: the nearest one in the folder of the workflow file that the command names, or above it; else above the data folder that `--data-dir` or `$NEBULA_DATA_DIR` names; else in the current folder or above it. `nebula doctor` prints its path.',
      'A running server applies changes of the keys marked *live* by itself. When another key changes, it says that the change takes effect after a restart.',
      '## Keys',
      keyTable(plain),
      ...sections.flatMap(([name, { doc, example }]) => [
        `## ${name}`,
        `${doc} For example ${code(example)}.`,
        keyTable(entries.filter(([path]) => path.startsWith(`${name}.`))),
      ]),
    ].join('\n\n'),
  );
}

function isSection(path: string): boolean {
  return Object.keys(CONFIG_KEYS).some((other) => other.startsWith(`${path}.`));
}

function keyTable(entries: readonly Entry[]): string {
  return table(
    ['key', 'type', 'meaning', 'default', 'example'],
    entries.map(([path, { type, doc, default: byDefault = '', example, isCode, isLive }]) => [
      code(path),
      cell(type === undefined ? 'object' : typeText(type)),
      cell(`${doc}${isLive ? ' *Live.*' : ''}${isCode ? ' *TypeScript only.*' : ''}`),
      cell(byDefault),
      code(example),
    ]),
  );
}
