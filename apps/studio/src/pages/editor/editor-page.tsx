/** The editor of a workflow: canvas and text side by side, one artefact. */
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useMemo } from 'react';
import { useStudio } from '../../app/studio-context.ts';
import { Failed, Loading } from '../../ui/page.tsx';
import { EditorFrame } from './editor-frame.tsx';
import { openWorkflow } from './opened-workflow.ts';
import './editor.css';

export default function EditorPage({ workflowId }: { readonly workflowId?: string }): ReactElement {
  const { project } = useStudio();
  const opened = useQuery({
    queryKey: ['editor', workflowId, project],
    queryFn: () => openWorkflow(workflowId, project),
    // The editor keeps what it has opened; a later answer must not replace what is being typed.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const key = useMemo(() => `${workflowId}-${opened.dataUpdatedAt}`, [workflowId, opened.dataUpdatedAt]);
  if (opened.isError) return <Failed error={opened.error} onRetry={() => void opened.refetch()} />;
  if (opened.data === undefined) return <Loading />;
  return <EditorFrame key={key} opened={opened.data} onReload={() => void opened.refetch()} />;
}
