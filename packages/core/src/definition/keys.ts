/**
 * The one description of the language's keys.
 * What the engine refuses, what editors complete, what is suggested for a misspelt key and what the reference says
 * all come from these tables; a key exists when it stands here.
 */
import type { KeyType, RecordType, ValueType } from './value-type.ts';

export const LANGUAGE_VERSION = 1;

export const ID_PATTERN = '^[a-zA-Z0-9_-]+$';
export const ACTION_PATTERN = '^[a-z][a-z0-9_.-]*(@[0-9]+(\\.[0-9]+)?)?$';

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

const TEXT: ValueType = { is: 'text' };
const TEXTS: ValueType = { is: 'list', of: TEXT };
const ID: ValueType = { is: 'id' };
const PRIORITY: ValueType = { is: 'integer', min: 0, max: 9 };
const TIMEOUT_DURATION: ValueType = { is: 'duration', positive: true };
const DURATION: ValueType = { is: 'duration' };

/** A key of the language that is not built yet. Its value is not looked at. */
function later(doc: string, kind?: 'kind'): KeyType {
  return { type: { is: 'value' }, doc, later: true, ...(kind ? { kind: true } : {}) };
}

const FILES: RecordType = {
  name: 'files',
  title: 'files',
  doc: 'Files that actions may use, as paths relative to the project folder; `dir/**` is a pattern.',
  keys: {
    read: { type: TEXTS, doc: 'Paths that may be read.', example: 'read: [data/**]' },
    write: { type: TEXTS, doc: 'Paths that may be written.', example: 'write: [out/**]' },
  },
};

const CAPABILITIES: RecordType = {
  name: 'capabilities',
  title: 'capabilities',
  doc: 'What actions may reach. What is not granted here is refused; `*` grants all.',
  keys: {
    network: {
      type: TEXTS,
      doc: 'Host names that may be called, with an optional port; `*.example.com` is a pattern.',
      example: 'network: [api.example.com]',
    },
    files: { type: { is: 'record', record: FILES }, doc: FILES.doc, example: 'files: { read: [data/**] }' },
    shell: { type: TEXTS, doc: 'Programs that may be started.', example: 'shell: [git]' },
    env: { type: TEXTS, doc: 'Names of environment variables that may be read.', example: 'env: [HOME]' },
  },
};

export const RETRY_POLICIES = ['fixed', 'exponential', 'exponential-jitter'] as const;

const RETRY: RecordType = {
  name: 'retry',
  title: 'retry',
  doc: 'How often, and after which delays, a failed attempt is repeated.',
  keys: {
    policy: {
      type: { is: 'name', known: RETRY_POLICIES },
      doc: 'fixed waits `delay` every time; exponential waits initial × multiplier^(k−1), at most `max`; exponential-jitter draws from 0 to that; other names are registered policies. Without it, `delay` means fixed and anything else exponential.',
    },
    delay: { type: DURATION, doc: 'The delay before every retry of the policy fixed.' },
    initial: { type: DURATION, doc: 'The delay before the first retry of an exponential policy.' },
    max: { type: DURATION, doc: 'The longest delay of an exponential policy.' },
    multiplier: {
      type: { is: 'number', min: 1, max: 1_000 },
      doc: 'By how much an exponential delay grows with each retry.',
      alias: ['factor', 'backoffCoefficient'],
    },
    attempts: {
      type: { is: 'integer', min: 1, max: 1_000_000 },
      doc: 'All attempts allowed for USER errors, the first included. Default 1.',
      alias: ['maxAttempts', 'max_attempts', 'retries', 'limit', 'count'],
    },
    system: {
      type: { is: 'integer', min: 0, max: 1_000_000 },
      doc: 'Retries allowed for SYSTEM errors and for attempts cut off by a crash. Default 10.',
    },
    on: { type: TEXTS, doc: 'Only errors with these codes are retried.', example: 'on: [TIMEOUT]' },
  },
};

