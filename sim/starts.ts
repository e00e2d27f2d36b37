/**
 * Starts with a key: no two runs of a singleton with one key are active at once, and no two debounced runs wait. An
 * input that is given to a waiting run is taken by it, or by the next one. A run begins with the last input that it
 * got, and no input begins more runs than it was given. Starters number their inputs, in `n`.
 */
import { type Entry, isJsonObject, type Json, type JsonObject } from '@nebula/core';
import type { StoredValue } from '@nebula/core/run';

export const SINGLETON = 'solo';
export const DEBOUNCED = 'late';

const ends = { action: 'look@1', needs: ['a'] };
const key = '$input.key';

export const KEYED_DEFINITIONS: readonly Record<string, unknown>[] = [
  { id: SINGLETON, config: { start: { key, policy: 'singleton' } }, nodes: { a: { action: 'work@1' }, b: ends } },
  {
    id: DEBOUNCED,
    config: { start: { key, policy: 'debounce', window: '4s' } },
    nodes: { a: { action: 'work@1' }, b: ends },
  },
];

interface Begun {
  readonly workflowId: string;
  readonly key: string;
  n: number | undefined;
}

export class Starts {
  private readonly runs = new Map<string, Begun>();
  /** The run that holds each workflow and key. */
  private readonly keyHolders = new Map<string, string>();
  /** Numbers in the journals of debounced runs. */
  private readonly heard = new Set<number>();
  /** How often each number was given to the store, and how often a run began with it. */
  private readonly said = new Map<number, number>();
  private readonly begun = new Map<number, number>();
  private readonly violated: (what: string) => void;

  constructor(violated: (what: string) => void) {
    this.violated = violated;
  }

  /** A request was put into an inbox. */
  onSend(executionId: string, message: JsonObject): void {
    if (message.type !== 'restart') return;
    const run = this.runs.get(executionId);
    const n = numberOf(message.input);
    if (run !== undefined && n !== undefined) this.say(n);
  }

  onFrame(executionId: string, entries: readonly Entry[], read: (stored: StoredValue) => Json): void {
    for (const entry of entries) {
      if (entry.type === 'run.started') this.started(executionId, entry, read(entry.input));
      const run = this.runs.get(executionId);
      if (run === undefined) continue;
      if (entry.type === 'run.held' && entry.input !== undefined) this.hears(run, numberOf(read(entry.input)));
      if (entry.type === 'run.begun') this.begins(executionId, run);
      if (entry.type === 'run.finished') this.leaves(executionId, run);
    }
  }

  atTheEnd(): void {
    for (const n of this.said.keys()) if (!this.heard.has(n)) this.violated(`start ${n} was said, and nobody heard it`);
  }

  private started(executionId: string, { workflowId, key }: Entry & { type: 'run.started' }, input: Json): void {
    if (key === undefined) return;
    const run: Begun = { workflowId, key, n: undefined };
    this.runs.set(executionId, run);
    const name = `${workflowId} ${key}`;
    const other = this.keyHolders.get(name);
    if (other !== undefined) this.violated(`${executionId} is started while ${other} holds ${name}`);
    this.keyHolders.set(name, executionId);
    const n = numberOf(input);
    if (workflowId !== DEBOUNCED || n === undefined) return;
    this.say(n);
    this.hears(run, n);
  }

  private begins(executionId: string, run: Begun): void {
    this.leaves(executionId, run);
    if (run.n === undefined) return;
    const times = (this.begun.get(run.n) ?? 0) + 1;
    this.begun.set(run.n, times);
    if (times > (this.said.get(run.n) ?? 0)) this.violated(`${executionId} begins with ${run.n}, as another one did`);
  }

  private leaves(executionId: string, { workflowId, key }: Begun): void {
    const name = `${workflowId} ${key}`;
    if (this.keyHolders.get(name) === executionId) this.keyHolders.delete(name);
  }

  private hears(run: Begun, n: number | undefined): void {
    run.n = n;
    if (n !== undefined) this.heard.add(n);
  }

  private say(n: number): void {
    this.said.set(n, (this.said.get(n) ?? 0) + 1);
  }
}

function numberOf(input: Json | undefined): number | undefined {
  const n = isJsonObject(input ?? null) ? (input as JsonObject).n : undefined;
  return typeof n === 'number' ? n : undefined;
}
