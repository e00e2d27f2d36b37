/** Makes the commands that list the records of an operation or delete one by its id. */
import type { AnswerOf, OperationId, QueryOf } from '@nebula/client';
import { allItems, pageOf, withApi } from './api.ts';
import { printDone, printList } from './print.ts';
import type { Command, CommandOptions, Context, Purpose } from './services.ts';
import { agoText } from './views/words.ts';

type ListOperation = {
  [K in OperationId]: AnswerOf<K> extends { readonly items: readonly unknown[]; readonly next: string | null }
    ? QueryOf<K> extends { readonly cursor?: string }
      ? K
      : never
    : never;
}[OperationId];

type ItemOf<K extends ListOperation> = AnswerOf<K> extends { readonly items: (infer Item)[] } ? Item : never;

type Cell<Item> = (item: Item, context: Context) => string;

interface ListSpec<K extends ListOperation> {
  readonly operation: K;
  readonly purpose?: Purpose;
  readonly query?: (options: CommandOptions) => object;
  /** Columns by title. The column PROJECT is left out if all items are in the project `default`. */
  readonly columns: Readonly<Record<string, Cell<ItemOf<K>>>>;
  none(program: string): string;
}

export function listCommand<K extends ListOperation>(spec: ListSpec<K>): Command {
  const { operation, query, columns, none, purpose = 'read' } = spec;
  return (call) =>
    withApi(call, purpose, async ({ api }) => {
      // The table types each operation; `K` may be any of them here, hence the casts.
      const page = (cursor: string | undefined): Promise<{ items: ItemOf<K>[]; next: string | null }> =>
        api.call(operation, { query: { ...pageOf(cursor), ...query?.(call.options) } } as never) as never;
      const items = await allItems(page);
      const hasOtherProjects = items.some((item) => (item as { project?: string }).project !== 'default');
      const shown = Object.entries(columns).filter(([title]) => title !== 'PROJECT' || hasOtherProjects);
      const rows = items.map((item) => shown.map(([, cell]) => cell(item, call)));
      return printList(
        call,
        { items },
        shown.map(([title]) => title),
        rows,
        none(call.program),
      );
    });
}

export function ago(at: string, { io }: Context): string {
  return agoText(Date.parse(at), io.now());
}

/** `id`: the name of the route parameter and of the member in `--json`. */
export function deleteCommand(operation: OperationId, id: string, words: (id: string) => string): Command {
  return (call, [name = '']) =>
    withApi(call, 'change', async ({ api }) => {
      await api.call(operation, { params: { [id]: name } } as never);
      return printDone(call, { [id]: name, deleted: true }, words(name));
    });
}
