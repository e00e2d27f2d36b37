/** The commands of `nebula plans`: launch plans. */
import type { AnswerOf, BodyOf } from '@nebula/client';
import { isJsonObject, type Json, type JsonObject, NebulaError } from '@nebula/core';
import { ofWorkflow, unlessAbsent, withApi } from '../api.ts';
import { countOption, definedMembers, inProject, textOption, versionOf } from '../command-options.ts';
import { jsonOption } from '../input.ts';
import { print, printDone } from '../print.ts';
import { ago, deleteCommand, listCommand } from '../record-commands.ts';
import type { Call, Command, CommandOptions } from '../services.ts';
import { printableLine, wrap } from '../terminal/width.ts';
import { jsonLines } from '../views/json.ts';

type LaunchPlan = AnswerOf<'getLaunchPlan'>;
type Concurrency = NonNullable<LaunchPlan['concurrency']>;

export const list = listCommand({
  operation: 'listLaunchPlans',
  query: inProject,
  columns: {
    PLAN: ({ planId }) => planId,
    STARTS: (plan, { io }) => (plan.active ? startsText(plan) : `${startsText(plan)} ${io.out.colors.yellow('off')}`),
    'AT ONCE': (plan, { io }) => atOnceText(plan) ?? io.out.colors.dim('–'),
    CHANGED: ({ updatedAt }, context) => ago(updatedAt, context),
    PROJECT: ({ project }) => project,
    WITH: ({ inputs, fixed }, { io }) =>
      [
        ...Object.keys(inputs).map(printableLine),
        ...Object.keys(fixed).map((name) => `${printableLine(name)} ${io.out.colors.dim('(fixed)')}`),
      ].join(', '),
  },
  none: (program) => `no launch plans; ${program} plans set NAME --workflow ID makes one`,
});

export const show: Command = (call, [planId = '']) =>
  withApi(call, 'read', async ({ api, io: { out } }) => {
    const { colors } = out;
    const plan = await api.call('getLaunchPlan', { params: { planId } });
    const section = (title: string, values: Readonly<Record<string, unknown>>): string[] =>
      Object.keys(values).length === 0
        ? []
        : ['', colors.dim(title), ...jsonLines(values as Json, { colors, width: out.columns() }).lines];
    return print(call, plan, () => [
      `${colors.bold(planId)}  ${plan.active ? colors.green('active') : colors.yellow('off')}  ${colors.dim(plan.project)}`,
      ...(plan.description === null ? [] : wrap(printableLine(plan.description), out.columns())),
      '',
      `${colors.dim('starts ')}  ${startsText(plan)}`,
      `${colors.dim('at once')}  ${atOnceText(plan) ?? 'any number'}`,
      `${colors.dim('changed')}  ${ago(plan.updatedAt, call)}`,
      ...section('default inputs', plan.inputs),
      ...section('fixed inputs', plan.fixed),
    ]);
  });

export const set: Command = async (call, [planId = '']) => {
  const version = versionOf(textOption(call.options, 'workflowVersion'));
  const [inputs, fixed] = [await inputsOption(call, 'default'), await inputsOption(call, 'fixed')];
  return await withApi(call, 'change', async ({ api }) => {
    const before = await unlessAbsent(api.call('getLaunchPlan', { params: { planId } }));
    const body = changedLaunchPlan(before, definedMembers({ version, inputs, fixed }), call.options);
    const plan = await ofWorkflow(api, body.workflowId, api.call('putLaunchPlan', { params: { planId }, body }));
    return printDone(call, plan, `the plan ${planId} starts ${startsText(plan)}`);
  });
};

async function inputsOption(call: Call, name: string): Promise<JsonObject | undefined> {
  const value = await jsonOption(call, name);
  if (value === undefined || isJsonObject(value)) return value;
  throw new NebulaError('INPUT_INVALID', `--${name} is not an object`, {
    hint: `inputs have names: --${name} '{"region": "eu"}'`,
  });
}

/** The API replaces a launch plan as a whole, so fields that are not given come from the stored one. */
function changedLaunchPlan(
  before: LaunchPlan | undefined,
  asked: { readonly version?: number; readonly inputs?: JsonObject; readonly fixed?: JsonObject },
  options: CommandOptions,
): BodyOf<'putLaunchPlan'> {
  const workflowId = textOption(options, 'workflow') ?? before?.workflowId;
  if (workflowId === undefined) {
    throw new NebulaError('USAGE', 'the launch plan does not exist yet: --workflow is required', {
      hint: '`nebula workflows list` lists workflows; `nebula plans list` lists launch plans',
    });
  }
  // The stored version belongs to the stored workflow.
  const version = asked.version ?? (before?.workflowId === workflowId ? before.version : undefined);
  const description = textOption(options, 'description') ?? before?.description ?? undefined;
  return {
    workflowId,
    inputs: asked.inputs ?? before?.inputs ?? {},
    fixed: asked.fixed ?? before?.fixed ?? {},
    active: before?.active ?? true,
    ...definedMembers({ version, description, concurrency: concurrencyOf(before?.concurrency ?? undefined, options) }),
  };
}

function concurrencyOf(before: Concurrency | undefined, options: CommandOptions): Concurrency | undefined {
  const policy = (textOption(options, 'policy') as Concurrency['policy'] | undefined) ?? before?.policy;
  const isUnlimited = options.limit === 'none';
  if (isUnlimited && options.policy === undefined) return undefined;
  const limit = isUnlimited ? 0 : countOption(options, 'limit', before?.limit ?? 0);
  if (limit > 0 && policy !== undefined) return { limit, policy };
  if (limit === 0 && policy === undefined) return undefined;
  const missing = limit > 0 ? '--policy' : '--limit';
  throw new NebulaError('USAGE', `--limit and --policy belong together: ${missing} is missing`, {
    hint: 'give both, e.g. --limit 1 --policy wait',
  });
}

/** `report`, or `report v2` for a fixed version. */
function startsText({ workflowId, version }: LaunchPlan): string {
  return version === 'active' ? workflowId : `${workflowId} v${version}`;
}

/** `1, else wait`. */
function atOnceText({ concurrency }: LaunchPlan): string | undefined {
  return concurrency === null ? undefined : `${concurrency.limit}, else ${concurrency.policy}`;
}

export const remove = deleteCommand('deleteLaunchPlan', 'planId', (id) => `removed the launch plan ${id}`);