const TIMEOUT: RecordType = {
  name: 'timeout',
  title: 'timeout',
  doc: 'How long a node may take; passing a limit is a USER error with the code TIMEOUT.',
  keys: {
    attempt: { type: TIMEOUT_DURATION, doc: 'Longest time of one attempt; only this one is retried.' },
    queued: { type: TIMEOUT_DURATION, doc: 'Longest time from being ready to being started.' },
    total: { type: TIMEOUT_DURATION, doc: 'Longest time from being ready to the end, retries included.' },
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
    timeout: { type: TIMEOUT_DURATION, doc: 'Longest time of a whole run, which then ends as timed-out.' },
    onFailure: {
      type: { is: 'choice', of: ['fail-fast', 'finish-running', 'ignore'] },
      doc: 'After an unhandled failure: fail-fast cancels what runs; finish-running lets independent nodes finish, then fails; ignore lets them finish and completes. Default fail-fast.',
    },
    failureNode: later('The node that runs after a failure and its compensation.'),
    retry: { type: { is: 'record', record: RETRY }, doc: 'The retry of nodes that have none of their own.' },
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
    start: later('How starts with the same key are admitted, held back or merged.'),
  },
};

export const NODE: RecordType = {
  name: 'node',
  title: 'a node',
  doc: 'A step of the workflow, of exactly one kind.',
  keys: {
    name: { type: TEXT, doc: 'A title for people.' },
    needs: {
      type: { is: 'list', of: ID, orOne: true },
      doc: 'Nodes that must succeed before this one; each is short for an edge.',
      alias: ['dependsOn', 'depends_on', 'depends', 'dependencies', 'after', 'requires'],
      example: 'needs: [fetch]',
    },
    when: {
      type: { is: 'expression' },
      doc: 'The node is skipped when this expression is false.',
      alias: ['if', 'condition', 'only_if'],
    },
    join: {
      type: {
        is: 'either',
        of: [
          { is: 'choice', of: ['all', 'any'] },
          { is: 'integer', min: 1, max: 1_000_000 },
        ],
      },
      doc: 'How many incoming edges must be taken: all that are not dead (default), any one, or a number.',
    },
    retry: {
      type: { is: 'record', record: RETRY },
      doc: RETRY.doc,
      alias: ['retries', 'retryPolicy'],
      example: 'retry: { attempts: 3, delay: 1s }',
    },
    timeout: {
      type: { is: 'either', of: [TIMEOUT_DURATION, { is: 'record', record: TIMEOUT }] },
      doc: 'A duration (of one attempt) or `{ attempt, queued, total }`.',
      example: 'timeout: 10s',
    },
    onError: {
      type: { is: 'choice', of: ['halt', 'ignore', 'branch'] },
      doc: 'When a failure is not handled by an edge: halt fails the run at once, ignore goes on with the output null, branch says that error edges take it.',
    },
    priority: { type: PRIORITY, doc: 'From 0 to 9, 9 being the most urgent. Default: that of the workflow.' },
    estimate: { type: DURATION, doc: 'How long the node will probably take, to start the critical path first.' },
    labels: later('Labels of the workers that may run the node.'),
    enabled: { type: { is: 'boolean' }, doc: 'false skips the node but goes on after it, with the output null.' },
    effect: {
      type: { is: 'choice', of: ['pure', 'idempotent', 'once'] },
      doc: 'What running the action twice would do; overrides what the action says.',
    },
    cache: later('Reuse of the output of an earlier run with the same input.'),
    compensate: later('What undoes this node when the run fails later.'),
    credentials: later('Credentials by alias.'),
    capabilities: {
      type: { is: 'record', record: CAPABILITIES },
      doc: 'What this node may reach besides what the workflow grants.',
    },
    concurrency: later('How many nodes with the same key may run at the same time.'),
    rateLimit: later('How many nodes with the same key may start in a time.'),
    notes: { type: TEXT, doc: 'Remarks for people.' },
    break: later('Ends the loop after this node.'),
    emit: later('Adds items to the loop.'),
    do: later('The body of a loop.'),
    action: {
      type: { is: 'action' },
      doc: 'The action to run: `name`, `name@major` or `name@major.minor`.',
      alias: ['uses', 'type', 'task', 'activity'],
      kind: true,
      example: 'action: http.request@1',
    },
    with: {
      type: { is: 'object' },
      doc: "The action's parameters; strings may hold {{ expressions }}.",
      alias: ['params', 'parameters', 'args', 'arguments', 'inputs', 'input'],
      example: 'with: { url: … }',
    },
    branch: later('Takes one or several of the cases.', 'kind'),
    forEach: later('Runs a body for every item of a list.', 'kind'),
    while: later('Runs a body as long as a condition holds.', 'kind'),
    retryUntil: later('Runs a body until a condition holds.', 'kind'),
    workflow: later('Runs another workflow.', 'kind'),
    dynamic: later('Runs a graph that an action returns.', 'kind'),
    wait: later('Waits for a time, a signal, an approval or a call.', 'kind'),
    set: later('Assigns variables.', 'kind'),
    terminate: later('Ends the run.', 'kind'),
    split: later('Runs what follows once per item.', 'kind'),
    merge: later('Collects what a split began.', 'kind'),
  },
};

