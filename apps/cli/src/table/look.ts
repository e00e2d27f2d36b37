/** Commands that look at runs. */
import { type CommandSpec, FULL, JSON_OUTPUT, PLACE, PROJECT, STATUS_FILTER, WORKFLOW_FILTER } from './spec.ts';

export const LOOK_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'executions list',
    takes: '',
    summary: 'list runs, newest first',
    group: 'Look at runs',
    options: [
      STATUS_FILTER,
      WORKFLOW_FILTER,
      PROJECT,
      { flags: '-n, --limit <count>', text: 'how many (default: 20)' },
      { flags: '--cursor <cursor>', text: 'go on after an earlier page' },
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions list', 'the newest runs'],
      ['executions list --status failed --workflow order', 'failed runs of one workflow'],
    ],
    load: () => import('../commands/executions-list.ts'),
  },
  {
    name: 'executions show',
    takes: '[execution]',
    summary: 'show a run: its nodes, output and error',
    group: 'Look at runs',
    options: [
      { flags: '--all', text: 'every node, however many, and those of rounds that have ended' },
      FULL,
      { ...PROJECT, text: 'the newest run in this project of the server' },
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions show', 'the newest run'],
      ['executions show exe_01k9…', 'the tree of its nodes'],
    ],
    load: () => import('../commands/executions-show.ts'),
  },
  {
    name: 'executions timeline',
    takes: '<execution>',
    summary: 'draw what happened when',
    group: 'Look at runs',
    options: [
      { flags: '--events', text: 'the events, one per line' },
      { flags: '--all', text: 'every node, however many' },
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions timeline exe_01k9…', 'a bar per node'],
      ['executions timeline exe_01k9… --events', 'the events'],
    ],
    load: () => import('../commands/executions-timeline.ts'),
  },
  {
    name: 'executions explain',
    takes: '<execution> [node]',
    summary: 'say why a run or a node is where it is',
    group: 'Look at runs',
    options: [...PLACE, JSON_OUTPUT],
    examples: [
      ['executions explain exe_01k9…', 'the run'],
      ['executions explain exe_01k9… charge', 'one node: why it waits, was skipped, failed'],
    ],
    load: () => import('../commands/executions-explain.ts'),
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
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions logs exe_01k9… --follow', 'watch them come'],
      ['executions logs exe_01k9… --follow --json', 'one document per line, for programs'],
      ['executions logs exe_01k9… --node charge --level warn', 'warnings of one node'],
    ],
    load: () => import('../commands/executions-logs.ts'),
  },
  {
    name: 'executions journal',
    takes: '<execution>',
    summary: 'print the journal, one entry per line',
    group: 'Look at runs',
    options: [...PLACE, JSON_OUTPUT],
    examples: [
      ['executions journal exe_01k9…', 'for reading'],
      ['executions journal exe_01k9… --json', 'as it is'],
    ],
    load: () => import('../commands/executions-journal.ts'),
  },
  {
    name: 'executions undo-plan',
    takes: '<execution>',
    summary: 'show what would be undone if the run failed now',
    group: 'Look at runs',
    options: [...PLACE, JSON_OUTPUT],
    examples: [['executions undo-plan exe_01k9…', 'compensations, in the order in which they would run']],
    load: () => import('../commands/executions-undo-plan.ts'),
  },
];
