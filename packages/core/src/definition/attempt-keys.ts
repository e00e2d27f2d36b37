/** Key tables for the execution of attempts: retries, time limits and capabilities. */
import { RETRY_DEFAULTS } from '../limits.ts';
import type { KeyType, RecordType, ValueType } from './value-type.ts';

export const UNBOUNDED = Number.MAX_SAFE_INTEGER;

export const TEXT: ValueType = { is: 'text' };
export const TEXTS: ValueType = { is: 'list', of: TEXT };
export const PLAIN_TEXT: ValueType = { is: 'text', plain: true };
export const ID: ValueType = { is: 'id' };
export const EXPRESSION: ValueType = { is: 'expression' };
export const VALUE: ValueType = { is: 'value' };
export const POSITIVE_DURATION: ValueType = { is: 'duration', positive: true };
export const DURATION: ValueType = { is: 'duration' };
/** Types that accept an expression, which is evaluated when the node becomes ready. */
export const LIMIT = { is: 'duration', positive: true, expression: true } as const satisfies ValueType;
const DURATION_VALUE: ValueType = { is: 'duration', expression: true };
export const PRIORITY: ValueType = { is: 'integer', min: 0, max: 9, expression: true };

/** A key that the language reserves but the engine does not implement. Its value is not checked. */
export function later(doc: string): KeyType {
  return { type: VALUE, doc, later: true };
}

/** A key whose value is a record of its own. */
export function recordKey(record: RecordType, example: string, alias: readonly string[] = []): KeyType {
  return { type: { is: 'record', record }, doc: record.doc, example, alias };
}

export const FILES: RecordType = {
  name: 'files',
  title: 'files',
  doc: 'Files that actions may use, as paths relative to the project folder; `dir/**` is a pattern.',
  keys: {
    read: { type: TEXTS, doc: 'Paths that may be read.', example: 'read: [data/**]' },
    write: { type: TEXTS, doc: 'Paths that may be written.', example: 'write: [out/**]' },
  },
};

export const CAPABILITIES: RecordType = {
  name: 'capabilities',
  title: 'capabilities',
  doc: 'The resources that actions may use. Everything else is denied; `*` grants all.',
  keys: {
    network: {
      type: TEXTS,
      doc: 'Hosts that may be called, with an optional port: `api.example.com`, `*.example.com`, `*`. A private, loopback or link-local address needs an entry of its own: `10.0.0.7`, `10.0.0.0/8`, `localhost`.',
      example: 'network: [api.example.com]',
    },
    files: recordKey(FILES, 'files: { read: [data/**] }'),
    shell: { type: TEXTS, doc: 'Programs that may be started.', example: 'shell: [git]' },
    env: { type: TEXTS, doc: 'Names of environment variables that may be read.', example: 'env: [HOME]' },
  },
};

export const RETRY_POLICIES = ['fixed', 'exponential', 'exponential-jitter'] as const;

export const RETRY: RecordType = {
  name: 'retry',
  title: 'retry',
  doc: 'How often, and after which delays, a failed attempt is repeated.',
  keys: {
    policy: {
      type: { is: 'name', known: RETRY_POLICIES },
      doc: 'fixed waits `delay` every time; exponential waits initial × multiplier^(k−1), at most `max`; exponential-jitter draws from 0 to that; other names are registered policies. Without it, `delay` means fixed and anything else exponential.',
    },
    delay: { type: DURATION_VALUE, doc: 'The delay before every retry with the policy fixed.' },
    initial: { type: DURATION_VALUE, doc: 'The delay before the first retry of an exponential policy.' },
    max: { type: DURATION_VALUE, doc: 'The longest delay of an exponential policy.' },
    multiplier: {
      type: { is: 'number', min: 1, max: 1_000, expression: true },
      doc: 'The factor by which an exponential delay grows with each retry.',
      alias: ['factor', 'backoffCoefficient'],
    },
    attempts: {
      type: { is: 'integer', min: 1, max: 1_000_000, expression: true },
      doc: `The maximum number of attempts, including the first; every attempt that ends in an error counts. Default ${RETRY_DEFAULTS.attempts}.`,
      alias: ['maxAttempts', 'max_attempts', 'retries', 'limit', 'count'],
    },
    lost: {
      type: { is: 'integer', min: 0, max: 1_000_000, expression: true },
      doc: `How many times an attempt is repeated after a crash or a lost lease cut it off; such attempts do not count as errors. Default ${RETRY_DEFAULTS.lost}.`,
    },
    on: {
      type: { is: 'list', of: PLAIN_TEXT },
      doc: 'Retries only errors with one of these codes or kinds (USER, SYSTEM); `/regex/` matches codes by a pattern.',
      example: 'on: [TIMEOUT, /HTTP_5.*/]',
    },
  },
  removed: {
    system: "write 'attempts' for errors of every kind, and 'lost' for attempts cut off by a crash or a lost lease",
  },
};

export const TIMEOUT: RecordType = {
  name: 'timeout',
  title: 'timeout',
  doc: 'Time limits of a node; exceeding one is a USER error with the code TIMEOUT.',
  keys: {
    attempt: { type: LIMIT, doc: 'Maximum duration of one attempt; only this timeout is retried.' },
    queued: { type: LIMIT, doc: 'Maximum time from ready to started.' },
    total: { type: LIMIT, doc: 'Maximum time from ready to ended, including retries.' },
  },
};

export const TIMEOUT_KEY: KeyType = {
  type: { is: 'either', of: [LIMIT, { is: 'record', record: TIMEOUT }] },
  doc: 'A duration, which limits each attempt, or `{ attempt, queued, total }`.',
  example: 'timeout: 10s',
};

export const RETRY_KEY: KeyType = {
  type: {
    is: 'either',
    of: [
      { is: 'record', record: RETRY },
      { is: 'list', of: { is: 'record', record: RETRY } },
    ],
  },
  doc: `${RETRY.doc} In a list of rules, the first rule that matches the error applies; each rule counts its own attempts.`,
  alias: ['retries', 'retryPolicy'],
  example: 'retry: { attempts: 3, delay: 1s }',
};

const { attempts: _, lost: __, ...BACKOFF_KEYS } = RETRY.keys;

export const BACKOFF: RecordType = {
  name: 'backoff',
  title: 'backoff',
  doc: 'The delay between the iterations of a retryUntil: the keys of retry without attempts.',
  keys: BACKOFF_KEYS,
};
