/**
 * Every command, as data: what it takes, what it is for, and where its code is. Long because there are many. Help, completion and the parser are
 * made from this table; the code of a command is loaded only when it is run.
 */
import type { CommandSpec, Group, OptionSpec } from './command-spec.ts';
import { SECRETS_COMMANDS } from './secrets-table.ts';

export type { CommandSpec, Group } from './command-spec.ts';

export const GROUPS: readonly Group[] = ['Run', 'Write', 'Look at runs', 'Change runs', 'More'];

const JSON_OUTPUT: OptionSpec = { flags: '--json', text: 'print one JSON document on stdout' };
const DATA_DIR: OptionSpec = {
  flags: '--data-dir <dir>',
  text: 'where runs are kept (default: .nebula in the project folder, or $NEBULA_DATA_DIR)',
};
const QUIET: OptionSpec = { flags: '-q, --quiet', text: 'say nothing while it runs' };

const STATUS_FILTER: OptionSpec = {
  flags: '--status <status>',
  text: 'only runs with this status; may be given several times',
  choices: ['pending', 'running', 'paused', 'compensating', 'completed', 'failed', 'cancelled', 'timed-out'],
  repeatable: true,
};
const WORKFLOW_FILTER: OptionSpec = { flags: '--workflow <id>', text: 'only runs of this workflow' };
const NO_RUN: OptionSpec = { flags: '--no-run', text: 'only leave the request, for an engine to find' };
/** For commands that change many runs at once. */
const BULK: readonly OptionSpec[] = [
  { ...STATUS_FILTER, text: 'instead of naming runs: those with this status; may be given several times' },
  { ...WORKFLOW_FILTER, text: 'instead of naming runs: those of this workflow' },
  { flags: '-y, --yes', text: 'do not ask before several runs are changed' },
];
const BULK_NOTE =
  'Several runs, or those that a filter finds, are shown first, and changed when you say yes, or with --yes.';
const ANSWER: readonly OptionSpec[] = [
  { flags: '--by <name>', text: 'who answers (default: you)' },
  { flags: '--comment <text>', text: 'kept with the answer' },
];

