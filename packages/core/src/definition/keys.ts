/**
 * The one description of the language's keys.
 * What the engine refuses, what editors complete, what is suggested for a misspelt key and what the reference says
 * all come from these tables; a key exists when it stands here.
 */
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
  doc: 'How starts with the same key are admitted, held back or merged.',
  keys: {
    key: {
      type: EXPRESSION_TEXT,
      doc: 'What the input is told apart by; may read $input and $trigger.',
      required: true,
      example: 'key: $input.id',
    },
    policy: {
      type: { is: 'choice', of: ['allow', 'singleton', 'debounce'] },
      doc: 'allow admits every start; singleton refuses one while another runs; debounce waits until none came for `window` and starts the last. Default singleton.',
    },
    window: { type: POSITIVE_DURATION, doc: 'How long debounce waits.', example: 'window: 10s' },
  },
};

const CONFIG: RecordType = {
  name: 'config',
  title: 'config',
  doc: 'How the workflow is run.',
  keys: {
    mode: {
      type: { is: 'choice', of: ['parallel', 'levels', 'sequential'] },
      doc: 'parallel runs whatever is ready; levels runs one topological level after the other; sequential runs one node at a time. Default parallel.',
    },
    maxParallelism: {
      type: { is: 'integer', min: 1, max: 1_000_000 },
      doc: 'How many nodes of a run may run at the same time. Default 25.',
    },
    timeout: { type: POSITIVE_DURATION, doc: 'Longest time of a whole run, which then ends as timed-out.' },
    onFailure: {
      type: { is: 'choice', of: ['fail-fast', 'finish-running', 'ignore'] },
      doc: 'After an unhandled failure: fail-fast cancels what runs; finish-running lets every node finish whose join can still be satisfied, then fails; ignore lets them finish and completes. Default fail-fast.',
    },
    failureNode: {
      type: ID,
      doc: 'The node that runs after a failure and its compensation, and never otherwise; it has no edges and may read every node.',
      alias: ['onFailureNode', 'errorNode'],
      example: 'failureNode: tell',
    },
    retry: { ...RETRY_KEY, doc: 'The retry of action nodes that have none of their own: a rule, or a list of rules.' },
    maxTotalRetries: {
      type: { is: 'integer', min: 0, max: UNBOUNDED },
      doc: 'How many retries all nodes of a run may make together.',
    },
    priority: { type: PRIORITY, doc: 'From 0 to 9, 9 being the most urgent. Default 5.' },
    executor: later('Where the nodes run.'),
    retention: {
      type: { is: 'duration', or: ['forever'] },
      doc: 'How long a finished run is kept, or `forever`.',
      example: 'retention: 30d',
    },
    capabilities: { type: { is: 'record', record: CAPABILITIES }, doc: 'What all actions of this workflow may reach.' },
    start: {
      type: { is: 'record', record: START },
      doc: START.doc,
      example: 'start: { key: $input.id, policy: singleton }',
    },
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
    description: { type: TEXT, doc: 'What the workflow is for.' },
    tags: { type: TEXTS, doc: 'Words to find the workflow by.', example: 'tags: [orders]' },
    version: {
      type: { is: 'integer', min: 1, max: UNBOUNDED },
      doc: 'The version of this definition; without it the registry assigns the next one.',
    },
    input: {
      type: { is: 'schema' },
      doc: 'JSON Schema of the input, checked at start.',
      example: 'input: { type: object }',
    },
    variables: {
      type: { is: 'object' },
      doc: 'Initial values of $vars.',
      alias: ['vars', 'env'],
      example: 'variables: { region: eu }',
    },
    config: { type: { is: 'record', record: CONFIG }, doc: CONFIG.doc, example: 'config: { timeout: 1h }' },
    triggers: {
      type: { is: 'list', of: { is: 'record', record: TRIGGER } },
      doc: 'What starts the active version of the workflow on a server, besides a person or a program.',
      alias: ['on', 'trigger'],
      example: 'triggers: [{ webhook: { path: /orders } }]',
    },
    ...GRAPH_KEYS,
    output: { ...GRAPH_KEYS.output, doc: "The run's output; strings may hold {{ expressions }}." },
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
