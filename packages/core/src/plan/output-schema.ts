/** What is known of a node's output before it runs. */
import type { Action } from '../action.ts';
import type { JsonSchema } from '../value.ts';

const BY_KIND: Readonly<Record<string, JsonSchema>> = {
  branch: closed({ taken: { type: 'array', items: { type: 'string' } } }),
  forEach: { type: 'array' },
  split: { type: 'array' },
  merge: closed({ aggregated: { type: 'array' } }),
  wait: closed({ event: { type: 'string' }, payload: true, at: true }),
};

function closed(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, additionalProperties: false };
}

export function outputSchema(kind: string | undefined, action: Action | undefined): JsonSchema | undefined {
  return kind === 'action' ? action?.output : BY_KIND[kind ?? ''];
}
