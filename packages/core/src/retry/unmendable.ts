/** Errors that a repeat cannot mend: the same definition and the same input give the same error. Known by their code. */

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

/** Failed expressions share a prefix. */
const EXPRESSION = 'EXPRESSION_';

export function isUnmendable(code: string): boolean {
  return UNMENDABLE.has(code) || code.startsWith(EXPRESSION);
}
