/** Compiles nodes that run an action, and compensating actions. */
import type { Action, Capabilities } from '../../action.ts';
import { joinCapabilities, narrow } from '../../capability/narrow.ts';
import type { ActionCall, NodeDefinition } from '../../definition/model.ts';
import type { DocumentPath } from '../../problem.ts';
import type { Json } from '../../value.ts';
import { findAction } from '../actions.ts';
import { checkCeiling } from '../ceiling-check.ts';
import type { CompileContext } from '../context.ts';
import { checkCredentials } from '../credentials.ts';
import type { NodeReader } from '../node-reader.ts';
import { checkParameters } from '../parameters.ts';
import type { ActionWork, CompensationPlan } from '../plan.ts';
import { retryPlan } from '../retry-plan.ts';
import { routeOf } from '../route.ts';
import { hasSettings } from '../settings.ts';
import { timeoutsOf } from '../timeouts.ts';

export function actionWork(reader: NodeReader, action: Action | undefined): ActionWork | undefined {
  const { definition } = reader.parts;
  const call = { action: definition.action ?? '', ...(definition.with && { with: definition.with }) };
  const parts = callParts(reader, call, action, []);
  return parts && { kind: 'action', ...parts, effect: definition.effect };
}

/** The action, its parameters and its grants. `keys` lead to the call. */
export function callParts(
  reader: NodeReader,
  call: ActionCall,
  action: Action | undefined,
  keys: DocumentPath,
  self = false,
): Pick<ActionWork, 'action' | 'with' | 'granted' | 'credentials'> | undefined {
  const { context, definition, path } = reader.parts;
  const parameters = reader.value(call.with ?? {}, [...keys, 'with'], self ? { self, after: true } : {});
  if (action === undefined) return undefined;
  checkParameters(context.problems, action, call.with ?? {}, [...path, ...keys, 'with']);
  checkCredentials(reader, action, keys);
  if (!self) checkCeiling(context, definition.capabilities, [...path, 'capabilities']);
  const { credentials = {} } = definition;
  return { action, with: parameters, granted: grantedTo(context, definition), credentials };
}

/** The capabilities that the node asks for; the ceiling of the run is applied when the node starts. */
function grantedTo({ granted, bound }: CompileContext, { capabilities }: NodeDefinition): Capabilities {
  if (capabilities === undefined) return granted;
  const asked = joinCapabilities(granted, capabilities);
  return bound === undefined ? asked : narrow(asked, bound);
}

export function compensation(reader: NodeReader): CompensationPlan | undefined {
  const { context, definition, path } = reader.parts;
  const { compensate } = definition;
  if (compensate === undefined) return undefined;
  for (const key of ['retry', 'timeout'] as const) {
    if (!hasSettings(key, compensate[key] as Json)) continue;
    const message = `'${key}' of a compensation cannot contain expressions`;
    reader.error('MISPLACED_EXPRESSION', message, 'write the number or duration', ['compensate', key]);
  }
  const action = findAction(context, compensate.action, [...path, 'compensate', 'action']);
  const parts = callParts(reader, compensate, action, ['compensate'], true);
  return (
    parts && {
      ...parts,
      effect: compensate.effect,
      route: routeOf(context.catalog, parts.action, definition.labels),
      retry: retryPlan(compensate.retry, context.defaultRetry, { ...context, values: reader.values }, [
        ...path,
        'compensate',
        'retry',
      ]),
      timeouts: timeoutsOf(compensate.timeout),
    }
  );
}
