/** The place in its workflow of a failure that an action ascribes to one of its parameters. */
import type { RunError } from '../../error.ts';
import { isJsonList, isJsonObject } from '../../value.ts';
import type { NodeState } from '../state/state.ts';

/** Adds `details.at`, the value of the parameter that `details.parameter` names: a key of `with`, or the path to one inside. */
export function withPlace({ plan: { work } }: NodeState, error: RunError): RunError {
  const { details } = error;
  const origin = 'with' in work ? work.with.origin : undefined;
  if (origin === undefined || !isJsonObject(details) || details['at'] !== undefined) return error;
  const parameter = details['parameter'];
  const keys = typeof parameter === 'string' ? [parameter] : parameter;
  if (!isJsonList(keys)) return error;
  return { ...error, details: { ...details, at: { workflowId: origin.workflowId, path: [...origin.path, ...keys] } } };
}
