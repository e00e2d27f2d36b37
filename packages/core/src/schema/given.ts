/** Values that somebody gives to a run: its input, an edited one, a payload, a form, an output that a person tells. */
import { RUN_DEFAULTS } from '../limits.ts';
import { type Json, nestsDeeper, pathToNonFinite } from '../value.ts';
import { describePath } from './check.ts';

/** Why no run takes the value, whatever its schema is; undefined: none. `what` names it: `the input`. */
export function givenProblem(value: Json, what: string): string | undefined {
  if (nestsDeeper(value, RUN_DEFAULTS.maxInputDepth)) {
    return `${what} nests deeper than ${RUN_DEFAULTS.maxInputDepth} levels`;
  }
  const odd = pathToNonFinite(value);
  return odd && `${describePath(odd, what)} is a number that is too large`;
}
