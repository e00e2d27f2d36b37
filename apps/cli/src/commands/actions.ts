import { type Action, type Catalog, didYouMean, NebulaError } from '@nebula/core';
import { found } from '../api.ts';
import { locationOf } from '../location.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context, Project } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { actionLines, actionListLines } from '../views/actions.ts';
import { jsonDocument } from '../views/json.ts';

export async function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const project = await context.services.openProject(locationOf(options));
  const actions = [
    ...(await context.services.actions(project)),
    ...remoteOnly(await context.services.catalog(project)),
  ];
  const view = { colors: out.colors, width: readingWidth(out) };
  const [name] = args;
  if (name === undefined) {
    const sorted = [...actions].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
    if (options.json === true) out.write(jsonDocument({ items: sorted.map(actionDocument) }));
    else writeLines(out, actionListLines(sorted, view));
    return 0;
  }
  const shown = (await actionAt(context, project, name)) ?? findAction(actions, name);
  if (options.json === true) out.write(jsonDocument(actionDocument(shown)));
  else writeLines(out, actionLines(shown, view));
  return 0;
}

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
