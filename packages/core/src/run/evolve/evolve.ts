/**
 * `evolve` folds one journal entry into the state. It evaluates nothing and decides nothing:
 * the same entries give the same state, for ever. Cost: the edges out of the node that the entry names.
 */
import { assert } from '../../error.ts';
import type { Entry, SignalKept, SignalTaken } from '../journal/entry.ts';
import { countSpilled } from '../state/phases.ts';
import type { RunState } from '../state/state.ts';
import { migrate } from './evolve-migrate.ts';
import { nodeFolds } from './evolve-node.ts';
import { reopen } from './evolve-reopen.ts';
import { runFolds, tooNew } from './evolve-run.ts';
import { scopeFolds } from './evolve-scope.ts';
import { type Fold, type FoldEffects, newEffects } from './fold.ts';

const folds: { readonly [E in Entry as E['type']]: (fold: Fold, entry: E) => void } = {
  ...runFolds,
  ...nodeFolds,
  ...scopeFolds,
  'run.reopened': reopen,
  'run.migrated': migrate,
  'signal.kept': keepSignal,
  'signal.taken': takeSignal,
  // These entries inform people; their consequences are in the entries that follow.
  'node.answered': nothing,
  'signal.refused': nothing,
  'run.checkpointed': nothing,
};

/** A migration can be taken back as long as no other entry follows it. */
const LEAVES_MIGRATION: ReadonlySet<Entry['type']> = new Set<Entry['type']>(['run.migrated', 'run.checkpointed']);

/** A map finds a function faster than the table does, and has no inherited members. */
const changes = new Map(Object.entries(folds) as [string, (fold: Fold, entry: Entry) => void][]);

/** `effects` collects the consequences for other runs and the store; a reader of a journal leaves it out. */
export function evolve(state: RunState, entry: Entry, at: number, effects: FoldEffects = newEffects()): void {
  const change = changes.get(entry.type);
  if (change === undefined) return tooNew(`has an entry '${entry.type}'`);
  state.updatedAt = at;
  if (state.migrated !== null && !LEAVES_MIGRATION.has(entry.type)) state.migrated = null;
  change({ state, at, effects }, entry);
}

function keepSignal({ state }: Fold, { signal, key, payload }: SignalKept): void {
  state.bufferedSignals.push({ signal, key, payload });
  countSpilled(state, payload);
}

function takeSignal({ state: { bufferedSignals } }: Fold, entry: SignalTaken): void {
  const at = bufferedSignals.findIndex(({ signal, key }) => signal === entry.signal && key === entry.key);
  if (at >= 0) bufferedSignals.splice(at, 1);
}

function nothing(): void {}

/** Folds whole frames, from the first one or on top of a snapshot. */
export function foldFrames(
  state: RunState,
  frames: Iterable<{ readonly seq: number; readonly at: number; readonly entries: readonly Entry[] }>,
): RunState {
  const effects = newEffects();
  for (const frame of frames) {
    countFrame(state, frame.seq);
    for (const entry of frame.entries) evolve(state, entry, frame.at, effects);
  }
  return state;
}

/** Counts a frame whose entries are folded now, or were decided on this state and are stored. */
export function countFrame(state: RunState, seq: number): void {
  assert(seq === state.seq + 1, `frame ${seq} follows frame ${state.seq} of ${state.executionId}`);
  state.seq = seq;
}
