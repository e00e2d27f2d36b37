/** The workflows with the most failures in the range. */
import { useQueries } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { workflowPath } from '../../app/routes.ts';
import { useStudio } from '../../app/studio-context.ts';
import { api } from '../../data/api.ts';
import { useRead } from '../../data/queries.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { totalsOf, type WorkflowFigures, worstOf } from './figures.ts';
import { overviewText } from './overview-text.ts';
import { failedRuns, RANGES, type RangeName } from './ranges.ts';

/** Each workflow is one request. */
const MAX_WORKFLOWS = 20;
const SHOWN = 5;
const STALE_MS = 30_000;

export function WorstWorkflows({ since, range }: { readonly since: string; readonly range: RangeName }): ReactElement {
  const words = useText(overviewText);
  const format = useFormat();
  const { project } = useStudio();
  const workflows = useRead('listWorkflows', { query: { project, limit: MAX_WORKFLOWS } });
  const ids = (workflows.data?.items ?? []).map(({ workflowId }) => workflowId);
  const bucket = RANGES[range].whole;
  const results = useQueries({
    queries: ids.map((workflowId) => ({
      queryKey: ['getStatistics', { query: { workflowId, since, bucket } }],
      queryFn: () => api.call('getStatistics', { query: { workflowId, since, bucket } }),
      staleTime: STALE_MS,
    })),
  });
  const figures = results.flatMap(({ data }, index): WorkflowFigures[] => {
    if (data === undefined) return [];
    return [
      { workflowId: ids[index] ?? '', totals: totalsOf(data.buckets), duration: data.buckets[0]?.duration ?? null },
    ];
  });
  const worst = worstOf(figures, SHOWN);
  return (
    <section className="worst">
      <header className="section-header">
        <h2>{words.worst}</h2>
        <Link href={failedRuns(range)}>{words.allFailed}</Link>
      </header>
      {worst.length === 0 ? (
        <p className="muted">{words.noFailures}</p>
      ) : (
        <table className="table">
          <thead>
            <tr>
              <th>{words.workflow}</th>
              <th className="cell-number">{words.rate}</th>
              <th className="cell-number">{words.ended}</th>
              <th className="cell-number">{words.median}</th>
              <th className="cell-number">{words.slow}</th>
            </tr>
          </thead>
          <tbody>
            {worst.map(({ workflowId, totals, duration }) => (
              <tr key={workflowId}>
                <td className="cell-main">
                  <Link href={workflowPath(workflowId)} className="row-link">
                    {workflowId}
                  </Link>
                </td>
                <td className="cell-number">
                  <Link href={failedRuns(range, workflowId)} className="worst-failed">
                    {format.number(totals.failures)} · {format.percent(totals.failureRate ?? 0)}
                    <span className="visually-hidden"> {words.showFailed(workflowId)}</span>
                  </Link>
                </td>
                <td className="cell-number">{format.number(totals.ends)}</td>
                <td className="cell-number">{duration === null ? '–' : format.duration(duration.p50)}</td>
                <td className="cell-number">{duration === null ? '–' : format.duration(duration.p95)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
