/** `nebula.config.ts`: what a project adds to the engine, and which drivers it runs on. */
import {
  type Action,
  type Capabilities,
  didYouMean,
  EXPRESSION_LIMITS,
  type ExpressionLimits,
  NebulaError,
  type RetryPolicyFunction,
} from '@nebula/core';
import type { Blobs, Clock, Logs, Queue, Random, Sandbox, Secrets, Store } from '@nebula/ports';

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
  readonly queue?: Opener<Queue>;
  readonly blobs?: Opener<Blobs>;
  readonly logs?: Opener<Logs>;
  readonly sandbox?: Opener<Sandbox>;
  readonly secrets?: Opener<Secrets>;
}

export interface NebulaConfig {
  /** The project's own actions, besides the built-in ones. */
  readonly actions?: readonly Action[];
  /** By the name that `retry.policy` gives. */
  readonly retryPolicies?: Readonly<Record<string, RetryPolicyFunction>>;
  /** What the operator grants to every workflow, besides what workflows grant themselves. */
  readonly capabilities?: Capabilities;
  /** Attempts that may run at the same time in this process. */
  readonly concurrency?: number;
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
}

const KEYS: readonly string[] = [
  'actions',
  'retryPolicies',
  'capabilities',
  'concurrency',
  'dataDir',
  'retention',
  'inlineLimit',
  'durability',
  'expressionLimits',
  'drivers',
] satisfies (keyof NebulaConfig)[];
const DRIVER_KEYS: readonly string[] = [
  'store',
  'queue',
  'blobs',
  'logs',
  'sandbox',
  'secrets',
] satisfies (keyof DriverOpeners)[];

/** Returns its argument. A misspelt key would otherwise be ignored without a word, since Node runs the file unchecked. */
export function defineConfig(config: NebulaConfig): NebulaConfig {
  if (typeof config !== 'object' || config === null)
    fail('the configuration is not an object', 'Write defineConfig({ … })');
  checkKeys(config, KEYS, 'the configuration');
  checkTypes(config);
  if (config.drivers) checkKeys(config.drivers, DRIVER_KEYS, 'drivers');
  checkCapabilities(config.capabilities ?? {});
  for (const [name, open] of Object.entries(config.drivers ?? {})) {
    if (open !== undefined && typeof open !== 'function') {
      fail(`drivers.${name} is not a function`, `Write drivers: { ${name}: (context) => … }`);
    }
  }
  config.actions?.forEach((action, index) => {
    if (typeof action?.id !== 'string' || typeof action.run !== 'function') {
      fail(`actions[${index}] is not an action`, 'Make it with defineAction({ … })');
    }
  });
  const { durability, expressionLimits } = config;
  if (durability !== undefined && durability !== 'strict' && durability !== 'relaxed') {
    fail(`durability is '${String(durability)}'`, "It is 'strict' or 'relaxed'");
  }
  checkKeys(expressionLimits ?? {}, Object.keys(EXPRESSION_LIMITS), 'expressionLimits');
  for (const [name, limit] of Object.entries(expressionLimits ?? {})) {
    if (!(typeof limit === 'number' && limit > 0))
      fail(`expressionLimits.${name} is ${limit}`, 'Give a number above 0');
  }
  const { concurrency } = config;
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && concurrency > 0)) {
    fail(`concurrency is ${concurrency}`, 'Give a whole number above 0');
  }
  return config;
}

/** The file runs unchecked, so a value of the wrong type would show up much later and somewhere else. */
function checkTypes(config: NebulaConfig): void {
  const must = (key: keyof NebulaConfig, isRight: (value: unknown) => boolean, hint: string): void => {
    const value: unknown = config[key];
    if (value !== undefined && !isRight(value)) fail(`${key} is ${describe(value)}`, hint);
  };
  const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
  must('actions', Array.isArray, 'Write actions: [ … ]');
  must('dataDir', (value) => typeof value === 'string' && value !== '', "Give a folder, e.g. '.nebula'");
  for (const key of ['capabilities', 'retryPolicies', 'expressionLimits', 'drivers'] as const) {
    must(key, isObject, `Write ${key}: { … }`);
  }
  must('inlineLimit', (value) => typeof value === 'string' || Number(value) > 0, "Give a size, e.g. '64KiB'");
  for (const [name, policy] of Object.entries(config.retryPolicies ?? {})) {
    if (typeof policy !== 'function')
      fail(`retryPolicies.${name} is ${describe(policy)}`, 'Give a function of (k, error)');
  }
}

function checkCapabilities(capabilities: Capabilities): void {
  checkKeys(capabilities, ['network', 'files', 'shell', 'env'], 'capabilities');
  const { files, ...lists } = capabilities;
  checkKeys(files ?? {}, ['read', 'write'], 'capabilities.files');
  for (const [name, entries] of Object.entries({ ...lists, ...files })) {
    const isList = Array.isArray(entries) && entries.every((entry) => typeof entry === 'string');
    if (!isList)
      fail(`the capability '${name}' is ${describe(entries)}`, "Give a list of texts, e.g. ['api.example.com']");
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `${typeof value} ${String(value).slice(0, 40)}`;
}

function checkKeys(object: object, known: readonly string[], where: string): void {
  for (const key of Object.keys(object)) {
    if (known.includes(key)) continue;
    const guess = didYouMean(key, known);
    fail(
      `${where} has an unknown key '${key}'`,
      guess === undefined ? `It is one of: ${known.join(', ')}` : `Did you mean '${guess}'?`,
    );
  }
}

function fail(message: string, hint: string): never {
  throw new NebulaError('CONFIG_INVALID', message, { hint });
}
