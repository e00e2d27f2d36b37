/** What is known of the selected node, or of the run itself. Its first line says why it is as it is. */
import { locate } from '@nebula/canvas/model';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { runPath } from '../../app/routes.ts';
import { useRead } from '../../data/queries.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Badge, Tabs } from '../../ui/controls.tsx';
import { AttemptList } from './attempt-list.tsx';
import { IterationList } from './iteration-list.tsx';
import { LogView } from './log-view.tsx';
import { NodeActions } from './node-actions.tsx';
import { runText } from './run-text.ts';
import type { RunView } from './run-view.ts';
import type { RunData } from './use-run.ts';
import { ValueView } from './value-view.tsx';
import { Why } from './why.tsx';
import './inspector.css';

interface InspectorProps {
  readonly run: RunData;
  readonly view: RunView;
  onSelect(node: string | undefined): void;
  onTab(tab: string): void;
}

type Tab = 'output' | 'input' | 'variables' | 'attempts' | 'logs' | 'iterations';

export function Inspector({ run, view, onSelect, onTab }: InspectorProps): ReactElement {
  const words = useText(runText);
  const { node } = view;
  const { document, graph } = run;
  const graphNode = node === undefined ? undefined : graph.nodes.get(locate(graph, node)?.node ?? '');
  const isLoop = graphNode?.kind === 'loop';
  const tabs: readonly Tab[] =
    node === undefined
      ? ['output', 'input', 'variables', 'logs']
      : isLoop
        ? ['iterations', 'output', 'input', 'logs']
        : ['output', 'input', 'attempts', 'logs'];
  const tab = tabs.find((known) => known === view.tab) ?? (tabs[0] as Tab);
  return (
    <aside className="inspector" aria-label={words.inspector}>
      <header className="inspector-header">
        <h2 className="truncate">{node === undefined ? words.run : (graphNode?.label ?? node)}</h2>
        {node?.includes('/') && <span className="mono muted truncate">{node}</span>}
        <span className="spring" />
        {node !== undefined && <NodeActions run={run} view={view} node={node} />}
      </header>
      <Why run={run} view={view} onSelect={onSelect} />
      {node !== undefined && <NodeFacts run={run} view={view} node={node} />}
      <Tabs
        label={words.inspector}
        choices={tabs.map((value) => ({ value, label: words.tabs[value] }))}
        value={tab}
        onChoose={onTab}
      />
      <div className="inspector-body" role="tabpanel" aria-label={words.tabs[tab]}>
        {tab === 'logs' ? (
          <LogView executionId={document.executionId} node={node} />
        ) : tab === 'attempts' && node !== undefined ? (
          <AttemptList executionId={document.executionId} node={node} until={view.time} />
        ) : tab === 'iterations' && node !== undefined ? (
          <IterationList run={run} loop={node} onSelect={onSelect} />
        ) : (
          <Values run={run} view={view} which={tab as 'output' | 'input' | 'variables'} />
        )}
      </div>
    </aside>
  );
}

interface ValuesProps extends Pick<InspectorProps, 'run' | 'view'> {
  readonly which: 'output' | 'input' | 'variables';
}

function Values({ run, view, which }: ValuesProps): ReactElement {
  const { executionId } = run.document;
  const { node, seq } = view;
  const own = node === undefined ? run.document : run.document.nodes[node];
  // A node that the document does not have is in an iteration that has ended.
  const isOver =
    seq === undefined && (own === undefined || own.finishedAt !== null || run.document.finishedAt !== null);
  const query = { ...(node !== undefined && { node }), ...(seq !== undefined && { at: seq }) };
  const values = useRead('getValues', { params: { executionId }, query }, { keepsPrevious: true });
  return (
    <>
      {which === 'output' && <ErrorBox run={run} view={view} />}
      <ValueView
        executionId={executionId}
        name={which}
        value={values.data?.[which]}
        isPending={values.isPending}
        isOver={isOver}
      />
    </>
  );
}

function ErrorBox({ run, view }: Pick<InspectorProps, 'run' | 'view'>): ReactElement | null {
  const { executionId } = run.document;
  const query = {
    values: 'none' as const,
    ...(view.seq !== undefined && { at: view.seq }),
    ...(view.node !== undefined && { node: view.node }),
  };
  const document = useRead('getExecution', { params: { executionId }, query }, { keepsPrevious: true });
  const error = view.node === undefined ? document.data?.error : document.data?.nodes[view.node]?.error;
  if (error === undefined || error === null) return null;
  return (
    <div className="error-box">
      <strong>{error.code}</strong>
      <p>{error.message}</p>
    </div>
  );
}

function NodeFacts({
  run,
  view,
  node,
}: Pick<InspectorProps, 'run' | 'view'> & { readonly node: string }): ReactElement | null {
  const words = useText(runText);
  const format = useFormat();
  const { executionId } = run.document;
  const { seq } = view;
  const values = useRead(
    'getValues',
    { params: { executionId }, query: { node, ...(seq !== undefined && { at: seq }) } },
    { keepsPrevious: true },
  );
  const document = run.document.nodes[node];
  const progress = run.progress.get(node);
  return (
    <div className="node-facts">
      {document?.durationMs != null && view.seq === undefined && <span>{format.duration(document.durationMs)}</span>}
      {document?.attempt !== undefined && (
        <span>
          {words.worker} <span className="mono">{document.attempt.worker}</span>
        </span>
      )}
      {document?.child !== undefined && (
        <Link href={runPath(document.child.executionId)}>
          {words.child} {document.child.workflowId}
        </Link>
      )}
      {values.data?.cached === true && <Badge kind="accent">cache</Badge>}
      {values.data?.idempotencyKey != null && (
        <span className="mono muted truncate" title={words.key}>
          {values.data.idempotencyKey}
        </span>
      )}
      {progress !== undefined && document?.status === 'running' && (
        <span
          className="progress"
          role="progressbar"
          aria-valuenow={Math.round(progress.fraction * 100)}
          aria-label={progress.message ?? node}
        >
          <span style={{ width: `${progress.fraction * 100}%` }} />
        </span>
      )}
    </div>
  );
}
