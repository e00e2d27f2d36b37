/** Runs an action under its granted capabilities, and checks its output. */
import type {
  Action,
  Capabilities,
  ExecutionId,
  Json,
  NodePath,
  RunError,
  Verification,
  WorkflowId,
} from '@nebula/core';
import type { LogLevel } from './logs.ts';

export interface Invocation {
  readonly action: Action;
  readonly input: Json;
  readonly granted: Capabilities;
  readonly executionId: ExecutionId;
  readonly workflowId: WorkflowId;
  readonly node: NodePath;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** The W3C trace context of the attempt, which its requests carry. */
  readonly traceparent?: string | undefined;
  readonly signal: AbortSignal;
  /** Values in the input that the sandbox redacts from everything that leaves. */
  readonly secrets?: readonly string[] | undefined;
  /** Applied to every text that leaves, before redaction. */
  readonly conceal?: ((text: string) => string) | undefined;
  /** The secret behind an alias of the node. The sandbox redacts it from everything that leaves. */
  readonly credential: (alias: string) => Promise<string>;
  readonly onLog: (level: LogLevel, message: string, fields?: Readonly<Record<string, Json>>) => void;
  readonly onProgress: (fraction: number, message?: string) => void;
  readonly onHeartbeat: () => void;
}

/** `aborted`: the action stopped because of the signal; whether it took effect is unknown. */
export type InvocationOutcome =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'aborted'; readonly error: RunError };

export type ForeignOutcome = Exclude<InvocationOutcome, { readonly status: 'aborted' }>;

/** An attempt that ran in another process, and the secrets that it may not reveal. */
export interface Foreign {
  readonly action: Action;
  readonly node: NodePath;
  /** Values that the attempt was given. */
  readonly secrets: readonly string[];
  /** Applied to every text that leaves, before redaction. */
  readonly conceal?: (text: string) => string;
}

export interface Line {
  readonly message: string;
  readonly fields?: Readonly<Record<string, Json>>;
}

export interface Sandbox {
  /** Never rejects: an error of the action becomes an outcome. */
  run(invocation: Invocation): Promise<InvocationOutcome>;
  verify(invocation: Invocation): Promise<Verification>;
  /**
   * Checks an outcome of another process against the action's schema and all limits, and redacts secrets. A large output
   * is checked in slices.
   */
  admit(foreign: Foreign, outcome: ForeignOutcome): InvocationOutcome | Promise<InvocationOutcome>;
  /** Redacts secrets from a log line of another process, which may have any length. */
  admitLine(foreign: Foreign, line: Line): Line;
}
