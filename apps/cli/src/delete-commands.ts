/** What can be removed by its id, as data. */
import type { OperationId } from '@nebula/client';
import { withApiAs } from './api.ts';
import { printDone } from './print.ts';
import type { CommandModule } from './services.ts';

interface Removal {
  readonly operation: OperationId;
  /** The parameter, and the member of the document. */
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
  users: removal({ operation: 'deleteUser', id: 'userId', words: (id) => `${id} is gone, with sessions and keys` }),
  keys: removal({
    operation: 'deleteKey',
    id: 'keyId',
    words: (id) => `the key ${id} is good for nothing from now on`,
  }),
  plans: removal({ operation: 'deletePlan', id: 'planId', words: (id) => `the plan ${id} is gone` }),
  projects: removal({ operation: 'deleteProject', id: 'projectId', words: (id) => `the project ${id} is gone` }),
  schedules: removal({ operation: 'deleteSchedule', id: 'scheduleId', words: (id) => `the schedule ${id} is gone` }),
  workers: removal({ operation: 'deleteWorker', id: 'workerId', words: (id) => `the worker ${id} is gone` }),
} as const;
