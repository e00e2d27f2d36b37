/**
 * Checks the invariants of the runs of one lane from the messages of its workers.
 *
 *  1. Only runs that are under way are kept, so the ledger does not grow; a line about any other run is a problem.
 *  2. A node whose successor was called had been recorded as finished: it may not be called again.
 *  3. Lives are counted from 1; what was in flight when a life ended may be repeated by the next one.
 */
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Kind, kindOf } from './kinds.ts';
import type { Line } from './line.ts';

interface Call {
  readonly attempt: number;
  readonly life: number;
  hasFailed: boolean;
}

interface OpenRun {
  readonly kind: Kind;
  readonly since: number;
  readonly calls: Map<string, Call>;
  readonly done: Map<string, string>;
  readonly finished: Set<string>;
}

export type Trace = Extract<Line, { readonly what: 'begin' | 'done' | 'failed' }>;

export class Ledger {
  readonly problems: string[] = [];
  ended = 0;
  repeated = 0;
  readonly #effectsDir: string;
  readonly #open = new Map<string, OpenRun>();

  constructor(effectsDir: string) {
    this.#effectsDir = effectsDir;
  }

  get open(): readonly string[] {
    return [...this.#open.keys()];
  }

  openedBefore(atMs: number): string[] {
    return [...this.#open].filter(([, { since }]) => since < atMs).map(([executionId]) => executionId);
  }

  begin(executionId: string, atMs: number): void {
    const kind = kindOf(executionId);
    this.#open.set(executionId, { kind, since: atMs, calls: new Map(), done: new Map(), finished: new Set() });
  }

  trace({ what, executionId, node, attempt, key }: Trace, life: number): void {
    const run = this.#open.get(executionId);
    const say = (text: string) => this.problems.push(`${executionId} ${node} attempt ${attempt} ${text}`);
    if (run === undefined) return void say(`says ${what}, and its run has ended`);
    const call = run.calls.get(node);
    if (what === 'begin') {
      if (run.finished.has(node)) say('is called, and had finished');
      if (call !== undefined) {
        if (call.attempt >= attempt) say(`is called after attempt ${call.attempt}`);
        if (!call.hasFailed && call.life === life) say('repeats an attempt that was not cut off');
        this.repeated++;
      }
      run.calls.set(node, { attempt, life, hasFailed: false });
      for (const needed of needsOf(run.kind, node)) run.finished.add(needed);
    } else if (what === 'failed') {
      if (call !== undefined) call.hasFailed = true;
    } else {
      if (run.done.has(node) && run.done.get(node) !== key) say('took effect under a second key');
      if (run.done.has(node) && isOnce(run.kind, node)) say('took effect twice');
      run.done.set(node, key);
    }
  }

  end(executionId: string, status: string, error: string | null): void {
    const run = this.#open.get(executionId);
    const say = (text: string) => this.problems.push(`${executionId} ${text}`);
    if (run === undefined) return void say('ends twice');
    const { kind, done } = run;
    if (status !== kind.ends) say(`is ${status} instead of ${kind.ends}: ${error}`);
    for (const node of kind.effects) if (!this.#tookEffect(run, executionId, node)) say(`${node} took no effect`);
    for (const node of done.keys()) if (!kind.effects.includes(node)) say(`${node} took effect`);
    this.#open.delete(executionId);
    this.ended++;
  }

  /** For a `once` node the file counts: the process may have died before it could report the effect. */
  #tookEffect({ kind, done }: OpenRun, executionId: string, node: string): boolean {
    if (!isOnce(kind, node)) return done.has(node);
    const file = path.join(this.#effectsDir, `${executionId}.${node}.0`);
    const isThere = existsSync(file);
    rmSync(file, { force: true });
    return isThere;
  }
}

function nodeOf({ definition }: Kind, node: string): { readonly action?: string; readonly needs?: readonly string[] } {
  return (definition.nodes as Readonly<Record<string, { action?: string; needs?: readonly string[] }>>)[node] ?? {};
}

function needsOf(kind: Kind, node: string): readonly string[] {
  return nodeOf(kind, node).needs ?? [];
}

function isOnce(kind: Kind, node: string): boolean {
  return nodeOf(kind, node).action === 'soak.once@1';
}
