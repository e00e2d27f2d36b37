/** The commands of `nebula secrets`, as data. */
import { type CommandSpec, type OptionSpec, SERVER } from './spec.ts';

const OPTIONS: readonly OptionSpec[] = [
  {
    flags: '--data-dir <dir>',
    text: 'where secrets are kept (default: .nebula in the project folder, or $NEBULA_DATA_DIR)',
  },
  { flags: '--project <id>', text: 'the project whose secrets they are (default: default)' },
  ...SERVER,
  { flags: '--as <user>', text: 'sign in at the server as this user first; asks for the password' },
  { flags: '--password-stdin', text: 'read the password from the first line of stdin instead of asking' },
  { flags: '--json', text: 'print one JSON document on stdout' },
];

const VALUE_NOTE =
  'The value is read from stdin, without its last line break, or asked for at a terminal and not shown. It is never an argument: arguments are seen by everybody on the machine and kept by the shell. With --password-stdin it begins on the second line.';

export const SECRETS_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'secrets set',
    takes: '<name>',
    summary: 'keep a secret, or replace it',
    group: 'Server',
    options: OPTIONS,
    examples: [
      ['secrets set stripe-key', 'asks for the value'],
      ['secrets set stripe-key < key.txt', 'takes it from a file'],
    ],
    notes: `${VALUE_NOTE}
A value may be a JSON object of several fields.`,
    load: () => import('../commands/secrets-set.ts'),
  },
  {
    name: 'secrets list',
    takes: '',
    summary: 'the names of the secrets, never their values',
    group: 'Server',
    options: OPTIONS,
    examples: [['secrets list', 'and when each was changed']],
    load: () => import('../commands/secrets-list.ts'),
  },
  {
    name: 'secrets rotate',
    takes: '[name]',
    summary: 'give a secret a new value, or seal all under a new key',
    group: 'Server',
    options: [{ flags: '--key', text: 'instead of one value: seal all secrets under a new key' }, ...OPTIONS],
    examples: [
      ['secrets rotate stripe-key', 'asks for the new value; refuses a name that is not there'],
      ['secrets rotate --key', 'no value changes'],
    ],
    notes: `${VALUE_NOTE}
With NEBULA_SECRETS_KEY, --key takes the new key from NEBULA_SECRETS_NEXT_KEY.`,
    load: () => import('../commands/secrets-rotate.ts'),
  },
  {
    name: 'secrets delete',
    takes: '<name>',
    summary: 'forget a secret',
    group: 'Server',
    options: OPTIONS,
    examples: [['secrets delete stripe-key', 'nodes that name it fail from now on']],
    load: () => import('../commands/secrets-delete.ts'),
  },
];
