/**
 * `evolve` folds one journal entry into the state. It evaluates nothing and decides nothing:
 * the same entries give the same state, for ever. Cost: the edges out of the node that the entry names.
 */
import { assert, unreachable } from '../../error.ts';
import type { Entry, SignalKept, SignalTaken } from '../journal/entry.ts';
import { countSpilled } from '../state/phases.ts';
import type { RunState } from '../state/state.ts';
import { evolveNode } from './evolve-node.ts';
import { reopen } from './evolve-reopen.ts';
import { evolveRun, tooNew } from './evolve-run.ts';
import { evolveScope } from './evolve-scope.ts';
import { type Fold, type FoldEffects, newEffects } from './fold.ts';

/** `effects` collects the consequences for other runs and the store; a reader of a journal leaves it out. */
export function evolve(state: RunState, entry: Entry, at: number, effects: FoldEffects = newEffects()): void {
  const fold: Fold = { state, at, effects };
  state.updatedAt = at;
  switch (entry.type) {
    case 'node.configured':
    case 'node.started':
    case 'node.completed':
    case 'node.scheduled':
    case 'node.retrying':
    case 'node.returned':
    case 'node.failed':
    case 'node.skipped':
    case 'node.cancelled':
    case 'node.unhandled':
    case 'node.unknown':
    case 'node.settled':
    case 'node.waiting':
    case 'node.gated':
    case 'node.granted':
    case 'child.requested':
      return evolveNode(fold, entry);
    case 'node.opened':
    case 'node.stopping':
    case 'scopes.opened':
    case 'scope.stopping':
    case 'scope.closed':
    case 'scope.compensating':
    case 'scope.compensated':
    case 'node.compensating':
    case 'items.added':
    case 'round.delayed':
      return evolveScope(fold, entry);
    case 'signal.kept':
    case 'signal.taken':
      return evolveSignals(state, entry);
    // These entries inform people; their consequences are in the entries that follow.
    case 'node.answered':
    case 'signal.refused':
    case 'run.checkpointed':
      return;
    case 'run.started':
    case 'run.held':
    case 'run.begun':
    case 'run.paused':
    case 'run.resumed':
    case 'run.stopping':
    case 'run.finished':
      return evolveRun(fold, entry);
    case 'run.reopened':
      return reopen(fold, entry);
    default:
      return refuse(entry);
  }
}

function evolveSignals(state: RunState, entry: SignalKept | SignalTaken): void {
  if (entry.type === 'signal.kept') {
    const { signal, key, payload } = entry;
    state.bufferedSignals.push({ signal, key, payload });
    return countSpilled(state, payload);
  }
  const at = state.bufferedSignals.findIndex(({ signal, key }) => signal === entry.signal && key === entry.key);
  if (at >= 0) state.bufferedSignals.splice(at, 1);
}

/** Folds whole frames, from the first one or on top of a snapshot. */
export function replay(
  state: RunState,
  frames: Iterable<{ readonly seq: number; readonly at: number; readonly entries: readonly Entry[] }>,
): RunState {
  const effects = newEffects();
  for (const frame of frames) {
    assert(frame.seq === state.seq + 1, `frame ${frame.seq} follows frame ${state.seq} of ${state.executionId}`);
    for (const entry of frame.entries) evolve(state, entry, frame.at, effects);
    state.seq = frame.seq;
  }
  return state;
}

function refuse(entry: never): never {
  const type = (entry as { type?: unknown }).type;
  if (typeof type !== 'string') unreachable(entry);
  return tooNew(`has an entry '${type}'`);
}
