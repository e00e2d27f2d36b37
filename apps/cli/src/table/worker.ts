/** The command `nebula worker`. */
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
    load: () => import('../commands/worker.ts'),
  },
];
