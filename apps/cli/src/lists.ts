/** The table of list commands: operation and columns of each. */
import type { AnswerOf, NebulaClient, OperationId, QueryOf } from '@nebula/client';
import type { Ceiling } from '@nebula/core';
import { allItems, pageOf, withApiAs } from './api.ts';
import { inProject, textOption } from './command-options.ts';
import { atOnceText, startsText } from './launch-plans.ts';
import { printList } from './print.ts';
import { mayText, rolesText } from './roles.ts';
import type { CommandModule, CommandOptions, Context } from './services.ts';
import { printableLine } from './terminal/width.ts';
import { ceilingText } from './views/ceiling.ts';
import type { Heading } from './views/table.ts';
import { agoText, momentText } from './views/words.ts';

type ListOperation = {
  [K in OperationId]: AnswerOf<K> extends { readonly items: readonly unknown[]; readonly next: string | null }
    ? QueryOf<K> extends { readonly cursor?: string }
      ? K
      : never
    : never;
}[OperationId];

type ItemOf<K extends ListOperation> = AnswerOf<K> extends { readonly items: (infer Item)[] } ? Item : never;

interface Column<Item> {
  readonly title: string;
  cell(item: Item, context: Context): string;
  /** Hides a column whose cells would all be equal. */
  readonly isShown?: (items: readonly Item[]) => boolean;
}

interface ListSpec<K extends ListOperation> {
  readonly operation: K;
  readonly query?: (options: CommandOptions) => object;
  readonly columns: readonly Column<ItemOf<K>>[];
  none(program: string): string;
}

const list = <K extends ListOperation>(spec: ListSpec<K>): CommandModule => ({
  execute: (context, _args, options) =>
    withApiAs(context, options, 'look', async ({ api }) => {
      const items = await itemsOf(api, spec, options);
      const columns = spec.columns.filter(({ isShown }) => isShown?.(items) ?? true);
      return printList(context, options, {
        document: { items },
        headings: columns.map(({ title }): Heading => ({ title })),
        rows: items.map((item) => columns.map(({ cell }) => cell(item, context))),
        none: spec.none(context.program),
      });
    }),
});

function itemsOf<K extends ListOperation>(
  api: NebulaClient,
  { operation, query }: ListSpec<K>,
  options: CommandOptions,
): Promise<ItemOf<K>[]> {
  // The table types each operation; `K` may be any of them here, hence the casts.
  const page = (cursor: string | undefined): Promise<{ items: ItemOf<K>[]; next: string | null }> =>
    api.call(operation, { query: { ...pageOf(cursor), ...query?.(options) } } as never) as never;
  return allItems(page);
}

const ago = (at: string, { io }: Context): string => agoText(Date.parse(at), io.now());
const hasOtherProjects = (items: readonly { readonly project: string }[]): boolean =>
  items.some(({ project }) => project !== 'default');

const users = list({
  operation: 'listUsers',
  columns: [
    { title: 'USER', cell: ({ userId }) => userId },
    { title: 'SINCE', cell: ({ createdAt }, context) => ago(createdAt, context) },
    {
      title: 'MAY',
      cell({ admin, disabled, roles }, { io }) {
        if (disabled) return io.out.colors.dim('not sign in');
        return admin ? 'everything' : rolesText(roles) || io.out.colors.dim('nothing');
      },
    },
  ],
  none: (program) => `no users yet; ${program} users add NAME --admin makes the first`,
});

const keys = list({
  operation: 'listKeys',
  columns: [
    { title: 'KEY', cell: ({ keyId }) => keyId },
    { title: 'NAME', cell: ({ name }) => printableLine(name) },
    { title: 'OWNER', cell: ({ owner }) => owner },
    {
      title: 'ENDS',
      cell: ({ expiresAt }, { io }) =>
        expiresAt === null ? io.out.colors.dim('never') : momentText(Date.parse(expiresAt)),
    },
    { title: 'MAY', cell: ({ roles, scopes }, { io }) => mayText(roles, scopes) || io.out.colors.dim('nothing') },
  ],
  none: () => 'no keys',
});

const projects = list({
  operation: 'listProjects',
  columns: [
    { title: 'PROJECT', cell: ({ projectId }) => projectId },
    { title: 'SINCE', cell: ({ createdAt }, context) => ago(createdAt, context) },
    { title: 'NAME', cell: ({ name }) => printableLine(name) },
    { title: 'GRANTS AT MOST', cell: ({ ceiling }) => ceilingText(ceiling as Ceiling) },
  ],
  none: (program) => `no project besides default; ${program} projects set NAME makes one`,
});

