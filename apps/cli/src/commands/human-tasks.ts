/** The commands of `nebula human-tasks`, and `nebula statistics`. */
import { formatDuration } from '@nebula/core';
import { withApi } from '../api.ts';
import { definedMembers, textOption, textsOption } from '../command-options.ts';
import { printList } from '../print.ts';
import { ago, listCommand } from '../record-commands.ts';
import type { Command, CommandOptions } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { momentText } from '../views/words.ts';

const ofScope = (options: CommandOptions) =>
  definedMembers({ project: textOption(options, 'project'), workflowId: textOption(options, 'workflow') });

export const list = listCommand({
  operation: 'listHumanTasks',
  query: (options) => ({
    ...ofScope(options),
    ...definedMembers({ kind: textsOption(options, 'kind')?.join(',') }),
    ...(options.byDeadline === true && { order: 'deadline' }),
  }),
  columns: {
    EXECUTION: ({ executionId }) => executionId,
    NODE: ({ node }) => printableLine(node),
    KIND: ({ kind }) => kind,
    WHAT: ({ title, signal, error }) => printableLine(title ?? signal ?? error?.message ?? ''),
    SINCE: ({ since }, context) => ago(since, context),
    DEADLINE: ({ deadline }, { io }) =>
      deadline === null ? io.out.colors.dim('none') : momentText(Date.parse(deadline), io.now()),
    PROJECT: ({ project }) => project,
  },
  none: () => 'nothing waits for a person',
});

export const count: Command = (call) =>
  withApi(call, 'read', async ({ api }) => {
    const answer = await api.call('countHumanTasks', { query: ofScope(call.options) });
    const rows = Object.entries(answer.counts).flatMap(([kind, tasks]) => (tasks > 0 ? [[kind, String(tasks)]] : []));
    const headings = ['KIND', { title: 'TASKS', align: 'right' as const }];
    return printList(call, answer, headings, rows, 'nothing waits for a person');
  });

export const statistics: Command = (call) =>
  withApi(call, 'read', async ({ api }) => {
    const { options } = call;
    const query = {
      ...ofScope(options),
      ...definedMembers({ since: textOption(options, 'since'), until: textOption(options, 'until') }),
      bucket: textOption(options, 'bucket') ?? '1h',
    };
    const answer = await api.call('getStatistics', { query });
    const time = (ms: number | undefined): string => (ms === undefined ? '' : formatDuration(ms));
    const rows = answer.buckets
      .filter(
        ({ starts, ends, backlog }) => starts + backlog + Object.values(ends).reduce((sum, one) => sum + one, 0) > 0,
      )
      .map(({ since, starts, ends, failures, duration, backlog }) => [
        `${since.slice(0, 10)} ${since.slice(11, 16)}`,
        String(starts),
        String(ends['completed'] ?? 0),
        String(failures),
        time(duration?.p50),
        time(duration?.p95),
        String(backlog),
      ]);
    const right = (title: string) => ({ title, align: 'right' as const });
    const headings = ['SINCE (UTC)', ...['STARTS', 'COMPLETED', 'FAILED', 'P50', 'P95', 'BACKLOG'].map(right)];
    return printList(call, answer, headings, rows, 'no runs in this time');
  });
