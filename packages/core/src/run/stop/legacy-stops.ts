/** Runs, iterations and nodes that end early by entries from before always edges were a finally. */
import { cutOffInside, stoppingAnew } from '../decide/advance.ts';
import { emit, type Turn } from '../decide/turn.ts';
import { isPaused, pathOf } from '../state/selectors.ts';
import type { ScopeState } from '../state/state.ts';

/** Says anew how they end, so that they go on as they would today. What ran stays. */
export function renewOldStops(turn: Turn): void {
  const { state } = turn;
  state.hasOldStops = false;
  if (state.stopping !== null && isOld(state.root)) {
    emit(turn, {
      ...stoppingAnew(state.stopping),
      ...(!isPaused(state) ? {} : { paused: true }),
      finally: true,
    });
    cutOffInside(turn, state.root, 'the run is ending');
  }
  for (const scope of [...state.scopes.values()]) {
    if (!isOld(scope) || scope.parent === null) continue;
    const { parent, stopping } = scope;
    if (parent.phase.status === 'open' && parent.phase.stopping !== null) {
      const { since: _, ...how } = parent.phase.stopping;
      emit(turn, { type: 'node.stopping', node: pathOf(parent), ...how, finally: true });
    } else emit(turn, { type: 'scope.stopping', scope: scope.path, error: stopping?.error ?? null, finally: true });
    cutOffInside(turn, scope, 'what is around it is ending');
  }
}

function isOld({ stopping, undoes, isClosed }: ScopeState): boolean {
  return stopping !== null && stopping.finally === undefined && undoes === null && !isClosed;
}
