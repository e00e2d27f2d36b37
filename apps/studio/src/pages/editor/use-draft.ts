/**
 * The draft of the text on the server, saved while one types.
 *
 *  1 A save names the revision that it replaces. If another tab or browser has saved since, it is refused, and the
 *    person decides: `conflict`.
 *  2 One save is under way at a time; what is typed meanwhile is saved after it.
 *  3 A text that is the saved version again has no draft.
 */
import { ApiError } from '@nebula/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api } from '../../data/api.ts';

const SAVE_MS = 800;

export type DraftState = 'same' | 'unsaved' | 'saving' | 'saved' | 'conflict';

export interface DraftOptions {
  readonly draftId: string;
  readonly project: string;
  /** The revision that was loaded; 0: there was no draft. */
  readonly revision: number;
  readonly baseVersion: number | null;
  /** The text of that version. */
  readonly baseText: string;
  readonly text: string;
  readonly format: 'yaml' | 'json';
  readonly isEnabled: boolean;
}

export interface Draft {
  readonly state: DraftState;
  /** After a conflict: replaces the other draft by this text. */
  overwrite(): void;
  /** Deletes the draft, after the text was saved as a version or discarded. */
  remove(): Promise<void>;
}

export function useDraft(options: DraftOptions): Draft {
  const { text, baseText, isEnabled } = options;
  const [state, setState] = useState<DraftState>(text === baseText ? 'same' : 'saved');
  const latest = useRef(options);
  latest.current = options;
  const revision = useRef(options.revision);
  const isSaving = useRef(false);
  const saved = useRef(text);
  const hasConflict = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const save = useCallback(async (): Promise<void> => {
    if (isSaving.current) return;
    isSaving.current = true;
    const { draftId, project, text: now, format, baseVersion, baseText: base } = latest.current;
    setState('saving');
    try {
      const key = { params: { draftId }, query: { project }, ifMatch: `"${revision.current}"` };
      if (now === base) {
        if (revision.current > 0) await api.call('deleteDraft', key);
        revision.current = 0;
      } else {
        const answer = await api.call('putDraft', { ...key, body: { text: now, format, baseVersion } });
        revision.current = answer.revision;
      }
      saved.current = now;
      setState(now === base ? 'same' : 'saved');
    } catch (error) {
      hasConflict.current = error instanceof ApiError && (error.status === 412 || error.status === 409);
      setState(hasConflict.current ? 'conflict' : 'unsaved');
    } finally {
      isSaving.current = false;
      if (saved.current === now && latest.current.text !== now) void save();
    }
  }, []);

  useEffect(() => {
    if (!isEnabled || text === saved.current || hasConflict.current) return undefined;
    setState('unsaved');
    timer.current = setTimeout(() => void save(), SAVE_MS);
    return () => clearTimeout(timer.current);
  }, [text, isEnabled, save]);

  return {
    state,
    overwrite: () => {
      const { draftId, project } = latest.current;
      hasConflict.current = false;
      void api
        .call('getDraft', { params: { draftId }, query: { project } })
        .then(({ revision: theirs }) => {
          revision.current = theirs;
        })
        .catch(() => {
          revision.current = 0;
        })
        .then(save);
    },
    remove: async () => {
      clearTimeout(timer.current);
      const { draftId, project, text: now } = latest.current;
      if (revision.current > 0)
        await api.call('deleteDraft', { params: { draftId }, query: { project } }).catch(() => undefined);
      revision.current = 0;
      saved.current = now;
      setState('same');
    },
  };
}
