/** A function that acts at most once per interval: at the first call, and once more after the last one. */
import { useEffect, useRef } from 'react';

export function useThrottled(act: () => void, everyMs: number): () => void {
  const latest = useRef(act);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isAsked = useRef(false);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const pause = (): void => {
    timer.current = setTimeout(() => {
      timer.current = undefined;
      if (!isAsked.current) return;
      isAsked.current = false;
      latest.current();
      pause();
    }, everyMs);
  };
  return () => {
    if (timer.current !== undefined) {
      isAsked.current = true;
      return;
    }
    latest.current();
    pause();
  };
}
