/** The end of a wait, by the definition: the event is one that it waits for. */
import type { Json } from '@nebula/core';
import type { Keys } from './model/graph.ts';

/** A signal as it was sent. */
export interface SentSignal {
  readonly signal: string;
  readonly key: string;
}

interface Wait {
  readonly signal?: string;
  readonly key?: string;
  readonly schema?: { readonly required?: readonly string[] };
  readonly approval?: { readonly who?: readonly string[] };
  readonly any?: readonly Wait[];
}

/** Returns a complaint about the signal that ended a wait; undefined if the signal is right. */
export function signalMisfit({ wait }: Keys, { signal, key }: SentSignal, payload: Json): string | undefined {
  const named = waitsIn(wait).filter((one) => one.signal === signal && (one.key ?? '') === key);
  if (named.length === 0) return `the signal ${signal} with key '${key}', which it does not wait for`;
  const fits = named.some(({ schema }) =>
    (schema?.required ?? []).every((name) => Object.hasOwn(Object(payload), name)),
  );
  return fits ? undefined : `the signal ${signal}, whose payload does not fit`;
}

/** The person may answer an approval of the wait. */
export function mayAnswer({ wait }: Keys, by: string): boolean {
  return waitsIn(wait).some(({ approval }) => approval !== undefined && (approval.who?.includes(by) ?? true));
}

function waitsIn(wait: unknown): readonly Wait[] {
  return (wait as Wait).any ?? [wait as Wait];
}
