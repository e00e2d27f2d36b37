/** The filter of lists, counts and bulk operations. */
import { NebulaError } from '@nebula/core';
import { type ExecutionFilter, type ExecutionStatus, FINISHED_STATUSES } from '@nebula/ports';
import { type Principal, visibleProjects } from '../identity/principal.ts';

interface FilterQuery {
  readonly workflowId?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
}

export function filterOf(
  query: FilterQuery,
  who: Principal,
  project: string | undefined,
): Omit<ExecutionFilter, 'limit'> {
  const { workflowId, status, since, until } = query;
  const visible = visibleProjects(who);
  return {
    ...(project === undefined ? onlyProject(visible) : { project }),
    ...(workflowId !== undefined && { workflowId }),
    ...(status !== undefined && { status: statusesOf(status) }),
    ...(since !== undefined && { since: momentOf('since', since) }),
    ...(until !== undefined && { until: momentOf('until', until) }),
  };
}

/** The format allows leap seconds, which `Date` does not. */
function momentOf(name: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isFinite(at)) return at;
  throw new NebulaError('QUERY_INVALID', `'${name}' is not a time.`, {
    details: { errors: [{ pointer: `?${name}`, detail: 'is not a time' }] },
  });
}

/** A list covers one project or all: a caller who sees only some must name one. */
function onlyProject(visible: readonly string[] | undefined): { readonly project?: string } {
  if (visible === undefined) return {};
  const [project, ...others] = visible;
  if (project !== undefined && others.length === 0) return { project };
  throw new NebulaError('QUERY_INVALID', 'You have access to several projects, and the request names none.', {
    hint: `Add ?project= with one of ${visible.join(', ')}.`,
    details: { errors: [{ pointer: '?project', detail: 'is missing' }] },
  });
}

const STATUSES: readonly string[] = ['pending', 'running', 'paused', 'compensating', ...FINISHED_STATUSES];

function statusesOf(text: string): ExecutionStatus[] {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !STATUSES.includes(name));
  if (wrong === undefined) return names as ExecutionStatus[];
  throw new NebulaError('QUERY_INVALID', `'${wrong.slice(0, 80)}' is not a status.`, {
    hint: `It is one of ${STATUSES.join(', ')}.`,
    details: { errors: [{ pointer: '?status', detail: 'is no status' }] },
  });
}
