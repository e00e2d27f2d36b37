/** The commands of `nebula secrets`, as data. */
import { type CommandSpec, type OptionSpec, SERVER } from './spec.ts';

const OPTIONS: readonly OptionSpec[] = [
  {
    flags: '--data-dir <dir>',
    text: 'where secrets are stored (default: .nebula in the project folder, or $NEBULA_DATA_DIR)',
  },
  { flags: '--project <id>', text: 'the project that owns the secrets (default: default)' },
  ...SERVER,
  { flags: '--as <user>', text: 'sign in at the server as this user first; asks for the password' },
  { flags: '--password-stdin', text: 'read the password from the first line of stdin instead of asking' },
  { flags: '--json', text: 'print one JSON document on stdout' },
];

const VALUE_NOTE =
  'The value is read from stdin, without its last line break, or asked for at a terminal without echo. It is never an argument: other users of the machine can see arguments, and shells store them. With --password-stdin the value begins on the second line.';

export const SECRETS_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'secrets set',
    takes: '<name>',
    summary: 'store or replace a secret',
    group: 'Server',
    options: OPTIONS,
    examples: [
      ['secrets set stripe-key', 'asks for the value'],
      ['secrets set stripe-key < key.txt', 'reads the value from a file'],
    ],
    notes: `${VALUE_NOTE}
A value may be a JSON object of several fields.`,
    load: () => import('../commands/secrets-set.ts'),
  },
  {
    name: 'secrets list',
    takes: '',
    summary: 'list the names of secrets, never their values',
    group: 'Server',
    options: OPTIONS,
    examples: [['secrets list', 'with the time of the last change']],
    load: () => import('../commands/secrets-list.ts'),
  },
  {
    name: 'secrets rotate',
    takes: '[name]',
    summary: 'replace a value, or encrypt all secrets with a new key',
    group: 'Server',
    options: [{ flags: '--key', text: 'encrypt all secrets with a new key' }, ...OPTIONS],
    examples: [
      ['secrets rotate stripe-key', 'asks for the new value; the name must exist'],
      ['secrets rotate --key', 'all values stay the same'],
    ],
    notes: `${VALUE_NOTE}
With NEBULA_SECRETS_KEY, --key takes the new key from NEBULA_SECRETS_NEXT_KEY.`,
    load: () => import('../commands/secrets-rotate.ts'),
  },
  {
    name: 'secrets delete',
    takes: '<name>',
    summary: 'delete a secret',
    group: 'Server',
    options: OPTIONS,
    examples: [['secrets delete stripe-key', 'nodes that use it then fail']],
    load: () => import('../commands/secrets-delete.ts'),
  },
];
