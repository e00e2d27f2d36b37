/** Commands that look at runs and change them. */
import {
  ANSWER,
  AT,
  BULK,
  BULK_NOTE,
  commands,
  EXIT_CODES,
  FULL,
  JSON_OUTPUT,
  LOCATION,
  NO_RUN,
  type OptionSpec,
  PROJECT,
  QUIET,
  STATUS_FILTER,
  STAYING,
  WORKFLOW_FILTER,
} from './spec.ts';

const MIGRATE_TO = { flags: '--to <version>' };
const DECISIONS: readonly OptionSpec[] = [
  { flags: '--keep <node>', text: 'a completed node that changed keeps its result', repeatable: true },
  {
    flags: '--again <node>',
    text: 'a completed node that changed begins again, with all that follows',
    repeatable: true,
  },
  { flags: '--drop <node>', text: 'a completed node that the version does not have is forgotten', repeatable: true },
];

export const LOOK_COMMANDS = commands('Look at runs', [
  {
    usage: 'executions list',
    summary: 'list runs, newest first',
    options: [
      STATUS_FILTER,
      WORKFLOW_FILTER,
      PROJECT,
      { flags: '--trigger <type>', text: 'started by this type of trigger: schedule, webhook, event, workflow …' },
      { flags: '--error <code>', text: 'ended with this error' },
      { flags: '--parent <execution>', text: 'the child executions of this run' },
      { flags: '--root', text: 'no child executions' },
      { flags: '--search <text>', text: 'ids that begin with this text; if there are none, runs of this workflow' },
      { flags: '--oldest', text: 'oldest first' },
      { flags: '-n, --limit <count>', text: 'how many (default: 20)' },
      { flags: '--cursor <cursor>', text: 'continue after an earlier page' },
      ...AT,
    ],
    examples: [
      ['executions list', 'the newest runs'],
      ['executions list --root --error TIMEOUT', 'runs that ended with TIMEOUT, without children'],
      ['executions list --status failed --workflow order', 'failed runs of one workflow'],
    ],
    load: async () => (await import('../commands/executions-list.ts')).execute,
  },
  {
    usage: 'executions count',
    summary: 'count runs by status',
    options: [STATUS_FILTER, WORKFLOW_FILTER, PROJECT, ...AT],
    examples: [['executions count --workflow order', 'of one workflow']],
    load: async () => (await import('../commands/executions-read.ts')).count,
  },
  {
    usage: 'executions show [execution] [node]',
    summary: 'show a run: its nodes, output and error; or one node: its attempts, input and output',
    options: [
      { flags: '--all', text: 'every node, including those of ended iterations' },
      FULL,
      { ...PROJECT, text: 'the newest run in this project of the server' },
      ...AT,
    ],
    examples: [
      ['executions show', 'the newest run'],
      ['executions show exe_01k9…', 'the tree of its nodes'],
      ['executions show exe_01k9… charge', 'the attempts, input, and output or error of a node'],
    ],
    load: async () => (await import('../commands/executions-show.ts')).execute,
  },
  {
    usage: 'executions timeline <execution>',
    summary: 'draw a run over time',
    options: [{ flags: '--events', text: 'the events, one per line' }, { flags: '--all', text: 'every node' }, ...AT],
    examples: [
      ['executions timeline exe_01k9…', 'a bar per node'],
      ['executions timeline exe_01k9… --events', 'the events'],
    ],
    load: async () => (await import('../commands/executions-read.ts')).timeline,
  },
  {
    usage: 'executions iterations <execution> <node>',
    summary: 'list the iterations of a loop',
    options: [
      {
        flags: '--status <status>',
        text: 'only iterations with this status',
        choices: ['open', 'completed', 'failed', 'cancelled'],
      },
      { flags: '-n, --limit <count>', text: 'how many (default: 1000)' },
      { flags: '--cursor <cursor>', text: 'continue after an earlier page' },
      ...AT,
    ],
    examples: [
      ['executions iterations exe_01k9… items', 'the first 1,000'],
      ['executions iterations exe_01k9… items --cursor 999', 'the next ones'],
    ],
    load: async () => (await import('../commands/executions-read.ts')).iterations,
  },
  {
    usage: 'executions outputs <execution>',
    summary: 'list the last outputs of the nodes of a run',
    options: [
      { flags: '-n, --limit <count>', text: 'how many nodes (default: 20, at most 100)' },
      { flags: '--cursor <cursor>', text: 'continue after an earlier page' },
      ...AT,
    ],
    examples: [
      ['executions outputs exe_01k9…', 'by the paths of the file'],
      ['executions outputs exe_01k9… --json', 'as pins for `nebula try` need them; long outputs are cut'],
    ],
    load: async () => (await import('../commands/executions-read.ts')).outputs,
  },
  {
    usage: 'executions explain <execution> [node]',
    summary: 'explain the state of a run or a node',
    options: AT,
    examples: [
      ['executions explain exe_01k9…', 'the run'],
      ['executions explain exe_01k9… charge', 'one node: why it waits, was skipped or failed'],
    ],
    load: async () => (await import('../commands/executions-read.ts')).explain,
  },
  {
    usage: 'executions permits <execution> <key>',
    summary: 'list the runs that hold a concurrency key or wait for it',
    options: AT,
    examples: [['executions permits exe_01k9… bank', 'holders first, then waiting runs in order']],
    load: async () => (await import('../commands/executions-read.ts')).permits,
  },
  {
    usage: 'executions logs <execution>',
    summary: 'print the logs of actions',
    options: [
      { flags: '-f, --follow', text: 'keep printing until the run has ended' },
      { flags: '--node <path>', text: 'only lines of this node' },
      {
        flags: '--level <level>',
        text: 'this level and above (default: info; stack traces are at debug)',
        choices: ['debug', 'info', 'warn', 'error'],
      },
      { flags: '-n, --limit <count>', text: 'at most this many lines' },
      { flags: '--search <text>', text: 'only lines that contain this text, in upper or lower case' },
      { flags: '--download', text: 'the whole log as text, with times' },
      ...AT,
    ],
    examples: [
      ['executions logs exe_01k9… --follow', 'follow the logs'],
      ['executions logs exe_01k9… --follow --json', 'one document per line, for programs'],
      ['executions logs exe_01k9… --node charge --level warn', 'warnings of one node'],
    ],
    load: async () => (await import('../commands/executions-logs.ts')).execute,
  },
  {
    usage: 'human-tasks list',
    summary: 'list what waits for a person in all runs: approvals, unknown outcomes, signals, calls',
    options: [
      {
        flags: '--kind <kind>',
        text: 'only this kind; may be given several times',
        choices: ['approval', 'unknown', 'signal', 'callback'],
        repeatable: true,
      },
      WORKFLOW_FILTER,
      PROJECT,
      { flags: '--by-deadline', text: 'the earliest deadline first' },
      ...AT,
    ],
    examples: [['human-tasks list --kind approval', 'answer one with `executions approve`']],
    load: async () => (await import('../commands/human-tasks.ts')).list,
  },
  {
    usage: 'human-tasks count',
    summary: 'count what waits for a person in all runs',
    options: [WORKFLOW_FILTER, PROJECT, ...AT],
    examples: [['human-tasks count', 'by kind']],
    load: async () => (await import('../commands/human-tasks.ts')).count,
  },
  {
    usage: 'statistics',
    summary: 'show starts, ends, failures, durations and backlog of runs over time',
    options: [
      WORKFLOW_FILTER,
      PROJECT,
      { flags: '--since <time>', text: 'a time such as 2030-01-01T00:00:00Z (default: a day ago)' },
      { flags: '--until <time>', text: 'a time (default: now)' },
      { flags: '--bucket <duration>', text: 'the length of a line (default: 1h)' },
      ...AT,
    ],
    examples: [['statistics --workflow order --bucket 15m', 'the last day in quarters of an hour']],
    load: async () => (await import('../commands/human-tasks.ts')).statistics,
  },
  {
    usage: 'executions value <execution> <sha256>',
    summary: 'print a large value that is stored as a blob',
    options: LOCATION,
    examples: [['executions value exe_01k9… 9f86d081…', 'the name has 64 digits']],
    load: async () => (await import('../commands/executions-read.ts')).value,
  },
  {
    usage: 'events',
    summary: 'print the events of all runs as they arrive',
    options: [
      WORKFLOW_FILTER,
      PROJECT,
      { flags: '--after <id>', text: 'events after this one; all: from the beginning (default: now)' },
      ...AT,
    ],
    examples: [['events --workflow order --json', 'one document per line, for programs']],
    load: async () => (await import('../commands/events.ts')).execute,
  },
  {
    usage: 'executions journal <execution>',
    summary: 'print the journal, one entry per line',
    options: AT,
    examples: [
      ['executions journal exe_01k9…', 'for people'],
      ['executions journal exe_01k9… --json', 'as stored'],
    ],
    load: async () => (await import('../commands/executions-read.ts')).journal,
  },
  {
    usage: 'executions undo-plan <execution>',
    summary: 'show the compensations that would run if the run failed now',
    options: AT,
    examples: [['executions undo-plan exe_01k9…', 'in the order in which they would run']],
    load: async () => (await import('../commands/executions-read.ts')).undoPlan,
  },
]);

