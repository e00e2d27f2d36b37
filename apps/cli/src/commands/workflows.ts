/** The commands of `nebula workflows`. */
import type { AnswerOf } from '@nebula/client';
import { NebulaError, type WorkflowDefinition } from '@nebula/core';
import { allItems, ofWorkflow, pageOf, withApi } from '../api.ts';
import { definedMembers, inProject, textOption, versionOf } from '../command-options.ts';
import { locationText } from '../location.ts';
import { print, printDone, writeLines } from '../print.ts';
import { ago, listCommand } from '../record-commands.ts';
import type { Call, Command, OpenCall } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { fit, printable, printableLine, wrap } from '../terminal/width.ts';
import { pictureLines } from '../views/graph-picture.ts';
import { triggerScheduleId, triggerText } from '../views/triggers.ts';
import { plural } from '../views/words.ts';
import { graphOf } from '../views/workflow-graph.ts';
import { type LoadedWorkflow, loadForLocation, registerAll } from '../workflow-file.ts';

const BY = 'started by  ';
/** The number of versions listed; older ones are counted. */
const MAX_VERSIONS = 10;

/** Checks all files before it stores the first. */
export const register: Command = async (call, files) => {
  const { io, options } = call;
  const loaded: LoadedWorkflow[] = [];
  for (const file of files) loaded.push((await loadForLocation(call, file)).loaded);
  const work = async ({ api, project }: OpenCall): Promise<number> => {
    const { colors } = io.out;
    const workflows = [];
    for (const { definition, others, texts } of loaded) {
      const how = { activate: options.activate !== false, texts, ...inProject(options) };
      const { workflowId, version, created, active } = await registerAll(api, others, definition, how);
      workflows.push({ workflowId, version, created, active });
      if (options.json === true) continue;
      const news = created ? 'is new' : 'is unchanged';
      const state = active ? 'active' : 'not active';
      writeLines(io.out, [`${colors.green('✓')} ${workflowId} ${colors.dim(`v${version}`)} ${news}, ${state}`]);
    }
    return print(call, { place: locationText(project), workflows }, () => []);
  };
  return await withApi(call, 'change', work, { makesFolder: true });
};

export const list = listCommand({
  operation: 'listWorkflows',
  query: (options) =>
    definedMembers({
      ...Object.fromEntries(['project', 'tag', 'search'].map((name) => [name, textOption(options, name)])),
      archived: options.archived === true ? true : undefined,
    }),
  columns: {
    WORKFLOW: ({ workflowId }) => workflowId,
    ACTIVE: ({ activeVersion }, { io }) =>
      activeVersion === null ? io.out.colors.dim('–') : io.out.colors.green(`v${activeVersion}`),
    'LAST REGISTERED': ({ newestVersion }) => `v${newestVersion}`,
    VERSIONS: ({ versions }) => String(versions),
    CHANGED: ({ updatedAt }, context) => ago(updatedAt, context),
    PROJECT: ({ project }) => project,
    NAME: ({ name }) => printableLine(name ?? ''),
  },
  none: (program) => `no workflow is registered here; ${program} workflows register FILE`,
});

export const show: Command = (call, [workflowId = '']) =>
  withApi(call, 'read', async (open) => {
    const { api } = open;
    const wanted = versionOf(textOption(call.options, 'workflowVersion'));
    const params = { workflowId };
    const summary = await ofWorkflow(api, workflowId, api.call('getWorkflow', { params }));
    const version = wanted ?? summary.activeVersion ?? summary.newestVersion;
    const read = api.call('getWorkflowVersion', { params: { workflowId, version } });
    const shown = await ofWorkflow(api, workflowId, read);
    if (call.options.source === true) return printSource(call, shown);
    const versions = await allItems((cursor) => api.call('listWorkflowVersions', { params, query: pageOf(cursor) }));
    const definition = shown.definition as unknown as WorkflowDefinition;
    const triggers =
      call.options.json === true ? [] : await triggerLines(open, definition, summary.activeVersion === version);
    return print(call, { ...summary, versions, shown }, () => {
      const { colors, columns } = call.io.out;
      const { activeVersion, description } = summary;
      const state = activeVersion === null ? colors.yellow('not active') : colors.green(`v${activeVersion} is active`);
      const older = versions.length - MAX_VERSIONS;
      const { origin } = summary;
      return [
        `${colors.bold(workflowId)}  ${state}  ${colors.dim(summary.project)}`,
        ...(description === null ? [] : wrap(printableLine(description), columns())),
        ...(origin.kind === 'file' ? [colors.dim(`from ${printableLine(origin.path)} (v${origin.version})`)] : []),
        ...(summary.archived ? [colors.yellow('archived')] : []),
        '',
        ...versions.slice(0, MAX_VERSIONS).map(({ version: one, createdAt, hash }) => {
          const sign = one === activeVersion ? colors.green('✓') : ' ';
          return `${sign} v${one}  ${ago(createdAt, call)}  ${colors.dim(hash.slice(0, 12))}`;
        }),
        ...(older > 0 ? [colors.dim(`… ${plural(older, 'older version')}`)] : []),
        ...triggers,
        '',
        colors.dim(`v${version}`),
        ...pictureLines(graphOf(definition), { colors, width: columns() }),
      ];
    });
  });

