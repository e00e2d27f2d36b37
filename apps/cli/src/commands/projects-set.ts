import type { NebulaClient } from '@nebula/client';
import { CAPABILITY_LISTS, type Capabilities, type CapabilityList, type Ceiling, NebulaError } from '@nebula/core';
import { allItems, pageOf, withApiAs } from '../api.ts';
import { textOption } from '../command-options.ts';
import { printDone } from '../print.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { ceilingText } from '../views/ceiling.ts';

export function execute(
  context: Context,
  [projectId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const name = textOption(options, 'name');
  const change = changeOf(options);
  return withApiAs(
    context,
    options,
    'change',
    async ({ api }) => {
      const ceiling = await change(() => ceilingNow(api, projectId));
      const body = { ...(name !== undefined && { name }), ...(ceiling !== undefined && { ceiling }) };
      const project = await api.call('putProject', { params: { projectId }, body: body as object });
      const called = project.name === projectId ? '' : `, called ${printableLine(project.name)}`;
      const granted = ceiling === undefined ? '' : `; grants at most ${ceilingText(project.ceiling as Ceiling)}`;
      return printDone(context, options, project, `the project ${projectId} is there${called}${granted}`);
    },
    { makesFolder: true },
  );
}

type Lists = Partial<Record<CapabilityList, readonly string[]>>;

/** The new ceiling. `undefined`: unchanged; `null`: the ceiling of the configuration. */
function changeOf(options: CommandOptions): (now: () => Promise<Ceiling>) => Promise<Ceiling | null | undefined> {
  const [allow, deny] = ['allow', 'deny'].map((name) => (options[name] as readonly string[] | undefined) ?? []);
  if (options.resetCeiling === true) return async () => null;
  if (allow?.includes('all')) return async () => 'all';
  const [more, less] = [listsIn(allow ?? []), listsIn(deny ?? [])];
  if ((allow ?? []).length + (deny ?? []).length === 0) return async () => undefined;
  return async (now) => {
    const before = await now();
    const lists: Lists = {};
    for (const list of CAPABILITY_LISTS) {
      const had = before === 'all' ? [] : listOf(before, list);
      const kept = had.filter((entry) => !(less[list] ?? []).includes(entry));
      lists[list] = [...new Set([...kept, ...(more[list] ?? [])])];
    }
    return capabilitiesOf(lists);
  };
}

/** Reads `network=api.example.com`; commas separate several values. */
function listsIn(given: readonly string[]): Lists {
  const lists: Record<string, string[]> = {};
  for (const text of given) {
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

function listOf({ files, ...lists }: Capabilities, list: CapabilityList): readonly string[] {
  if (list === 'files.read') return files?.read ?? [];
  return (list === 'files.write' ? files?.write : lists[list]) ?? [];
}

function capabilitiesOf(lists: Lists): Capabilities {
  const { network = [], shell = [], env = [] } = lists;
  const [read = [], write = []] = [lists['files.read'], lists['files.write']];
  return {
    ...(network.length > 0 && { network }),
    ...(read.length + write.length > 0 && { files: { read, write } }),
    ...(shell.length > 0 && { shell }),
    ...(env.length > 0 && { env }),
  };
}

async function ceilingNow(api: NebulaClient, projectId: string): Promise<Ceiling> {
  const projects = await allItems((cursor) => api.call('listProjects', { query: pageOf(cursor) }));
  return (projects.find((project) => project.projectId === projectId)?.ceiling ?? {}) as Ceiling;
}