const plans = list({
  operation: 'listPlans',
  query: inProject,
  columns: [
    { title: 'PLAN', cell: ({ planId }) => planId },
    {
      title: 'STARTS',
      cell: (plan, { io }) => (plan.active ? startsText(plan) : `${startsText(plan)} ${io.out.colors.yellow('off')}`),
    },
    { title: 'AT ONCE', cell: (plan, { io }) => atOnceText(plan) ?? io.out.colors.dim('–') },
    { title: 'CHANGED', cell: ({ updatedAt }, context) => ago(updatedAt, context) },
    { title: 'PROJECT', cell: ({ project }) => project, isShown: hasOtherProjects },
    {
      title: 'WITH',
      cell: ({ inputs, fixed }, { io }) =>
        [
          ...Object.keys(inputs).map(printableLine),
          ...Object.keys(fixed).map((name) => `${printableLine(name)} ${io.out.colors.dim('(fixed)')}`),
        ].join(', '),
    },
  ],
  none: (program) => `no launch plans; ${program} plans set NAME --workflow ID makes one`,
});

const schedules = list({
  operation: 'listSchedules',
  query: inProject,
  columns: [
    { title: 'SCHEDULE', cell: ({ scheduleId }) => scheduleId },
    { title: 'STARTS', cell: ({ plan, workflowId }) => (plan === null ? (workflowId ?? '') : `plan ${plan}`) },
    {
      title: 'WHEN',
      cell: ({ cron, every, timezone }, { io }) =>
        cron === null ? `every ${every}` : `${cron} ${io.out.colors.dim(timezone)}`,
    },
    {
      title: 'LAST',
      cell: ({ lastFiredAt }, context) =>
        lastFiredAt === null ? context.io.out.colors.dim('–') : ago(lastFiredAt, context),
    },
    {
      title: 'NEXT',
      cell: ({ nextFireAt }, { io }) =>
        nextFireAt === null ? io.out.colors.dim('off') : momentText(Date.parse(nextFireAt), io.now()),
    },
  ],
  none: () => 'nothing is scheduled here',
});

const workflows = list({
  operation: 'listWorkflows',
  query(options) {
    const tag = textOption(options, 'tag');
    return { ...inProject(options), ...(tag !== undefined && { tag }) };
  },
  columns: [
    { title: 'WORKFLOW', cell: ({ workflowId }) => workflowId },
    {
      title: 'ACTIVE',
      cell: ({ activeVersion }, { io }) =>
        activeVersion === null ? io.out.colors.dim('–') : io.out.colors.green(`v${activeVersion}`),
    },
    { title: 'NEWEST', cell: ({ newestVersion }) => `v${newestVersion}` },
    { title: 'CHANGED', cell: ({ updatedAt }, context) => ago(updatedAt, context) },
    { title: 'PROJECT', cell: ({ project }) => project, isShown: hasOtherProjects },
    { title: 'NAME', cell: ({ name }) => printableLine(name ?? '') },
  ],
  none: (program) => `no workflow is registered here; ${program} workflows register FILE`,
});

const workers = list({
  operation: 'listWorkers',
  columns: [
    { title: 'WORKER', cell: ({ workerId }) => printableLine(workerId) },
    {
      title: 'STATUS',
      cell: ({ status }, { io }) => (status === 'live' ? io.out.colors.green(status) : io.out.colors.dim(status)),
    },
    { title: 'RUNNING', cell: ({ running }) => String(running) },
    { title: 'SEEN', cell: ({ lastSeenAt }, context) => ago(lastSeenAt, context) },
    { title: 'PROJECT', cell: ({ project }) => project, isShown: hasOtherProjects },
    { title: 'LABELS', cell: ({ labels }) => labels.map(printableLine).join(', ') },
    { title: 'ACTIONS', cell: ({ actions }) => actions.map(printableLine).join(', ') },
  ],
  none: (program) => `no workers; ${program} worker --server URL starts one`,
});

const cache = list({
  operation: 'listCache',
  query(options) {
    const action = textOption(options, 'action');
    return action === undefined ? {} : { action };
  },
  columns: [
    { title: 'ACTION', cell: ({ action }) => action },
    { title: 'STORED', cell: ({ at }, context) => ago(at, context) },
    {
      title: 'ENDS',
      cell: ({ expiresAt }, { io }) =>
        expiresAt === null ? io.out.colors.dim('never') : momentText(Date.parse(expiresAt), io.now()),
    },
    { title: 'BY', cell: ({ executionId, node }) => `${executionId} ${printableLine(node)}` },
    { title: 'KEY', cell: ({ key }) => printableLine(key) },
  ],
  none: () => 'no outputs are cached',
});

export const LISTS = { users, keys, projects, plans, schedules, workflows, workers, cache } as const;
