/** The table of commands that delete something by its id. */
import type { OperationId } from '@nebula/client';
import { withApiAs } from './api.ts';
import { printDone } from './print.ts';
import type { CommandModule } from './services.ts';

interface Removal {
  readonly operation: OperationId;
  /** The name of the route parameter and of the member in `--json`. */
  readonly id: string;
  words(id: string): string;
}

const removal = ({ operation, id, words }: Removal): CommandModule => ({
  execute: (context, [name = ''], options) =>
    withApiAs(context, options, 'change', async ({ api }) => {
      await api.call(operation, { params: { [id]: name } } as never);
      return printDone(context, options, { [id]: name, deleted: true }, words(name));
    }),
});

export const DELETE_COMMANDS = {
  users: removal({ operation: 'deleteUser', id: 'userId', words: (id) => `removed ${id} with all sessions and keys` }),
  keys: removal({
    operation: 'deleteKey',
    id: 'keyId',
    words: (id) => `revoked the key ${id}`,
  }),
  plans: removal({ operation: 'deletePlan', id: 'planId', words: (id) => `the plan ${id} is gone` }),
  projects: removal({ operation: 'deleteProject', id: 'projectId', words: (id) => `the project ${id} is gone` }),
  schedules: removal({ operation: 'deleteSchedule', id: 'scheduleId', words: (id) => `the schedule ${id} is gone` }),
  workers: removal({ operation: 'deleteWorker', id: 'workerId', words: (id) => `the worker ${id} is gone` }),
} as const;
