/** What starts a workflow besides a person or a program. */
import { ID, POSITIVE_DURATION, TEXT } from './attempt-keys.ts';
import { EXPRESSION_TEXT } from './kind-keys.ts';
import type { KeyType, RecordType } from './value-type.ts';

const INPUT: KeyType = {
  type: { is: 'value' },
  doc: 'The input of the run; its expressions may read $input (what came) and $trigger.',
  example: 'input: { order: "{{ $input.id }}" }',
};

const SIGNATURE: RecordType = {
  name: 'signature',
  title: 'signature',
  doc: 'How a caller proves who it is.',
  keys: {
    secret: { type: ID, doc: 'Name of the secret that both sides know.', required: true, example: 'secret: shop-hook' },
    header: {
      type: TEXT,
      doc: 'The header with the proof. Default X-Signature.',
      example: 'header: X-Hub-Signature-256',
    },
    scheme: {
      type: { is: 'choice', of: ['hmac', 'token'] },
      doc: 'hmac: the header holds the HMAC of the body; token: it holds the secret itself. Default hmac.',
    },
    algorithm: { type: { is: 'choice', of: ['sha256', 'sha1', 'sha512'] }, doc: 'Of the HMAC. Default sha256.' },
    encoding: { type: { is: 'choice', of: ['hex', 'base64'] }, doc: 'Of the HMAC. Default hex.' },
    prefix: { type: TEXT, doc: 'What stands before it in the header.', example: 'prefix: "sha256="' },
  },
};

const WEBHOOK: RecordType = {
  name: 'webhook',
  title: 'webhook',
  doc: 'A request starts a run; its body is the input.',
  keys: {
    path: {
      type: TEXT,
      doc: 'Under /hooks on the server, e.g. /orders.',
      required: true,
      example: 'path: /orders',
    },
    method: { type: { is: 'choice', of: ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] }, doc: 'Default POST.' },
    signature: {
      type: { is: 'record', record: SIGNATURE },
      doc: 'Without it everybody who knows the path may call.',
      example: 'signature: { secret: shop-hook }',
    },
    respond: {
      type: { is: 'choice', of: ['immediate', 'result'] },
      doc: 'immediate answers as soon as the run is durable; result waits for its output. Default immediate.',
    },
    input: INPUT,
  },
};

const SCHEDULE: RecordType = {
  name: 'schedule',
  title: 'schedule',
  doc: 'Starts runs at times that a cron expression names.',
  keys: {
    cron: {
      type: TEXT,
      doc: 'Five or six fields, e.g. 0 6 * * * for six in the morning.',
      required: true,
      example: 'cron: "0 6 * * *"',
    },
    timezone: { type: TEXT, doc: 'Whose clock is meant. Default UTC.', example: 'timezone: Europe/Berlin' },
    catchUp: {
      type: { is: 'choice', of: ['none', 'last', 'all'] },
      doc: 'What happens to times at which no server ran: nothing, the last one, or all of them. Default none.',
    },
    input: INPUT,
  },
};

const INTERVAL: RecordType = {
  name: 'interval',
  title: 'interval',
  doc: 'Starts a run again and again.',
  keys: {
    every: {
      type: POSITIVE_DURATION,
      doc: 'The time from one start to the next, a second or more.',
      required: true,
      example: 'every: 5m',
    },
    input: INPUT,
  },
};

const EVENT: RecordType = {
  name: 'event',
  title: 'event',
  doc: 'A published signal of this name starts a run; its payload is the input.',
  keys: {
    name: { type: TEXT, doc: 'The name of the signal.', required: true, example: 'name: order-placed' },
    key: {
      type: EXPRESSION_TEXT,
      doc: 'Events that give the same value belong to one run: as long as it goes on, they go to it as signals.',
      example: 'key: $input.orderId',
    },
    input: INPUT,
  },
};

const FILE: RecordType = {
  name: 'file',
  title: 'file',
  doc: 'A file that is put into a folder starts a run; its path, name and size are the input.',
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
  doc: 'One way in which the workflow is started. `manual` always works.',
  keys: {
    webhook: { type: { is: 'record', record: WEBHOOK }, doc: WEBHOOK.doc, example: 'webhook: { path: /orders }' },
    schedule: {
      type: { is: 'record', record: SCHEDULE },
      doc: SCHEDULE.doc,
      example: 'schedule: { cron: "0 6 * * *" }',
    },
    interval: { type: { is: 'record', record: INTERVAL }, doc: INTERVAL.doc, example: 'interval: { every: 5m }' },
    event: { type: { is: 'record', record: EVENT }, doc: EVENT.doc, example: 'event: { name: order-placed }' },
    file: { type: { is: 'record', record: FILE }, doc: FILE.doc, example: 'file: { path: inbox/*.csv }' },
  },
};

export const TRIGGER_RECORDS: readonly RecordType[] = [TRIGGER, WEBHOOK, SIGNATURE, SCHEDULE, INTERVAL, EVENT, FILE];
