/** Error codes that a retry cannot fix: the same definition and input cause the same error again. */

const UNMENDABLE: ReadonlySet<string> = new Set([
  // Denied capabilities.
  'CAPABILITY_DENIED',
  // Invalid parameters.
  'INPUT_INVALID',
  'ACTION_SCHEMA_INVALID',
  'NOT_A_LIST',
  'TOO_MANY_ITEMS',
  'NESTING_TOO_DEEP',
  // Invalid outputs.
  'OUTPUT_INVALID',
  'OUTPUT_NOT_JSON',
  'OUTPUT_TOO_LARGE',
  'BAD_GRAPH',
]);

/** All expression errors share a prefix. */
const EXPRESSION = 'EXPRESSION_';

export function isUnmendable(code: string): boolean {
  return UNMENDABLE.has(code) || code.startsWith(EXPRESSION);
}
