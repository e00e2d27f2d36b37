/** Commands that change runs. */
import {
  ANSWER,
  BULK,
  BULK_NOTE,
  type CommandSpec,
  EXIT_CODES,
  FULL,
  JSON_OUTPUT,
  NO_RUN,
  PLACE,
  PROJECT,
  QUIET,
} from './spec.ts';

export const CHANGE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'executions signal',
    takes: '<execution-and-name...>',
    summary: 'send a signal to a run that waits for it, or will',
    group: 'Change runs',
    options: [
      { flags: '--key <text>', text: 'for the wait with this key' },
      { flags: '--payload <json>', text: 'what comes with it: JSON, @file, or - for stdin' },
      ...BULK,
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions signal exe_01k9… paid --payload \'{"amount": 7}\'', 'a run that waits for the signal `paid`'],
      ['executions signal paid --workflow order --status running', 'all runs of a workflow'],
    ],
    notes: `The last word is the name of the signal. A signal that comes early is kept until a node waits for it.
${BULK_NOTE}`,
    load: () => import('../commands/executions-signal.ts'),
  },
  {
    name: 'signal',
    takes: '<name>',
    summary: 'send a signal to whichever run waits for it',
    group: 'Change runs',
    options: [
      { flags: '--key <text>', text: 'for a wait with this key' },
      { flags: '--payload <json>', text: 'what comes with it: JSON, @file, or - for stdin' },
      { flags: '--keep <duration>', text: 'how long it waits for somebody who waits for it (default: 1d)' },
      { ...PROJECT, text: 'whose runs hear it (default: default)' },
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['signal paid --key order-7 --payload \'{"amount": 7}\'', 'the run that waits for `paid` of order-7'],
      ['signal go --keep 1h', 'the one that has waited longest, or that comes within an hour'],
    ],
    notes:
      'One run takes it: the one that has waited longest. `executions signal` is for a run that is known, or for several.',
    load: () => import('../commands/signal.ts'),
  },
  {
    name: 'executions approve',
    takes: '<execution> <node>',
    summary: 'approve what a node waits for',
    group: 'Change runs',
    options: [
      ...ANSWER,
      { flags: '--form <json>', text: 'what the form asks for: JSON, @file, or - for stdin' },
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions approve exe_01k9… release', 'in your name'],
      [
        'executions approve exe_01k9… release --by ann --form \'{"limit": 100}\'',
        'in that of somebody else, with a form',
      ],
    ],
    load: () => import('../commands/executions-approve.ts'),
  },
  {
    name: 'executions reject',
    takes: '<execution> <node>',
    summary: 'reject what a node waits for, which fails it with REJECTED',
    group: 'Change runs',
    options: [...ANSWER, ...PLACE, JSON_OUTPUT],
    examples: [['executions reject exe_01k9… release --comment "not on a Friday"', 'say why']],
    load: () => import('../commands/executions-reject.ts'),
  },
  {
    name: 'executions callback',
    takes: '<execution> <node>',
    summary: 'make the call for which a node waits',
    group: 'Change runs',
    options: [
      { flags: '--payload <json>', text: 'what comes with it: JSON, @file, or - for stdin' },
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions callback exe_01k9… reply --payload \'{"ok": true}\'', 'what another system would have said'],
    ],
    load: () => import('../commands/executions-callback.ts'),
  },
  {
    name: 'executions pause',
    takes: '[execution...]',
    summary: 'let what runs end, and start nothing until it is resumed',
    group: 'Change runs',
    options: [{ flags: '--reason <text>', text: 'kept with the run' }, ...BULK, ...PLACE, JSON_OUTPUT],
    examples: [
      ['executions pause exe_01k9… --reason "the bank is down"', 'one run'],
      ['executions pause --workflow order --status running', 'all runs of a workflow'],
    ],
    notes: `While a run is paused its timers and time limits stand still; its children go on.
${BULK_NOTE}`,
    load: () => import('../commands/executions-pause.ts'),
  },
  {
    name: 'executions resume',
    takes: '[execution...]',
    summary: 'let paused runs go on',
    group: 'Change runs',
    options: [NO_RUN, ...BULK, ...PLACE, JSON_OUTPUT, FULL, QUIET],
    examples: [
      ['executions resume exe_01k9…', 'one run, in the engine that has it'],
      ['executions resume --status paused', 'all that are paused'],
    ],
    notes: `Where no engine runs, it goes on here, and the command stays until its end.
${BULK_NOTE}
${EXIT_CODES}`,
    load: () => import('../commands/executions-resume.ts'),
  },
  {
    name: 'executions cancel',
    takes: '[execution...]',
    summary: 'cancel runs, or one node of them',
    group: 'Change runs',
    options: [
      { flags: '--reason <text>', text: 'kept with the run' },
      { flags: '--no-compensate', text: 'leave what was done as it is: nothing is undone' },
      { flags: '--node <path>', text: 'only this node, with what is in it; the run goes on without it' },
      NO_RUN,
      ...BULK,
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions cancel exe_01k9… --reason "wrong order"', 'stop a run, beside the engine that runs it'],
      ['executions cancel exe_01k9… --node items/3', 'stop one round of a loop'],
      ['executions cancel --workflow order --status running --yes', 'all runs of a workflow'],
    ],
    notes: `The engine that has the run stops it and undoes what it did; where none runs, this command does.
${BULK_NOTE}`,
    load: () => import('../commands/executions-cancel.ts'),
  },
  {
    name: 'executions retry',
    takes: '[execution...]',
    summary: 'begin finished runs again at their failed nodes',
    group: 'Change runs',
    options: [NO_RUN, ...BULK, ...PLACE, JSON_OUTPUT, FULL, QUIET],
    examples: [
      ['executions retry exe_01k9…', 'what has completed is not done again'],
      ['executions retry --status failed --workflow order', 'all failed runs of a workflow'],
    ],
    notes: `${BULK_NOTE}
${EXIT_CODES}`,
    load: () => import('../commands/executions-retry.ts'),
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
      ...PLACE,
      JSON_OUTPUT,
      FULL,
      QUIET,
    ],
    examples: [
      ['executions replay exe_01k9… charge', 'as something new: with another idempotency key'],
      ['executions replay exe_01k9… charge --input \'{"amount": 5}\' --fork', 'with other parameters, in a new run'],
    ],
    notes: EXIT_CODES,
    load: () => import('../commands/executions-replay.ts'),
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
      ...PLACE,
      JSON_OUTPUT,
    ],
    examples: [
      ['executions settle exe_01k9… charge --happened --output \'{"id": "ch_1"}\'', 'the card was charged'],
      ['executions settle exe_01k9… charge --retry', 'it was not: try again'],
    ],
    load: () => import('../commands/executions-settle.ts'),
  },
  {
    name: 'executions delete',
    takes: '[execution...]',
    summary: 'delete finished runs with all that belongs to them',
    group: 'Change runs',
    options: [...BULK, ...PLACE, JSON_OUTPUT],
    examples: [
      ['executions delete exe_01k9…', 'journal, logs and stored outputs'],
      ['executions delete --status failed --workflow order', 'all failed runs of a workflow'],
    ],
    notes: BULK_NOTE,
    load: () => import('../commands/executions-delete.ts'),
  },
];
