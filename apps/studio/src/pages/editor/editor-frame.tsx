/** The parts of the editor around one opened text. */
import { type DrawnRun, type NodeRunState, statesOf } from '@nebula/canvas/model';
import { type ReactElement, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { editorPath } from '../../app/routes.ts';
import { useMay } from '../../app/studio-context.ts';
import type { KnownWorkflows } from '../../language/checking.ts';
import { useText } from '../../text/use-text.ts';
import { Button } from '../../ui/controls.tsx';
import { useTitle } from '../../ui/page.tsx';
import { StartDialog } from '../start/start-dialog.tsx';
import { EditorHeader } from './editor-header.tsx';
import { idOf, nameOf, useEditorKeys, useReadable, useUsedWorkflows } from './editor-hooks.ts';
import { EditorSide } from './editor-side.tsx';
import { EditorStage } from './editor-stage.tsx';
import { editorText } from './editor-text.ts';
import { NEW_DRAFT, type Opened } from './opened-workflow.ts';
import { SaveDialog } from './save-dialog.tsx';
import { TestBar, TestDialog, TestMenu, type TestScope } from './test-run.tsx';
import { useDraft } from './use-draft.ts';
import { useEditor } from './use-editor.ts';
import { useLastRun } from './use-last-run.ts';
import { usePins } from './use-pins.ts';
import { WorkflowNames } from './workflow-names.tsx';

const NO_STATES: ReadonlyMap<string, NodeRunState> = new Map();

export function EditorFrame({ opened, onReload }: { readonly opened: Opened; onReload(): void }): ReactElement {
  const words = useText(editorText);
  const [, navigate] = useLocation();
  const { workflowId, project, version, actions, workflowIds, origin } = opened;
  const mayEdit = useMay('editor', project);
  const isReadOnly = !mayEdit || opened.format === 'typescript';
  const [isSaving, setSaving] = useState(false);
  const [isStarting, setStarting] = useState(false);
  const [isTextShown, setTextShown] = useState(true);
  const [testId, setTestId] = useState<string>();
  const [testing, setTesting] = useState<TestScope>();
  const lastRun = useLastRun(workflowId, testId);
  const run = lastRun.values;
  const pins = usePins(workflowId ?? NEW_DRAFT);
  const states = useMemo(
    () => (testId === undefined || lastRun.document === undefined ? NO_STATES : statesOf(lastRun.document as DrawnRun)),
    [testId, lastRun.document],
  );
  const [workflows, setWorkflows] = useState<KnownWorkflows>({});
  const editor = useEditor({
    initial: opened.text,
    isReadOnly,
    label: words.text,
    actions,
    workflows,
    workflowIds,
    run,
    onSave: () => setSaving(true),
  });
  const data = useReadable(editor.text);
  const draft = useDraft({
    draftId: workflowId ?? NEW_DRAFT,
    project,
    revision: opened.revision,
    baseVersion: version,
    baseText: opened.baseText,
    text: editor.text,
    format: opened.format === 'json' ? 'json' : 'yaml',
    isEnabled: !isReadOnly,
  });
  const name = nameOf(data) ?? workflowId ?? words.newWorkflow;
  useTitle(words.title(name));
  useUsedWorkflows(data, workflowIds, setWorkflows);
  useEditorKeys(editor, {
    save: () => setSaving(true),
    test: (isUntil) => {
      const last = editor.selection.at(-1);
      if (editor.check?.isValid === true) setTesting(isUntil && last !== undefined ? { until: last } : {});
    },
  });
  const isTaken = workflowId === undefined && workflowIds.includes(idOf(data) ?? '');
  const node = editor.selection.find((one) => editor.graph.nodes.has(one));
  return (
    <main className="editor">
      <EditorHeader
        workflowId={workflowId}
        name={name}
        version={version}
        file={origin.kind === 'file' ? origin.path : undefined}
        isReadOnly={isReadOnly}
        draft={draft.state}
        editor={editor}
        isTextShown={isTextShown}
        onToggleText={() => setTextShown(!isTextShown)}
        onSave={() => setSaving(true)}
        onStart={() => setStarting(true)}
      >
        <TestMenu node={node} isDisabled={editor.check?.isValid !== true} onTest={setTesting} />
      </EditorHeader>
      {opened.format === 'typescript' && <p className="editor-note">{words.readOnly(opened.filename ?? '')}</p>}
      {draft.state === 'conflict' && (
        <div className="editor-note editor-conflict" role="alert">
          <span className="spring">{words.conflict}</span>
          <Button onClick={onReload}>{words.takeTheirs}</Button>
          <Button onClick={draft.overwrite}>{words.keepMine}</Button>
        </div>
      )}
      <div className={isTextShown ? 'editor-body' : 'editor-body editor-without-text'}>
        <EditorStage
          editor={editor}
          workflowId={workflowId}
          actions={actions}
          states={states}
          pins={pins}
          isReadOnly={isReadOnly}
        >
          {testId !== undefined && <TestBar lastRun={lastRun} onClose={() => setTestId(undefined)} />}
        </EditorStage>
        <EditorSide
          editor={editor}
          data={data}
          actions={actions}
          run={run}
          pins={pins}
          isReadOnly={isReadOnly}
          isTextShown={isTextShown}
        />
      </div>
      {testing !== undefined && editor.code !== undefined && (
        <TestDialog
          scope={testing}
          text={editor.code.savedText}
          data={data}
          project={project}
          lastRun={lastRun}
          pins={pins}
          onStarted={setTestId}
          onClose={() => setTesting(undefined)}
        />
      )}
      {isStarting && workflowId !== undefined && (
        <StartDialog workflowId={workflowId} onClose={() => setStarting(false)} />
      )}
      {isSaving && !isReadOnly && editor.code !== undefined && (
        <SaveDialog
          workflowId={workflowId ?? idOf(data) ?? ''}
          isNew={workflowId === undefined}
          names={workflowId === undefined && <WorkflowNames editor={editor} data={data} isTaken={isTaken} />}
          project={project}
          text={editor.code.savedText}
          filename={opened.filename}
          file={origin.kind === 'file' && origin.writable ? origin.path : undefined}
          isValid={editor.check?.isValid === true && !isTaken}
          onClose={() => setSaving(false)}
          onSaved={(_, savedId) => {
            setSaving(false);
            void draft.remove().then(() => (savedId === workflowId ? onReload() : navigate(editorPath(savedId))));
          }}
        />
      )}
    </main>
  );
}
