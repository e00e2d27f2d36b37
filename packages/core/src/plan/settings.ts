/**
 * Numbers and durations of a node that are given by expressions. They are evaluated once, when the node becomes ready.
 */

import { LIMIT } from '../definition/attempt-keys.ts';
import type { RetryRules } from '../definition/model.ts';
import { NODE } from '../definition/node-keys.ts';
import {
  acceptsJsonType,
  describeType,
  isSettingType,
  PERCENT_PATTERN,
  type SettingType,
  type ValueType,
} from '../definition/value-type.ts';
import { DURATION_LIMITS, parseDuration } from '../duration.ts';
import { ExpressionError } from '../expression/index.ts';
import type { DocumentPath } from '../problem.ts';
import { isJsonList, isJsonObject, type Json } from '../value.ts';
import type { NodeReader } from './node-reader.ts';
import type { SettingPlan } from './plan.ts';

/** Keys of a node that may contain such values. */
const KEYS = [
  'retry',
  'timeout',
  'priority',
  'forEach',
  'while',
  'retryUntil',
  'concurrency',
  'rateLimit',
  'cache',
] as const;

/** Values that apply to a node, including the defaults of the workflow. */
export interface Effective {
  readonly retry: Json | undefined;
  readonly priority: Json | undefined;
}

/** Keys of a merge that apply to its split, which runs the iterations. */
export interface MergeKeys {
  readonly timeout: string | undefined;
  readonly retry: RetryRules | undefined;
  /** The document path of the merge. */
  readonly path: DocumentPath;
}

/** Returns undefined for nearly every node. */
export function settingsOf(
  reader: NodeReader,
  effective: Effective,
  merge: MergeKeys | undefined,
): readonly SettingPlan[] | undefined {
  const { definition, path } = reader.parts;
  const found: SettingPlan[] = [];
  for (const key of KEYS) {
    const raw = key === 'retry' || key === 'priority' ? effective[key] : (definition[key] as Json | undefined);
    if (raw === undefined) continue;
    const type = NODE.keys[key]?.type;
    if (type === undefined) continue;
    const owner = key === 'retry' && merge !== undefined && definition.retry === undefined ? merge.path : path;
    for (const { keys, value, type: own } of expressionsIn(type, raw, [key])) {
      found.push({ key: nameOf(keys), type: own, value: reader.valueAt(value, [...owner, ...keys]) });
    }
  }
  if (merge?.timeout?.includes('{{')) {
    const value = reader.valueAt(merge.timeout, [...merge.path, 'merge', 'timeout']);
    found.push({ key: 'merge.timeout', type: LIMIT, value });
  }
  return found.length === 0 ? undefined : found;
}

/** `timeout: 10s` limits each attempt. */
function nameOf(keys: readonly (string | number)[]): string {
  return keys.length === 1 && keys[0] === 'timeout' ? 'timeout.attempt' : keys.join('.');
}

interface SettingExpression {
  readonly keys: readonly (string | number)[];
  readonly value: string;
  readonly type: SettingType;
}

function* expressionsIn(type: ValueType, value: Json, keys: SettingExpression['keys']): Generator<SettingExpression> {
  if (type.is === 'either') {
    const fitting = type.of.find((one) => acceptsJsonType(one, value));
    if (fitting !== undefined) yield* expressionsIn(fitting, value, keys);
  } else if (type.is === 'list' && isJsonList(value)) {
    for (const [at, one] of value.entries()) yield* expressionsIn(type.of, one, [...keys, at]);
  } else if (type.is === 'record' && isJsonObject(value)) {
    for (const [key, one] of Object.entries(value)) {
      const inner = type.record.keys[key]?.type;
      if (inner !== undefined) yield* expressionsIn(inner, one, [...keys, key]);
    }
  } else if (isSettingType(type) && type.expression === true && typeof value === 'string' && value.includes('{{')) {
    yield { keys, value, type };
  }
}

/** Whether a value contains an expression. */
export function hasSettings(key: 'retry' | 'timeout', value: Json | undefined): boolean {
  const type = NODE.keys[key]?.type;
  if (value === undefined || type === undefined) return false;
  for (const _ of expressionsIn(type, value, [key])) return true;
  return false;
}

const PERCENT = new RegExp(PERCENT_PATTERN);

/** Returns the value in its stored form; throws when the key does not accept it. */
export function acceptedSetting({ key, type, value: { origin } }: SettingPlan, value: Json): number | string {
  const accepted = acceptable(type, value);
  if (accepted !== undefined) return accepted;
  const error = new ExpressionError(
    'EXPRESSION_VALUE',
    `\`${key}\` must be ${wordsOf(type)}, not ${JSON.stringify(value) ?? String(value)}`,
    { hint: 'the expression is evaluated when the node becomes ready' },
  );
  throw error.locateIn([], origin);
}

function acceptable(type: SettingType, value: Json): number | string | undefined {
  switch (type.is) {
    case 'integer':
    case 'number': {
      if (typeof value !== 'number' || !Number.isFinite(value) || value < type.min || value > type.max)
        return undefined;
      return type.is === 'integer' && !Number.isInteger(value) ? undefined : value;
    }
    case 'duration': {
      const ms = typeof value === 'string' ? parseDuration(value) : value;
      if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0 || ms > DURATION_LIMITS.maxDurationMs)
        return undefined;
      return type.positive === true && ms === 0 ? undefined : Math.ceil(ms);
    }
    case 'percent':
      if (typeof value === 'string') return PERCENT.test(value) ? value : undefined;
      return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
  }
}

function wordsOf(type: SettingType): string {
  if (type.is === 'percent') return 'a whole number from 0, or a share such as 80%';
  if (type.is !== 'duration') return describeType(type);
  const range = type.positive === true ? 'above zero and up to 10 years' : 'from zero to 10 years';
  return `a duration ${range}, such as 10s or milliseconds${type.moment === true ? ', or a date' : ''}`;
}
