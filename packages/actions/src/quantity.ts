/** Durations and sizes in action inputs: text as in the language, or a plain number. */

import { parseDuration, parseSize } from '@nebula/core/authoring';
import { ActionError } from '@nebula/sdk';

/** The JSON Schema of a duration: milliseconds or text. */
export const DURATION_TYPE = { type: ['string', 'integer'], minimum: 0 } as const;
/** The JSON Schema of a size: bytes or text. */
export const SIZE_TYPE = { type: ['string', 'integer'], minimum: 0 } as const;

export function durationMs(value: string | number, name: string): number {
  return typeof value === 'number' ? value : accept(parseDuration(value), name);
}

export function sizeBytes(value: string | number, name: string): number {
  return typeof value === 'number' ? value : accept(parseSize(value), name);
}

function accept(parsed: number | { readonly message: string; readonly hint: string }, name: string): number {
  if (typeof parsed === 'number') return parsed;
  throw new ActionError(`${name}: ${parsed.message}`, { code: 'INPUT_INVALID', parameter: name, hint: parsed.hint });
}
