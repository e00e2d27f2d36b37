/** The workflows of the project. */
import type { AnswerOf } from '@nebula/client';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { editorPath, PATHS, workflowPath } from '../../app/routes.ts';
import { useMay, useStudio } from '../../app/studio-context.ts';
import { useQueryState } from '../../app/use-query-state.ts';
import { useList } from '../../data/queries.ts';
import { useNow } from '../../data/use-now.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Badge, Button, IconButton, SearchInput } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Empty, Failed, Loading, Page } from '../../ui/page.tsx';
import { StartDialog } from '../start/start-dialog.tsx';
import { workflowsText } from './workflows-text.ts';
import '../../ui/table.css';
import './workflows.css';

type Workflow = AnswerOf<'listWorkflows'>['items'][number];

export default function WorkflowsPage(): ReactElement {
  const words = useText(workflowsText);
  const { project } = useStudio();
  const mayEdit = useMay('editor');
  const [{ search }, setQuery] = useQueryState('search');
  const [starting, setStarting] = useState<string>();
  const list = useList('listWorkflows', { query: { project, limit: 200 } });
  const wanted = search?.toLowerCase() ?? '';
  const shown = list.items.filter(({ workflowId, name, description, tags }) =>
    [workflowId, name ?? '', description ?? '', ...tags].some((part) => part.toLowerCase().includes(wanted)),
  );
  return (
    <Page
      title={words.title}
      actions={
        <>
          <SearchInput
            label={words.search}
            value={search ?? ''}
            onText={(typed) => setQuery({ search: typed === '' ? undefined : typed }, { replace: true })}
          />
          {mayEdit && (
            <Link href={PATHS.newWorkflow} className="button button-primary">
              <Icon name="plus" />
              {words.create}
            </Link>
          )}
        </>
      }
    >
      {list.isPending ? (
        <Loading />
      ) : list.isError ? (
        <Failed error={list.error} onRetry={() => void list.refetch()} />
      ) : shown.length === 0 ? (
        <Empty title={search === undefined ? words.emptyTitle : words.noMatch}>
          {search === undefined && <p>{words.empty}</p>}
        </Empty>
      ) : (
        <ul className="workflow-list">
          {shown.map((workflow) => (
            <WorkflowRow
              key={workflow.workflowId}
              workflow={workflow}
              onStart={() => setStarting(workflow.workflowId)}
            />
          ))}
        </ul>
      )}
      {list.hasNextPage && <Button onClick={() => void list.fetchNextPage()}>{words.more}</Button>}
      {starting !== undefined && <StartDialog workflowId={starting} onClose={() => setStarting(undefined)} />}
    </Page>
  );
}

function WorkflowRow({ workflow, onStart }: { readonly workflow: Workflow; onStart(): void }): ReactElement {
  const words = useText(workflowsText);
  const format = useFormat();
  const now = useNow(60_000);
  const mayOperate = useMay('operator', workflow.project);
  const mayEdit = useMay('editor', workflow.project);
  const { workflowId, name, description, tags, activeVersion, newestVersion, updatedAt } = workflow;
  return (
    <li className="workflow-row">
      <div className="workflow-what">
        <Link href={workflowPath(workflowId)} className="row-link">
          {name ?? workflowId}
        </Link>
        <span className="mono muted">{workflowId}</span>
        {tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        {description !== null && <p className="muted truncate">{description}</p>}
      </div>
      <div className="workflow-state">
        {activeVersion === null ? (
          <Badge kind="warning">{words.inactive}</Badge>
        ) : (
          <span className="muted">{words.version(activeVersion, newestVersion)}</span>
        )}
        <span className="muted" title={format.full(Date.parse(updatedAt))}>
          {format.relative(Date.parse(updatedAt), now)}
        </span>
      </div>
      <div className="workflow-actions">
        {mayEdit && (
          <Link
            href={editorPath(workflowId)}
            className="button button-quiet icon-button"
            aria-label={words.edit(name ?? workflowId)}
          >
            <Icon name="edit" />
          </Link>
        )}
        {mayOperate && activeVersion !== null && (
          <IconButton icon="play" kind="plain" label={words.start(name ?? workflowId)} onClick={onStart} />
        )}
      </div>
    </li>
  );
}
