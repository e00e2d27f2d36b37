/** The commands of `nebula projects`. */
import {
  CAPABILITY_LISTS,
  type Capabilities,
  type CapabilityList,
  type Ceiling,
  capabilitiesOf,
  entriesOf,
  NebulaError,
} from '@nebula/core';
import { allItems, pageOf, withApi } from '../api.ts';
import { given, textOption, textsOption } from '../command-options.ts';
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
  const work = async ({ api }: OpenCall): Promise<number> => {
    const ceilingNow = async (): Promise<Ceiling> => {
      const projects = await allItems((cursor) => api.call('listProjects', { query: pageOf(cursor) }));
      return (projects.find((project) => project.projectId === projectId)?.ceiling ?? {}) as Ceiling;
    };
    const ceiling = await change(ceilingNow);
    const body = given({ name: textOption(call.options, 'name'), ceiling });
    const project = await api.call('putProject', { params: { projectId }, body: body as object });
    const called = project.name === projectId ? '' : `, called ${printableLine(project.name)}`;
    const granted = ceiling === undefined ? '' : `; grants at most ${ceilingText(project.ceiling as Ceiling)}`;
    return printDone(call, project, `the project ${projectId} is there${called}${granted}`);
  };
  return withApi(call, 'change', work, { makesFolder: true });
};

/** The new ceiling. `undefined`: unchanged; `null`: the ceiling of the configuration. */
function changeOf(options: CommandOptions): (now: () => Promise<Ceiling>) => Promise<Ceiling | null | undefined> {
  const [allow, deny] = [textsOption(options, 'allow') ?? [], textsOption(options, 'deny') ?? []];
  if (options.resetCeiling === true) return async () => null;
  if (allow.includes('all')) return async () => 'all';
  const [more, less] = [listsIn(allow), listsIn(deny)];
  if (allow.length + deny.length === 0) return async () => undefined;
  return async (now) => {
    const ceiling = await now();
    const before: Capabilities = ceiling === 'all' ? {} : ceiling;
    return capabilitiesOf((list) => {
      const kept = entriesOf(before, list).filter((entry) => !(less[list] ?? []).includes(entry));
      return [...new Set([...kept, ...(more[list] ?? [])])];
    });
  };
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

export const remove = deleteCommand('deleteProject', 'projectId', (id) => `the project ${id} is gone`);
