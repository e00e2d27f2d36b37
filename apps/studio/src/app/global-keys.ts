/** Keys that work on every page, while no field has the focus. */
import { useEffect, useEffectEvent } from 'react';
import { useLocation } from 'wouter';
import { PATHS } from './routes.ts';

/** After `g`. */
const GO_KEYS: Readonly<Record<string, string>> = {
  r: PATHS.runs,
  w: PATHS.workflows,
  i: PATHS.inbox,
  s: PATHS.schedules,
  f: PATHS.fleet,
  o: PATHS.overview,
};

const SEQUENCE_MS = 1_200;

export function useGlobalKeys({ openPalette, openHelp }: { openPalette(): void; openHelp(): void }): void {
  const [, navigate] = useLocation();
  const act = useEffectEvent((key: string): boolean => {
    if (key === '?') openHelp();
    else if (key === '/') document.querySelector<HTMLElement>('[data-search]')?.focus();
    else return false;
    return true;
  });
  const go = useEffectEvent((key: string): boolean => {
    const path = GO_KEYS[key];
    if (path !== undefined) navigate(path);
    return path !== undefined;
  });
  const palette = useEffectEvent(openPalette);
  useEffect(() => {
    let isGoing = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        return palette();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      if (isGoing) {
        isGoing = false;
        if (go(event.key)) event.preventDefault();
      } else if (event.key === 'g') {
        isGoing = true;
        clearTimeout(timer);
        timer = setTimeout(() => {
          isGoing = false;
        }, SEQUENCE_MS);
      } else if (act(event.key)) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => {
      clearTimeout(timer);
      removeEventListener('keydown', onKey);
    };
  }, []);
}

/** Keys in fields, editors and dialogs belong to those. */
export function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest('input, textarea, select, dialog, [role=textbox]') !== null;
}
