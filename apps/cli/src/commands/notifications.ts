/** The commands of `nebula notifications`. */
import { NebulaError } from '@nebula/core';
import { allItems, pageOf, withApi } from '../api.ts';
import { definedMembers, inProject, textOption, textsOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { print, printDone } from '../print.ts';
import { ago, deleteCommand, listCommand } from '../record-commands.ts';
import type { Command } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { momentText } from '../views/words.ts';

type Kind = 'failed' | 'unknown' | 'approval';

/** The server gives such ids to notifications of its configuration, and refuses to change them. */
function isConfigured(notificationId: string): boolean {
  return notificationId.startsWith('config_');
}

export const list = listCommand({
  operation: 'listNotifications',
  query: inProject,
  columns: {
    NOTIFICATION: ({ notificationId }, { io }) =>
      isConfigured(notificationId) ? `${notificationId} ${io.out.colors.dim('(configuration)')}` : notificationId,
    PROJECT: ({ project }) => project,
    ABOUT: ({ on, workflows, tag }) =>
      [
        on.join(', '),
        ...(workflows === null ? [] : [`of ${workflows.join(', ')}`]),
        ...(tag ? [`tag ${tag}`] : []),
      ].join(' '),
    URL: ({ url }) => printableLine(url),
    SENT: ({ lastSentAt }, context) =>
      lastSentAt === null ? context.io.out.colors.dim('–') : ago(lastSentAt, context),
    STATE: ({ active, lastError, nextTryAt }, { io }) => {
      if (!active) return io.out.colors.dim('off');
      if (lastError === null) return io.out.colors.green('ok');
      const next = nextTryAt === null ? '' : `; next try ${momentText(Date.parse(nextTryAt), io.now())}`;
      return io.out.colors.red(`${printableLine(lastError)}${next}`);
    },
  },
  none: (program) =>
    `no notifications are configured: a server tells nobody of failed, stuck or waiting runs; add one with ${program} notifications set NAME --url URL`,
});

/** Creates or changes a notification. Options that are not given keep their value. */
export const set: Command = async (call, [notificationId = '']) => {
  const { options } = call;
  if (options.on === true && options.off === true) throw new NebulaError('USAGE', '--on and --off cannot be combined');
  const text = (name: string): string | undefined => textOption(options, name);
  const asked = definedMembers({
    url: text('url'),
    secret: text('secret'),
    tag: text('tag'),
    gather: text('gather'),
    on: textsOption(options, 'event') as Kind[] | undefined,
    workflows: textsOption(options, 'workflow') as string[] | undefined,
    network: textsOption(options, 'network') as string[] | undefined,
    project: text('project'),
  });
  return await withApi(
    call,
    'change',
    async ({ api }) => {
      const known = await allItems((cursor) => api.call('listNotifications', { query: pageOf(cursor) }));
      const before = known.find((one) => one.notificationId === notificationId);
      const { url, on, network, gather, project, secret, workflows, tag } = before ?? {};
      const kept = { url, on, network, gather, project, secret, workflows, tag };
      const given = Object.fromEntries(Object.entries({ ...kept, ...asked }).filter(([, value]) => value != null));
      if (given['url'] === undefined) {
        throw new NebulaError('USAGE', 'a new notification needs --url', { hint: '--url https://hooks.example.com/x' });
      }
      const active = options.off === true ? false : options.on === true || (before?.active ?? true);
      const body = { ...given, active } as never;
      const saved = await api.call('putNotification', { params: { notificationId }, body });
      const state = saved.active ? `about ${saved.on.join(', ')}` : 'it is switched off';
      return printDone(call, saved, `saved the notification ${notificationId}; ${state}`);
    },
    { makesFolder: true },
  );
};

export const test: Command = (call, [notificationId = '']) =>
  withApi(call, 'change', async ({ api, io }) => {
    const tested = await api.call('testNotification', { params: { notificationId } });
    const { green, red } = io.out.colors;
    print(call, tested, () => [
      tested.delivered
        ? `${green('✓')} the receiver accepted a sample`
        : `${red('✗')} ${printableLine(tested.error ?? '')}`,
    ]);
    return tested.delivered ? EXIT.completed : EXIT.failed;
  });

export const remove = deleteCommand('deleteNotification', 'notificationId', (id) => `the notification ${id} is gone`);
