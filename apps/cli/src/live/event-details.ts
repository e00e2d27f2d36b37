/** What events of a timeline carry, read with care. */
import { isJsonObject, type Json, type RunError } from '@nebula/core';

export function numberOf(details: Json, key: string): number | null {
  const value = isJsonObject(details) ? details[key] : undefined;
  return typeof value === 'number' ? value : null;
}

export function textOf(details: Json, key: string): string | null {
  const value = isJsonObject(details) ? details[key] : undefined;
  return typeof value === 'string' ? value : null;
}

/** The error that an event carries in its details, if it does. */
export function errorOf(details: Json): RunError | null {
  if (!isJsonObject(details) || !isJsonObject(details.error)) return null;
  const { code, kind, message, node, details: more } = details.error;
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return {
    code,
    message,
    kind: kind === 'SYSTEM' ? 'SYSTEM' : 'USER',
    ...(typeof node === 'string' && { node }),
    ...(more !== undefined && { details: more }),
  };
}
