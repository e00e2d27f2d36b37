/** What the frame of the editor derives from the text, and its keys. */
import { isJsonObject, type Json, readSource } from '@nebula/core';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import type { KnownWorkflows } from '../../language/checking.ts';
import { usedWorkflows } from './opened-workflow.ts';
import type { Editor } from './use-editor.ts';

/** The data of the text, or of the last one that could be read. */
export function useReadable(text: string): Json {
  const last = useRef<Json>({});
  return useMemo(() => {
    const { value } = readSource(text);
    if (isJsonObject(value)) last.current = value;
    return last.current;
  }, [text]);
}

export function nameOf(data: Json): string | undefined {
  if (!isJsonObject(data)) return undefined;
  const { name, id } = data;
  return typeof name === 'string' ? name : typeof id === 'string' ? id : undefined;
}

export function idOf(data: Json): string | undefined {
  return isJsonObject(data) && typeof data.id === 'string' ? data.id : undefined;
}

/** Loads the workflows that the text runs; the compiler needs them. */
export function useUsedWorkflows(data: Json, known: readonly string[], set: (workflows: KnownWorkflows) => void): void {
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

interface EditorKeys {
  save(): void;
  /** `isUntil`: up to the selected node. */
  test(isUntil: boolean): void;
}

/** Keys of the page outside of the text. */
export function useEditorKeys(editor: Editor, keys: EditorKeys): void {
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
