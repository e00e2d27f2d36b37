/** The commands of `nebula workers` and `nebula cache`. */
import { withApi } from '../api.ts';
import { definedMembers, textOption } from '../command-options.ts';
import { print, printDone } from '../print.ts';
import { ago, deleteCommand, listCommand } from '../record-commands.ts';
import type { Command } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { momentText, plural } from '../views/words.ts';

export const list = listCommand({
  operation: 'listWorkers',
  // Only the server of the folder knows its workers.
  purpose: 'change',
  columns: {
    WORKER: ({ workerId }) => printableLine(workerId),
    STATUS: ({ status }, { io }) => (status === 'live' ? io.out.colors.green(status) : io.out.colors.dim(status)),
    RUNNING: ({ running }) => String(running),
    SEEN: ({ lastSeenAt }, context) => ago(lastSeenAt, context),
    PROJECT: ({ project }) => project,
    LABELS: ({ labels }) => labels.map(printableLine).join(', '),
    ACTIONS: ({ actions }) => actions.map(printableLine).join(', '),
  },
  none: (program) => `no workers; ${program} worker --server URL starts one`,
});

export const fleet: Command = (call) =>
  withApi(call, 'change', async ({ api }) => {
    const answer = await api.call('getFleet', {});
    const { engine, queue } = answer;
    const lines = [
      `engine    ${engine.engineId}`,
      `slots     ${engine.running} of ${engine.slots} in use`,
      `runs      ${engine.runs} in memory, ${plural(engine.readyNodes, 'ready node')}`,
      `leases    ${engine.leases} at remote workers`,
      `queue     ${plural(queue.depth, 'task')}`,
      ...queue.routes.map(
        ({ route, waiting }) => `  ${route === '' ? 'this process' : printableLine(route)}: ${waiting}`,
      ),
    ];
    return print(call, answer, () => lines);
  });

export const remove = deleteCommand('deleteWorker', 'workerId', (id) => `removed the worker ${id}`);

export const removeAction: Command = (call, [actionId = '']) => {
  const project = textOption(call.options, 'project') ?? 'default';
  return withApi(call, 'change', async ({ api }) => {
    await api.call('removeAnnouncedAction', { params: { actionId }, query: { project } });
    return printDone(call, { actionId, project, removed: true }, `removed ${actionId}`);
  });
};

export const listCache = listCommand({
  operation: 'listCache',
  query: (options) => definedMembers({ action: textOption(options, 'action') }),
  columns: {
    ACTION: ({ action }) => action,
    STORED: ({ at }, context) => ago(at, context),
    ENDS: ({ expiresAt }, { io }) =>
      expiresAt === null ? io.out.colors.dim('never') : momentText(Date.parse(expiresAt), io.now()),
    BY: ({ executionId, node }) => `${executionId} ${printableLine(node)}`,
    KEY: ({ key }) => printableLine(key),
  },
  none: () => 'no outputs are cached',
});

export const clearCache: Command = (call, [key]) =>
  withApi(call, 'change', async ({ api }) => {
    const query = definedMembers({ key, action: textOption(call.options, 'action') });
    const answer = await api.call('forgetCache', { query });
    return printDone(call, answer, `${plural(answer.forgotten, 'cached output')} removed`);
  });
