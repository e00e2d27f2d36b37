/**
 * The authority of a run: who started it, and what it may be granted at the most. It comes with `run.started`; a run that
 * has ended and begins again is narrowed by the ceiling that its project has then, and nothing else changes it. Whatever a
 * definition, a returned graph or a child asks for is narrowed by it. `grantTo` is the only way from what a node asks for
 * to what its attempt gets.
 */
import type { Capabilities } from '../../action.ts';
import { type Ceiling, Narrowed, narrowCeiling } from '../../capability/narrow.ts';
import type { RunAuthority } from '../journal/entry.ts';
import type { RunState } from './state.ts';

const narrowed = new Narrowed();

/** A journal of before has no authority in it: then that of the run's project holds, as it is when the run is loaded. */
export function ceilingOf({ authority, projectCeiling }: RunState): Ceiling {
  return authority === null ? projectCeiling : authority.ceiling;
}

/** The grant of an attempt: the capabilities that the node asks for, within the ceiling of the run. */
export function grantTo(state: RunState, asked: Capabilities): Capabilities {
  return narrowed.grant(asked, ceilingOf(state));
}

/** The ceiling of a run that begins again while its project has `now`; undefined: the run keeps the one that it has. */
export function ceilingAgain(state: RunState, now: Ceiling | undefined): Ceiling | undefined {
  const own = ceilingOf(state);
  if (now === undefined || now === own) return undefined;
  const ceiling = narrowCeiling(own, now);
  return JSON.stringify(ceiling) === JSON.stringify(own) ? undefined : ceiling;
}

/** The authority of an execution that runs for a node of this one. `bound`: that of the returned graph around the node. */
export function childAuthority(state: RunState, bound: Capabilities | undefined): RunAuthority | undefined {
  const { authority } = state;
  const ceiling = bound === undefined ? ceilingOf(state) : narrowCeiling(ceilingOf(state), bound);
  if (authority === null && ceiling === 'all') return undefined;
  return { ...(authority?.principal !== undefined && { principal: authority.principal }), ceiling };
}
