import type { NebulaClient } from '@nebula/client';
import type { WorkflowDefinition } from '@nebula/core';
import { allItems, ofWorkflow, pageOf, withApi } from '../api.ts';
import { textOption, versionOf } from '../command-options.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine, wrap } from '../terminal/width.ts';
import { pictureLines } from '../views/graph-picture.ts';
import { jsonDocument } from '../views/json.ts';
import { triggerScheduleId, triggerText } from '../views/triggers.ts';
import { agoText, plural } from '../views/words.ts';
import { graphOf } from '../views/workflow-graph.ts';

const BY = 'started by  ';
/** The number of versions listed; older ones are counted. */
const MAX_VERSIONS = 10;

export function execute(
  context: Context,
  [workflowId = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  const { io } = context;
  return withApi(context, options, 'look', async ({ api }) => {
    const wanted = versionOf(textOption(options, 'workflowVersion'));
    const params = { workflowId };
    const summary = await ofWorkflow(api, workflowId, api.call('getWorkflow', { params }));
    const version = wanted ?? summary.activeVersion ?? summary.newestVersion;
    const shown = await ofWorkflow(
      api,
      workflowId,
      api.call('getWorkflowVersion', { params: { workflowId, version } }),
    );
    const versions = await allItems((cursor) => api.call('listWorkflowVersions', { params, query: pageOf(cursor) }));
    if (options.json === true) {
      io.out.write(jsonDocument({ ...summary, versions, shown }));
      return 0;
    }
    const { colors } = io.out;
    const width = io.out.columns();
    const definition = shown.definition as unknown as WorkflowDefinition;
    const active =
      summary.activeVersion === null
        ? colors.yellow('not active')
        : colors.green(`v${summary.activeVersion} is active`);
    const about = summary.description === null ? [] : wrap(printableLine(summary.description), width);
    const older =
      versions.length > MAX_VERSIONS
        ? [colors.dim(`… ${plural(versions.length - MAX_VERSIONS, 'older version')}`)]
        : [];
    writeLines(io.out, [
      `${colors.bold(workflowId)}  ${active}  ${colors.dim(summary.project)}`,
      ...about,
      '',
      ...versions.slice(0, MAX_VERSIONS).map(({ version: one, createdAt, hash }) => {
        const sign = one === summary.activeVersion ? colors.green('✓') : ' ';
        return `${sign} v${one}  ${agoText(Date.parse(createdAt), io.now())}  ${colors.dim(hash.slice(0, 12))}`;
      }),
      ...older,
      ...(await triggerLines(context, api, definition, summary.activeVersion === version)),
      '',
      colors.dim(`v${version}`),
      ...pictureLines(graphOf(definition), { colors, width }),
    ]);
    return 0;
  });
}

async function triggerLines(
  { io }: Context,
  api: NebulaClient,
  { id, triggers = [] }: WorkflowDefinition,
  isActive: boolean,
): Promise<string[]> {
  const lines: string[] = [];
  for (const [index, trigger] of triggers.entries()) {
    const isTimed = trigger.schedule !== undefined || trigger.interval !== undefined;
    const schedule =
      isTimed && isActive
        ? await api.call('getSchedule', { params: { scheduleId: triggerScheduleId(id, index) } })
        : undefined;
    const next = schedule?.nextFireAt == null ? null : Date.parse(schedule.nextFireAt);
    const [first = '', ...rest] = wrap(triggerText(trigger, next, io.now()), io.out.columns() - BY.length);
    lines.push(io.out.colors.dim(BY) + first, ...rest.map((line) => ' '.repeat(BY.length) + line));
  }
  return lines.length === 0 ? [] : ['', ...lines];
}
