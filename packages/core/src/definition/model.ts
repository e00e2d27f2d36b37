/**
 * A workflow definition: the plain data that YAML, JSON, the TypeScript builder and the canvas all produce. Durations
 * and sizes are still text; the plan contains numbers. Only values that passed `readDefinition` have these types.
 */
import type { Capabilities, Effect } from '../action.ts';
import type { Json, JsonObject, JsonSchema } from '../value.ts';

export interface WorkflowDefinition extends BodyDefinition {
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
  readonly triggers?: readonly TriggerDefinition[];
}

/** Exactly one key is present. */
export interface TriggerDefinition {
  readonly webhook?: WebhookDefinition;
  readonly schedule?: ScheduleDefinition;
  readonly interval?: { readonly every: string; readonly input?: Json };
  readonly event?: { readonly name: string; readonly key?: string; readonly input?: Json };
  readonly file?: { readonly path: string; readonly input?: Json };
}

export interface WebhookDefinition {
  readonly path: string;
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE';
  readonly signature?: SignatureDefinition;
  readonly respond?: 'immediate' | 'result';
  readonly input?: Json;
}

export interface SignatureDefinition {
  readonly secret: string;
  readonly header?: string;
  readonly scheme?: 'hmac' | 'token';
  readonly algorithm?: 'sha256' | 'sha1' | 'sha512';
  readonly encoding?: 'hex' | 'base64';
  readonly prefix?: string;
}

export interface ScheduleDefinition {
  readonly cron: string;
  readonly timezone?: string;
  readonly catchUp?: 'none' | 'last' | 'all';
  readonly input?: Json;
}

export type Mode = 'parallel' | 'levels' | 'sequential';
export type FailurePolicy = 'fail-fast' | 'finish-running' | 'ignore';
export type OnError = 'halt' | 'ignore' | 'branch';

export interface ConfigDefinition {
  readonly mode?: Mode;
  readonly maxParallelism?: number;
  readonly timeout?: string;
  readonly onFailure?: FailurePolicy;
  readonly failureNode?: string;
  readonly retry?: RetryRules;
  readonly maxTotalRetries?: number;
  readonly priority?: Numeric;
  /** How long a finished run is kept. */
  readonly retention?: string;
  readonly capabilities?: Capabilities;
  readonly start?: StartDefinition;
}

export interface StartDefinition {
  /** An expression on the input. */
  readonly key: string;
  readonly policy?: 'allow' | 'singleton' | 'debounce';
  readonly window?: string;
}

/** A number, or an expression that evaluates to one when the node becomes ready. */
export type Numeric = number | string;

export interface RetryDefinition {
  /** `fixed`, `exponential`, `exponential-jitter` or a registered name. */
  readonly policy?: string;
  readonly delay?: string;
  readonly initial?: string;
  readonly max?: string;
  readonly multiplier?: Numeric;
  readonly attempts?: Numeric;
  readonly lost?: Numeric;
  /** Codes, kinds or `/patterns/` of codes; only matching errors are retried. */
  readonly on?: readonly string[];
}

/** One rule, or a list in which the first matching rule applies. */
export type RetryRules = RetryDefinition | readonly RetryDefinition[];

export interface TimeoutDefinition {
  readonly attempt?: string;
  readonly queued?: string;
  readonly total?: string;
}

/** Keys of a node that contain a body. */
export const BODY_KEYS = ['do', 'group'] as const;

export function bodyOf({ do: body, group }: NodeDefinition): BodyDefinition | undefined {
  return body ?? group;
}

/** The body of a loop or a group, or a graph returned by an action. */
export interface BodyDefinition {
  readonly nodes?: Readonly<Record<string, NodeDefinition>>;
  readonly edges?: readonly EdgeDefinition[];
  readonly output?: Json;
  /** The order of the nodes, where the object does not preserve it: ids that look like integers. */
  readonly order?: readonly string[];
}

