/** The commands of `nebula projects`. */
import {
  CAPABILITY_LISTS,
  type CapabilityList,
  type Ceiling,
  capabilitiesOf,
  entriesOf,
  NebulaError,
} from '@nebula/core';
import { allItems, pageOf, withApi } from '../api.ts';
import { definedMembers, textOption, textsOption } from '../command-options.ts';
import { ceilingText } from '../grants.ts';
import { printDone } from '../print.ts';
import { ago, deleteCommand, listCommand } from '../record-commands.ts';
import type { Command, CommandOptions, OpenCall } from '../services.ts';
import { printableLine } from '../terminal/width.ts';

export const list = listCommand({
  operation: 'listProjects',
  columns: {
    PROJECT: ({ projectId }) => projectId,
    SINCE: ({ createdAt }, context) => ago(createdAt, context),
    NAME: ({ name }) => printableLine(name),
    'GRANTS AT MOST': ({ ceiling }) => ceilingText(ceiling as Ceiling),
  },
  none: (program) => `no project besides default; ${program} projects set NAME makes one`,
});

export const set: Command = (call, [projectId = '']) => {
  const change = changeOf(call.options);
  const name = definedMembers({ name: textOption(call.options, 'name') });
  const work = async ({ api }: OpenCall): Promise<number> => {
    const put = (body: object) => api.call('putProject', { params: { projectId }, body });
    /** The ceiling in force: that of the project, else that of the configuration or the preset. */
    const ceilingNow = async (): Promise<Ceiling> => {
      const projects = await allItems((cursor) => api.call('listProjects', { query: pageOf(cursor) }));
      // A project that is only configured is not listed before it is there.
      const project = projects.find((one) => one.projectId === projectId) ?? (await put(name));
      return project.ceiling as Ceiling;
    };
    const project = await put({ ...name, ...definedMembers({ ceiling: await change(ceilingNow) }) });
    const called = project.name === projectId ? '' : ` (${printableLine(project.name)})`;
    const granted = ceilingText(project.ceiling as Ceiling);
    return printDone(call, project, `saved the project ${projectId}${called}; it grants at most ${granted}`);
  };
  return withApi(call, 'change', work, { makesFolder: true });
};

type Change = (now: () => Promise<Ceiling>) => Promise<Ceiling | null | undefined>;

/** The new ceiling. `undefined`: unchanged; `null`: the ceiling of the configuration. */
function changeOf(options: CommandOptions): Change {
  const [allow, deny] = [textsOption(options, 'allow') ?? [], textsOption(options, 'deny') ?? []];
  const only = textsOption(options, 'only') ?? [];
  const ways = [only, [...allow, ...deny], options.resetCeiling === true ? [true] : []];
  if (ways.filter(({ length }) => length > 0).length > 1) {
    throw new NebulaError('USAGE', '--only, --reset-ceiling, and --allow with --deny exclude each other', {
      hint: '--only sets the whole ceiling; --allow and --deny change the one in force',
    });
  }
  if (options.resetCeiling === true) return async () => null;
  if (only.length > 0) return async () => ceilingOfOnly(only);
  if (allow.includes('all')) return async () => 'all';
  const [more, less] = [listsIn(allow), listsIn(deny)];
  if (allow.length + deny.length === 0) return async () => undefined;
  return async (now) => {
    const before = await now();
    if (before === 'all') throw nothingToChange(allow);
    return capabilitiesOf((list) => {
      const kept = entriesOf(before, list).filter((entry) => !(less[list] ?? []).includes(entry));
      return [...new Set([...kept, ...(more[list] ?? [])])];
    });
  };
}

function ceilingOfOnly(only: readonly string[]): Ceiling {
  if (only.includes('all')) return 'all';
  const lists = listsIn(only.filter((text) => text !== 'nothing'));
  return capabilitiesOf((list) => lists[list] ?? []);
}

function nothingToChange(allow: readonly string[]): NebulaError {
  const what = allow.length > 0 ? 'it includes this already' : 'it has no entries to remove';
  return new NebulaError('USAGE', `the ceiling in force is 'all': ${what}`, {
    hint: `--only lowers it to what it lists: --only ${allow[0] ?? 'network=api.example.com'}`,
  });
}

/** Reads `network=api.example.com`; commas separate several values. */
function listsIn(texts: readonly string[]): Partial<Record<CapabilityList, readonly string[]>> {
  const lists: Record<string, string[]> = {};
  for (const text of texts) {
    const [name = '', value = ''] = text.split(/=(.*)/s);
    const entries = value.split(',').filter((entry) => entry !== '');
    if (!CAPABILITY_LISTS.some((list) => list === name) || entries.length === 0) {
      throw new NebulaError('USAGE', `'${text.slice(0, 100)}' is not a capability`, {
        hint: `write --allow ${CAPABILITY_LISTS.join('=…, --allow ')}=…, or --allow all`,
      });
    }
    lists[name] = [...(lists[name] ?? []), ...entries];
  }
  return lists;
}

export const remove = deleteCommand('deleteProject', 'projectId', (id) => `removed the project ${id}`);
