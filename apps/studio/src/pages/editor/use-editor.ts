/**
 * The state of the editor: the text, and everything that is derived from it.
 *
 *  1 The text is in CodeMirror; `text` is a copy for rendering.
 *  2 The graph is that of the last text that could be read. Edits of the canvas are off while the text cannot be read.
 */
import { EMPTY_GRAPH, type Graph, graphOfDefinition } from '@nebula/canvas/model';
import type { WorkflowDefinition } from '@nebula/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type CodeEditor, openCodeEditor } from '../../editor/code-editor.ts';
import type { ActionInfo } from '../../language/catalog.ts';
import type { KnownWorkflows, TextCheck } from '../../language/checking.ts';
import { nodeOf } from '../../language/checking.ts';
import type { EditResult } from '../../language/edits/refusal.ts';
import { pathAt, rangeOfNode } from '../../language/hovering.ts';
import type { RunValues } from '../../language/run-values.ts';
import { type LanguageClient, openLanguage } from '../../language/worker/language-client.ts';
import { notify } from '../../ui/notices.ts';

export interface EditorOptions {
  readonly initial: string;
  readonly isReadOnly: boolean;
  readonly label: string;
  readonly actions: readonly ActionInfo[];
  readonly workflows: KnownWorkflows;
  readonly workflowIds: readonly string[];
  readonly run: RunValues | undefined;
  onSave(): void;
}

export interface Editor {
  readonly text: string;
  readonly code: CodeEditor | undefined;
  readonly check: TextCheck | undefined;
  readonly definition: WorkflowDefinition | undefined;
  readonly graph: Graph;
  /** The text cannot be read now. */
  readonly isBroken: boolean;
  readonly selection: readonly string[];
  /** The place of the code editor. */
  attach(element: HTMLElement | null): void;
  /** Makes an edit, or says why it is refused. Returns whether it was made. */
  edit(result: EditResult, select?: readonly string[], userEvent?: string): boolean;
  /** Selects nodes on the canvas, and shows the last one in the text. */
  select(nodes: readonly string[]): void;
}

interface Drawn {
  readonly definition: WorkflowDefinition | undefined;
  readonly graph: Graph;
}

export function useEditor({
  initial,
  isReadOnly,
  label,
  actions,
  workflows,
  workflowIds,
  run,
  onSave,
}: EditorOptions): Editor {
  const [text, setText] = useState(initial);
  const [check, setCheck] = useState<TextCheck>();
  const [drawn, setDrawn] = useState<Drawn>({ definition: undefined, graph: EMPTY_GRAPH });
  const [selection, setSelection] = useState<readonly string[]>([]);
  const [code, setCode] = useState<CodeEditor>();
  const language = useRef<LanguageClient>(undefined);
  const latest = useRef({ onSave, setSelection });
  latest.current = { onSave, setSelection };

  const attach = useCallback(
    (element: HTMLElement | null): (() => void) | undefined => {
      if (element === null) return undefined;
      const client = openLanguage();
      language.current = client;
      const opened = openCodeEditor({
        parent: element,
        text: initial,
        language: client,
        isReadOnly,
        label,
        onText: setText,
        onCursor: (offset) => {
          const node = nodeOf(pathAt(opened.text, offset)?.path ?? []);
          if (node !== undefined) latest.current.setSelection([node]);
        },
        onSave: () => latest.current.onSave(),
      });
      setCode(opened);
      return () => {
        opened.close();
        client.close();
        language.current = undefined;
        setCode(undefined);
      };
    },
    [initial, isReadOnly, label],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the worker belongs to the code editor.
  useEffect(() => {
    language.current?.set({ actions, workflows, workflowIds, run: run ?? null });
  }, [actions, workflows, workflowIds, run, code]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer changes with the actions and workflows that the worker knows.
  useEffect(() => {
    if (code === undefined) return undefined;
    let isCurrent = true;
    void language.current?.check(text).then((found) => {
      if (found === undefined || !isCurrent) return;
      setCheck(found);
      code.setProblems(found.problems);
      const next = drawnOf(found.definition);
      if (next !== undefined) setDrawn(next);
    });
    return () => {
      isCurrent = false;
    };
  }, [text, code, actions, workflows]);

  useEffect(() => {
    if (code === undefined || run === undefined) return undefined;
    let isCurrent = true;
    const timer = setTimeout(() => {
      void language.current?.ask<'preview'>({ kind: 'preview', text }).then((found) => {
        if (found !== undefined && isCurrent) code.setPreviews(found);
      });
    }, 250);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, code, run]);

  const node = selection.at(-1);
  useEffect(() => {
    code?.markLines(node === undefined ? undefined : rangeOfNode(text, node));
  }, [code, node, text]);

  const select = (nodes: readonly string[]): void => {
    setSelection(nodes);
    const last = nodes.at(-1);
    const range = last === undefined || code === undefined ? undefined : rangeOfNode(code.text, last);
    if (range !== undefined) code?.show(range.from, range.to);
  };
  const edit = (result: EditResult, chosen?: readonly string[], userEvent?: string): boolean => {
    if ('refused' in result) {
      notify({ kind: 'failure', code: 'EDIT_REFUSED', message: result.refused, hint: undefined });
      return false;
    }
    code?.apply(result.edits, userEvent);
    if (chosen !== undefined) select(chosen);
    return true;
  };
  const isBroken = check !== undefined && check.definition === undefined;
  return {
    text,
    code,
    check,
    ...drawn,
    isBroken,
    selection,
    attach: attach as (element: HTMLElement | null) => void,
    edit,
    select,
  };
}

/** Undefined: the definition has a shape that cannot be drawn, so the last graph stays. */
function drawnOf(definition: WorkflowDefinition | undefined): Drawn | undefined {
  if (definition === undefined) return undefined;
  try {
    return { definition, graph: graphOfDefinition(definition) };
  } catch {
    return undefined;
  }
}
