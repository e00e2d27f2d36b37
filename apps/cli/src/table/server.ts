/** Commands about the records of a server: schedules, launch plans, users, secrets and so on. */
import { AT, commands, JSON_OUTPUT, type OptionSpec, PROJECT, SERVER } from './spec.ts';

const AS_USER: readonly OptionSpec[] = [
  { flags: '--as <user>', text: 'sign in as this user first; asks for the password' },
  { flags: '--password-stdin', text: 'read the password from stdin instead of asking' },
];
const BY_ADMIN: readonly OptionSpec[] = [
  { flags: '--as <admin>', text: 'sign in at the server as this administrator first; asks for the password' },
  {
    flags: '--password-stdin',
    text: 'read passwords from stdin instead of asking, one per line, the one of --as first',
  },
];
const ROLE: OptionSpec = {
  flags: '--role <project=role>',
  text: 'viewer, operator, editor or owner in a project; may be given several times',
  repeatable: true,
};
const OF_SECRETS: readonly OptionSpec[] = [
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

export const SERVER_COMMANDS = commands('Server', [
  {
    usage: 'schedules list',
    summary: 'list schedules and when they fire next',
    options: [PROJECT, ...AT],
    examples: [['schedules list', 'including schedules of triggers']],
    load: async () => (await import('../commands/schedules.ts')).list,
  },
  {
    usage: 'schedules show <schedule>',
    summary: 'show a schedule with its input',
    options: AT,
    examples: [['schedules show nightly', 'what it starts and when']],
    load: async () => (await import('../commands/schedules.ts')).show,
  },
  {
    usage: 'schedules set <schedule>',
    summary: 'create or change a schedule',
    options: [
      { flags: '--workflow <id>', text: 'the workflow to start' },
      { flags: '--plan <id>', text: 'the launch plan to start instead' },
      { flags: '--cron <text>', text: 'when: minute hour day month weekday' },
      { flags: '--every <duration>', text: 'fire at this interval instead of --cron: 15m' },
      { flags: '--timezone <name>', text: 'the time zone of --cron (default: UTC)' },
      { flags: '--input <json>', text: 'the input of its runs: JSON, @file, or - for stdin' },
      { flags: '--on', text: 'turn the schedule on' },
      { flags: '--off', text: 'turn the schedule off' },
      ...AT,
    ],
    examples: [
      ["schedules set nightly --workflow report --cron '0 2 * * *' --timezone Europe/Berlin", 'every night'],
      ['schedules set nightly --off', 'turn it off; other settings stay'],
    ],
    notes: 'Options that are not given keep their value. Change the schedule of a trigger in its workflow.',
    load: async () => (await import('../commands/schedules.ts')).set,
  },
  {
    usage: 'schedules remove <schedule>',
    summary: 'delete a schedule',
    options: AT,
    examples: [['schedules remove nightly', 'open runs continue']],
    load: async () => (await import('../commands/schedules.ts')).remove,
  },
  {
    usage: 'schedules fire <schedule>',
    summary: 'fire a schedule now',
    options: AT,
    examples: [['schedules fire nightly-report--0', 'without waiting for its time']],
    load: async () => (await import('../commands/schedules.ts')).fire,
  },
  {
    usage: 'plans list',
    summary: 'list launch plans: workflows with stored inputs and limits',
    options: [PROJECT, ...AT],
    examples: [['plans list', 'with the workflow that each starts']],
    load: async () => (await import('../commands/launch-plans.ts')).list,
  },
  {
    usage: 'plans show <plan>',
    summary: 'show a launch plan with its inputs',
    options: AT,
    examples: [['plans show nightly', 'its workflow, inputs and limits']],
    load: async () => (await import('../commands/launch-plans.ts')).show,
  },
  {
    usage: 'plans set <plan>',
    summary: 'create or change a launch plan',
    options: [
      { flags: '--workflow <id>', text: 'the workflow to start; required for a new launch plan' },
      { flags: '--workflow-version <number>', text: 'this version instead of the active one' },
      { flags: '--description <text>', text: 'what the launch plan is for' },
      { flags: '--default <json>', text: 'inputs that a start may replace: JSON, @file, or - for stdin' },
      { flags: '--fixed <json>', text: 'inputs that no start may replace: JSON, @file, or - for stdin' },
      { flags: '--limit <count>', text: 'most runs at once; `none` removes the limit' },
      {
        flags: '--policy <policy>',
        text: 'a start above the limit is skipped, waits, or replaces the oldest run',
        choices: ['skip', 'wait', 'replace'],
      },
      ...AT,
    ],
    examples: [
      ['plans set nightly --workflow report --default \'{"region": "eu"}\'', 'with an input'],
      ['plans set nightly --limit 1 --policy wait', 'one run at once; other settings stay'],
    ],
    notes: 'Options that are not given keep their value. `nebula start PLAN --plan` starts a launch plan.',
    load: async () => (await import('../commands/launch-plans.ts')).set,
  },
  {
    usage: 'plans remove <plan>',
    summary: 'delete a launch plan',
    options: AT,
    examples: [['plans remove nightly', 'open runs continue']],
    load: async () => (await import('../commands/launch-plans.ts')).remove,
  },
  {
    usage: 'users add <user>',
    summary: 'add a user',
    options: [{ flags: '--admin', text: 'an administrator, with all permissions' }, ROLE, ...BY_ADMIN, ...AT],
    examples: [
      ['users add ann --admin', 'the first user, on the data folder itself'],
      ['users add bob --role default=operator', 'may operate runs and change nothing else'],
    ],
    notes: 'A data folder needs no sign-in: write access to the folder is enough, also while a server runs.',
    load: async () => (await import('../commands/users.ts')).add,
  },
  {
    usage: 'users list',
    summary: 'list users with their roles',
    options: [...AS_USER, ...AT],
    examples: [['users list', 'who may sign in']],
    load: async () => (await import('../commands/users.ts')).list,
  },
  {
    usage: 'users passwd <user>',
    summary: 'change the password of a user',
    options: [...BY_ADMIN, ...AT],
    examples: [['users passwd ann', 'ends the sessions of ann']],
    load: async () => (await import('../commands/users.ts')).passwd,
  },
  {
    usage: 'users own-password <user>',
    summary: 'change your own password at a server; ends your other sessions',
    options: [
      { flags: '--password-stdin', text: 'read the current and the new password from stdin, one per line' },
      ...AT,
    ],
    examples: [['users own-password ann', 'asks for the current and the new password']],
    load: async () => (await import('../commands/users.ts')).ownPassword,
  },
  {
    usage: 'users remove <user>',
    summary: 'delete a user with all sessions and keys',
    options: [...AS_USER, ...AT],
    examples: [['users remove bob', 'takes effect at once']],
    load: async () => (await import('../commands/users.ts')).remove,
  },
  {
    usage: 'keys create <name>',
    summary: 'create a key with which a program calls the server',
    options: [
      {
        ...(AS_USER[0] as OptionSpec),
        text: 'the owner of the key; over HTTP, signs in as this user and asks for the password',
      },
      AS_USER[1] as OptionSpec,
      ROLE,
      {
        flags: '--scope <operation>',
        text: 'only this operation of the API, e.g. startExecution; may be given several times',
        repeatable: true,
      },
      { flags: '--expires <duration>', text: 'how long the key is valid: 90d' },
      ...AT,
    ],
    examples: [
      ['keys create ci --as ann --role default=editor', 'the key is shown once'],
      ['keys create hook --as ann --role default=operator --scope startExecution', 'may only start runs'],
      ['keys create ci --as ann --role default=editor --json | jq -r .token', 'for scripts'],
    ],
    load: async () => (await import('../commands/users.ts')).createKey,
  },
  {
    usage: 'keys list',
    summary: 'list keys, never their tokens',
    options: [...AS_USER, ...AT],
    examples: [['keys list', 'with owners and permissions']],
    load: async () => (await import('../commands/users.ts')).listKeys,
  },
  {
    usage: 'keys remove <key>',
    summary: 'revoke a key',
    options: [...AS_USER, ...AT],
    examples: [['keys remove 0f3a…', 'takes effect at once']],
    load: async () => (await import('../commands/users.ts')).removeKey,
  },
  {
    usage: 'projects list',
    summary: 'list projects',
    options: [...AS_USER, ...AT],
    examples: [['projects list', 'the projects that you may see']],
    load: async () => (await import('../commands/projects.ts')).list,
  },
  {
    usage: 'projects set <project>',
    summary: 'create or rename a project, or set its ceiling',
    options: [
      { flags: '--name <text>', text: 'display name (default: the id)' },
      {
        flags: '--allow <capability>',
        text: 'add this to the ceiling in force: network=HOST, files.read=PATH, files.write=PATH, shell=PROGRAM, env=NAME, or all',
        repeatable: true,
      },
      { flags: '--deny <capability>', text: 'remove this entry from the ceiling in force', repeatable: true },
      {
        flags: '--only <capability>',
        text: 'set the whole ceiling: what is listed, and nothing else; `nothing` for an empty one',
        repeatable: true,
      },
      { flags: '--reset-ceiling', text: 'use the ceiling of the configuration' },
      ...AS_USER,
      ...AT,
    ],
    examples: [
      ["projects set team --name 'Our team'", 'create or rename it'],
      ['projects set team --allow network=api.example.com --allow shell=git', 'raise its ceiling'],
      ['projects set team --only network=api.example.com', 'replace its ceiling'],
    ],
    notes: `\`nebula workflows register FILE --project PROJECT\` puts a workflow into the project.
Workflows get the capabilities that they ask for, up to the ceiling of their project. Owners and administrators set the
ceiling; outside the preset desktop it is empty until they do. The ceiling in force is that of the project, else that of
the configuration. The command prints the ceiling that results.`,
    load: async () => (await import('../commands/projects.ts')).set,
  },
  {
    usage: 'projects remove <project>',
    summary: 'delete a project that has no workflows',
    options: [...AS_USER, ...AT],
    examples: [['projects remove team', 'fails if it has workflows']],
    load: async () => (await import('../commands/projects.ts')).remove,
  },
  {
    usage: 'workers list',
    summary: 'list the workers of a server and their actions',
    options: [...AS_USER, ...AT],
    examples: [['workers list', 'with the time each was last seen']],
    load: async () => (await import('../commands/workers.ts')).list,
  },
  {
    usage: 'fleet',
    summary: "show the server's own engine, and the tasks that wait",
    options: [...AS_USER, ...AT],
    examples: [['fleet', 'slots, running attempts, leases, waiting tasks by route']],
    load: async () => (await import('../commands/workers.ts')).fleet,
  },
  {
    usage: 'triggers list',
    summary: 'list the triggers of active workflows, and other schedules',
    options: [
      {
        flags: '--kind <kind>',
        text: 'only this kind',
        choices: ['schedule', 'webhook', 'event', 'file'],
      },
      { flags: '--workflow <id>', text: 'only triggers of this workflow' },
      PROJECT,
      ...AS_USER,
      ...AT,
    ],
    examples: [['triggers list --kind schedule', 'with their next fires']],
    load: async () => (await import('../commands/schedules.ts')).triggers,
  },
  {
    usage: 'workers remove <worker>',
    summary: 'remove a worker; its attempts are lost when their leases end',
    options: [...AS_USER, ...AT],
    examples: [['workers remove gpu-1', 'a worker that does not come back']],
    load: async () => (await import('../commands/workers.ts')).remove,
  },
  {
    usage: 'workers remove-action <action>',
    summary: 'remove an action that workers have announced',
    options: [
      { flags: '--project <id>', text: 'the project in which it was announced (default: default)' },
      ...AS_USER,
      ...AT,
    ],
    examples: [['workers remove-action video.encode@1', 'workflows that name it become invalid']],
    load: async () => (await import('../commands/workers.ts')).removeAction,
  },
  {
    usage: 'cache list',
    summary: 'list cached outputs',
    options: [{ flags: '--action <action>', text: 'only outputs of this action' }, ...AS_USER, ...AT],
    examples: [['cache list --action http.request@1', 'with the run that stored each']],
    load: async () => (await import('../commands/workers.ts')).listCache,
  },
  {
    usage: 'cache clear [key]',
    summary: 'remove cached outputs: one, all of an action, or all',
    options: [{ flags: '--action <action>', text: 'all outputs of this action' }, ...AS_USER, ...AT],
    examples: [['cache clear --action http.request@1', 'later runs call the action again']],
    load: async () => (await import('../commands/workers.ts')).clearCache,
  },
  {
    usage: 'notifications set <name>',
    summary: 'call a webhook or send a mail when runs fail, are stuck or wait for a person',
    options: [
      { flags: '--url <url>', text: 'the webhook or mail server; {{NAME}} in it stands for a secret of the project' },
      { flags: '--secret <name>', text: 'the secret of the project that signs the body (header X-Signature)' },
      {
        flags: '--event <kind>',
        text: 'what it is about (default: failed and unknown); may be given several times',
        choices: ['failed', 'unknown', 'approval'],
        repeatable: true,
      },
      { flags: '--workflow <id>', text: 'only runs of this workflow; may be given several times', repeatable: true },
      { flags: '--tag <tag>', text: 'only runs of workflows with this tag' },
      { flags: '--gather <duration>', text: 'gather events for this long into one message (default: 1m)' },
      { flags: '--network <address>', text: 'an address that is not public and may be reached', repeatable: true },
      { flags: '--on', text: 'switch it on' },
      { flags: '--off', text: 'switch it off' },
      { ...PROJECT, text: 'the project of the server (default: default)' },
      ...AT,
    ],
    examples: [
      [
        'notifications set ops --url https://hooks.example.com/nebula --secret hook-key',
        'failures and unknown outcomes',
      ],
      ['notifications set ops --event failed --tag billing --gather 10m', 'options that are not given stay'],
      ["notifications set mail --url 'smtp://localhost:25/?from=a@example.com&to=b@example.com&tls=none'", 'a mail'],
    ],
    notes: 'A server sends them; without one nothing is sent. The host must be within the ceiling of the project.',
    load: async () => (await import('../commands/notifications.ts')).set,
  },
  {
    usage: 'notifications list',
    summary: 'list notifications, and what failed last',
    options: [PROJECT, ...AT],
    examples: [['notifications list', 'with the last error and the next try']],
    load: async () => (await import('../commands/notifications.ts')).list,
  },
  {
    usage: 'notifications test <name>',
    summary: 'send a sample message',
    options: AT,
    examples: [['notifications test ops', 'says whether the receiver accepted it']],
    load: async () => (await import('../commands/notifications.ts')).test,
  },
  {
    usage: 'notifications remove <name>',
    summary: 'delete a notification',
    options: AT,
    examples: [['notifications remove ops', 'nothing more is sent']],
    load: async () => (await import('../commands/notifications.ts')).remove,
  },
  {
    usage: 'backup <file>',
    summary: 'copy all data into one file, also while a server uses it',
    options: [
      { flags: '--with-key', text: 'include the key of the secrets; only for a data folder, not with --server' },
      { flags: '--no-verify', text: 'do not read the file again to check it' },
      ...AT,
    ],
    examples: [
      ['backup monday.tar', 'runs, workflows, logs, stored values, and sealed secrets without their key'],
      ['backup /var/backups', 'a folder: the file is named after the current time'],
      ['backup --server https://nebula.example.com monday.tar', 'download it; administrators only'],
      ['backup verify monday.tar', 'check a backup: hashes, database and stored values; `backup verify --help`'],
    ],
    notes:
      'The key of the secrets is not in the backup unless you pass --with-key: keep it elsewhere. Workflow files and nebula.config.ts are not in the data folder, and not in the backup.',
    load: async () => (await import('../commands/backup.ts')).create,
  },
  {
    usage: 'backup verify <file>',
    summary: 'check that a backup is complete and whole',
    options: [JSON_OUTPUT],
    examples: [['backup verify monday.tar', 'its hashes, its database, and every stored value']],
    load: async () => (await import('../commands/backup.ts')).verify,
  },
  {
    usage: 'restore <file>',
    summary: 'restore a backup into an empty data folder',
    options: [
      { flags: '--data-dir <dir>', text: 'the empty or new folder (default: .nebula, or $NEBULA_DATA_DIR)' },
      JSON_OUTPUT,
    ],
    examples: [['restore monday.tar --data-dir /var/lib/nebula', 'no run continues before an engine starts there']],
    notes:
      'Nothing runs until you start an engine on the folder (`nebula resume`, `nebula serve`). Stop the original first: otherwise both continue the same runs.',
    load: async () => (await import('../commands/backup.ts')).restore,
  },
  {
    usage: 'audit',
    summary: 'show who changed what, newest first',
    options: [
      { flags: '-n, --limit <count>', text: 'at most this many entries (default: 50)' },
      { flags: '--who <name>', text: 'only changes by this user or key' },
      ...AS_USER,
      ...AT,
    ],
    examples: [
      ['audit --limit 20', 'the latest'],
      ['audit --who ann --json', 'every field of each entry'],
    ],
    load: async () => (await import('../commands/audit.ts')).execute,
  },
  {
    usage: 'context add <name>',
    summary: 'save a server under a name and use it',
    options: [
      { flags: '--server <url>', text: 'the address of the server' },
      { flags: '--token-stdin', text: 'read the token from stdin' },
      JSON_OUTPUT,
    ],
    examples: [
      ['context add work --server https://flows.example.com --token-stdin < token', 'with a key of your own'],
      ['context add here --server http://127.0.0.1:7777 --token-stdin < .nebula/token', 'a desktop server'],
    ],
    load: async () => (await import('../commands/context.ts')).add,
  },
  {
    usage: 'context list',
    summary: 'list saved servers, never their tokens',
    options: [JSON_OUTPUT],
    examples: [['context list', 'the one in use is marked']],
    load: async () => (await import('../commands/context.ts')).list,
  },
  {
    usage: 'context use <name>',
    summary: 'use a saved server; `local`: the data folder',
    options: [JSON_OUTPUT],
    examples: [
      ['context use work', 'until another context is used'],
      ['context use local', 'the data folder again'],
    ],
    load: async () => (await import('../commands/context.ts')).use,
  },
  {
    usage: 'context remove <name>',
    summary: 'remove a saved server',
    options: [JSON_OUTPUT],
    examples: [['context remove work', 'and its token']],
    load: async () => (await import('../commands/context.ts')).remove,
  },
  {
    usage: 'doctor',
    summary: 'check Node, the data folder, the database and the server',
    options: AT,
    examples: [['doctor', 'what works, what does not, and what to do']],
    notes: 'Exits with 0 if all checks pass, otherwise with 1.',
    load: async () => (await import('../commands/doctor.ts')).execute,
  },
  {
    usage: 'secrets set <name>',
    summary: 'store or replace a secret',
    options: OF_SECRETS,
    examples: [
      ['secrets set stripe-key', 'asks for the value'],
      ['secrets set stripe-key < key.txt', 'reads the value from a file'],
    ],
    notes: `${VALUE_NOTE}
A value may be a JSON object of several fields.`,
    load: async () => (await import('../commands/secrets.ts')).set,
  },
  {
    usage: 'secrets list',
    summary: 'list the names of secrets, never their values',
    options: OF_SECRETS,
    examples: [['secrets list', 'with the time of the last change']],
    load: async () => (await import('../commands/secrets.ts')).list,
  },
  {
    usage: 'secrets rotate [name]',
    summary: 'replace a value, or encrypt all secrets with a new key',
    options: [{ flags: '--key', text: 'encrypt all secrets with a new key' }, ...OF_SECRETS],
    examples: [
      ['secrets rotate stripe-key', 'asks for the new value; the name must exist'],
      ['secrets rotate --key', 'all values stay the same'],
    ],
    notes: `${VALUE_NOTE}
With NEBULA_SECRETS_KEY or NEBULA_SECRETS_KEY_FILE, --key takes the new key from NEBULA_SECRETS_NEXT_KEY or
NEBULA_SECRETS_NEXT_KEY_FILE.`,
    load: async () => (await import('../commands/secrets.ts')).rotate,
  },
  {
    usage: 'secrets delete <name>',
    summary: 'delete a secret',
    options: OF_SECRETS,
    examples: [['secrets delete stripe-key', 'nodes that use it then fail']],
    load: async () => (await import('../commands/secrets.ts')).remove,
  },
]);
