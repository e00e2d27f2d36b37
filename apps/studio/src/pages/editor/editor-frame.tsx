/** The parts of the editor around one opened text. */
import type { NebulaGraphElement } from '@nebula/canvas';
import { type DrawnRun, type NodeRunState, statesOf } from '@nebula/canvas/model';
import { isJsonObject, type Json, readSource } from '@nebula/core';
import { type ReactElement, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { editorPath } from '../../app/routes.ts';
import { useMay } from '../../app/studio-context.ts';
import { addNode } from '../../editor/canvas-edits.ts';
import { type NodeTemplate, templatesOf } from '../../editor/node-templates.ts';
import type { KnownWorkflows } from '../../language/checking.ts';
import { freeId, splitPath } from '../../language/edits/graph-places.ts';
import { wrapNodes } from '../../language/edits/wrap.ts';
import { useText } from '../../text/use-text.ts';
import { Button, IconButton } from '../../ui/controls.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Menu } from '../../ui/menu.tsx';
import { useTitle } from '../../ui/page.tsx';
import { type AddPlace, EditorCanvas } from './editor-canvas.tsx';
import { EditorHeader } from './editor-header.tsx';
import { editorText } from './editor-text.ts';
import { Inspector, SeveralNodes } from './inspector.tsx';
import { LastOutput } from './last-output.tsx';
import { NEW_DRAFT, type Opened, usedWorkflows } from './opened-workflow.ts';
import { Palette } from './palette.tsx';
import { SaveDialog } from './save-dialog.tsx';
import { TestBar, TestDialog, type TestScope } from './test-run.tsx';
import { useDraft } from './use-draft.ts';
import { type Editor, useEditor } from './use-editor.ts';
import { useLastRun } from './use-last-run.ts';
import { useLayout } from './use-layout.ts';
import { usePins } from './use-pins.ts';

const NO_STATES: ReadonlyMap<string, NodeRunState> = new Map();

export function EditorFrame({ opened, onReload }: { readonly opened: Opened; onReload(): void }): ReactElement {
  const words = useText(editorText);
  const [, navigate] = useLocation();
  const { workflowId, project, version, actions, workflowIds, origin } = opened;
  const mayEdit = useMay('editor', project);
  const isReadOnly = !mayEdit || opened.format === 'typescript';
  const [isSaving, setSaving] = useState(false);
  const [isTextShown, setTextShown] = useState(true);
  const [adding, setAdding] = useState<AddPlace>();
  const canvas = useRef<NebulaGraphElement>(null);
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
  const layout = useLayout(workflowId);
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
  const templates = useMemo(() => templatesOf(actions, words.kinds), [actions, words]);
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
  const add = (template: NodeTemplate): void => {
    if (editor.code === undefined) return;
    const place = adding ?? { after: editor.selection.at(-1) };
    const after = place.after ?? editor.selection.at(-1);
    const result = addNode(editor.code.text, editor.graph, {
      node: template.node,
      id: template.id,
      into: '',
      after: after !== undefined && editor.graph.nodes.has(after) ? after : undefined,
      edge: place.edge === undefined ? undefined : editor.graph.edges.get(place.edge),
      kind: place.kind,
      port: place.port,
    });
    editor.edit(result, 'path' in result ? [result.path] : undefined);
    setAdding(undefined);
    canvas.current?.focus();
  };
  const wrap = (kind: 'group' | 'forEach'): void => {
    if (editor.code === undefined) return;
    const paths = editor.selection;
    const graph = splitPath(paths[0] ?? '').graph;
    const taken = [...editor.graph.nodes.keys()].map((path) => splitPath(path).id);
    const id = freeId(taken, kind === 'group' ? 'group' : 'each');
    editor.edit(
      wrapNodes(editor.code.text, { paths, id, kind, ...(kind === 'forEach' && { setting: { in: '$input.items' } }) }),
      [graph === '' ? id : `${graph}/${id}`],
    );
  };
  const selected = editor.selection.filter((node) => editor.graph.nodes.has(node));
  const [node] = selected;
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
        <div className={editor.isBroken ? 'editor-canvas editor-canvas-broken' : 'editor-canvas'}>
          <EditorCanvas
            ref={canvas}
            editor={editor}
            layout={layout}
            templates={templates}
            states={states}
            pins={pins}
            isReadOnly={isReadOnly}
            onAdd={setAdding}
            onRename={() =>
              requestAnimationFrame(() => document.querySelector<HTMLInputElement>('[data-rename]')?.select())
            }
          />
          {editor.isBroken && (
            <p className="editor-broken" role="status">
              {words.broken}
            </p>
          )}
          <div className="canvas-tools">
            {!isReadOnly && (
              <Button icon="plus" disabled={editor.isBroken} onClick={() => setAdding({ after: node })}>
                {words.add}
              </Button>
            )}
            <IconButton kind="plain" icon="fit" label={words.fit} onClick={() => canvas.current?.fit()} />
          </div>
          {testId !== undefined && <TestBar lastRun={lastRun} onClose={() => setTestId(undefined)} />}
          {adding !== undefined && (
            <Palette templates={templates} onChoose={add} onClose={() => setAdding(undefined)} />
          )}
        </div>
        <div className="editor-side" hidden={!isTextShown && selected.length === 0}>
          {node !== undefined && selected.length === 1 && (
            <Inspector
              editor={editor}
              node={node}
              data={data}
              actions={actions}
              run={run}
              isReadOnly={isReadOnly}
              extra={<LastOutput node={node} run={run} pins={pins} text={editor.text} />}
              onClose={() => editor.select([])}
            />
          )}
          {selected.length > 1 && (
            <SeveralNodes nodes={selected} editor={editor} isDisabled={isReadOnly || editor.isBroken} onWrap={wrap} />
          )}
          <div className="editor-code" ref={editor.attach} hidden={!isTextShown} />
        </div>
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
      {isSaving && !isReadOnly && editor.code !== undefined && (
        <SaveDialog
          workflowId={workflowId ?? idOf(data) ?? ''}
          isNew={!workflowIds.includes(workflowId ?? idOf(data) ?? '')}
          project={project}
          text={editor.code.savedText}
          filename={opened.filename}
          file={origin.kind === 'file' && origin.writable ? origin.path : undefined}
          isValid={editor.check?.isValid === true}
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

/** The data of the text, or of the last one that could be read. */
function useReadable(text: string): Json {
  const last = useRef<Json>({});
  return useMemo(() => {
    const { value } = readSource(text);
    if (isJsonObject(value)) last.current = value;
    return last.current;
  }, [text]);
}

function nameOf(data: Json): string | undefined {
  if (!isJsonObject(data)) return undefined;
  const { name, id } = data;
  return typeof name === 'string' ? name : typeof id === 'string' ? id : undefined;
}

function idOf(data: Json): string | undefined {
  return isJsonObject(data) && typeof data.id === 'string' ? data.id : undefined;
}

/** Loads the workflows that the text runs; the compiler needs them. */
function useUsedWorkflows(data: Json, known: readonly string[], set: (workflows: KnownWorkflows) => void): void {
  const ids = useMemo(() => {
    const found = new Set<string>();
    const visit = (value: Json): void => {
      if (Array.isArray(value)) value.forEach(visit);
      else if (isJsonObject(value)) {
        const { workflow } = value;
        if (isJsonObject(workflow) && typeof workflow.id === 'string' && known.includes(workflow.id))
          found.add(workflow.id);
        Object.values(value).forEach(visit);
      }
    };
    visit(data);
    return [...found].sort().join(' ');
  }, [data, known]);
  const setFound = useEffectEvent(set);
  useEffect(() => {
    if (ids === '') return undefined;
    let isCurrent = true;
    void usedWorkflows(ids.split(' ')).then((found) => isCurrent && setFound(found));
    return () => {
      isCurrent = false;
    };
  }, [ids]);
}

/** The whole, up to the selected node, or that node alone. */
function TestMenu({
  node,
  isDisabled,
  onTest,
}: {
  readonly node: string | undefined;
  readonly isDisabled: boolean;
  onTest(scope: TestScope): void;
}): ReactElement {
  const words = useText(editorText);
  return (
    <span className="test-menu">
      <Button icon="play" disabled={isDisabled} onClick={() => onTest({})}>
        {words.test}
      </Button>
      <Menu
        label={words.testMore}
        className="icon-button"
        items={[
          {
            label: words.testUntil,
            isDisabled: isDisabled || node === undefined,
            onChoose: () => node !== undefined && onTest({ until: node }),
          },
          {
            label: words.testOnly,
            isDisabled: isDisabled || node === undefined,
            onChoose: () => node !== undefined && onTest({ only: node }),
          },
        ]}
      >
        <Icon name="down" size={12} />
      </Menu>
    </span>
  );
}

interface EditorKeys {
  save(): void;
  /** `isUntil`: up to the selected node. */
  test(isUntil: boolean): void;
}

/** Keys of the page outside of the text. */
function useEditorKeys(editor: Editor, keys: EditorKeys): void {
  const act = useEffectEvent((event: KeyboardEvent): void => {
    const hasCtrl = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    if (target?.closest('dialog') != null) return;
    if (hasCtrl && key === 's') keys.save();
    else if (key === 'enter' && (hasCtrl || (event.shiftKey && target?.closest('nebula-graph') != null))) {
      keys.test(event.shiftKey);
    } else if (hasCtrl && key === 'z' && target?.closest('.cm-editor, input, textarea, nebula-graph') == null) {
      if (event.shiftKey) editor.code?.redo();
      else editor.code?.undo();
    } else return;
    event.preventDefault();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => act(event);
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
}
