/**
 * The single description of the language's keys. Validation, editor completion, suggestions for misspelt keys and the
 * reference are all derived from these tables.
 */
import { RUN_DEFAULTS } from '../limits.ts';
import {
  BACKOFF,
  CAPABILITIES,
  FILES,
  ID,
  later,
  POSITIVE_DURATION,
  PRIORITY,
  RETRY,
  RETRY_KEY,
  recordKey,
  TEXT,
  TEXTS,
  TIMEOUT,
  UNBOUNDED,
} from './attempt-keys.ts';
import { ERROR_MATCH, EXPRESSION_TEXT, KIND_RECORDS } from './kind-keys.ts';
import { BODY, EDGE, GRAPH_KEYS, NODE } from './node-keys.ts';
import { TRIGGER, TRIGGER_RECORDS } from './trigger-keys.ts';
import type { RecordType } from './value-type.ts';

export const LANGUAGE_VERSION = 1;

const START: RecordType = {
  name: 'start',
  title: 'start',
  doc: 'How starts with the same key are admitted, rejected or merged.',
  keys: {
    key: {
      type: EXPRESSION_TEXT,
      doc: 'An expression whose value groups starts; may read $input and $trigger.',
      required: true,
      example: 'key: $input.id',
    },
    policy: {
      type: { is: 'choice', of: ['allow', 'singleton', 'debounce'] },
      doc: 'allow admits every start; singleton rejects a start while another run with the key is open; debounce waits until no start has arrived for `window`, then runs the last one. Default singleton.',
    },
    window: { type: POSITIVE_DURATION, doc: 'The quiet period of debounce.', example: 'window: 10s' },
  },
};

const CONFIG: RecordType = {
  name: 'config',
  title: 'config',
  doc: 'How the workflow runs.',
  keys: {
    mode: {
      type: { is: 'choice', of: ['parallel', 'levels', 'sequential'] },
      doc: 'parallel runs every node that is ready; levels runs one topological level after another; sequential runs one node at a time. Default parallel.',
    },
    maxParallelism: {
      type: { is: 'integer', min: 1, max: 1_000_000 },
      doc: `The maximum number of nodes of a run that run at the same time. Default ${RUN_DEFAULTS.maxParallelism}.`,
    },
    timeout: {
      type: POSITIVE_DURATION,
      doc: 'The maximum duration of a run; a run that exceeds it ends as timed-out.',
    },
    onFailure: {
      type: { is: 'choice', of: ['fail-fast', 'finish-running', 'ignore'] },
      doc: 'What an unhandled failure does: fail-fast cancels running nodes; finish-running lets every node finish whose join can still be satisfied, then fails the run; ignore lets them finish and completes the run. Default fail-fast.',
    },
    failureNode: {
      type: ID,
      doc: 'A node that runs only after the run has failed and has been compensated; it has no edges and may read every node.',
      alias: ['onFailureNode', 'errorNode'],
      example: 'failureNode: tell',
    },
    retry: { ...RETRY_KEY, doc: 'The default retry of action nodes: a rule, or a list of rules.' },
    maxTotalRetries: {
      type: { is: 'integer', min: 0, max: UNBOUNDED },
      doc: 'The maximum number of retries of all nodes of a run together.',
    },
    priority: { type: PRIORITY, doc: `From 0 to 9, 9 being the most urgent. Default ${RUN_DEFAULTS.priority}.` },
    executor: later('Where the nodes run.'),
    retention: {
      type: { is: 'duration', or: ['forever'] },
      doc: 'How long a finished run is kept, or `forever`.',
      example: 'retention: 30d',
    },
    capabilities: {
      type: { is: 'record', record: CAPABILITIES },
      doc: 'The resources that all actions of this workflow may use.',
    },
    start: recordKey(START, 'start: { key: $input.id, policy: singleton }'),
  },
};

export const WORKFLOW: RecordType = {
  name: 'workflow',
  title: 'a workflow',
  doc: 'A workflow of Nebula.',
  keys: {
    $schema: { type: TEXT, doc: 'Address of this JSON Schema, for editors. Not part of the workflow.' },
    nebula: {
      type: { is: 'integer', min: 1, max: LANGUAGE_VERSION },
      doc: `The version of the language, ${LANGUAGE_VERSION} now. Optional.`,
    },
    id: {
      type: ID,
      doc: 'The id of the workflow: letters, digits, _ and -.',
      required: true,
      example: 'id: order-fulfilment',
    },
    name: { type: TEXT, doc: 'A title for people.' },
    description: { type: TEXT, doc: 'The purpose of the workflow.' },
    tags: { type: TEXTS, doc: 'Words to find the workflow by.', example: 'tags: [orders]' },
    version: {
      type: { is: 'integer', min: 1, max: UNBOUNDED },
      doc: 'The version of this definition. Without it, the registry assigns the next one.',
    },
    input: {
      type: { is: 'schema' },
      doc: 'JSON Schema of the input, validated at start.',
      example: 'input: { type: object }',
    },
    variables: {
      type: { is: 'object' },
      doc: 'Initial values of $vars.',
      alias: ['vars', 'env'],
      example: 'variables: { region: eu }',
    },
    config: recordKey(CONFIG, 'config: { timeout: 1h }'),
    triggers: {
      type: { is: 'list', of: { is: 'record', record: TRIGGER } },
      doc: 'The triggers that start the active version of the workflow on a server.',
      alias: ['on', 'trigger'],
      example: 'triggers: [{ webhook: { path: /orders } }]',
    },
    ...GRAPH_KEYS,
    output: { ...GRAPH_KEYS.output, doc: "The run's output; strings may contain {{ expressions }}." },
  },
};

export const RECORDS: readonly RecordType[] = [
  WORKFLOW,
  CONFIG,
  START,
  NODE,
  BODY,
  EDGE,
  ...KIND_RECORDS,
  ...TRIGGER_RECORDS,
  RETRY,
  BACKOFF,
  TIMEOUT,
  CAPABILITIES,
  FILES,
  ERROR_MATCH,
];
