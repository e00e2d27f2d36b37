/** Streams stay open for long: when their caller may do other things than at the beginning, they end, and are asked for anew. */
import type { Clock, Timer } from '@nebula/ports';
import type { Principal } from './principal.ts';

/** So long somebody may see what they may not see any more. */
const LOOK_MS = 30_000;

/** Returns the way to stop looking. A look that fails says nothing: the next one may. */
export function watchRights(
  clock: Clock,
  who: Principal,
  authenticate: () => Promise<Principal>,
  onChange: () => void,
): () => void {
  const before = JSON.stringify(who);
  let isOpen = true;
  let timer: Timer;
  const look = async (): Promise<void> => {
    const now = await authenticate().then(JSON.stringify, () => before);
    if (!isOpen) return;
    if (now === before) later();
    else onChange();
  };
  const later = (): void => {
    timer = clock.timer(LOOK_MS, () => void look(), { background: true });
  };
  later();
  return () => {
    isOpen = false;
    timer.cancel();
  };
}
