/** The operations of the contract, as commands use them. */
import type { NebulaClient } from '@nebula/client';
import { didYouMean, NebulaError } from '@nebula/core';
import { textOption } from './command-options.ts';
import { locationOf } from './location.ts';
import { passwordOf } from './passwords.ts';
import type { ApiSession, CommandOptions, Context, Project, Purpose } from './services.ts';

export interface ApiUse {
  readonly makesFolder?: boolean;
}

/** Opens a session at the location that the options name, and closes it afterwards. */
export async function withApi<Result>(
  { services }: Context,
  options: CommandOptions,
  purpose: Purpose,
  work: (session: ApiSession, project: Project) => Promise<Result>,
  how: ApiUse = {},
): Promise<Result> {
  const project = await services.openProject(locationOf(options));
  const session = await services.openApi(project, purpose, how);
  try {
    return await work(session, project);
  } finally {
    await session.close();
  }
}

/** Like `withApi`, signed in as the user of `--as` if it is given. */
export function withApiAs<Result>(
  context: Context,
  options: CommandOptions,
  purpose: Purpose,
  work: (session: ApiSession, project: Project) => Promise<Result>,
  how: ApiUse = {},
): Promise<Result> {
  const inTheirName = async (session: ApiSession, project: Project): Promise<Result> => {
    const user = textOption(options, 'as');
    if (user === undefined) return await work(session, project);
    const password =
      session.server === undefined ? undefined : await passwordOf(context, options, `password of ${user}`);
    return await work(await session.as(user, password), project);
  };
  return withApi(context, options, purpose, inTheirName, how);
}

/** Returns undefined if the thing does not exist or the caller may not see it. */
export async function found<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NebulaError && ABSENT.test(error.code)) return undefined;
    throw error;
  }
}

const ABSENT = /^(NOT_FOUND$|UNKNOWN_)/;

/** Reads all pages, up to `limit` items. */
export async function allItems<Item>(
  page: (cursor: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const { items: more, next } = await page(cursor);
    items.push(...more);
    cursor = next ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return items;
}

export function pageOf(cursor: string | undefined): { readonly limit: number; readonly cursor?: string } {
  return { limit: 500, ...(cursor !== undefined && { cursor }) };
}

export async function workflowIdsOf(api: NebulaClient): Promise<readonly string[]> {
  const known = await allItems((cursor) => api.call('listWorkflows', { query: pageOf(cursor) }));
  return known.map(({ workflowId }) => workflowId);
}

/** Adds a suggestion to the error of a call that names an unknown workflow. */
export async function ofWorkflow<Result>(
  api: NebulaClient,
  workflowId: string,
  call: Promise<Result>,
): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof NebulaError) || !NOT_THERE.has(error.code)) throw error;
    const known = await workflowIdsOf(api);
    const guess = didYouMean(workflowId, known);
    const isThere = known.includes(workflowId);
    const hint = isThere ? '`nebula workflows show` lists its versions' : '`nebula workflows list` shows them';
    throw new NebulaError(error.code, error.message, {
      hint: guess === undefined || isThere ? hint : `did you mean ${guess}?`,
    });
  }
}

const NOT_THERE: ReadonlySet<string> = new Set(['UNKNOWN_WORKFLOW', 'NOT_FOUND', 'QUERY_INVALID']);
