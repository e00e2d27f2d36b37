/** An action as the engine sees it: a typed, versioned function that can reach only the resources granted to it. */
import type { Json, JsonObject, JsonSchema } from './value.ts';

/**
 * The consequence of running an action twice.
 *  - pure: no side effects; safe to run any number of times
 *  - idempotent: safe to repeat with the same idempotency key
 *  - once: a repeat may do harm, so an attempt with an unknown outcome waits for `verify` or for a person
 */
export type Effect = 'pure' | 'idempotent' | 'once';

/**
 * The resources that an action may use. An absent list grants nothing. The entry `*` grants everything; `*.example.com`
 * and `dir/**` are patterns.
 */
export interface Capabilities {
  /** Host names, optionally with a port: `api.example.com`, `*.example.com`, `localhost:8080`. */
  readonly network?: readonly string[];
  /** Paths relative to the project folder. */
  readonly files?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  /** Programs that may be started; `*` means any. */
  readonly shell?: readonly string[];
  /** Names of environment variables. */
  readonly env?: readonly string[];
}

/**
 * For each list of capabilities, the resource that an action needs for given parameters. `nebula validate` calls these
 * functions with the parameters as written: each expression inside a string is replaced by a private-use character, and
 * an answer that contains one is ignored. `undefined` means that the parameters do not determine the resource.
 */
export interface Reaches<Input> {
  /** A host, in the form that grants use. */
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
  /** 128 plus the signal number when a signal ended the program, as in shells. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True when output beyond `maxOutputBytes` was dropped. */
  readonly truncated: boolean;
}

export interface ShellOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly maxOutputBytes?: number;
}

/** Everything that an attempt gets. `fetch`, `files`, `shell` and `env` check the granted capabilities. */
export interface ActionContext {
  readonly executionId: string;
  readonly workflowId: string;
  /** Path of the node, e.g. `items/3/pack`. */
  readonly node: string;
  readonly attempt: number;
  /** Identical for all attempts of this node; a replay creates a new key. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly log: ActionLogger;
  /** `fraction` from 0 to 1. */
  progress(fraction: number, message?: string): void;
  /** Reports that a long attempt is alive. Progress and log calls count as heartbeats, too. */
  heartbeat(): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects when the attempt is aborted. */
  sleep(ms: number): Promise<void>;
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  readonly files: {
    read(path: string, options?: { readonly maxBytes?: number }): Promise<Uint8Array>;
    /** Replaces the file atomically; `append` adds to it. */
    write(path: string, data: string | Uint8Array, options?: { append?: boolean }): Promise<void>;
  };
  shell(program: string, args: readonly string[], options?: ShellOptions): Promise<ShellResult>;
  env(name: string): string | undefined;
  /**
   * The secret that the node's `credentials` map to this alias. After this call the value is redacted from the
   * attempt's output, error, logs and progress. Read the secret where you use it, and do not pass it on.
   */
  credential(alias: string): Promise<string>;
}

/** The answer of `verify`: whether an earlier attempt with an unknown outcome took effect. */
export type Verification =
  | { readonly happened: true; readonly output: Json }
  | { readonly happened: false }
  | { readonly happened: 'unknown' };

/** Parameters of a node that uses an action. */
export interface ActionExample {
  readonly title: string;
  readonly with: JsonObject;
}

export interface Action<Input = Json, Output = Json> {
  /** Dotted lower-case name, e.g. `http.request`. */
  readonly id: string;
  /** `major` or `major.minor`; a workflow that asks for `@2` takes the newest 2.x. */
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  /** The heading under which a palette lists the action: one lower-case word, e.g. `network`. */
  readonly category?: string;
  /** The name of an icon, e.g. `globe`; programs that do not know it show another one. */
  readonly icon?: string;
  /** More about the action than its description, as Markdown. */
  readonly docs?: string;
  readonly examples?: readonly ActionExample[];
  /** JSON Schemas, used to render forms and to validate data at run time. */
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
  /**
   * Sides whose JSON Schema is for documentation only (forms, reference). The schema was derived from a richer one that
   * `parseInput` or `parseOutput` checks, and may reject values that the original accepts (zod's `coerce`).
   */
  readonly describeOnly?: readonly ('input' | 'output')[];
  /** Defaults to `once`. A function decides from the resolved input. */
  readonly effect?: Effect | ((input: Input) => Effect);
  /** The capabilities that the action may ask for at most; grants beyond them have no effect. */
  readonly capabilities?: readonly (keyof Capabilities)[];
  readonly reaches?: Reaches<Input>;
  /**
   * The aliases that the action reads. A node must map a secret to each of them, and to no others. Absent: the node may
   * map any alias.
   */
  readonly credentials?: readonly string[];
  /** Checks and converts the resolved input (a Standard Schema may transform it). */
  readonly parseInput?: (input: Json) => Input | Promise<Input>;
  readonly parseOutput?: (output: Output) => Json | Promise<Json>;
  /** A remote worker announced this action; this process cannot run it. */
  readonly isRemote?: true;
  /** The project whose runs may use an announced action. Absent: all projects. */
  readonly project?: string;
  run(ctx: ActionContext, input: Input): Promise<Output> | Output;
  verify?(ctx: ActionContext, input: Input): Promise<Verification> | Verification;
}

/** The actions and custom retry policies that a definition may name. */
export interface Catalog {
  /** Capabilities that the operator grants to every workflow. */
  readonly capabilities: Capabilities;
  /** Labels of this process. A node that asks for other labels runs on a remote worker. */
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
