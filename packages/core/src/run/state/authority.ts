/**
 * The authority of a run: who started it, and the most it may be granted. `run.started` sets it. Reopening a run
 * narrows it by the current ceiling of the project; nothing else changes it. It narrows the requests of every
 * definition, returned graph and child. `grantTo` is the only way from the capabilities that a node asks for to those
 * that its attempt gets.
 */
import type { Capabilities } from '../../action.ts';
import { type Ceiling, Narrowed, narrowCeiling } from '../../capability/narrow.ts';
import type { RunAuthority } from '../journal/entry.ts';
import type { RunState } from './state.ts';

const narrowed = new Narrowed();

/**
 * A journal of an earlier version has no authority: the current ceiling of the run's project applies, as of loading.
 */
export function ceilingOf({ authority, projectCeiling }: RunState): Ceiling {
  return authority === null ? projectCeiling : authority.ceiling;
}

/** The grant of an attempt: the capabilities that the node asks for, within the ceiling of the run. */
export function grantTo(state: RunState, asked: Capabilities): Capabilities {
  return narrowed.grant(asked, ceilingOf(state));
}

/** The ceiling of a run that is reopened while its project has the ceiling `now`; undefined: the run keeps its own. */
export function ceilingAgain(state: RunState, now: Ceiling | undefined): Ceiling | undefined {
  const own = ceilingOf(state);
  if (now === undefined || now === own) return undefined;
  const ceiling = narrowCeiling(own, now);
  return JSON.stringify(ceiling) === JSON.stringify(own) ? undefined : ceiling;
}

/** The authority of a child execution. `bound`: the capabilities of the returned graph around the node. */
export function childAuthority(state: RunState, bound: Capabilities | undefined): RunAuthority | undefined {
  const { authority } = state;
  const ceiling = bound === undefined ? ceilingOf(state) : narrowCeiling(ceilingOf(state), bound);
  if (authority === null && ceiling === 'all') return undefined;
  return { ...(authority?.principal !== undefined && { principal: authority.principal }), ceiling };
}
