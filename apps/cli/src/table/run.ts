/** Commands that run workflows. */
import { AT, commands, DATA_DIR, EXIT_CODES, JSON_OUTPUT, type OptionSpec, PROJECT, STAYING } from './spec.ts';

const INPUT: OptionSpec = { flags: '-i, --input <json>', text: 'the input: JSON, @file, or - to read it from stdin' };
const SET: OptionSpec = {
  flags: '-s, --set <key=value>',
  text: 'set a field of the input: --set order.id=7',
  repeatable: true,
};
const IDEMPOTENCY_KEY: OptionSpec = {
  flags: '--idempotency-key <key>',
  text: 'start at most one run for this key; a second start continues the first',
};

export const RUN_COMMANDS = commands('Run', [
  {
    usage: 'run <file>',
    summary: 'run a workflow to its end',
    options: [
      INPUT,
      SET,
      IDEMPOTENCY_KEY,
      {
        flags: '--labels <labels>',
        text: 'labels of this process, separated by commas: linux,aws (default: from the configuration)',
      },
      { ...PROJECT, text: 'the project of the server for a new workflow (default: default)' },
      ...STAYING,
    ],
    examples: [
      ['run examples/order.yaml', 'run it, with a live tree of its nodes'],
      ['run order.yaml --input \'{"order": {"id": 7}}\'', 'with an input'],
      ['run order.yaml --input @order.json --set order.rush=true', 'with an input from a file, one field changed'],
      ['run order.yaml --json | jq .output', 'for scripts'],
      ['run order.yaml --idempotency-key order-7', 'one run, however often the command is repeated'],
      ['run ci.yml --labels linux', 'a jobs file of workflow-graph; its commands run here with sh'],
    ],
    notes: `FILE may be - to read the workflow from stdin. A value of --set that is not valid JSON is text.
If the start policy or the idempotency key finds an existing run, the command continues that run.
Ctrl-C hands back running attempts and leaves the run resumable; a second Ctrl-C exits at once.
${EXIT_CODES}`,
    load: async () => (await import('../commands/run.ts')).execute,
  },
  {
    usage: 'try <file>',
    summary: 'run a workflow, or a part of it, as a test',
    options: [
      { flags: '--until <node>', text: 'run this node and all that leads to it' },
      { flags: '--only <node>', text: 'run this node alone; pin what leads to it, or take it --from a run' },
      { flags: '--pin <node=json>', text: 'the output of a node, which is not run', repeatable: true },
      {
        flags: '--pin-error <node=code>',
        text: 'the error of a node, with its message: NODE=CODE: text',
        repeatable: true,
      },
      { flags: '--pins <json>', text: 'pins by node: JSON, @file, or - to read them from stdin' },
      { flags: '--from <execution>', text: 'with --only: the results of this ended run are the pins' },
      INPUT,
      SET,
      { ...PROJECT, text: 'the project of the server for a new workflow (default: default)' },
      ...STAYING,
    ],
    examples: [
      ['try order.yaml --until charge', 'only what leads to charge, and charge'],
      ['try order.yaml --only ship --from exe_01k9…', 'one node, with the outputs of an earlier run'],
      ['try order.yaml --pin \'fetch={"total": 5}\'', 'without running fetch'],
      ['try order.yaml --pin-error "charge=NO_FUNDS: too poor"', 'to try an error edge'],
      ['try order.yaml --pins @pins.json', 'the file has {"fetch": {"output": …}, "charge": {"error": …}}'],
    ],
    notes: `Nodes that are not pinned run for real. NODE is the path in the file: items/pack, in every iteration.
A test run is not registered as a version, starts no triggers, sends no notifications, and is deleted a day after its end.
\`nebula executions outputs\` lists the outputs of a run. \`nebula test\` runs test files.
${EXIT_CODES}`,
    load: async () => (await import('../commands/try.ts')).execute,
  },
  {
    usage: 'resume [execution]',
    summary: 'continue one run, or all open runs',
    options: [{ ...PROJECT, text: 'all open runs of this project of the server' }, ...STAYING],
    examples: [
      ['resume', 'continue all open runs'],
      ['resume exe_01k9…', 'continue one run and wait for it'],
    ],
    notes: `Children of a run continue with it. A paused run continues when it is named; \`nebula resume\` alone leaves it paused.
${EXIT_CODES}`,
    load: async () => (await import('../commands/resume.ts')).execute,
  },
  {
    usage: 'start <workflow>',
    summary: 'start a registered workflow and wait for its end',
    options: [
      INPUT,
      SET,
      { flags: '--plan', text: 'WORKFLOW is a launch plan of the server' },
      { flags: '--workflow-version <number>', text: 'a version other than the active one' },
      IDEMPOTENCY_KEY,
      { flags: '--no-wait', text: 'print its id as soon as it is durable' },
      ...STAYING,
    ],
    examples: [
      ['start order --set order.id=7', 'the active version, or the newest if none is active'],
      ['start nightly --plan', 'a launch plan: `nebula plans list`'],
      ['start order --no-wait --server https://flows.example.com', 'at a server, without waiting for its end'],
    ],
    notes: EXIT_CODES,
    load: async () => (await import('../commands/start.ts')).execute,
  },
  {
    usage: 'serve',
    summary: 'start a server: API, scheduler and worker on one port',
    options: [
      { flags: '-p, --port <port>', text: 'port to listen on (default: 7777; 0: any free port)' },
      { flags: '--host <address>', text: 'address to listen on (default: 127.0.0.1, this machine only)' },
      {
        flags: '--preset <preset>',
        text: 'desktop: a token in a file; selfhost: users who sign in (default: desktop)',
        choices: ['desktop', 'selfhost', 'cloud'],
      },
      {
        flags: '-d, --detach',
        text: 'start it in the background, and return when it listens; its log is server.log in the data folder',
      },
      DATA_DIR,
      { flags: '--json', text: 'report as one JSON document per line (default when piped)' },
    ],
    examples: [
      ['serve --detach', 'in the background; `nebula stop` stops it'],
      ['serve', 'the workflows of this folder, on http://127.0.0.1:7777'],
      ['serve --port 8080 --data-dir /var/lib/nebula', 'elsewhere'],
      ['serve --preset selfhost', 'for several users; `nebula users add` adds the first'],
    ],
    notes: `Registers and activates the workflows in workflows/**/*.yaml, or in \`server.workflows\` of the configuration, and does so again when they change.
Ctrl-C or SIGTERM stops the server: it rejects requests and hands back running attempts; runs continue at the next start.`,
    load: async () => (await import('../commands/serve.ts')).execute,
  },
  {
    usage: 'studio',
    summary: 'open the Studio of a running server in the browser',
    options: [{ flags: '--no-browser', text: 'only print the address' }, ...AT],
    examples: [
      ['studio', 'the server of this folder'],
      ['studio --no-browser', 'print the address, for a browser elsewhere'],
      ['studio --server https://flows.example.com', 'another server'],
    ],
    notes:
      'The address of a desktop server has a code that signs in one browser, once, within ten minutes. At a server with users, they sign in with their passwords.',
    load: async () => (await import('../commands/studio.ts')).execute,
  },
  {
    usage: 'stop',
    summary: 'stop the server of a data folder',
    options: [DATA_DIR, JSON_OUTPUT],
    examples: [['stop', 'the server of this folder, wherever it was started']],
    notes:
      'Returns when the server has handed back its running attempts and released the folder. Runs continue at the next start.',
    load: async () => (await import('../commands/stop.ts')).execute,
  },
  {
    usage: 'demo',
    summary: 'run an example workflow and suggest next steps',
    options: [DATA_DIR],
    examples: [['demo', 'see a workflow run']],
    load: async () => (await import('../commands/demo.ts')).execute,
  },
  {
    usage: 'worker',
    summary: 'run actions of this project for a server',
    options: [
      { flags: '--server <url>', text: 'where the server is (default: $NEBULA_SERVER)' },
      {
        flags: '--labels <labels>',
        text: 'labels that nodes may require, separated by commas: gpu,eu (default: from the configuration)',
      },
      { flags: '--concurrency <count>', text: 'attempts at the same time (default: 4)' },
      { flags: '--project <id>', text: 'work for this project of the server (default: the only one of the token)' },
      { flags: '--id <name>', text: 'its name in lists (default: generated)' },
      { flags: '--data-dir <dir>', text: 'the folder with the token of a server on this machine' },
      { flags: '-q, --quiet', text: 'print nothing while it runs' },
    ],
    examples: [
      ['worker --server http://127.0.0.1:7777', 'runs the actions of nebula.config.ts'],
      ['worker --server https://nebula.example.com --labels gpu,eu --concurrency 2', 'two at a time, with labels'],
    ],
    notes: `The token of the server is $NEBULA_TOKEN, or the file \`token\` in the data folder. It is never an argument: other users
of the machine can see arguments.
Ctrl-C hands back attempts that can be repeated and waits for the others; a second Ctrl-C exits at once.`,
    load: async () => (await import('../commands/worker.ts')).execute,
  },
]);
