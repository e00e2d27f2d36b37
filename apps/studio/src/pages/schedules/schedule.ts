import type { AnswerOf, BodyOf } from '@nebula/client';

export type Schedule = AnswerOf<'listSchedules'>['items'][number];

/** The request that stores a schedule as it is. */
export function scheduleBody(schedule: Schedule): BodyOf<'putSchedule'> {
  const { workflowId, plan, cron, every, timezone, catchUp, input, active } = schedule;
  return {
    ...(workflowId === null ? { plan: plan ?? '' } : { workflowId }),
    ...(cron === null ? { every: every ?? '' } : { cron }),
    timezone,
    catchUp,
    active,
    ...(input !== null && input !== undefined && { input }),
  };
}
