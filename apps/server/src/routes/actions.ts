/** The actions that workflows may name. */
import type { AnswerOf } from '@nebula/client/contract';
import { type Action, didYouMean, type Json, NebulaError } from '@nebula/core';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';

export function actionRoutes({ catalog }: Parts): Pick<Handlers, 'listActions' | 'getAction'> {
  const all = (): Action[] =>
    [...catalog.actionIds()]
      .toSorted()
      .flatMap((id) => catalog.versionsOf(id).map((version) => catalog.action(`${id}@${version}`) as Action));
  return {
    async listActions({ query: { cursor, limit = 50 } }) {
      const names = all();
      const from = cursor === undefined ? 0 : names.findIndex((action) => nameOf(action) === cursor) + 1;
      if (cursor !== undefined && from === 0) {
        throw new NebulaError('CURSOR_INVALID', 'The cursor is not one of this list.', {
          hint: 'Take `next` of a page.',
        });
      }
      const items = names.slice(from, from + limit).map(documentOf);
      const last = names[from + limit - 1];
      return ok({ items, next: names.length > from + limit && last !== undefined ? nameOf(last) : null });
    },

    async getAction({ params: { actionId } }) {
      const action = catalog.action(actionId);
      if (action !== undefined) return ok(documentOf(action));
      const guess = didYouMean(actionId, catalog.actionIds());
      throw new NebulaError('UNKNOWN_ACTION', `There is no action '${actionId}'.`, {
        hint: guess === undefined ? 'GET /api/v1/actions lists them.' : `Did you mean '${guess}'?`,
      });
    },
  };
}

const nameOf = ({ id, version }: Action): string => `${id}@${version}`;

function documentOf(action: Action): AnswerOf<'getAction'> {
  const { id, version, title = null, description = null, input, output, effect = 'once', capabilities = [] } = action;
  return {
    id,
    version,
    title,
    description,
    input: (input ?? null) as Json,
    output: (output ?? null) as Json,
    effect: typeof effect === 'function' ? 'depends on the input' : effect,
    capabilities: [...capabilities],
    runs: action.isOutside ? 'outside' : 'here',
  };
}
