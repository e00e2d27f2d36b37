/** Candidates for the word that is being typed: one per line, with its meaning after a tab. */

import type { NebulaClient } from '@nebula/client';
import { DEFAULT_PROJECT } from '@nebula/ports';
import { allItems, pageOf, workflowIdsOf } from '../api.ts';
import { COMMANDS } from '../command-table.ts';
import { secretsOf } from '../commands/secrets.ts';
import { LOCAL, readContexts } from '../remote/contexts.ts';
import { findRun, runsOf } from '../runs.ts';
import type { Context } from '../services.ts';
import { type CommandSpec, FAMILIES, familyNamed } from '../table/spec.ts';

interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

const FILES = ':files';
const MAX_EXECUTIONS = 50;
const HERE: Candidate = { word: LOCAL, meaning: 'the data folder' };
const HELP: Candidate = { word: '--help', meaning: 'print this help' };

/** `args` is `-- words…`; the last word is the one at the cursor and may be empty. Never reports an error. */
export async function completeWords(context: Context, args: readonly string[]): Promise<number> {
  const words = args[0] === '--' ? args.slice(1) : args;
  try {
    const found = await candidates(context, words);
    const text = found === FILES ? `${FILES}\n` : found.map(({ word, meaning }) => `${word}\t${meaning}\n`).join('');
    context.io.out.write(text);
  } catch {
    // Nothing to offer.
  }
  return 0;
}

async function candidates(context: Context, words: readonly string[]): Promise<Candidate[] | typeof FILES> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const spec = specOf(before);
  const matching = (all: readonly Candidate[]): Candidate[] => all.filter(({ word }) => word.startsWith(typed));
  if (spec === undefined) return matching(nextWords(before));
  const option = optionAwaitingValue(spec, before.at(-1) ?? '');
  if (option !== undefined) {
    if (option.choices !== undefined) return matching(option.choices.map((word) => ({ word, meaning: '' })));
    if (option.flags.includes('--context')) return matching(await contextNames(context));
    if (option.flags.includes('--workflow <')) return matching(await workflowIds(context));
    return /dir|json/.test(option.flags) ? FILES : [];
  }
  if (typed.startsWith('-')) return matching([...optionsOf(spec), HELP]);
  const given = before.slice(spec.name.split(' ').length).filter((word) => !word.startsWith('-'));
  return await argumentsOf(context, spec, given, matching);
}

function specOf(words: readonly string[]): CommandSpec | undefined {
  const [first = '', second = ''] = words;
  const family = familyNamed(first) ?? first;
  const named = (wanted: string) => COMMANDS.find(({ name }) => name === wanted);
  return named(`${family} ${second}`) ?? named(family);
}

function nextWords(before: readonly string[]): Candidate[] {
  if (before.length === 0) {
    const own = COMMANDS.filter(({ name }) => !name.includes(' ')).map(({ name, summary }) => ({
      word: name,
      meaning: summary,
    }));
    const families = Object.entries(FAMILIES).map(([word, { about }]) => ({ word, meaning: about }));
    return [...own, ...families, HELP];
  }
  const family = before.length > 1 ? undefined : familyNamed(before[0] as string);
  if (family === undefined) return [];
  return COMMANDS.filter(({ name }) => name.startsWith(`${family} `)).map(({ name, summary }) => ({
    word: name.slice(family.length + 1),
    meaning: summary,
  }));
}

function optionsOf(spec: CommandSpec): Candidate[] {
  return spec.options.map(({ flags, text }) => ({ word: /--[\w-]+/.exec(flags)?.[0] ?? flags, meaning: text }));
}

function optionAwaitingValue(spec: CommandSpec, word: string): CommandSpec['options'][number] | undefined {
  return spec.options.find(({ flags }) => flags.includes('<') && flags.split(/[ ,]+/).includes(word));
}

async function workflowIds(context: Context): Promise<Candidate[]> {
  return (await looking(context, workflowIdsOf)).map((word) => ({ word, meaning: '' }));
}

async function contextNames({ io }: Context): Promise<Candidate[]> {
  const { contexts } = await readContexts(io);
  return Object.entries(contexts).map(([word, { url }]) => ({ word, meaning: url }));
}

async function argumentsOf(
  context: Context,
  spec: CommandSpec,
  given: readonly string[],
  matching: (all: readonly Candidate[]) => Candidate[],
): Promise<Candidate[] | typeof FILES> {
  if (spec.takes.includes('<file')) return FILES;
  if (spec.name === 'completion') return matching(['bash', 'zsh', 'fish'].map((word) => ({ word, meaning: '' })));
  if (spec.name === 'actions') {
    const actions = await looking(context, (api) =>
      allItems((cursor) => api.call('listActions', { query: pageOf(cursor) })),
    );
    return matching(actions.map(({ id, title }) => ({ word: id, meaning: title ?? '' })));
  }
  if (spec.name === 'secrets rotate' || spec.name === 'secrets delete') {
    const secrets = await looking(context, (api) => secretsOf(api, { project: DEFAULT_PROJECT }));
    return matching(secrets.map(({ name }) => ({ word: name, meaning: '' })));
  }
  if (spec.takes.startsWith('<workflow>')) return given.length === 0 ? matching(await workflowIds(context)) : [];
  if (spec.name === 'context use') return matching([...(await contextNames(context)), HERE]);
  if (spec.name === 'context remove') return matching(await contextNames(context));
  if (!spec.takes.includes('execution')) return [];
  return await looking(context, async (api) => {
    const [executionId] = given;
    if (executionId !== undefined && /[<[]node/.test(spec.takes)) {
      const nodes = Object.entries((await findRun(api, executionId))?.nodes ?? {});
      return matching(nodes.map(([word, { status }]) => ({ word, meaning: status })));
    }
    const { rows } = await runsOf(api, {}, { limit: MAX_EXECUTIONS });
    return matching(rows.map((row) => ({ word: row.executionId, meaning: `${row.workflowId}, ${row.status}` })));
  });
}

/** Asks the server of the current context, or the data folder, which need not exist. */
async function looking<Result>({ services }: Context, ask: (api: NebulaClient) => Promise<Result>): Promise<Result> {
  const project = await services.openProject({ mayBeServer: true });
  const session = await services.openApi(project, 'read', { orEmpty: true });
  try {
    return await ask(session.api);
  } finally {
    await session.close();
  }
}
