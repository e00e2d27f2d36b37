import { didYouMean, NebulaError } from '@nebula/core';
import { allItems, pageOf, unlessAbsent, withApi } from '../api.ts';
import { print } from '../print.ts';
import type { Command } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { actionLines, actionListLines, type ShownAction } from '../views/actions.ts';

export const execute: Command = (call, [name]) =>
  withApi(
    call,
    'read',
    async ({ api, io }) => {
      const view = { colors: io.out.colors, width: readingWidth(io.out) };
      const all = () => allItems((cursor) => api.call('listActions', { query: pageOf(cursor) }));
      if (name === undefined) {
        const actions = await all();
        return print(call, { items: actions.map(actionDocument) }, () => actionListLines(actions, view));
      }
      const action = await unlessAbsent(api.call('getAction', { params: { actionId: name } }));
      if (action === undefined) throw unknownAction(name, await all());
      return print(call, actionDocument(action), () => actionLines(action, view));
    },
    { orEmpty: true },
  );

function unknownAction(name: string, actions: readonly ShownAction[]): NebulaError {
  const ids = actions.map(({ id }) => id);
  const guess = didYouMean(name, ids);
  return new NebulaError('UNKNOWN_ACTION', `there is no action ${name}`, {
    hint: guess === undefined ? '`nebula actions` lists them' : `did you mean ${guess}?`,
  });
}

/** Members that the action does not have are left out. */
function actionDocument(action: ShownAction): Record<string, unknown> {
  const { id, version, title, description, effect, capabilities, credentials, input, output } = action;
  const document = { id, version, title, description, effect, capabilities, credentials, input, output };
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null));
}