/** The keys that define the kind of a node: exactly one is present. */
interface NodeWork {
  readonly action?: string;
  readonly branch?: BranchDefinition;
  readonly forEach?: ForEachDefinition;
  readonly while?: { readonly condition: Json; readonly maxIterations?: Numeric };
  readonly retryUntil?: RetryUntilDefinition;
  readonly workflow?: SubWorkflowDefinition;
  readonly dynamic?: ActionCall;
  readonly group?: BodyDefinition;
  readonly wait?: WaitDefinition;
  readonly set?: JsonObject;
  readonly terminate?: 'completed' | 'failed';
  readonly split?: { readonly in: Json };
  readonly merge?: { readonly wait?: 'all' | 'any'; readonly timeout?: string };
}

/** The key that determines what a node does. */
export type NodeKind = keyof NodeWork;

export interface NodeDefinition extends NodeWork {
  readonly name?: string;
  readonly needs?: readonly string[];
  readonly when?: Json;
  readonly join?: 'all' | 'any' | 'ended' | number;
  readonly retry?: RetryRules;
  readonly timeout?: string | TimeoutDefinition;
  readonly onError?: OnError;
  readonly priority?: Numeric;
  readonly estimate?: string;
  /** Labels that a worker must have to run the node. */
  readonly labels?: readonly string[];
  readonly enabled?: boolean;
  readonly effect?: Effect;
  readonly cache?: CacheDefinition;
  readonly compensate?: CompensateDefinition;
  readonly capabilities?: Capabilities;
  /** Alias → name of the secret. */
  readonly credentials?: Readonly<Record<string, string>>;
  readonly concurrency?: ConcurrencyDefinition;
  readonly rateLimit?: RateLimitDefinition;
  readonly notes?: string;
  readonly break?: boolean;
  readonly emit?: Json;
  readonly do?: BodyDefinition;
  readonly with?: JsonObject;
}

export interface ActionCall {
  readonly action: string;
  readonly with?: JsonObject;
}

export interface CompensateDefinition extends ActionCall {
  readonly effect?: Effect;
  readonly retry?: RetryRules;
  readonly timeout?: string | TimeoutDefinition;
}

export interface CacheDefinition {
  readonly version?: string | number;
  readonly ttl?: string;
  readonly ignore?: readonly string[];
  readonly overwrite?: boolean;
}

export interface ConcurrencyDefinition {
  readonly key: string;
  readonly limit?: Numeric;
}

export interface RateLimitDefinition {
  readonly key: string;
  readonly limit: Numeric;
  readonly per: string;
}

type Targets = string | readonly string[];

export interface BranchDefinition {
  readonly on?: Json;
  readonly cases: Readonly<Record<string, Targets>> | readonly CaseDefinition[];
  readonly default?: Targets;
  readonly many?: boolean;
}

export interface CaseDefinition {
  readonly when?: Json;
  readonly match?: Json;
  readonly error?: Json;
  readonly to: Targets;
}

export interface ForEachDefinition {
  readonly in: Json;
  readonly parallel?: boolean;
  readonly maxConcurrency?: Numeric;
  /** A number, or a share such as `80%`. */
  readonly minSuccess?: number | string;
}

export interface RetryUntilDefinition {
  readonly until?: Json;
  readonly attempts: Numeric;
  readonly backoff?: RetryDefinition;
}

/** Names a workflow by its id or by a launch plan. */
export interface SubWorkflowDefinition {
  readonly id?: string;
  readonly plan?: string;
  readonly version?: number;
  readonly mode?: 'inline' | 'child';
  readonly input?: Json;
  readonly output?: Json;
  readonly isolation?: 'shared' | 'isolated' | 'transactional';
}

export interface OneWaitDefinition {
  readonly for?: string;
  readonly until?: string;
  readonly signal?: string;
  readonly key?: Json;
  readonly schema?: JsonSchema;
  readonly approval?: {
    readonly title?: string;
    readonly form?: JsonSchema;
    readonly who?: string | readonly string[];
  };
  readonly callback?: boolean;
}

export interface WaitDefinition extends OneWaitDefinition {
  readonly any?: readonly OneWaitDefinition[];
  readonly deadline?: string;
}

export interface EdgeDefinition {
  readonly from: string;
  readonly to: string;
  readonly when?: Json;
  readonly on?: 'success' | 'error' | 'always' | 'result';
  readonly match?: Json;
}