const TEXT_OR_TEXTS: ValueType = { is: 'list', of: TEXT, orOne: true };

export const ERROR_MATCH: RecordType = {
  name: 'errorMatch',
  title: 'an error matcher',
  doc: 'Which errors an edge takes; every key given must fit.',
  keys: {
    code: { type: TEXT_OR_TEXTS, doc: 'Codes; a text between slashes is a regular expression.' },
    kind: { type: { is: 'list', of: { is: 'choice', of: ['USER', 'SYSTEM'] }, orOne: true }, doc: 'USER or SYSTEM.' },
    message: { type: TEXT_OR_TEXTS, doc: 'Messages; a text between slashes is a regular expression.' },
  },
};

const EDGE: RecordType = {
  name: 'edge',
  title: 'an edge',
  doc: 'What leads from one node to the next.',
  keys: {
    from: { type: ID, doc: 'The node the edge leaves.', required: true },
    to: { type: ID, doc: 'The node the edge enters.', required: true },
    when: { type: { is: 'expression' }, doc: 'The edge is dead when this expression is false.' },
    on: {
      type: { is: 'choice', of: ['success', 'error', 'always', 'result'] },
      doc: 'success when `from` completed, error when it failed for good, always after either, result when its output fits `match`. Default success.',
    },
    match: {
      type: { is: 'value' },
      doc: 'For `on: error` a matcher `{ code, kind, message }`; for `on: result` the value the output must fit, with `{ gt, gte, lt, lte, in, type, exists, regex }` at any depth.',
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
    triggers: later('What starts the workflow besides a person or a program.'),
    nodes: {
      type: { is: 'map', of: { is: 'record', record: NODE } },
      doc: 'The nodes by id.',
      alias: ['steps', 'tasks', 'jobs', 'activities'],
      example: 'nodes: { fetch: { action: http.request@1 } }',
    },
    edges: {
      type: { is: 'list', of: { is: 'either', of: [{ is: 'edgeText' }, { is: 'record', record: EDGE }] } },
      doc: 'The edges besides those from `needs`; `a -> b` is short for `{ from: a, to: b }`.',
      example: 'edges: [a -> b]',
    },
    output: {
      type: { is: 'value' },
      doc: "The run's output; strings may hold {{ expressions }}.",
      alias: ['outputs', 'result', 'returns'],
    },
  },
};

export const RECORDS: readonly RecordType[] = [
  WORKFLOW,
  CONFIG,
  NODE,
  EDGE,
  RETRY,
  TIMEOUT,
  CAPABILITIES,
  FILES,
  ERROR_MATCH,
];
