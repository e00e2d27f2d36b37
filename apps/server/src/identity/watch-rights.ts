/** Ends open streams when the permissions of their caller change; the client then reconnects. */
import type { Clock, Timer } from '@nebula/ports';
import type { Principal } from './principal.ts';

/** The longest time that a stream outlives a revoked permission. */
const CHECK_MS = 30_000;

/** Returns a function that stops the checks. A check that fails is ignored; the next one decides. */
export function watchRights(
  clock: Clock,
  who: Principal,
  authenticate: () => Promise<Principal>,
  onChange: () => void,
): () => void {
  const before = JSON.stringify(who);
  let isOpen = true;
  let timer: Timer;
  const check = async (): Promise<void> => {
    const now = await authenticate().then(JSON.stringify, () => before);
    if (!isOpen) return;
    if (now === before) later();
    else onChange();
  };
  const later = (): void => {
    timer = clock.timer(CHECK_MS, () => void check(), { background: true });
  };
  later();
  return () => {
    isOpen = false;
    timer.cancel();
  };
}
