/** The worker, as data. */
import type { CommandSpec } from './spec.ts';

export const WORKER_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'worker',
    takes: '',
    summary: 'run actions of this project for a server',
    group: 'Run',
    options: [
      { flags: '--server <url>', text: 'where the server is (default: $NEBULA_SERVER)' },
      {
        flags: '--labels <labels>',
        text: 'labels that nodes may ask for, with commas: gpu,eu (default: those of the configuration)',
      },
      { flags: '--concurrency <count>', text: 'attempts at the same time (default: 4)' },
      { flags: '--project <id>', text: 'work for this project of the server (default: the only one of the token)' },
      { flags: '--id <name>', text: 'its name in lists (default: one that is made up)' },
      { flags: '--data-dir <dir>', text: 'where the token of a server on this machine is kept' },
      { flags: '-q, --quiet', text: 'say nothing while it runs' },
    ],
    examples: [
      ['worker --server http://127.0.0.1:7777', 'takes work for the actions of nebula.config.ts'],
      ['worker --server https://nebula.example.com --labels gpu,eu --concurrency 2', 'two at a time, with labels'],
    ],
    notes: `The token of the server is $NEBULA_TOKEN, or the file \`token\` in the data folder. It is never an argument: arguments
are seen by everybody on the machine.
Ctrl-C hands back what may be repeated and waits for what may not; a second Ctrl-C leaves at once.`,
    load: () => import('../commands/worker.ts'),
  },
];
