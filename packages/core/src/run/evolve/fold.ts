/** The fold of one entry: the state that it changes, and its consequences for other runs and the store. */
import type { FreedPermit, RunState } from '../state/state.ts';

/** Consequences of a frame for other runs and the store. Only the writer of the frame acts on them. */
export interface FoldEffects {
  /** Permits that the frame releases. */
  readonly freedPermits: FreedPermit[];
  /** Nodes that no longer wait for a signal. */
  readonly unsubscribed: string[];
  /** Nodes whose outcome is not unknown any more. */
  readonly leftUnknown: string[];
}

export interface Fold {
  readonly state: RunState;
  /** Time of the frame. */
  readonly at: number;
  readonly effects: FoldEffects;
}

export function newEffects(): FoldEffects {
  return { freedPermits: [], unsubscribed: [], leftUnknown: [] };
}
