/** What a configuration may say, as types. */
import type { Action, Capabilities, Ceiling, ExpressionLimits, RetryPolicyFunction } from '@nebula/core';
import type { Blobs, Clock, Logs, Queue, Random, Records, Sandbox, Secrets, Store } from '@nebula/ports';

/** What a driver may need to open. */
export interface DriverContext {
  readonly projectDir: string;
  /** Absolute; exists. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
}

type Opener<Driver> = (context: DriverContext) => Driver | Promise<Driver>;

/** Each one left out is the default of the app. */
export interface DriverOpeners {
  readonly store?: Opener<Store>;
  readonly records?: Opener<Records>;
  readonly queue?: Opener<Queue>;
  readonly blobs?: Opener<Blobs>;
  readonly logs?: Opener<Logs>;
  readonly sandbox?: Opener<Sandbox>;
  readonly secrets?: Opener<Secrets>;
}

/** What `nebula serve` goes by; the reference says more about each. */
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
  readonly workflowGraph?: { readonly project: string; readonly loopback?: boolean; readonly path?: string };
  readonly metrics?: 'signed-in' | 'public';
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  readonly database?: string;
  readonly queue?: string;
}

export interface ProjectConfig {
  /** `all`: whatever workflows ask for. What was set by `nebula projects set` goes before. */
  readonly ceiling?: Ceiling;
}

export interface NebulaConfig {
  /** The project's own actions, besides the built-in ones. */
  readonly actions?: readonly Action[];
  /** By the name that `retry.policy` gives. */
  readonly retryPolicies?: Readonly<Record<string, RetryPolicyFunction>>;
  /** Granted by the operator to every workflow of the project `default`. In other projects their ceiling decides. */
  readonly capabilities?: Capabilities;
  /** Projects by name: what their runs may be granted at the most. */
  readonly projects?: Readonly<Record<string, ProjectConfig>>;
  /** Attempts that may run at the same time in this process. */
  readonly concurrency?: number;
  /** Of this process: nodes that ask for other labels are run by workers outside. */
  readonly labels?: readonly string[];
  /** Starts are refused with `BUSY` while so many runs wait or go on. */
  readonly maxActiveRuns?: number;
  /** Relative to the project folder; `.nebula` when left out. */
  readonly dataDir?: string;
  /** How long finished runs are kept: `30d`, milliseconds, or null for ever. */
  readonly retention?: string | number | null;
  /** Outputs above this size go to the blobs: `64KiB`, or bytes. */
  readonly inlineLimit?: string | number;
  /** `strict` (the default): a finished append is on disk. `relaxed`: a power cut may lose the last moments. */
  readonly durability?: 'strict' | 'relaxed';
  /** What one evaluation of an expression may cost; what is left out keeps its default. */
  readonly expressionLimits?: Partial<ExpressionLimits>;
  readonly drivers?: DriverOpeners;
  readonly server?: ServerConfig;
}
