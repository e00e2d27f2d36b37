/** The operations of the contract, as commands use them. */
import path from 'node:path';
import type { NebulaClient } from '@nebula/client';
import { didYouMean, NebulaError } from '@nebula/core';
import { textOption } from './command-options.ts';
import { dataDirOption } from './local-command.ts';
import { locationOf } from './location.ts';
import { passwordOf } from './passwords.ts';
import { codeChangedSince } from './project-code.ts';
import { readNote } from './remote/found-server.ts';
import type { ApiSession, Call, MissingFolder, OpenCall, Project, ProjectCall, Purpose } from './services.ts';
import { printable } from './terminal/width.ts';

/**
 * Opens a session at the location that the options name, signed in as the user of `--as` if it is given. Closes the
 * session afterwards.
 */
export async function withApi<Result>(
  call: Call,
  purpose: Purpose,
  work: (open: OpenCall) => Promise<Result>,
  how: MissingFolder = {},
): Promise<Result> {
  const project = await call.services.openProject(locationOf(call.options));
  const session = await call.services.openApi(project, purpose, how);
  return await withSession({ ...call, project }, session, async (open) => {
    const user = textOption(call.options, 'as');
    if (user === undefined) return await work(open);
    const password = session.server === undefined ? undefined : await passwordOf(call, `password of ${user}`);
    const signedIn = await session.as(user, password);
    return await work({ ...open, session: signedIn, api: signedIn.api });
  });
}

/** Closes the session after the work. */
export async function withSession<Result>(
  call: ProjectCall,
  session: ApiSession,
  work: (open: OpenCall) => Promise<Result>,
): Promise<Result> {
  try {
    return await work({ ...call, session, api: session.api });
  } finally {
    await session.close();
  }
}

/** Warns on stderr if the session is with the server of this data folder, which has loaded an earlier text of the code. */
export function warnOfOldCode({ io, project, session, program }: OpenCall): void {
  const note = session.server === undefined ? undefined : readNote(project.dataDir);
  if (note?.startedAt === undefined || note.url !== session.server) return;
  const changed = codeChangedSince(project.configFile, Date.parse(note.startedAt));
  if (changed.length === 0) return;
  const names = changed.map((file) => path.relative(io.cwd, file)).join(', ');
  const verb = changed.length === 1 ? 'has' : 'have';
  io.err.write(
    `${io.err.colors.yellow('warning:')} ${printable(names)} ${verb} changed since the server started; it runs the old code.\n` +
      `${io.err.colors.cyan('hint:')} restart it: ${restartCommand(program, project, note.options)}\n`,
  );
}

/** Stops the server of the folder and starts it with the options that it has now. */
function restartCommand(program: string, project: Project, options = ''): string {
  const dataDir = dataDirOption(project);
  const given = options === '' ? [] : [options];
  const serve = [program, 'serve --detach', ...given, ...dataDir].join(' ');
  return `${[program, 'stop', ...dataDir].join(' ')} && ${serve}`;
}

/** Returns undefined if the thing does not exist or the caller may not see it. */
export async function unlessAbsent<T>(call: Promise<T>): Promise<T | undefined> {
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
