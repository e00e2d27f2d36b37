/**
 * A workflow definition: the plain data that YAML, JSON, the TypeScript builder and the canvas all produce.
 * Durations and sizes are still text here; the plan holds numbers.
 * Only shapes that passed `readDefinition` have these types.
 */
import type { Capabilities, Effect } from '../action.ts';
import type { Json, JsonObject, JsonSchema } from '../value.ts';

export interface WorkflowDefinition {
  /** Version of the language. */
  readonly nebula?: number;
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly version?: number;
  readonly input?: JsonSchema;
  readonly variables?: JsonObject;
  readonly config?: ConfigDefinition;
  readonly nodes?: Readonly<Record<string, NodeDefinition>>;
  readonly edges?: readonly EdgeDefinition[];
  readonly output?: Json;
}

export type Mode = 'parallel' | 'levels' | 'sequential';
export type FailurePolicy = 'fail-fast' | 'finish-running' | 'ignore';
export type OnError = 'halt' | 'ignore' | 'branch';

export interface ConfigDefinition {
  readonly mode?: Mode;
  readonly maxParallelism?: number;
  readonly timeout?: string;
  readonly onFailure?: FailurePolicy;
  readonly retry?: RetryDefinition;
  readonly maxTotalRetries?: number;
  readonly priority?: number;
  /** How long a finished run is kept. */
  readonly retention?: string;
  readonly capabilities?: Capabilities;
}

export interface RetryDefinition {
  /** `fixed`, `exponential`, `exponential-jitter` or a registered name. */
  readonly policy?: string;
  readonly delay?: string;
  readonly initial?: string;
  readonly max?: string;
  readonly multiplier?: number;
  readonly attempts?: number;
  readonly system?: number;
  /** Only errors with these codes are retried. */
  readonly on?: readonly string[];
}

export interface TimeoutDefinition {
  readonly attempt?: string;
  readonly queued?: string;
  readonly total?: string;
}

export interface NodeDefinition {
  readonly name?: string;
  readonly needs?: readonly string[];
  readonly when?: Json;
  readonly join?: 'all' | 'any' | number;
  readonly retry?: RetryDefinition;
  readonly timeout?: string | TimeoutDefinition;
  readonly onError?: OnError;
  readonly priority?: number;
  readonly estimate?: string;
  readonly enabled?: boolean;
  readonly effect?: Effect;
  readonly capabilities?: Capabilities;
  readonly notes?: string;
  readonly action: string;
  readonly with?: JsonObject;
}

export interface EdgeDefinition {
  readonly from: string;
  readonly to: string;
  readonly when?: Json;
  readonly on?: 'success' | 'error' | 'always' | 'result';
  readonly match?: Json;
}
