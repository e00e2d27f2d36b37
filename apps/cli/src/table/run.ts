/** Commands that run workflows. */
import {
  type CommandSpec,
  DATA_DIR,
  EXIT_CODES,
  FULL,
  JSON_OUTPUT,
  LOCATION,
  type OptionSpec,
  PROJECT,
  QUIET,
} from './spec.ts';

const INPUT: OptionSpec = { flags: '-i, --input <json>', text: 'the input: JSON, @file, or - to read it from stdin' };
const SET: OptionSpec = {
  flags: '-s, --set <key=value>',
  text: 'set a field of the input: --set order.id=7',
  repeatable: true,
};
const IDEMPOTENCY_KEY: OptionSpec = {
  flags: '--idempotency-key <key>',
  text: 'the same key is the same run: it is started once, and gone on with',
};

export const RUN_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    takes: '<file>',
    summary: 'run a workflow to its end',
    group: 'Run',
    options: [
      INPUT,
      SET,
      IDEMPOTENCY_KEY,
      {
        flags: '--labels <labels>',
        text: 'labels that this process has, with commas: linux,aws (default: those of the configuration)',
      },
      { ...PROJECT, text: 'of the server, for a workflow that is new there (default: default)' },
      ...LOCATION,
      JSON_OUTPUT,
      FULL,
      QUIET,
    ],
    examples: [
      ['run examples/order.yaml', 'run it, with a live tree of its nodes'],
      ['run order.yaml --input \'{"order": {"id": 7}}\'', 'with an input'],
      ['run order.yaml --input @order.json --set order.rush=true', 'with an input from a file, one field changed'],
      ['run order.yaml --json | jq .output', 'for scripts'],
      ['run order.yaml --idempotency-key order-7', 'once, however often it is typed'],
      ['run ci.yml --labels linux', 'a jobs file of workflow-graph, its commands run here by sh'],
    ],
    notes: `FILE may be - to read the workflow from stdin. Values of --set are JSON where they are valid JSON, else text.
Where its start policy, or the key, says that a run is there already, that one is gone on with.
Ctrl-C hands back what runs and leaves the run resumable; a second Ctrl-C leaves at once.
${EXIT_CODES}`,
    load: () => import('../commands/run.ts'),
  },
  {
    name: 'resume',
    takes: '[execution]',
    summary: 'continue one run, or everything unfinished',
    group: 'Run',
    options: [
      { ...PROJECT, text: 'everything unfinished of this project of the server' },
      ...LOCATION,
      JSON_OUTPUT,
      FULL,
      QUIET,
    ],
    examples: [
      ['resume', 'continue everything unfinished'],
      ['resume exe_01k9…', 'continue one run, wait for it'],
    ],
    notes: `Executions that run for nodes of a run are continued with it. A paused run goes on when it is named; \`nebula resume\` alone leaves it paused.
${EXIT_CODES}`,
    load: () => import('../commands/resume.ts'),
  },
  {
    name: 'start',
    takes: '<workflow>',
    summary: 'start a workflow that is registered, and stay until its end',
    group: 'Run',
    options: [
      INPUT,
      SET,
      { flags: '--plan', text: 'WORKFLOW is a launch plan of the server' },
      { flags: '--workflow-version <number>', text: 'this version instead of the active one' },
      IDEMPOTENCY_KEY,
      { flags: '--no-wait', text: 'print its id as soon as it is durable' },
      ...LOCATION,
      JSON_OUTPUT,
      FULL,
      QUIET,
    ],
    examples: [
      ['start order --set order.id=7', 'the active version; without one, the newest'],
      ['start nightly --plan', 'a launch plan: `nebula plans list`'],
      ['start order --no-wait --server https://flows.example.com', 'at a server, without waiting for its end'],
    ],
    notes: EXIT_CODES,
    load: () => import('../commands/start.ts'),
  },
  {
    name: 'serve',
    takes: '',
    summary: 'start a server: API, scheduler and worker on one port',
    group: 'Run',
    options: [
      { flags: '-p, --port <port>', text: 'where it listens (default: 7777; 0: any free one)' },
      { flags: '--host <address>', text: 'on which address (default: 127.0.0.1, for this machine alone)' },
      {
        flags: '--preset <preset>',
        text: 'desktop: a token in a file; selfhost: users who sign in (default: desktop)',
        choices: ['desktop', 'selfhost', 'cloud'],
      },
      DATA_DIR,
      { flags: '--json', text: 'say what happens as one JSON document per line, as it does when piped' },
    ],
    examples: [
      ['serve', 'the workflows of this folder, on http://127.0.0.1:7777'],
      ['serve --port 8080 --data-dir /var/lib/nebula', 'elsewhere'],
      ['serve --preset selfhost', 'for several people; `nebula users add` makes the first'],
    ],
    notes: `Workflows in workflows/**/*.yaml, or where \`server.workflows\` of the configuration says, are registered and activated, and again when they change.
Ctrl-C or SIGTERM stops it: requests are refused, what runs is handed back, and goes on with the next start.`,
    load: () => import('../commands/serve.ts'),
  },
  {
    name: 'demo',
    takes: '',
    summary: 'run an example workflow and say what to try next',
    group: 'Run',
    options: [DATA_DIR],
    examples: [['demo', 'see a workflow run']],
    load: () => import('../commands/demo.ts'),
  },
];
