/**
 * The output schema of a node before it runs. For composite nodes it becomes more exact once their bodies are compiled.
 */
import type { Action } from '../action.ts';
import type { NodeDefinition, NodeKind, WaitDefinition } from '../definition/model.ts';
import { isJsonObject, type JsonSchema } from '../value.ts';
import { closed } from './value-schema.ts';

export function outputSchema(
  kind: NodeKind | undefined,
  action: Action | undefined,
  definition: NodeDefinition,
): JsonSchema | undefined {
  switch (kind) {
    case 'action':
      return action?.output;
    case 'branch':
      return closed([['taken', { type: 'array', items: { type: 'string' } }]]);
    case 'forEach':
    case 'split':
      return { type: 'array' };
    case 'merge':
      return closed([['aggregated', { type: 'array' }]]);
    case 'wait':
      return closed([
        ['event', { type: 'string' }],
        ['payload', isJsonObject(definition.wait) ? payloadSchema(definition.wait as WaitDefinition) : undefined],
        ['at', undefined],
      ]);
    case 'set':
      return isJsonObject(definition.set)
        ? closed(Object.keys(definition.set).map((name) => [name, undefined]))
        : undefined;
    case 'dynamic':
    case 'while':
    case 'retryUntil':
    case 'workflow':
    case 'group':
    case 'terminate':
    case undefined:
      return undefined;
  }
}

/** A payload that does not match the schema of its signal does not end the wait. */
function payloadSchema({ signal, schema }: WaitDefinition): JsonSchema | undefined {
  return signal === undefined ? undefined : schema;
}
