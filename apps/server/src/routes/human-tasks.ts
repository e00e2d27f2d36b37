/** Lists and counts the human tasks of all executions. */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { HUMAN_TASK_KINDS, type HumanTaskKind, type HumanTaskRow, type HumanTaskScope } from '@nebula/ports';
import { type Handlers, ok } from '../http/handler.ts';
import { judge, type Principal, visibleProjects } from '../identity/principal.ts';
import { HUMAN_TASK_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

export function humanTaskRoutes({ store }: Parts) {
  return {
    async listHumanTasks({ query, who, project }) {
      const { order, cursor, limit = 50 } = query;
      const { rows, next } = await store.humanTasks({
        ...scopeOf(query, who, project),
        limit,
        ...(order !== undefined && { order }),
        ...(cursor !== undefined && { cursor }),
      });
      return ok({ items: rows.map((row) => documentOf(row, who)), next });
    },

    async countHumanTasks({ query, who, project }) {
      const counts = await store.countHumanTasks(scopeOf(query, who, project));
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      return ok({ counts: { ...counts }, total });
    },
  } satisfies Partial<Handlers>;
}

interface ScopeQuery {
  readonly workflowId?: string;
  readonly kind?: string;
}

function scopeOf({ workflowId, kind }: ScopeQuery, who: Principal, project: string | undefined): HumanTaskScope {
  const projects = project === undefined ? visibleProjects(who) : [project];
  if ((projects?.length ?? 0) > HUMAN_TASK_LIMITS.maxProjects) {
    throw new NebulaError('QUERY_INVALID', 'You have access to many projects, and the request names none.', {
      hint: 'Add ?project= with one of them.',
      details: { errors: [{ pointer: '?project', detail: 'is missing' }] },
    });
  }
  return {
    ...(projects !== undefined && { projects }),
    ...(workflowId !== undefined && { workflowId }),
    ...(kind !== undefined && { kinds: kindsOf(kind) }),
  };
}

function kindsOf(text: string): HumanTaskKind[] {
  const names = text.split(',').map((name) => name.trim());
  const known: readonly string[] = HUMAN_TASK_KINDS;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names as HumanTaskKind[];
  throw new NebulaError('QUERY_INVALID', `'${unknown.slice(0, 80)}' is not a kind of task.`, {
    hint: `It is one of ${HUMAN_TASK_KINDS.join(', ')}.`,
    details: { errors: [{ pointer: '?kind', detail: 'is not a kind' }] },
  });
}

const OPERATION = {
  approval: 'answerApproval',
  unknown: 'settleNode',
  signal: 'signalExecution',
  callback: 'callBack',
} as const satisfies Record<HumanTaskKind, string>;

function documentOf(row: HumanTaskRow, who: Principal): AnswerOf<'listHumanTasks'>['items'][number] {
  const { since, deadline, details, kind, ...rest } = row;
  const more = JSON.parse(details) as Readonly<Record<string, unknown>> & { readonly who?: readonly string[] };
  const isNamed = more.who === undefined || more.who.includes(who.owner ?? who.name) || who.isAdmin;
  const mayAnswer = isNamed && judge(who, OPERATION[kind], 'operator', row.project) === 'allowed';
  const document = { ...rest, kind, since: isoTime(since), deadline: isoTimeOrNull(deadline), ...more, mayAnswer };
  return document as AnswerOf<'listHumanTasks'>['items'][number];
}
