/** Runs an action under the capabilities that it was granted, and checks what comes out. */
import type { Action, Capabilities, Json, RunError, Verification } from '@nebula/core';
import type { LogLevel } from './logs.ts';

export interface Invocation {
  readonly action: Action;
  readonly input: Json;
  readonly granted: Capabilities;
  readonly executionId: string;
  readonly workflowId: string;
  readonly node: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Where the attempt stands in a trace (W3C trace context): sent along with what it asks of others. */
  readonly traceparent?: string;
  readonly signal: AbortSignal;
  /** The secret behind an alias of the node's. What it gave is not in anything that leaves the sandbox. */
  readonly credential: (alias: string) => Promise<string>;
  readonly onLog: (level: LogLevel, message: string, fields?: Readonly<Record<string, Json>>) => void;
  readonly onProgress: (fraction: number, message?: string) => void;
  readonly onHeartbeat: () => void;
}

/** `aborted`: the action stopped because of the signal; whether it took effect is not known. */
export type InvocationOutcome =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'aborted'; readonly error: RunError };

export type ForeignOutcome = Exclude<InvocationOutcome, { readonly status: 'aborted' }>;

/** An attempt that ran elsewhere, and what it may not tell. */
export interface Foreign {
  readonly action: Action;
  readonly node: string;
  /** Values that it was handed. */
  readonly secrets: readonly string[];
}

export interface Line {
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>>;
}

export interface Sandbox {
  /** Never rejects: whatever the action does becomes an outcome. */
  run(invocation: Invocation): Promise<InvocationOutcome>;
  verify(invocation: Invocation): Promise<Verification>;
  /** What ran elsewhere crosses the same border: held to the action's schema and to all limits, without secrets. */
  admit(foreign: Foreign, told: ForeignOutcome): InvocationOutcome;
  admitLine(foreign: Foreign, line: Line): Line;
}