const EXIT_CODES =
  'Exit codes: 0 completed, 1 failed, 2 invalid file, input or usage, 3 cancelled or timed out, 4 parked (waits for a person or a signal), 130 interrupted.';

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    takes: '<file>',
    summary: 'run a workflow to its end',
    group: 'Run',
    options: [
      { flags: '-i, --input <json>', text: 'the input: JSON, @file, or - to read it from stdin' },
      { flags: '-s, --set <key=value>', text: 'set a field of the input: --set order.id=7', repeatable: true },
      DATA_DIR,
      JSON_OUTPUT,
      QUIET,
    ],
    examples: [
      ['run examples/order.yaml', 'run it, with a live tree of its nodes'],
      ['run order.yaml --input \'{"order": {"id": 7}}\'', 'with an input'],
      ['run order.yaml --input @order.json --set order.rush=true', 'with an input from a file, one field changed'],
      ['run order.yaml --json | jq .output', 'for scripts'],
    ],
    notes: `FILE may be - to read the workflow from stdin. Values of --set are JSON where they are valid JSON, else text.
Ctrl-C hands back what runs and leaves the run resumable; a second Ctrl-C leaves at once.
${EXIT_CODES}`,
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'resume',
    takes: '[execution]',
    summary: 'continue one run, or everything unfinished',
    group: 'Run',
    options: [DATA_DIR, JSON_OUTPUT, QUIET],
    examples: [
      ['resume', 'continue everything unfinished'],
      ['resume exe_01k9…', 'continue one run, wait for it'],
    ],
    notes: `Executions that run for nodes of a run are continued with it. A paused run goes on when it is named; \`nebula resume\` alone leaves it paused.
${EXIT_CODES}`,
    load: () => import('./commands/resume.ts'),
  },
  {
    name: 'demo',
    takes: '',
    summary: 'run an example workflow and say what to try next',
    group: 'Run',
    options: [DATA_DIR],
    examples: [['demo', 'see a workflow run']],
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'init',
    takes: '[folder]',
    summary: 'make a project: an example workflow, an action and a test',
    group: 'Write',
    options: [
      { flags: '--force', text: 'write into a folder that is not empty; existing files are kept' },
      JSON_OUTPUT,
    ],
    examples: [
      ['init my-project', 'make a project in a new folder'],
      ['init', 'make one here'],
    ],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'validate',
    takes: '<files...>',
    summary: 'report every problem of workflow files',
    group: 'Write',
    options: [{ flags: '--strict', text: 'take warnings for errors' }, JSON_OUTPUT],
    examples: [
      ['validate order.yaml', 'check one file'],
      ['validate workflows/*.yaml --strict', 'refuse what cannot be meant, too'],
      ['validate workflows/*.yaml --json', 'check many, for an editor or CI'],
    ],
    load: () => import('./commands/validate.ts'),
  },
  {
    name: 'graph',
    takes: '<file>',
    summary: 'draw a workflow',
    group: 'Write',
    options: [
      {
        flags: '-f, --format <format>',
        text: 'how to draw it (default: terminal)',
        choices: ['terminal', 'mermaid', 'dot'],
      },
      JSON_OUTPUT,
    ],
    examples: [
      ['graph order.yaml', 'boxes and lines in the terminal'],
      ['graph order.yaml -f mermaid', 'for Markdown'],
      ['graph order.yaml -f dot | dot -Tsvg > order.svg', 'with Graphviz'],
    ],
    load: () => import('./commands/graph.ts'),
  },
  {
    name: 'test',
    takes: '[files...]',
    summary: 'run the tests beside workflows',
    group: 'Write',
    options: [JSON_OUTPUT],
    examples: [
      ['test', 'every *.test.yaml and *.test.ts below here'],
      ['test order.test.yaml', 'one file'],
    ],
    notes: 'Ends with 0 when all passed, with 1 when one did not, with 2 when a file cannot be read.',
    load: () => import('./commands/test.ts'),
  },
  {
    name: 'types',
    takes: '[files...]',
    summary: 'write TypeScript types for actions and workflows',
    group: 'Write',
    options: [{ flags: '-o, --out <file>', text: 'write them to this file, if they are new' }, JSON_OUTPUT],
    examples: [
      ['types -o nebula.types.ts', 'of the actions here, and the workflows of the project'],
      ['types order.yaml', 'of one workflow, on stdout'],
    ],
    load: () => import('./commands/write-types.ts'),
  },
  {
    name: 'eval',
    takes: '<expression>',
    summary: 'evaluate an expression',
    group: 'Write',
    options: [
      { flags: '-d, --data <json>', text: 'the $input: JSON, @file, or - for stdin' },
      { flags: '--vars <json>', text: 'the $vars' },
      { flags: '--nodes <json>', text: 'outputs of nodes by id, for $nodes.<id>.output' },
      JSON_OUTPUT,
    ],
    examples: [
      ["eval '1 + 2 * 3'", 'calculate'],
      ["eval '$input.items.filter(i => i.qty > 1).length' --data @order.json", 'try what a workflow will do'],
      ["eval '$..price' --data @order.json", 'JSONPath over the data'],
    ],
    notes: 'An expression may also be a template: `Hello {{ $input.name }}`.',
    load: () => import('./commands/eval.ts'),
  },
  {
    name: 'actions',
    takes: '[name]',
    summary: 'list the actions, or tell all about one',
    group: 'Write',
    options: [JSON_OUTPUT],
    examples: [
      ['actions', 'what workflows here can use'],
      ['actions http.request', 'its input, output, effect and capabilities'],
    ],
    load: () => import('./commands/actions.ts'),
  },
  {
    name: 'schema',
    takes: '',
    summary: 'print the JSON Schema of workflow files',
    group: 'Write',
    options: [JSON_OUTPUT],
    examples: [['schema > workflow.schema.json', 'for completion in an editor']],
    load: () => import('./commands/schema.ts'),
  },
  {
    name: 'executions list',
    takes: '',
    summary: 'list runs, newest first',
    group: 'Look at runs',
    options: [
      STATUS_FILTER,
      WORKFLOW_FILTER,
      { flags: '-n, --limit <count>', text: 'how many (default: 20)' },
      { flags: '--cursor <cursor>', text: 'go on after an earlier page' },
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions list', 'the newest runs'],
      ['executions list --status failed --workflow order', 'failed runs of one workflow'],
    ],
    load: () => import('./commands/executions-list.ts'),
  },
  {
    name: 'executions show',
    takes: '<execution>',
    summary: 'show a run: its nodes, output and error',
    group: 'Look at runs',
    options: [{ flags: '--all', text: 'every node, however many' }, DATA_DIR, JSON_OUTPUT],
    examples: [['executions show exe_01k9…', 'the tree of its nodes']],
    load: () => import('./commands/executions-show.ts'),
  },
  {
    name: 'executions timeline',
    takes: '<execution>',
    summary: 'draw what happened when',
    group: 'Look at runs',
    options: [
      { flags: '--events', text: 'the events, one per line' },
      { flags: '--all', text: 'every node, however many' },
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions timeline exe_01k9…', 'a bar per node'],
      ['executions timeline exe_01k9… --events', 'the events'],
    ],
    load: () => import('./commands/executions-timeline.ts'),
  },
  {
    name: 'executions explain',
    takes: '<execution> [node]',
    summary: 'say why a run or a node is where it is',
    group: 'Look at runs',
    options: [DATA_DIR, JSON_OUTPUT],
    examples: [
      ['executions explain exe_01k9…', 'the run'],
      ['executions explain exe_01k9… charge', 'one node: why it waits, was skipped, failed'],
    ],
    load: () => import('./commands/executions-explain.ts'),
  },
  {
    name: 'executions logs',
    takes: '<execution>',
    summary: 'print what actions logged',
    group: 'Look at runs',
    options: [
      { flags: '-f, --follow', text: 'go on until the run has ended' },
      { flags: '--node <path>', text: 'only of this node' },
      {
        flags: '--level <level>',
        text: 'this level and above (default: info; stacks are at debug)',
        choices: ['debug', 'info', 'warn', 'error'],
      },
      { flags: '-n, --limit <count>', text: 'how many lines at most' },
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions logs exe_01k9… --follow', 'watch them come'],
      ['executions logs exe_01k9… --node charge --level warn', 'warnings of one node'],
    ],
    load: () => import('./commands/executions-logs.ts'),
  },
  {
    name: 'executions journal',
    takes: '<execution>',
    summary: 'print the journal, one entry per line',
    group: 'Look at runs',
    options: [DATA_DIR, JSON_OUTPUT],
    examples: [
      ['executions journal exe_01k9…', 'for reading'],
      ['executions journal exe_01k9… --json', 'as it is'],
    ],
    load: () => import('./commands/executions-journal.ts'),
  },
  {
    name: 'executions undo-plan',
    takes: '<execution>',
    summary: 'show what would be undone if the run failed now',
    group: 'Look at runs',
    options: [DATA_DIR, JSON_OUTPUT],
    examples: [['executions undo-plan exe_01k9…', 'compensations, in the order in which they would run']],
    load: () => import('./commands/executions-undo-plan.ts'),
  },
  {
    name: 'executions signal',
    takes: '<execution-and-name...>',
    summary: 'send a signal to a run that waits for it, or will',
    group: 'Change runs',
    options: [
      { flags: '--key <text>', text: 'for the wait with this key' },
      { flags: '--payload <json>', text: 'what comes with it: JSON, @file, or - for stdin' },
      ...BULK,
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions signal exe_01k9… paid --payload \'{"amount": 7}\'', 'a run that waits for the signal `paid`'],
      ['executions signal paid --workflow order --status running', 'all runs of a workflow'],
    ],
    notes: `The last word is the name of the signal. A signal that comes early is kept until a node waits for it.
${BULK_NOTE}`,
    load: () => import('./commands/executions-signal.ts'),
  },
  {
    name: 'executions approve',
    takes: '<execution> <node>',
    summary: 'approve what a node waits for',
    group: 'Change runs',
    options: [
      ...ANSWER,
      { flags: '--form <json>', text: 'what the form asks for: JSON, @file, or - for stdin' },
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions approve exe_01k9… release', 'in your name'],
      [
        'executions approve exe_01k9… release --by ann --form \'{"limit": 100}\'',
        'in that of somebody else, with a form',
      ],
    ],
    load: () => import('./commands/executions-approve.ts'),
  },
  {
    name: 'executions reject',
    takes: '<execution> <node>',
    summary: 'reject what a node waits for, which fails it with REJECTED',
    group: 'Change runs',
    options: [...ANSWER, DATA_DIR, JSON_OUTPUT],
    examples: [['executions reject exe_01k9… release --comment "not on a Friday"', 'say why']],
    load: () => import('./commands/executions-reject.ts'),
  },
  {
    name: 'executions callback',
    takes: '<execution> <node>',
    summary: 'make the call for which a node waits',
    group: 'Change runs',
    options: [
      { flags: '--payload <json>', text: 'what comes with it: JSON, @file, or - for stdin' },
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions callback exe_01k9… reply --payload \'{"ok": true}\'', 'what another system would have said'],
    ],
    load: () => import('./commands/executions-callback.ts'),
  },
  {
    name: 'executions pause',
    takes: '[execution...]',
    summary: 'let what runs end, and start nothing until it is resumed',
    group: 'Change runs',
    options: [{ flags: '--reason <text>', text: 'kept with the run' }, ...BULK, DATA_DIR, JSON_OUTPUT],
    examples: [
      ['executions pause exe_01k9… --reason "the bank is down"', 'one run'],
      ['executions pause --workflow order --status running', 'all runs of a workflow'],
    ],
    notes: `While a run is paused its timers and its time limit stand still.
${BULK_NOTE}`,
    load: () => import('./commands/executions-pause.ts'),
  },
  {
    name: 'executions resume',
    takes: '[execution...]',
    summary: 'let paused runs go on',
    group: 'Change runs',
    options: [...BULK, DATA_DIR, JSON_OUTPUT],
    examples: [
      ['executions resume exe_01k9…', 'one run, in the engine that has it'],
      ['executions resume --status paused', 'all that are paused'],
    ],
    notes: `Where no engine runs, \`nebula resume EXECUTION\` ends the pause and runs it.
${BULK_NOTE}`,
    load: () => import('./commands/executions-resume.ts'),
  },
  {
    name: 'executions cancel',
    takes: '[execution...]',
    summary: 'ask for runs to be cancelled',
    group: 'Change runs',
    options: [
      { flags: '--reason <text>', text: 'kept with the run' },
      { flags: '--no-compensate', text: 'leave what was done as it is: nothing is undone' },
      ...BULK,
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions cancel exe_01k9… --reason "wrong order"', 'stop a run, beside the engine that runs it'],
      ['executions cancel --workflow order --status running --yes', 'all runs of a workflow'],
    ],
    notes: BULK_NOTE,
    load: () => import('./commands/executions-cancel.ts'),
  },
  {
    name: 'executions retry',
    takes: '[execution...]',
    summary: 'begin finished runs again at their failed nodes',
    group: 'Change runs',
    options: [NO_RUN, ...BULK, DATA_DIR, JSON_OUTPUT, QUIET],
    examples: [
      ['executions retry exe_01k9…', 'what has completed is not done again'],
      ['executions retry --status failed --workflow order', 'all failed runs of a workflow'],
    ],
    notes: `${BULK_NOTE}
${EXIT_CODES}`,
    load: () => import('./commands/executions-retry.ts'),
  },
  {
    name: 'executions replay',
    takes: '<execution> <node>',
    summary: 'do a node of a finished run again, and all that depends on it',
    group: 'Change runs',
    options: [
      { flags: '-i, --input <json>', text: 'its parameters, instead of those that it had: JSON, @file, or -' },
      { flags: '--fork', text: 'in a new run, which begins where this one stood before the node' },
      NO_RUN,
      DATA_DIR,
      JSON_OUTPUT,
      QUIET,
    ],
    examples: [
      ['executions replay exe_01k9… charge', 'as something new: with another idempotency key'],
      ['executions replay exe_01k9… charge --input \'{"amount": 5}\' --fork', 'with other parameters, in a new run'],
    ],
    notes: EXIT_CODES,
    load: () => import('./commands/executions-replay.ts'),
  },
  {
    name: 'executions settle',
    takes: '<execution> <node>',
    summary: 'say what became of an attempt whose outcome is unknown',
    group: 'Change runs',
    options: [
      { flags: '--happened', text: 'it took effect' },
      { flags: '--output <json>', text: 'with --happened: its output, JSON or @file' },
      { flags: '--retry', text: 'it did not take effect: run it again' },
      { flags: '--fail', text: 'it did not take effect: let the node fail' },
      DATA_DIR,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions settle exe_01k9… charge --happened --output \'{"id": "ch_1"}\'', 'the card was charged'],
      ['executions settle exe_01k9… charge --retry', 'it was not: try again'],
    ],
    load: () => import('./commands/executions-settle.ts'),
  },
  {
    name: 'executions delete',
    takes: '[execution...]',
    summary: 'delete finished runs with all that belongs to them',
    group: 'Change runs',
    options: [...BULK, DATA_DIR, JSON_OUTPUT],
    examples: [
      ['executions delete exe_01k9…', 'journal, logs and stored outputs'],
      ['executions delete --status failed --workflow order', 'all failed runs of a workflow'],
    ],
    notes: BULK_NOTE,
    load: () => import('./commands/executions-delete.ts'),
  },
  ...SECRETS_COMMANDS,
  {
    name: 'completion',
    takes: '<shell>',
    summary: 'print a completion script for bash, zsh or fish',
    group: 'More',
    options: [],
    examples: [
      ['completion bash >> ~/.bashrc', 'bash'],
      ['completion zsh > ~/.zfunc/_nebula', 'zsh, with fpath+=~/.zfunc before compinit'],
      ['completion fish > ~/.config/fish/completions/nebula.fish', 'fish'],
    ],
    load: () => import('./commands/completion.ts'),
  },
];
