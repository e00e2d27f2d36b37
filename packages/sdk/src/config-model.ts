/** The types of a configuration. */
import type { Action, Capabilities, Ceiling, ExpressionLimits, RetryPolicyFunction } from '@nebula/core';
import type { Blobs, Clock, Logs, Queue, Random, Records, Sandbox, Secrets, Store } from '@nebula/ports';

/** Passed to driver openers. */
export interface DriverContext {
  readonly projectDir: string;
  /** An absolute path that exists. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
}

type Opener<Driver> = (context: DriverContext) => Driver | Promise<Driver>;

/** Omitted drivers keep the app's defaults. */
export interface DriverOpeners {
  readonly store?: Opener<Store>;
  readonly records?: Opener<Records>;
  readonly queue?: Opener<Queue>;
  readonly blobs?: Opener<Blobs>;
  readonly logs?: Opener<Logs>;
  readonly sandbox?: Opener<Sandbox>;
  readonly secrets?: Opener<Secrets>;
}

/** Settings of `nebula serve`; see the reference for details. */
export interface ServerConfig {
  readonly preset?: 'desktop' | 'selfhost' | 'cloud';
  readonly host?: string;
  readonly port?: number;
  readonly url?: string;
  readonly trustProxy?: readonly string[];
  readonly hosts?: readonly string[];
  readonly origins?: readonly string[];
  readonly bodyLimit?: string | number;
  readonly workflows?: readonly string[];
  readonly workflowGraph?: {
    readonly project: string;
    readonly loopback?: boolean;
    readonly path?: string;
    readonly clients?: boolean;
  };
  readonly metrics?: 'admins' | 'signed-in' | 'public';
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  readonly database?: string;
  readonly queue?: string;
}

/** A notification of the operator. Exactly one of `url` and `command` is set. */
export interface NotificationConfig {
  /** Letters, digits, `_` and `-`. Lists show it as `config_<id>`. */
  readonly id: string;
  /** By default `default`. */
  readonly project?: string;
  /** A webhook (`https://…`) or a mail server (`smtps://…`). */
  readonly url?: string;
  /** A program and its arguments. It gets the message as JSON on its input. */
  readonly command?: readonly string[];
  /** The secret of the project that signs the body of a webhook. */
  readonly secret?: string;
  /** Addresses that the host may lead to, if they are not public. */
  readonly network?: readonly string[];
  readonly on?: readonly ('failed' | 'unknown' | 'approval')[];
  readonly workflows?: readonly string[];
  readonly tag?: string;
  /** Events within this time after the first one are one message; by default `1m`. */
  readonly gather?: string;
  /** A run without progress for this time is stuck; by default `15m`. */
  readonly stuckAfter?: string;
}

export interface ProjectConfig {
  /** `all`: everything that workflows declare. A value set with `nebula projects set` takes precedence. */
  readonly ceiling?: Ceiling;
}

export interface NebulaConfig {
  /** The project's own actions, in addition to the built-in ones. */
  readonly actions?: readonly Action[];
  /** Keyed by the name used in `retry.policy`. */
  readonly retryPolicies?: Readonly<Record<string, RetryPolicyFunction>>;
  /**
   * Granted by the operator to every workflow of the project `default`. Other projects are governed by their ceiling.
   */
  readonly capabilities?: Capabilities;
  /** Project name → the most that its runs may be granted. */
  readonly projects?: Readonly<Record<string, ProjectConfig>>;
  /** Messages of a server about runs that fail, are stuck or wait for a person. */
  readonly notifications?: readonly NotificationConfig[];
  /** Maximum number of attempts that run at the same time in this process. */
  readonly concurrency?: number;
  /** Labels of this process; nodes that ask for other labels run on remote workers. */
  readonly labels?: readonly string[];
  /** Maximum number of unfinished runs; further starts are rejected with `BUSY`. */
  readonly maxActiveRuns?: number;
  /** Relative to the project folder; default `.nebula`. */
  readonly dataDir?: string;
  /** How long finished runs are kept: `30d`, milliseconds, or null for ever. */
  readonly retention?: string | number | null;
  /** Outputs above this size are stored as blobs: `64KiB`, or bytes. */
  readonly inlineLimit?: string | number;
  /**
   * `strict` (default): every completed append is synced to disk. `relaxed`: a power failure may lose the most recent
   * ones.
   */
  readonly durability?: 'strict' | 'relaxed';
  /** Limits of one evaluation of an expression; omitted limits keep their defaults. */
  readonly expressionLimits?: Partial<ExpressionLimits>;
  readonly drivers?: DriverOpeners;
  readonly server?: ServerConfig;
}
