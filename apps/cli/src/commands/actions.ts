import { type Action, type Catalog, didYouMean, NebulaError } from '@nebula/core';
import { found } from '../api.ts';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import type { Command, Context, Project } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { actionLines, actionListLines } from '../views/actions.ts';

export const execute: Command = async (call, [name]) => {
  const { io, services, options } = call;
  const project = await services.openProject(locationOf(options));
  const actions = [...(await services.actions(project)), ...remoteOnly(await services.catalog(project))];
  const view = { colors: io.out.colors, width: readingWidth(io.out) };
  if (name === undefined) {
    const sorted = [...actions].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    return print(call, { items: sorted.map(actionDocument) }, () => actionListLines(sorted, view));
  }
  const shown = (await actionAt(call, project, name)) ?? findAction(actions, name);
  return print(call, actionDocument(shown), () => actionLines(shown, view));
};

/** Asks the server, which also knows versions that its list leaves out. */
async function actionAt({ services }: Context, project: Project, actionId: string): Promise<Action | undefined> {
  if (project.server === undefined) return undefined;
  const { actionOf } = await import('../remote/actions.ts');
  const { api } = await services.openApi(project, 'look');
  const document = await found(api.call('getAction', { params: { actionId } }));
  return document && actionOf(document);
}

/** Actions that only remote workers run. */
function remoteOnly(catalog: Catalog): Action[] {
  return [...catalog.actionIds()].flatMap((id) => catalog.action(id) ?? []).filter(({ isRemote }) => isRemote === true);
}

function findAction(actions: readonly Action[], name: string): Action {
  const found = actions.filter((action) => action.id === name || `${action.id}@${action.version}` === name).at(-1);
  if (found !== undefined) return found;
  const guess = didYouMean(
    name,
    actions.map((action) => action.id),
  );
  throw new NebulaError('UNKNOWN_ACTION', `there is no action ${name}`, {
    hint: guess === undefined ? '`nebula actions` lists them' : `did you mean ${guess}?`,
  });
}

function actionDocument(action: Action): Record<string, unknown> {
  const { id, version, title, description, input, output, capabilities, credentials } = action;
  const effect = typeof action.effect === 'function' ? 'depends on the input' : (action.effect ?? 'once');
  return { id, version, title, description, effect, capabilities: capabilities ?? [], credentials, input, output };
}
