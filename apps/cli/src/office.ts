/** What commands about workflows, people and schedules have in common. */
import { didYouMean, NebulaError } from '@nebula/core';
import { writeLines } from './conclude.ts';
import { placeOf, textOption } from './desk.ts';
import type { CommandOptions, Context, OfficeSession, Project } from './services.ts';
import { readingWidth } from './terminal/io.ts';
import { jsonDocument } from './views/json.ts';
import { type Heading, tableLines } from './views/table.ts';

export async function withOffice<Result>(
  context: Context,
  options: CommandOptions,
  work: (office: OfficeSession, project: Project) => Promise<Result>,
  how: { readonly makesFolder?: boolean } = {},
): Promise<Result> {
  const project = await context.services.openProject(placeOf(options));
  const office = await openOffice(context, project, how);
  try {
    return await work(office, project);
  } finally {
    await office.close();
  }
}

/** What only looks makes no data folder: where there is none, that is told. */
export async function openOffice(
  { services }: Context,
  project: Project,
  { makesFolder = false }: { readonly makesFolder?: boolean } = {},
): Promise<OfficeSession> {
  if (project.server === undefined && !makesFolder) await (await services.openDesk(project)).close();
  return await services.openOffice(project);
}

/** The same in the name of `--as`, where it is given. */
export function withOfficeAs<Result>(
  context: Context,
  options: CommandOptions,
  work: (office: OfficeSession, project: Project) => Promise<Result>,
  how: { readonly makesFolder?: boolean } = {},
): Promise<Result> {
  const inTheirName = async (office: OfficeSession, project: Project): Promise<Result> => {
    const user = textOption(options, 'as');
    if (user === undefined) return await work(office, project);
    const password =
      office.server === undefined ? undefined : await passwordOf(context, options, `password of ${user}`);
    return await work(await office.as(user, password), project);
  };
  return withOffice(context, options, inTheirName, how);
}

/** From stdin, else from whoever sits here. Where a command needs two, they are lines in the order of being asked for. */
export async function passwordOf({ io }: Context, options: CommandOptions, what: string): Promise<string> {
  if (options.passwordStdin === true) return (await linesOfStdin(io)).shift() ?? '';
  if (io.ask !== undefined) return await io.ask(`${what} (not shown): `, { hidden: true });
  throw new NebulaError('USAGE', `the ${what} is missing, and nobody can be asked`, {
    hint: '--password-stdin reads it from stdin',
  });
}

/** What comes after the passwords. */
export async function restOfStdin(io: Context['io']): Promise<string> {
  return (await linesOfStdin(io)).join('\n');
}

const stdinLines = new WeakMap<Context['io'], string[]>();

async function linesOfStdin(io: Context['io']): Promise<string[]> {
  const lines = stdinLines.get(io) ?? (await stdinText(io)).split(/\r?\n/);
  stdinLines.set(io, lines);
  return lines;
}

export async function stdinText(io: Context['io']): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await io.readStdin()).replace(/\r?\n$/, '');
  } catch {
    throw new NebulaError('USAGE', 'what comes from stdin is not text in UTF-8');
  }
}

/** All pages. */
export async function allItems<Item>(
  page: (cursor: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const { items: more, next } = await page(cursor);
    items.push(...more);
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return items;
}

export function pageOf(cursor: string | undefined): { readonly limit: number; readonly cursor?: string } {
  return { limit: 500, ...(cursor !== undefined && { cursor }) };
}

/** What a call says about a workflow, with a suggestion where the name is none. */
export async function ofWorkflow<Result>(
  office: OfficeSession,
  workflowId: string,
  call: Promise<Result>,
): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof NebulaError) || !NOT_THERE.has(error.code)) throw error;
    const known = await allItems((cursor) => office.call('listWorkflows', { query: pageOf(cursor) }));
    const guess = didYouMean(
      workflowId,
      known.map((one) => one.workflowId),
    );
    const isThere = known.some((one) => one.workflowId === workflowId);
    const hint = isThere ? '`nebula workflows show` lists its versions' : '`nebula workflows list` shows them';
    throw new NebulaError(error.code, error.message, {
      hint: guess === undefined || isThere ? hint : `did you mean ${guess}?`,
    });
  }
}

const NOT_THERE: ReadonlySet<string> = new Set(['UNKNOWN_WORKFLOW', 'NOT_FOUND', 'QUERY_INVALID']);

/** A version as it is typed. */
export function versionOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const version = Number(text.replace(/^v/, ''));
  if (Number.isInteger(version) && version > 0) return version;
  throw new NebulaError('USAGE', `${text} is not a version`, { hint: 'versions are 1, 2, 3 …' });
}

/** A list for people, or the whole of it as one document. */
export function tellList(
  { io }: Context,
  options: CommandOptions,
  list: {
    readonly document: unknown;
    readonly headings: readonly Heading[];
    readonly rows: readonly (readonly string[])[];
    readonly none: string;
  },
): number {
  if (options.json === true) io.out.write(jsonDocument(list.document));
  else if (list.rows.length === 0) writeLines(io.out, [list.none]);
  else writeLines(io.out, tableLines(list.headings, list.rows, { colors: io.out.colors, width: readingWidth(io.out) }));
  return 0;
}

/** One thing that was done: a line, or a document. */
export function tellDone({ io }: Context, options: CommandOptions, document: unknown, words: string): number {
  if (options.json === true) io.out.write(jsonDocument(document));
  else writeLines(io.out, [`${io.out.colors.green('✓')} ${words}`]);
  return 0;
}
