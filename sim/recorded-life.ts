/**
 * A life as its script of events: the shape of the cluster, the workflows, and what people asked for and when. A
 * recorded life does not depend on the generator: neither on the workflows that it draws, nor on the requests. Faults
 * and the courses of attempts are drawn from the seed, one stream for each kind of fault.
 */
import type { JsonObject } from '@nebula/core';

/** A workflow to start under an id that people chose. */
export interface Order {
  readonly executionId: string;
  readonly definition: Record<string, unknown>;
  readonly input: JsonObject;
  readonly nodes: number;
}

export interface Shape {
  readonly engines: number;
  readonly sharesQueue: boolean;
  readonly calm: number;
  readonly workers: number;
  readonly retentionMs: number | null;
}

type At<Do> = Do extends string ? { readonly do: Do; readonly slot: number } : never;
type Of<Do> = Do extends string ? { readonly do: Do; readonly slot: number; readonly run: string } : never;

/** `slot`: the place of a process or worker in the world. */
export type LifeEvent =
  | At<'open' | 'close' | 'steal lease' | 'hire' | 'follow' | 'forget cached'>
  | { readonly do: 'start by key'; readonly slots: readonly number[]; readonly workflow: string; readonly key: string }
  | { readonly do: 'start cached'; readonly slot: number; readonly workflow: string; readonly text: string }
  | { readonly do: 'register'; readonly slot: number; readonly definition: Record<string, unknown> }
  | Of<'start' | 'wait' | 'delete' | 'retry' | 'pause' | 'resume' | 'settle' | 'answer'>
  | { readonly do: 'cancel'; readonly slot: number; readonly run: string; readonly compensate: boolean }
  | {
      readonly do: 'replay';
      readonly slot: number;
      readonly run: string;
      readonly node: string;
      readonly input?: JsonObject;
    }
  | {
      readonly do: 'signal';
      readonly slot: number;
      readonly run: string;
      readonly signal: string;
      readonly key: string;
    }
  | { readonly do: 'pass'; readonly ms: number };

export interface RecordedLife {
  readonly seed: number;
  readonly shape: Shape;
  /** Workflows that the ordered ones run. */
  readonly shared: readonly Record<string, unknown>[];
  readonly orders: readonly Order[];
  readonly events: readonly LifeEvent[];
}

/** As text, with one event, workflow or order per line. */
export function printLife(found: string, { seed, shape, shared, orders, events }: RecordedLife): string {
  const lines = (list: readonly unknown[]): string => list.map((one) => `    ${JSON.stringify(one)}`).join(',\n');
  const members = [
    `  "found": ${JSON.stringify(found)}`,
    `  "seed": ${seed}`,
    `  "shape": ${JSON.stringify(shape)}`,
    ...Object.entries({ shared, orders, events }).map(([name, list]) => `  "${name}": [\n${lines(list)}\n  ]`),
  ];
  return `{\n${members.join(',\n')}\n}\n`;
}
