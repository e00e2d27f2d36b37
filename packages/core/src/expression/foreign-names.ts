/** Names that people bring from other engines, and what they are called here. */

const SECRETS = 'expressions cannot read secrets: give them to the action with `credentials` (docs/secrets.md)';
const ENVIRONMENT =
  'expressions cannot read the environment: pass the value as input, or read it in an action (docs/actions.md)';
const OUTPUTS = 'the output of a node is $<id>, or $nodes.<id>.output (docs/expressions.md)';
const INPUT = 'the input of the workflow is $input (docs/expressions.md)';

const CLOCK =
  'expressions have no clock: the start of the run is $execution.startedAt (docs/expressions.md), and an action can return the time';

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['secrets', SECRETS],
  ['secret', SECRETS],
  ['credentials', SECRETS],
  ['env', ENVIRONMENT],
  ['process', ENVIRONMENT],
  ['json', `${INPUT}; ${OUTPUTS}`],
  ['node', OUTPUTS],
  ['needs', OUTPUTS],
  ['steps', OUTPUTS],
  ['jobs', OUTPUTS],
  ['outputs', OUTPUTS],
  ['results', OUTPUTS],
  ['tasks', OUTPUTS],
  ['inputs', INPUT],
  ['params', INPUT],
  ['payload', INPUT],
  ['flow_input', INPUT],
  ['now', CLOCK],
  ['today', CLOCK],
  ['ctx', INPUT],
  ['context', INPUT],
]);

/** The hint for a name without its `$`; undefined if no other engine is known for it. */
export function foreignMeaning(name: string): string | undefined {
  return MEANINGS.get(name.toLowerCase());
}