/** The text goes to files: it is printed as it is, unless a terminal shows it. */
function printSource(call: Call, { source, version, workflowId }: AnswerOf<'getWorkflowVersion'>): number {
  const text = source?.text;
  if (text == null) {
    throw new NebulaError('NO_SOURCE', `v${version} of ${workflowId} has no text`, {
      hint: source == null ? 'it was registered as JSON: see --json' : `it is code: ${source.filename}`,
    });
  }
  const { out } = call.io;
  return print(call, source, () => [(out.live ? printable(text) : text).replace(/\n$/, '')]);
}

async function triggerLines(
  { io, api }: OpenCall,
  { id, triggers = [] }: WorkflowDefinition,
  isActive: boolean,
): Promise<string[]> {
  const lines: string[] = [];
  for (const [index, trigger] of triggers.entries()) {
    const isTimed = trigger.schedule !== undefined || trigger.interval !== undefined;
    const params = { scheduleId: triggerScheduleId(id, index) };
    const schedule = isTimed && isActive ? await api.call('getSchedule', { params }) : undefined;
    const next = schedule?.nextFireAt == null ? null : Date.parse(schedule.nextFireAt);
    const [first = '', ...rest] = wrap(triggerText(trigger, next, io.now()), io.out.columns() - BY.length);
    lines.push(io.out.colors.dim(BY) + first, ...rest.map((line) => ' '.repeat(BY.length) + line));
  }
  return lines.length === 0 ? [] : ['', ...lines];
}

export const activate: Command = (call, [workflowId = '', text]) => {
  const body = definedMembers({ version: versionOf(text) });
  return withApi(call, 'change', async ({ api }) => {
    const answer = api.call('activateWorkflow', { params: { workflowId }, body });
    const summary = await ofWorkflow(api, workflowId, answer);
    return printDone(call, summary, `${workflowId} v${summary.activeVersion} is active`);
  });
};

export const deactivate: Command = (call, [workflowId = '']) =>
  withApi(call, 'change', async ({ api }) => {
    const summary = await ofWorkflow(api, workflowId, api.call('deactivateWorkflow', { params: { workflowId } }));
    return printDone(call, summary, `the triggers of ${workflowId} are off; open runs continue`);
  });

export const archive: Command = (call, [workflowId = '']) =>
  withApi(call, 'change', async ({ api }) => {
    const summary = await ofWorkflow(api, workflowId, api.call('archiveWorkflow', { params: { workflowId } }));
    return printDone(call, summary, `${workflowId} is archived; open runs continue`);
  });

export const unarchive: Command = (call, [workflowId = '']) =>
  withApi(call, 'change', async ({ api }) => {
    const summary = await ofWorkflow(api, workflowId, api.call('unarchiveWorkflow', { params: { workflowId } }));
    return printDone(call, summary, `${workflowId} is back; it is not active`);
  });

export const layout: Command = (call, [workflowId = '']) =>
  withApi(call, call.options.reset === true ? 'change' : 'read', async ({ api }) => {
    const params = { workflowId };
    const before = await ofWorkflow(api, workflowId, api.call('getLayout', { params }));
    if (call.options.reset === true) {
      const made = await api.call('putLayout', { params, body: { direction: before.direction } });
      return printDone(call, made, `the layout of ${workflowId} is automatic again`);
    }
    return print(call, before, () => {
      const moved = Object.entries(before.nodes);
      if (moved.length === 0) return [`no node of ${workflowId} was moved by hand`];
      return moved.map(([node, { x, y }]) => printableLine(`${node}  ${x}, ${y}`));
    });
  });

export const diff: Command = (call, [workflowId = '', first, second]) => {
  const query = { from: versionOf(first) as number, ...definedMembers({ to: versionOf(second) }) };
  return withApi(call, 'read', async ({ api, io: { out } }) => {
    const { colors } = out;
    const difference = await ofWorkflow(api, workflowId, api.call('diffWorkflow', { params: { workflowId }, query }));
    const { from, to, changes } = difference;
    return print(call, { workflowId, ...difference }, () => {
      if (changes.length === 0) return [`v${from} and v${to} are equal`];
      const lines = changes.flatMap(({ path, change, before, after }) => [
        ...(change === 'added' ? [] : [colors.red(`- ${path}: ${valueText(before)}`)]),
        ...(change === 'removed' ? [] : [colors.green(`+ ${path}: ${valueText(after)}`)]),
      ]);
      return lines.map((line) => fit(line, readingWidth(out)));
    });
  });
};

function valueText(value: unknown): string {
  return printableLine(JSON.stringify(value) ?? '');
}
