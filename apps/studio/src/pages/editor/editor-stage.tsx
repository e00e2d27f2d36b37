/** The canvas with its tools, and the palette over it. */
import type { NebulaGraphElement } from '@nebula/canvas';
import type { NodeRunState } from '@nebula/canvas/model';
import { type ReactElement, type ReactNode, useMemo, useRef, useState } from 'react';
import { addNode } from '../../editor/canvas-edits.ts';
import { type NodeTemplate, templatesOf } from '../../editor/node-templates.ts';
import type { ActionInfo } from '../../language/catalog.ts';
import { useText } from '../../text/use-text.ts';
import { Button, IconButton } from '../../ui/controls.tsx';
import { type AddPlace, EditorCanvas } from './editor-canvas.tsx';
import { editorText } from './editor-text.ts';
import { Palette } from './palette.tsx';
import type { Editor } from './use-editor.ts';
import { useLayout } from './use-layout.ts';
import type { Pins } from './use-pins.ts';

interface EditorStageProps {
  readonly editor: Editor;
  readonly workflowId: string | undefined;
  readonly actions: readonly ActionInfo[];
  readonly states: ReadonlyMap<string, NodeRunState>;
  readonly pins: Pins;
  readonly isReadOnly: boolean;
  /** Over the canvas. */
  readonly children?: ReactNode;
}

export function EditorStage({
  editor,
  workflowId,
  actions,
  states,
  pins,
  isReadOnly,
  children,
}: EditorStageProps): ReactElement {
  const words = useText(editorText);
  const [adding, setAdding] = useState<AddPlace>();
  const canvas = useRef<NebulaGraphElement>(null);
  const layout = useLayout(workflowId);
  const templates = useMemo(() => templatesOf(actions, words.kinds), [actions, words]);
  const node = editor.selection.find((one) => editor.graph.nodes.has(one));
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
  return (
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
        onDropped={() => setAdding(undefined)}
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
      {children}
      {adding !== undefined && <Palette templates={templates} onChoose={add} onClose={() => setAdding(undefined)} />}
    </div>
  );
}
