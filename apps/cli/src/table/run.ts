/** Commands that run workflows. */
import { type CommandSpec, DATA_DIR, EXIT_CODES, FULL, JSON_OUTPUT, QUIET } from './spec.ts';

export const RUN_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    takes: '<file>',
    summary: 'run a workflow to its end',
    group: 'Run',
    options: [
      { flags: '-i, --input <json>', text: 'the input: JSON, @file, or - to read it from stdin' },
      { flags: '-s, --set <key=value>', text: 'set a field of the input: --set order.id=7', repeatable: true },
      { flags: '--idempotency-key <key>', text: 'the same key is the same run: it is started once, and gone on with' },
      DATA_DIR,
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
    options: [DATA_DIR, JSON_OUTPUT, FULL, QUIET],
    examples: [
      ['resume', 'continue everything unfinished'],
      ['resume exe_01k9…', 'continue one run, wait for it'],
    ],
    notes: `Executions that run for nodes of a run are continued with it. A paused run goes on when it is named; \`nebula resume\` alone leaves it paused.
${EXIT_CODES}`,
    load: () => import('../commands/resume.ts'),
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
