/** Outputs that nodes have in test runs instead of running. They are kept in this browser, for each workflow. */
import { isJsonObject, type Json, jsonEquals } from '@nebula/core';
import { useMemo, useState } from 'react';
import { nodeAt } from '../../language/edits/fragments.ts';

interface Pin {
  readonly output: Json;
  /** The node as it was when it was pinned. */
  readonly node: Json;
}

export interface Pins {
  readonly all: Readonly<Record<string, Pin>>;
  set(path: string, output: Json | undefined, text: string): void;
  /** `stale`: the node has changed since. */
  stateOf(path: string, text: string): 'fresh' | 'stale' | undefined;
}

export function usePins(workflowId: string): Pins {
  const key = `nebula.pins.${workflowId}`;
  const [all, setAll] = useState<Readonly<Record<string, Pin>>>(() => readPins(key));
  return useMemo(
    (): Pins => ({
      all,
      set: (path, output, text) => {
        const { [path]: _, ...others } = all;
        const next =
          output === undefined ? others : { ...others, [path]: { output, node: nodeAt(text, path) ?? null } };
        setAll(next);
        try {
          localStorage.setItem(key, JSON.stringify(next));
        } catch {
          // A full or forbidden storage: the pins last as long as the page.
        }
      },
      stateOf: (path, text) => {
        const pin = all[path];
        if (pin === undefined) return undefined;
        return jsonEquals(pin.node, nodeAt(text, path) ?? null) ? 'fresh' : 'stale';
      },
    }),
    [all, key],
  );
}

function readPins(key: string): Record<string, Pin> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    return isJsonObject(stored as Json) ? (stored as Record<string, Pin>) : {};
  } catch {
    return {};
  }
}
