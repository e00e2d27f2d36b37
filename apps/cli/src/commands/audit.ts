import type { AnswerOf, NebulaClient } from '@nebula/client';
import { withApiAs } from '../api.ts';
import { countOption, textOption } from '../command-options.ts';
import { printList } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { agoText } from '../views/words.ts';

type Entry = AnswerOf<'listAudit'>['items'][number];

const DEFAULT_LIMIT = 50;
const MAX_PAGE = 1_000;

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  const { colors } = io.out;
  const limit = countOption(options, 'limit', DEFAULT_LIMIT);
  const by = textOption(options, 'who');
  return withApiAs(context, options, 'look', async ({ api }) => {
    const entries = await newest(api, limit, by);
    return printList(context, options, {
      document: { items: entries },
      headings: [{ title: 'WHEN' }, { title: 'WHO' }, { title: 'WHAT' }, { title: 'OUTCOME' }, { title: 'TARGET' }],
      rows: entries.map(({ at, who, operation, outcome, target }) => [
        agoText(Date.parse(at), io.now()),
        printableLine(who),
        operation,
        outcome < 400 ? colors.green('done') : colors.red(`${outcomeText(outcome)} ${outcome}`),
        target === null ? colors.dim('–') : printableLine(target),
      ]),
      none: by === undefined ? 'no changes recorded yet' : `${printableLine(by)} has made no changes`,
    });
  });
}

function outcomeText(status: number): string {
  return status < 500 ? 'refused' : 'failed';
}

async function newest(api: NebulaClient, limit: number, who: string | undefined): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const query = {
      limit: Math.min(MAX_PAGE, limit - entries.length),
      ...(who !== undefined && { who }),
      ...(cursor !== undefined && { cursor }),
    };
    const { items, next } = await api.call('listAudit', { query });
    entries.push(...items);
    cursor = next ?? undefined;
  } while (cursor !== undefined && entries.length < limit);
  return entries;
}
