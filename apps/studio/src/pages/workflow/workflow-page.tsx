/** One workflow: its graph, its versions and its last runs. */

import { NebulaGraph } from '@nebula/canvas/react';
import type { WorkflowDefinition } from '@nebula/core';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { editorPath, PATHS, queryText, runPath } from '../../app/routes.ts';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { refresh, useChange, useList, useRead } from '../../data/queries.ts';
import { useLive } from '../../data/use-live.ts';
import { useNow } from '../../data/use-now.ts';
import { useThrottled } from '../../data/use-throttled.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Badge, Button } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Failed, Loading, Page } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { StartDialog } from '../start/start-dialog.tsx';
import { workflowText } from './workflow-text.ts';
import './workflow.css';

const REFRESH_MS = 500;

export default function WorkflowPage({ workflowId }: { readonly workflowId: string }): ReactElement {
  const words = useText(workflowText);
  const workflow = useRead('getWorkflow', { params: { workflowId } });
  const { theme } = useStudio();
  const [{ version }, setQuery] = useQueryState('version');
  const shown = version === undefined ? (workflow.data?.activeVersion ?? 'newest') : Number(version);
  const definition = useRead(
    'getWorkflowVersion',
    { params: { workflowId, version: shown } },
    { enabled: workflow.data !== undefined },
  );
  const [isStarting, setStarting] = useState(false);
  const mayOperate = useMay('operator', workflow.data?.project);
  const mayEdit = useMay('editor', workflow.data?.project);
  if (workflow.isPending) return <Loading />;
  if (workflow.isError) return <Failed error={workflow.error} onRetry={() => void workflow.refetch()} />;
  const { name, description, activeVersion } = workflow.data;
  return (
    <Page
      title={name ?? workflowId}
      note={<span className="mono">{workflowId}</span>}
      actions={
        <>
          {mayEdit && activeVersion !== null && (
            <Link href={`${PATHS.schedules}${queryText({ new: '1', workflow: workflowId })}`} className="button">
              <Icon name="schedules" />
              {words.schedule}
            </Link>
          )}
          {mayEdit && (
            <Link href={editorPath(workflowId)} className="button">
              <Icon name="edit" />
              {words.edit}
            </Link>
          )}
          {mayOperate && (
            <Button kind="primary" icon="play" disabled={activeVersion === null} onClick={() => setStarting(true)}>
              {words.start}
            </Button>
          )}
        </>
      }
    >
      {description !== null && <p className="muted workflow-description">{description}</p>}
      <div className="workflow-graph">
        {definition.data === undefined ? (
          <Loading />
        ) : (
          <NebulaGraph
            definition={definition.data.definition as WorkflowDefinition}
            theme={theme}
            label={name ?? workflowId}
          />
        )}
      </div>
      <div className="workflow-columns">
        <LastRuns workflowId={workflowId} />
        <Versions
          workflowId={workflowId}
          shown={definition.data?.version}
          mayEdit={mayEdit}
          onShow={(one) => setQuery({ version: String(one) })}
        />
      </div>
      {isStarting && <StartDialog workflowId={workflowId} onClose={() => setStarting(false)} />}
    </Page>
  );
}

function LastRuns({ workflowId }: { readonly workflowId: string }): ReactElement {
  const words = useText(workflowText);
  const format = useFormat();
  const now = useNow(1_000);
  const runs = useRead('listExecutions', { query: { workflowId, limit: 12 } });
  const update = useThrottled(() => refresh('listExecutions'), REFRESH_MS);
  useLive(
    { workflowId, after: 'now' },
    { onEvents: (events) => events.some(({ node }) => node === null) && update(), onGap: update },
  );
  return (
    <section>
      <header className="section-header">
        <h2>{words.lastRuns}</h2>
        <Link href={`${PATHS.runs}${queryText({ workflow: workflowId })}`}>{words.allRuns}</Link>
      </header>
      {runs.data?.items.length === 0 && <p className="muted">{words.noRuns}</p>}
      <ul className="plain-list">
        {runs.data?.items.map(({ executionId, status, createdAt, finishedAt }) => (
          <li key={executionId}>
            <Status status={status} />
            <Link href={runPath(executionId)} className="mono truncate">
              {executionId}
            </Link>
            <span className="spring" />
            <span className="muted">{format.relative(Date.parse(createdAt), now)}</span>
            <span>{format.duration((finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(createdAt))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface VersionsProps {
  readonly workflowId: string;
  readonly shown: number | undefined;
  readonly mayEdit: boolean;
  onShow(version: number): void;
}

function Versions({ workflowId, shown, mayEdit, onShow }: VersionsProps): ReactElement {
  const words = useText(workflowText);
  const format = useFormat();
  const now = useNow(60_000);
  const versions = useList('listWorkflowVersions', { params: { workflowId }, query: { limit: 20 } });
  const refreshes = ['getWorkflow', 'listWorkflowVersions', 'getWorkflowVersion', 'listWorkflows'] as const;
  const activate = useChange('activateWorkflow', { refreshes });
  const deactivate = useChange('deactivateWorkflow', { refreshes });
  const params = { workflowId };
  return (
    <section>
      <header className="section-header">
        <h2>{words.versions}</h2>
      </header>
      <ul className="plain-list">
        {versions.items.map(({ version, createdAt, active }) => (
          <li key={version}>
            <button type="button" className="link" aria-current={version === shown} onClick={() => onShow(version)}>
              v{version}
            </button>
            {active && <Badge kind="accent">{words.active}</Badge>}
            <span className="muted">{format.relative(Date.parse(createdAt), now)}</span>
            <span className="spring" />
            {mayEdit && !active && (
              <Button kind="quiet" onClick={() => activate.mutate({ params, body: { version } })}>
                {words.activate}
              </Button>
            )}
            {mayEdit && active && (
              <Button kind="quiet" onClick={() => deactivate.mutate({ params })}>
                {words.deactivate}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {versions.hasNextPage && <Button onClick={() => void versions.fetchNextPage()}>{words.more}</Button>}
    </section>
  );
}
