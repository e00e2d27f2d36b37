/** The actions that workflows may name. */
import type { AnswerOf } from '@nebula/client/contract';
import { PAGE_LIMITS } from '@nebula/client/limits';
import { type Action, didYouMean, effectOf, type Json, NebulaError } from '@nebula/core';
import { type Handlers, ok } from '../http/handler.ts';
import { type Principal, visibleProjects } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';

export function actionRoutes({ executions: { catalog } }: Parts) {
  /** The server's own actions, and those announced in projects that the caller sees. */
  const seenBy = (who: Principal): Action[] => {
    const visible = visibleProjects(who);
    const ids = [...catalog.actionIds()].filter((id) => catalog.owns(id));
    const here = ids.flatMap((id) =>
      catalog.versionsOf(id).map((version) => catalog.action(`${id}@${version}`) as Action),
    );
    const announced = catalog.announced().filter(({ project }) => project !== undefined && isSeen(visible, project));
    return [...here, ...announced].toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  };
  return {
    async listActions({ query: { cursor, limit = PAGE_LIMITS.default }, who }) {
      const names = seenBy(who);
      const from = cursor === undefined ? 0 : names.findIndex((action) => nameOf(action) === cursor) + 1;
      if (cursor !== undefined && from === 0) {
        throw new NebulaError('CURSOR_INVALID', 'The cursor does not belong to this list.', {
          hint: 'Use `next` of a page.',
        });
      }
      const items = names.slice(from, from + limit).map(documentOf);
      const last = names[from + limit - 1];
      return ok({ items, next: names.length > from + limit && last !== undefined ? nameOf(last) : null });
    },

    async getAction({ params: { actionId }, query: { project }, who }) {
      const visible = visibleProjects(who);
      const projects = project === undefined ? (visible ?? projectsIn(catalog.announced())) : [project];
      const [id = ''] = actionId.split('@');
      // Every caller sees the server's own actions.
      for (const owner of catalog.owns(id) ? [undefined] : projects.filter((one) => one !== undefined)) {
        const action = isSeen(visible, owner) ? catalog.within(owner).action(actionId) : undefined;
        if (action !== undefined) return ok(documentOf(action));
      }
      const guess = didYouMean(
        actionId,
        seenBy(who).map(({ id }) => id),
      );
      throw new NebulaError('UNKNOWN_ACTION', `There is no action '${actionId}'.`, {
        hint: guess === undefined ? 'GET /api/v1/actions lists them.' : `Did you mean '${guess}'?`,
      });
    },
  } satisfies Partial<Handlers>;
}

/** Removes duplicates: several projects may announce the same action. */
const nameOf = ({ id, version, project }: Action): string =>
  `${project === undefined ? '' : `${project}/`}${id}@${version}`;

const isSeen = (visible: readonly string[] | undefined, project: string | undefined): boolean =>
  project === undefined || visible === undefined || visible.includes(project);

const projectsIn = (announced: readonly Action[]): (string | undefined)[] => [
  ...new Set(announced.map(({ project }) => project)),
];

function documentOf(action: Action): AnswerOf<'getAction'> {
  const { id, version, title = null, description = null, input, output, capabilities = [] } = action;
  const { category = null, icon = null, docs = null, examples = [] } = action;
  return {
    id,
    version,
    title,
    description,
    category,
    icon,
    docs,
    examples: examples.map((example) => ({ title: example.title, with: { ...example.with } })),
    input: (input ?? null) as Json,
    output: (output ?? null) as Json,
    effect: effectOf(action) as string,
    capabilities: [...capabilities],
    credentials: action.credentials === undefined ? null : [...action.credentials],
    runs: action.isRemote ? 'worker' : 'server',
    project: action.project ?? null,
  };
}
