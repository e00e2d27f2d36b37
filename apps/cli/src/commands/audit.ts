import type { AnswerOf, NebulaClient } from '@nebula/client';
import { withApi } from '../api.ts';
import { countOption, definedMembers, textOption } from '../command-options.ts';
import { printList } from '../print.ts';
import type { Command } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { agoText } from '../views/words.ts';

type Entry = AnswerOf<'listAudit'>['items'][number];

const DEFAULT_LIMIT = 50;
const MAX_PAGE = 1_000;

export const execute: Command = (call) => {
  const { io, options } = call;
  const { colors } = io.out;
  const limit = countOption(options, 'limit', DEFAULT_LIMIT);
  const who = textOption(options, 'who');
  return withApi(call, 'read', async ({ api }) => {
    const items = await newest(api, limit, who);
    const rows = items.map(({ at, who: by, operation, outcome, target }) => [
      agoText(Date.parse(at), io.now()),
      printableLine(by),
      operation,
      outcome < 400 ? colors.green('done') : colors.red(`${outcome < 500 ? 'refused' : 'failed'} ${outcome}`),
      target === null ? colors.dim('–') : printableLine(target),
    ]);
    const none = who === undefined ? 'no changes recorded yet' : `${printableLine(who)} has made no changes`;
    return printList(call, { items }, ['WHEN', 'WHO', 'WHAT', 'OUTCOME', 'TARGET'], rows, none);
  });
};

async function newest(api: NebulaClient, limit: number, who: string | undefined): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: Math.min(MAX_PAGE, limit - entries.length), ...definedMembers({ who, cursor }) };
    const { items, next } = await api.call('listAudit', { query });
    entries.push(...items);
    cursor = next ?? undefined;
  } while (cursor !== undefined && entries.length < limit);
  return entries;
}
