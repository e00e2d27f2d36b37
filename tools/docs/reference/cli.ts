/** The commands, from the table that parser, help and completion are made from. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../playground.ts';
import { cell, code, type Page, page, table } from './page.ts';

interface CommandSpec {
  readonly name: string;
  readonly takes: string;
  readonly summary: string;
  readonly group: string;
  readonly options: readonly { readonly flags: string; readonly text: string; readonly choices?: readonly string[] }[];
  readonly examples: readonly (readonly [words: string, purpose: string])[];
  readonly notes?: string;
}

export async function cliPage(): Promise<Page> {
  // The table of an app is read by path, because no package imports an app.
  const file = path.join(ROOT, 'apps/cli/src/command-table.ts');
  const { COMMANDS } = (await import(pathToFileURL(file).href)) as { readonly COMMANDS: readonly CommandSpec[] };
  const groups = [...new Set(COMMANDS.map(({ group }) => group))];
  const sections = groups.flatMap((group) => [
    `## ${group}`,
    ...COMMANDS.filter((command) => command.group === group).map(section),
  ]);
  return page(
    'cli',
    'The `nebula` command',
    '`apps/cli/src/command-table.ts`',
    [
      'In the repository and in projects, run `npx nebula`. `nebula <command> --help` prints the same in the terminal. [Operations](../operations.md) explains when to use which command.',
      table(
        ['exit code', 'meaning'],
        EXIT_CODES.map(([number, meaning]) => [code(number), meaning]),
      ),
      table(
        ['environment variable', 'effect'],
        ENVIRONMENT.map(([name, effect]) => [code(name), effect]),
      ),
      ...sections,
    ].join('\n\n'),
  );
}

const EXIT_CODES = [
  ['0', 'completed, or done'],
  ['1', 'the run failed'],
  ['2', 'invalid file, input or usage'],
  ['3', 'cancelled or timed out'],
  [
    '4',
    'parked: it waits for a person, a signal, a call, the settling of an unknown outcome, or for longer than a minute',
  ],
  ['70', 'a bug in Nebula'],
  ['130', 'interrupted; the run can be resumed'],
] as const;

const ENVIRONMENT = [
  ['NEBULA_DATA_DIR', 'where runs are kept, unless `--data-dir` says otherwise'],
  ['NEBULA_SERVER', 'the server to talk to, unless `--server` or `--context` says otherwise'],
  ['NEBULA_TOKEN', 'who you are there, unless `--token` says otherwise'],
  ['XDG_CONFIG_HOME', 'where `nebula/contexts.json` is; `~/.config` otherwise'],
  ['NEBULA_DEBUG', '`1` shows where an error comes from'],
  ['NO_COLOR', 'no colours; `FORCE_COLOR` means colours even in a pipe'],
] as const;

function section({ name, takes, summary, options, examples, notes }: CommandSpec): string {
  const parts = [
    `### nebula ${name}`,
    `\`nebula ${[name, takes, options.length > 0 ? '[options]' : ''].filter((part) => part !== '').join(' ')}\`: ${summary}.`,
  ];
  if (options.length > 0) {
    const rows = options.map(({ flags, text, choices }) => [
      code(flags),
      cell(`${text}${choices === undefined ? '' : `: ${choices.map((choice) => `\`${choice}\``).join(', ')}`}`),
    ]);
    parts.push(table(['option', 'meaning'], rows));
  }
  parts.push(
    table(
      ['example', ''],
      examples.map(([words, purpose]) => [code(`nebula ${words}`), cell(purpose)]),
    ),
  );
  if (notes !== undefined) parts.push(cell(notes.replaceAll('\n', ' ')));
  return parts.join('\n\n');
}
