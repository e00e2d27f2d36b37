/** One entry while it is folded: the state that it changes, and what follows from it for others. */
import type { FreedPermit, RunState } from '../state/state.ts';

/** What the entries of a frame mean for other runs and for the store. Of a frame that is read, its writer has told it. */
export interface FoldEffects {
  /** Permits that are given back with the frame. */
  readonly freedPermits: FreedPermit[];
  /** Nodes that no longer wait for a signal. */
  readonly unsubscribed: string[];
}

export interface Fold {
  readonly state: RunState;
  /** Time of the frame. */
  readonly at: number;
  readonly effects: FoldEffects;
}

export function newEffects(): FoldEffects {
  return { freedPermits: [], unsubscribed: [] };
}
