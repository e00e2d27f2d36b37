/** The key tables of triggers. */
import { ID, POSITIVE_DURATION, recordKey, TEXT } from './attempt-keys.ts';
import { EXPRESSION_TEXT } from './kind-keys.ts';
import type { KeyType, RecordType } from './value-type.ts';

const INPUT: KeyType = {
  type: { is: 'value' },
  doc: 'The input of the run; its expressions may read $input (the received data) and $trigger.',
  example: 'input: { order: "{{ $input.id }}" }',
};

const SIGNATURE: RecordType = {
  name: 'signature',
  title: 'signature',
  doc: 'How callers are authenticated.',
  keys: {
    secret: { type: ID, doc: 'The name of the shared secret.', required: true, example: 'secret: shop-hook' },
    header: {
      type: TEXT,
      doc: 'The header that contains the signature. Default X-Signature.',
      example: 'header: X-Hub-Signature-256',
    },
    scheme: {
      type: { is: 'choice', of: ['hmac', 'token'] },
      doc: 'hmac: the header contains the HMAC of the body; token: the header contains the secret itself. Default hmac.',
    },
    algorithm: {
      type: { is: 'choice', of: ['sha256', 'sha1', 'sha512'] },
      doc: 'The hash algorithm of the HMAC. Default sha256.',
    },
    encoding: { type: { is: 'choice', of: ['hex', 'base64'] }, doc: 'The encoding of the HMAC. Default hex.' },
    prefix: { type: TEXT, doc: 'A prefix of the signature in the header.', example: 'prefix: "sha256="' },
  },
};

const WEBHOOK: RecordType = {
  name: 'webhook',
  title: 'webhook',
  doc: 'An HTTP request starts a run; the request body is the input.',
  keys: {
    path: {
      type: TEXT,
      doc: 'The path below /hooks on the server, e.g. /orders.',
      required: true,
      example: 'path: /orders',
    },
    method: {
      type: { is: 'choice', of: ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] },
      doc: 'The HTTP method. Default POST.',
    },
    signature: {
      type: { is: 'record', record: SIGNATURE },
      doc: 'How callers are authenticated. Without it, anyone who knows the path may call.',
      example: 'signature: { secret: shop-hook }',
    },
    respond: {
      type: { is: 'choice', of: ['immediate', 'result'] },
      doc: 'immediate responds as soon as the run is durable; result waits for its output. Default immediate.',
    },
    input: INPUT,
  },
};

const SCHEDULE: RecordType = {
  name: 'schedule',
  title: 'schedule',
  doc: 'Starts runs at the times of a cron expression.',
  keys: {
    cron: {
      type: TEXT,
      doc: 'A cron expression with five or six fields, e.g. 0 6 * * * for 6 a.m.',
      required: true,
      example: 'cron: "0 6 * * *"',
    },
    timezone: {
      type: TEXT,
      doc: 'The time zone of the cron expression. Default UTC.',
      example: 'timezone: Europe/Berlin',
    },
    catchUp: {
      type: { is: 'choice', of: ['none', 'last', 'all'] },
      doc: 'Which times to make up for when no server was running: none, the last one, or all of them. Default none.',
    },
    input: INPUT,
  },
};

const INTERVAL: RecordType = {
  name: 'interval',
  title: 'interval',
  doc: 'Starts runs at a fixed interval.',
  keys: {
    every: {
      type: POSITIVE_DURATION,
      doc: 'The time from one start to the next, at least one second.',
      required: true,
      example: 'every: 5m',
    },
    input: INPUT,
  },
};

const EVENT: RecordType = {
  name: 'event',
  title: 'event',
  doc: 'A published signal with this name starts a run; its payload is the input.',
  keys: {
    name: { type: TEXT, doc: 'The name of the signal.', required: true, example: 'name: order-placed' },
    key: {
      type: EXPRESSION_TEXT,
      doc: 'Groups events by the value of this expression: while a run with the same value is open, further events are sent to it as signals.',
      example: 'key: $input.orderId',
    },
    input: INPUT,
  },
};

const FILE: RecordType = {
  name: 'file',
  title: 'file',
  doc: 'A new file in a folder starts a run; its path, name and size are the input.',
  keys: {
    path: {
      type: TEXT,
      doc: 'A folder, or a pattern such as inbox/*.csv; relative to the project folder.',
      required: true,
      example: 'path: inbox/*.csv',
    },
    input: INPUT,
  },
};

export const TRIGGER: RecordType = {
  name: 'trigger',
  title: 'a trigger',
  doc: 'A trigger that starts the workflow. Manual starts are always possible.',
  keys: {
    webhook: recordKey(WEBHOOK, 'webhook: { path: /orders }'),
    schedule: recordKey(SCHEDULE, 'schedule: { cron: "0 6 * * *" }'),
    interval: recordKey(INTERVAL, 'interval: { every: 5m }'),
    event: recordKey(EVENT, 'event: { name: order-placed }'),
    file: recordKey(FILE, 'file: { path: inbox/*.csv }'),
  },
};

export const TRIGGER_RECORDS: readonly RecordType[] = [TRIGGER, WEBHOOK, SIGNATURE, SCHEDULE, INTERVAL, EVENT, FILE];