export const CHANGE_COMMANDS = commands('Change runs', [
  {
    usage: 'executions signal <execution-and-name...>',
    summary: 'send a signal to a run, which takes it now or later',
    options: [
      { flags: '--key <text>', text: 'for the wait with this key' },
      { flags: '--payload <json>', text: 'the payload: JSON, @file, or - for stdin' },
      ...BULK,
      ...AT,
    ],
    examples: [
      ['executions signal exe_01k9… paid --payload \'{"amount": 7}\'', 'one run'],
      ['executions signal paid --workflow order --status running', 'all runs of a workflow'],
    ],
    notes: `The last word is the name of the signal. A signal that arrives early is buffered until a node waits for it.
${BULK_NOTE}`,
    load: async () => (await import('../commands/executions-change.ts')).signal,
  },
  {
    usage: 'signal <name>',
    summary: 'send a signal to whichever run waits for it',
    options: [
      { flags: '--key <text>', text: 'for a wait with this key' },
      { flags: '--payload <json>', text: 'the payload: JSON, @file, or - for stdin' },
      { flags: '--keep <duration>', text: 'how long to buffer it if no run waits for it yet (default: 1d)' },
      { ...PROJECT, text: 'the project whose runs can take it (default: default)' },
      ...AT,
    ],
    examples: [
      ['signal paid --key order-7 --payload \'{"amount": 7}\'', 'the run that waits for `paid` of order-7'],
      ['signal go --keep 1h', 'the run that has waited longest, or the first that waits within an hour'],
    ],
    notes:
      'One run takes it: the one that has waited longest. To signal a given run, or several, use `executions signal`.',
    load: async () => (await import('../commands/signal.ts')).execute,
  },
  {
    usage: 'executions approve <execution> <node>',
    summary: 'give the approval that a node waits for',
    options: [
      ...ANSWER,
      { flags: '--form <json>', text: 'the values of the form: JSON, @file, or - for stdin' },
      ...AT,
    ],
    examples: [
      ['executions approve exe_01k9… release', 'as yourself'],
      ['executions approve exe_01k9… release --by ann --form \'{"limit": 100}\'', 'on behalf of ann, with a form'],
    ],
    load: async () => (await import('../commands/executions-answer.ts')).approve,
  },
  {
    usage: 'executions reject <execution> <node>',
    summary: 'refuse an approval: the node fails with REJECTED',
    options: [...ANSWER, ...AT],
    examples: [['executions reject exe_01k9… release --comment "not on a Friday"', 'with a reason']],
    load: async () => (await import('../commands/executions-answer.ts')).reject,
  },
  {
    usage: 'executions callback <execution> <node>',
    summary: 'send the callback that a node waits for',
    options: [{ flags: '--payload <json>', text: 'the payload: JSON, @file, or - for stdin' }, ...AT],
    examples: [['executions callback exe_01k9… reply --payload \'{"ok": true}\'', 'in place of the other system']],
    load: async () => (await import('../commands/executions-answer.ts')).callback,
  },
  {
    usage: 'executions pause [execution...]',
    summary: 'pause runs: running attempts finish, nothing new starts',
    options: [{ flags: '--reason <text>', text: 'the reason, stored with the run' }, ...BULK, ...AT],
    examples: [
      ['executions pause exe_01k9… --reason "the bank is down"', 'one run'],
      ['executions pause --workflow order --status running', 'all runs of a workflow'],
    ],
    notes: `The timers and time limits of a paused run stop; its children continue.
${BULK_NOTE}`,
    load: async () => (await import('../commands/executions-change.ts')).pause,
  },
  {
    usage: 'executions resume [execution...]',
    summary: 'continue paused runs',
    options: [NO_RUN, ...BULK, ...LOCATION, JSON_OUTPUT, FULL, QUIET],
    examples: [
      ['executions resume exe_01k9…', 'one run, in the engine that owns it'],
      ['executions resume --status paused', 'all paused runs'],
    ],
    notes: `If no engine is running, the run continues in this process, and the command stays until it ends.
${BULK_NOTE}
${EXIT_CODES}`,
    load: async () => (await import('../commands/executions-change.ts')).resume,
  },
  {
    usage: 'executions cancel [execution...]',
    summary: 'cancel runs, or one node of them',
    options: [
      { flags: '--reason <text>', text: 'the reason, stored with the run' },
      { flags: '--no-compensate', text: 'run no compensations' },
      { flags: '--node <path>', text: 'only this node and its body; the run continues without it' },
      NO_RUN,
      ...BULK,
      ...AT,
    ],
    examples: [
      ['executions cancel exe_01k9… --reason "wrong order"', 'stop a run, also one of a running engine'],
      ['executions cancel exe_01k9… --node items/3', 'stop one iteration of a loop'],
      ['executions cancel --workflow order --status running --yes', 'all runs of a workflow'],
    ],
    notes: `The engine that owns the run stops it and runs its compensations; if no engine is running, this command does.
${BULK_NOTE}`,
    load: async () => (await import('../commands/executions-change.ts')).cancel,
  },
  {
    usage: 'executions retry [execution...]',
    summary: 'run the failed nodes of ended runs again',
    options: [
      { flags: '--latest', text: 'first move the run to the active version, or the newest: see `executions migrate`' },
      { ...MIGRATE_TO, text: 'first move the run to this version; a file is registered first' },
      ...DECISIONS,
      ...[NO_RUN, ...BULK, ...LOCATION, JSON_OUTPUT, FULL, QUIET],
    ],
    examples: [
      ['executions retry exe_01k9…', 'completed nodes do not run again'],
      ['executions retry exe_01k9… --to order.yaml', 'with the corrected file'],
      ['executions retry --status failed --workflow order', 'all failed runs of a workflow'],
    ],
    notes: `${BULK_NOTE}
${EXIT_CODES}`,
    load: async () => (await import('../commands/executions-change.ts')).retry,
  },
  {
    usage: 'executions migrate [execution...]',
    summary: 'move runs to another version of their workflow',
    options: [
      { ...MIGRATE_TO, text: 'latest (the active version, else the newest), a number, or a file to register' },
      ...DECISIONS,
      { flags: '--dry-run', text: 'only show what would change' },
      { flags: '--back', text: 'take the last migration back, if the run has not continued' },
      { flags: '--from <version>', text: 'only runs of this version' },
      NO_RUN,
      ...BULK,
      ...AT,
    ],
    examples: [
      ['executions migrate exe_01k9… --dry-run', 'which nodes changed, and what the run did with them'],
      ['executions migrate exe_01k9… --to order.yaml', 'register the corrected file and move the run to it'],
      [
        'executions migrate exe_01k9… --again charge',
        'a completed node that changed, and everything after it, runs again',
      ],
      ['executions migrate --workflow order --from 3 --status failed', 'all failed runs of version 3'],
    ],
    notes: `Completed nodes keep their results. If the version changes such a node, decide: --keep its result, begin it --again, or --drop the result of a node that is gone. A run that has ended continues with \`executions retry\`; one that waits or is paused continues by itself.
${BULK_NOTE}`,
    load: async () => (await import('../commands/executions-migrate.ts')).migrate,
  },
  {
    usage: 'executions relaunch <execution>',
    summary: 'start the workflow of a run again as a new run',
    options: [
      { flags: '-i, --input <json>', text: 'another input: JSON, @file, or - for stdin' },
      { flags: '-s, --set <key=value>', text: 'set a field of the new input', repeatable: true },
      { flags: '--workflow-version <version>', text: 'same, active, or a number (default: same)' },
      { flags: '--no-wait', text: 'print its id as soon as it is durable' },
      ...STAYING,
    ],
    examples: [
      ['executions relaunch exe_01k9…', 'with the same input'],
      ['executions relaunch exe_01k9… --workflow-version active', 'with the active version'],
    ],
    notes: EXIT_CODES,
    load: async () => (await import('../commands/executions-answer.ts')).relaunch,
  },
  {
    usage: 'executions replay <execution> <node>',
    summary: 'run a node of an ended run again, and everything downstream',
    options: [
      { flags: '-i, --input <json>', text: 'new parameters for the node: JSON, @file, or - for stdin' },
      { flags: '--fork', text: 'in a new run that begins with the state before the node' },
      { flags: '--dry-run', text: 'only show which nodes would run again' },
      NO_RUN,
      ...STAYING,
    ],
    examples: [
      ['executions replay exe_01k9… charge', 'with a new idempotency key'],
      ['executions replay exe_01k9… charge --input \'{"amount": 5}\' --fork', 'with other parameters, in a new run'],
    ],
    notes: EXIT_CODES,
    load: async () => (await import('../commands/executions-answer.ts')).replay,
  },
  {
    usage: 'executions settle <execution> <node>',
    summary: 'decide an attempt whose outcome is unknown',
    options: [
      { flags: '--happened', text: 'the attempt took effect' },
      { flags: '--output <json>', text: 'with --happened: its output, JSON or @file' },
      { flags: '--retry', text: 'the attempt did not take effect: run it again' },
      { flags: '--fail', text: 'the attempt did not take effect: fail the node' },
      ...AT,
    ],
    examples: [
      ['executions settle exe_01k9… charge --happened --output \'{"id": "ch_1"}\'', 'the card was charged'],
      ['executions settle exe_01k9… charge --retry', 'the card was not charged: try again'],
    ],
    load: async () => (await import('../commands/executions-answer.ts')).settle,
  },
  {
    usage: 'executions delete [execution...]',
    summary: 'delete ended runs with their journals, logs and values',
    options: [...BULK, ...AT],
    examples: [
      ['executions delete exe_01k9…', 'journal, logs and stored outputs'],
      ['executions delete --status failed --workflow order', 'all failed runs of a workflow'],
    ],
    notes: BULK_NOTE,
    load: async () => (await import('../commands/executions-change.ts')).remove,
  },
]);
