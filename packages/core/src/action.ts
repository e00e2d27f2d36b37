/** What an action is, seen from the engine: a typed, versioned function that gets nothing it was not granted. */
import type { Json, JsonSchema } from './value.ts';

/**
 * What running an action twice would do.
 *  - pure: nothing outside; run it as often as you like
 *  - idempotent: safe to repeat with the same idempotency key
 *  - once: a repeat may do harm, so an attempt of unknown outcome waits for `verify` or a person
 */
export type Effect = 'pure' | 'idempotent' | 'once';

/** What an action may reach. Absent means nothing. A list entry `*` grants all; `*.example.com` and `dir/**` are patterns. */
export interface Capabilities {
  /** Host names, optionally with a port: `api.example.com`, `*.example.com`, `localhost:8080`. */
  readonly network?: readonly string[];
  /** Paths, relative to the project folder. */
  readonly files?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  /** Programs that may be started; `*` for any. */
  readonly shell?: readonly string[];
  /** Names of environment variables. */
  readonly env?: readonly string[];
}

/**
 * Lists of capabilities from which an action asks for something, whatever its parameters are, and what that is. For
 * `nebula validate`, which sees parameters as they are written: in a text with expressions a character of the private
 * use area stands for each, and an answer that has one tells nothing. Undefined: the parameters do not tell.
 */
export interface Reaches<Input> {
  /** A host, as a grant names it. */
  readonly network?: (input: Input) => string | undefined;
  readonly 'files.read'?: (input: Input) => string | undefined;
  readonly 'files.write'?: (input: Input) => string | undefined;
  readonly shell?: (input: Input) => string | undefined;
  readonly env?: (input: Input) => string | undefined;
}

export interface ActionLogger {
  debug(message: string, fields?: Record<string, Json>): void;
  info(message: string, fields?: Record<string, Json>): void;
  warn(message: string, fields?: Record<string, Json>): void;
  error(message: string, fields?: Record<string, Json>): void;
}

export interface ShellResult {
  /** 128 + the signal's number when a signal ended it, as shells count. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True when output beyond `maxOutputBytes` was left out. */
  readonly truncated: boolean;
}

export interface ShellOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly maxOutputBytes?: number;
}

/** Everything an attempt gets. The doors (`fetch`, `files`, `shell`, `env`) check the granted capabilities. */
export interface ActionContext {
  readonly executionId: string;
  readonly workflowId: string;
  /** Path of the node, e.g. `items/3/pack`. */
  readonly node: string;
  readonly attempt: number;
  /** The same for every attempt of this node; a replay makes a new one. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly log: ActionLogger;
  /** `fraction` from 0 to 1. */
  progress(fraction: number, message?: string): void;
  /** Tells that a long attempt is alive; progress and logs do so too. */
  heartbeat(): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Waits; rejects when the attempt is aborted. */
  sleep(ms: number): Promise<void>;
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  readonly files: {
    read(path: string, options?: { readonly maxBytes?: number }): Promise<Uint8Array>;
    /** Replaces the whole file or nothing; `append` adds to it. */
    write(path: string, data: string | Uint8Array, options?: { append?: boolean }): Promise<void>;
  };
  shell(program: string, args: readonly string[], options?: ShellOptions): Promise<ShellResult>;
  env(name: string): string | undefined;
  /**
   * The secret that the node's `credentials` name for this alias. From now on it is taken out of whatever this attempt
   * gives: output, error, logs, progress. Ask where it is needed, and hand it to nobody else.
   */
  credential(alias: string): Promise<string>;
}

/** `verify` looks whether an earlier attempt of unknown outcome took effect. */
export type Verification =
  | { readonly happened: true; readonly output: Json }
  | { readonly happened: false }
  | { readonly happened: 'unknown' };

export interface Action<Input = Json, Output = Json> {
  /** Dotted lower-case name, e.g. `http.request`. */
  readonly id: string;
  /** `major` or `major.minor`; a workflow that asks for `@2` takes the newest 2.x. */
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schemas: they draw forms and check data at run time. */
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
  /**
   * Sides whose JSON Schema only describes (forms, reference), because it was derived from a richer schema that
   * `parseInput` or `parseOutput` checks: a derived one may refuse what the real one takes (zod's `coerce`).
   */
  readonly describeOnly?: readonly ('input' | 'output')[];
  /** An action that declares nothing is `once`. A function may decide by the resolved input. */
  readonly effect?: Effect | ((input: Input) => Effect);
  /** What the action may ask for at the most; a grant beyond it has no effect. */
  readonly capabilities?: readonly (keyof Capabilities)[];
  readonly reaches?: Reaches<Input>;
  /** The aliases it asks for: a node must name a secret for each, and no others. Left out: whatever the node names. */
  readonly credentials?: readonly string[];
  /** Checks and converts the resolved input (a Standard Schema may transform it). */
  readonly parseInput?: (input: Json) => Input | Promise<Input>;
  readonly parseOutput?: (output: Output) => Json | Promise<Json>;
  /** Nothing here can run it: it was announced by a worker outside, which does. */
  readonly isOutside?: true;
  /** Of an announced action: the project whose runs may use it. Left out: all. */
  readonly project?: string;
  run(ctx: ActionContext, input: Input): Promise<Output> | Output;
  verify?(ctx: ActionContext, input: Input): Promise<Verification> | Verification;
}

/** The actions and custom retry policies that a definition may name. */
export interface Catalog {
  /** What the operator grants to every workflow. */
  readonly capabilities: Capabilities;
  /** Those of this process: a node that asks for others is run elsewhere. */
  readonly labels: readonly string[] | 'all';
  /** `reference` is `name@version`, or `name` for the newest version. */
  action(reference: string): Action | undefined;
  actionIds(): Iterable<string>;
  /** Newest first. */
  versionsOf(id: string): readonly string[];
  retryPolicy(name: string): RetryPolicyFunction | undefined;
  retryPolicyNames(): Iterable<string>;
}

/** Delay before retry `k` (1 is the first retry), or null to give up. Must be pure. */
export type RetryPolicyFunction = (k: number, error: { code: string; kind: string; message: string }) => number | null;
