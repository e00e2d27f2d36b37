/** How many tasks wait for the person, live: for the rail. */
import { useStudio } from '../../app/studio-context.ts';
import { refresh, useRead } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { useThrottled } from '../../data/use-throttled.ts';

const REFRESH_MS = 1_000;
/** The end of a task is no event of its run: an answer that somebody else gave is noticed after this time. */
const POLL_MS = 30_000;

export function useInboxCount(): number {
  const { project } = useStudio();
  const counts = useRead('countHumanTasks', { query: { project } }, { refetchMs: POLL_MS });
  const update = useThrottled(() => refresh('countHumanTasks', 'listHumanTasks'), REFRESH_MS);
  useLive({ project, level: 'runs', after: 'now' }, { onEvents: update });
  return counts.data?.total ?? 0;
}
