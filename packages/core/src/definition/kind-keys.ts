/** The kinds of nodes, and the key tables that only some kinds use. */
import { RUN_DEFAULTS } from '../limits.ts';
import {
  BACKOFF,
  EXPRESSION,
  ID,
  LIMIT,
  PLAIN_TEXT,
  RETRY_KEY,
  recordKey,
  TEXT,
  TEXTS,
  TIMEOUT_KEY,
  UNBOUNDED,
  VALUE,
} from './attempt-keys.ts';
import type { NodeKind } from './model.ts';
import type { KeyType, RecordType, ValueType } from './value-type.ts';

export const EXPRESSION_TEXT: ValueType = { is: 'expression', textOnly: true };
const COUNT: ValueType = { is: 'integer', min: 1, max: 1_000_000, expression: true };
const TARGETS: ValueType = { is: 'list', of: ID, orOne: true };

export const ACTION_KEYS = {
  action: { type: { is: 'action' }, doc: 'The action to run.', required: true, example: 'action: http.request@1' },
  with: {
    type: { is: 'object' },
    doc: "The action's parameters; strings may contain {{ expressions }}.",
    alias: ['params', 'parameters', 'args', 'arguments', 'inputs', 'input'],
    example: 'with: { url: … }',
  },
} satisfies Readonly<Record<string, KeyType>>;

const TEXT_OR_TEXTS: ValueType = { is: 'list', of: TEXT, orOne: true };

export const ERROR_MATCH: RecordType = {
  name: 'errorMatch',
  title: 'an error matcher',
  doc: 'The errors that an edge handles; every given key must match.',
  keys: {
    code: { type: TEXT_OR_TEXTS, doc: 'Error codes; a string between slashes is a regular expression.' },
    kind: { type: { is: 'list', of: { is: 'choice', of: ['USER', 'SYSTEM'] }, orOne: true }, doc: 'USER or SYSTEM.' },
    message: { type: TEXT_OR_TEXTS, doc: 'Error messages; a string between slashes is a regular expression.' },
  },
};

const BRANCH_CASE: RecordType = {
  name: 'case',
  title: 'a case',
  doc: 'One case of a branch: a test and its target nodes.',
  keys: {
    when: { type: EXPRESSION, doc: 'Matches when this expression is true.', alias: ['if', 'condition'] },
    match: {
      type: VALUE,
      doc: 'Matches when the value of `on` fits this pattern. The default of `on` is the output of the only preceding node.',
    },
    error: {
      type: { is: 'record', record: ERROR_MATCH },
      doc: 'Matches when the preceding node failed with such an error.',
      example: 'error: { code: TIMEOUT }',
    },
    to: {
      type: TARGETS,
      doc: 'The target node or nodes.',
      required: true,
      alias: ['then', 'goto', 'next'],
      example: 'to: ship',
    },
  },
};

const BRANCH: RecordType = {
  name: 'branch',
  title: 'a branch',
  doc: 'Continues with the nodes of the matching case. Cases are edges: a target needs no `needs` or edge.',
  keys: {
    on: {
      type: { is: 'either', of: [EXPRESSION, { is: 'list', of: VALUE }] },
      doc: 'The value to compare the cases with; a list is compared as JSON text.',
      alias: ['value', 'expression', 'switch'],
    },
    cases: {
      type: {
        is: 'either',
        of: [
          { is: 'map', of: TARGETS, anyKeys: true },
          { is: 'list', of: { is: 'record', record: BRANCH_CASE } },
        ],
      },
      doc: 'Either a mapping from values of `on`, compared as text, to nodes, or a list of cases, of which the first match is taken.',
      required: true,
      alias: ['when', 'conditions'],
      example: 'cases: { paid: ship, open: remind }',
    },
    default: { type: TARGETS, doc: 'The target when no case matches.', alias: ['else', 'otherwise'] },
    many: { type: { is: 'boolean' }, doc: 'true takes every matching case of a list, not just the first.' },
  },
};

const FOR_EACH: RecordType = {
  name: 'forEach',
  title: 'forEach',
  doc: 'Runs the body `do` for every item of a list.',
  keys: {
    in: {
      type: { is: 'either', of: [EXPRESSION_TEXT, { is: 'list', of: VALUE }] },
      doc: 'The list: an expression, or the items themselves.',
      required: true,
      alias: ['items', 'list', 'over', 'collection'],
      example: 'in: $input.items',
    },
    parallel: { type: { is: 'boolean' }, doc: 'true runs several iterations at the same time. Default false.' },
    maxConcurrency: {
      type: COUNT,
      doc: `The maximum number of iterations at the same time, with parallel. Default ${RUN_DEFAULTS.maxConcurrency}.`,
      alias: ['concurrency', 'maxParallelism'],
    },
    minSuccess: {
      type: {
        is: 'either',
        of: [
          { is: 'integer', min: 0, max: UNBOUNDED },
          { is: 'percent', expression: true },
        ],
      },
      doc: 'How many iterations must succeed, as a number or as a share such as 80%. Default: all. The result of a failed iteration is null.',
      example: 'minSuccess: 80%',
    },
  },
};

const WHILE: RecordType = {
  name: 'while',
  title: 'while',
  doc: 'Runs the body `do` as long as a condition holds.',
  keys: {
    condition: {
      type: EXPRESSION,
      doc: 'Evaluated before every iteration; `$self.output` is the output of the previous one, null at first.',
      required: true,
      alias: ['when', 'if', 'test'],
      example: 'condition: $vars.pages < 10',
    },
    maxIterations: {
      type: COUNT,
      doc: `The maximum number of iterations; more fail the node. Default ${RUN_DEFAULTS.maxIterations}.`,
      alias: ['max', 'limit'],
    },
  },
};

const RETRY_UNTIL: RecordType = {
  name: 'retryUntil',
  title: 'retryUntil',
  doc: 'Runs the body `do` until it succeeds and a condition holds.',
  keys: {
    until: {
      type: EXPRESSION,
      doc: 'Evaluated after every iteration; `$self.output` is its output. Without it, the first successful iteration ends the loop.',
      alias: ['condition'],
      example: 'until: $self.output.done',
    },
    attempts: {
      type: COUNT,
      doc: 'The maximum number of iterations.',
      required: true,
      alias: ['maxAttempts', 'max'],
      example: 'attempts: 10',
    },
    backoff: recordKey(BACKOFF, 'backoff: { delay: 5s }', ['retry', 'delay']),
  },
};

const SUB_WORKFLOW: RecordType = {
  name: 'subWorkflow',
  title: 'workflow',
  doc: 'Runs another workflow.',
  keys: {
    id: { type: ID, doc: 'The id of the workflow.', example: 'id: order-fulfilment' },
    plan: {
      type: ID,
      doc: 'A launch plan of the same project, instead of an id. The launch plan selects workflow and version, its fixed inputs take precedence, and its concurrency limit applies. It starts a run of its own.',
      alias: ['launchPlan'],
      example: 'plan: nightly',
    },
    version: {
      type: { is: 'integer', min: 1, max: UNBOUNDED },
      doc: 'The version of the workflow. Default: the newest.',
    },
    mode: {
      type: { is: 'choice', of: ['inline', 'child'] },
      doc: 'inline runs it inside this run; child starts a run of its own and waits for it. Default inline.',
    },
    input: {
      type: VALUE,
      doc: 'The input of the workflow; strings may contain {{ expressions }}.',
      alias: ['with', 'inputs'],
    },
    output: {
      type: VALUE,
      doc: 'The output of the node; `$self.output` is the output of the workflow, which is also the default.',
      alias: ['outputs'],
    },
    isolation: {
      type: { is: 'choice', of: ['shared', 'isolated', 'transactional'] },
      doc: 'For inline: shared uses the variables of the parent, isolated has its own, transactional has its own and compensates its completed nodes when it fails. Default isolated.',
    },
  },
};

const DYNAMIC: RecordType = {
  name: 'dynamic',
  title: 'dynamic',
  doc: 'Runs a graph `{ nodes, edges, output }` that an action returns.',
  keys: ACTION_KEYS,
};

const APPROVAL: RecordType = {
  name: 'approval',
  title: 'an approval',
  doc: 'A decision by a person; a rejection fails the node with REJECTED.',
  keys: {
    title: { type: TEXT, doc: 'The question; may contain {{ expressions }}.', example: 'title: Pay the bill?' },
    form: { type: { is: 'schema' }, doc: 'JSON Schema of the form that the person fills in.' },
    who: {
      type: { is: 'list', of: TEXT, orOne: true },
      doc: 'The people who may decide; may contain {{ expressions }}.',
      alias: ['users', 'approvers'],
    },
  },
};

const WAIT_KEYS = {
  for: {
    type: { is: 'duration', expression: true },
    doc: 'The time to wait: a duration, or an {{ expression }} that evaluates to one.',
    alias: ['duration', 'delay', 'time', 'sleep'],
    example: 'for: 10s',
  },
  until: {
    type: { is: 'moment' },
    doc: 'The time to wait for: an ISO 8601 date, or an expression that evaluates to a date or to milliseconds since 1970.',
    alias: ['at'],
    example: 'until: 2030-01-01T08:00:00Z',
  },
  signal: {
    type: TEXT,
    doc: 'Waits for a signal with this name.',
    alias: ['event', 'message'],
    example: 'signal: paid',
  },
  key: { type: VALUE, doc: 'Only signals sent with the same key match. May be an {{ expression }}.' },
  schema: { type: { is: 'schema' }, doc: 'JSON Schema of the payload; signals that do not match are rejected.' },
  approval: recordKey(APPROVAL, 'approval: { title: Pay the bill? }', ['approve']),
  callback: {
    type: { is: 'boolean' },
    doc: 'true waits for an HTTP call to a URL created for this node.',
    alias: ['webhook'],
  },
} satisfies Readonly<Record<string, KeyType>>;

const WAIT_ONE: RecordType = {
  name: 'waitOne',
  title: 'a wait',
  doc: 'One of several conditions that end a wait.',
  keys: WAIT_KEYS,
};

const WAIT: RecordType = {
  name: 'wait',
  title: 'a wait',
  doc: 'Waits for a time, a signal, an approval or a call, without occupying a worker.',
  keys: {
    ...WAIT_KEYS,
    any: {
      type: { is: 'list', of: { is: 'record', record: WAIT_ONE } },
      doc: 'Several conditions; the first that occurs ends the wait.',
      example: 'any: [{ for: 1d }, { signal: paid }]',
    },
    deadline: {
      type: { is: 'duration', expression: true, moment: true, positive: true },
      doc: 'The maximum duration of the wait, or its latest end; exceeding it fails the node with TIMEOUT.',
      alias: ['timeout'],
      example: 'deadline: 7d',
    },
  },
};

const SPLIT: RecordType = {
  name: 'split',
  title: 'split',
  doc: 'Runs the nodes up to the matching merge once per item of a list, in parallel.',
  keys: { in: FOR_EACH.keys.in as KeyType },
};

const MERGE: RecordType = {
  name: 'merge',
  title: 'merge',
  doc: 'Collects the results of the iterations of a split as `{ aggregated: […] }`.',
  keys: {
    wait: {
      type: { is: 'choice', of: ['all', 'any'] },
      doc: 'all waits for every iteration, any for the first that succeeds. Default all.',
    },
    timeout: {
      type: LIMIT,
      doc: 'The maximum duration of all iterations together. An expression is evaluated when the split becomes ready.',
    },
  },
};

export const COMPENSATE: RecordType = {
  name: 'compensate',
  title: 'compensate',
  doc: 'The action that undoes this node when the run fails later; `$self.output` is the output of the node.',
  keys: {
    ...ACTION_KEYS,
    retry: RETRY_KEY,
    timeout: TIMEOUT_KEY,
    effect: {
      type: { is: 'choice', of: ['pure', 'idempotent', 'once'] },
      doc: 'The consequence of compensating twice; overrides the effect of the action.',
    },
  },
};

export const CACHE: RecordType = {
  name: 'cache',
  title: 'cache',
  doc: 'Reuses the output of an earlier attempt of the same action with the same input.',
  keys: {
    version: {
      type: { is: 'either', of: [PLAIN_TEXT, { is: 'integer', min: 0, max: UNBOUNDED }] },
      doc: 'Part of the cache key; change it when the meaning of the output changes.',
    },
    ttl: {
      type: LIMIT,
      doc: 'How long an entry is valid. Default: forever.',
      alias: ['maxAge', 'expires', 'for'],
      example: 'ttl: 1h',
    },
    ignore: { type: TEXTS, doc: 'Parameters that are not part of the cache key.', example: 'ignore: [requestId]' },
    overwrite: { type: { is: 'boolean' }, doc: 'true always runs the action and overwrites the entry.' },
  },
};

const LIMIT_KEY: KeyType = {
  type: TEXT,
  doc: 'Nodes with the same key share the limit; may contain {{ expressions }}.',
  required: true,
  example: 'key: crm',
};

export const CONCURRENCY: RecordType = {
  name: 'concurrency',
  title: 'concurrency',
  doc: 'Limits how many nodes with the same key, across all runs, run at the same time.',
  keys: { key: LIMIT_KEY, limit: { type: COUNT, doc: 'The maximum number of nodes. Default 1.', alias: ['max'] } },
};

export const RATE_LIMIT: RecordType = {
  name: 'rateLimit',
  title: 'rateLimit',
  doc: 'Limits how many attempts with the same key, across all runs, start within a period.',
  keys: {
    key: LIMIT_KEY,
    limit: {
      type: COUNT,
      doc: 'The maximum number of attempts.',
      required: true,
      alias: ['max'],
      example: 'limit: 10',
    },
    per: {
      type: LIMIT,
      doc: 'The period.',
      required: true,
      alias: ['window', 'interval', 'period'],
      example: 'per: 1s',
    },
  },
};

function kind(record: RecordType, example: string, alias: readonly string[] = []): KeyType {
  return { ...recordKey(record, example, alias), kind: true };
}

export const KIND_KEYS: Readonly<Record<Exclude<NodeKind, 'action' | 'group'>, KeyType>> = {
  branch: kind(BRANCH, 'branch: { on: $order.status, cases: { paid: ship } }', [
    'switch',
    'choice',
    'case',
    'decision',
  ]),
  forEach: kind(FOR_EACH, 'forEach: { in: $input.items }', ['foreach', 'for_each', 'for', 'map', 'each', 'loop']),
  while: kind(WHILE, 'while: { condition: $vars.more }', ['repeat', 'doWhile']),
  retryUntil: kind(RETRY_UNTIL, 'retryUntil: { until: $self.output.done, attempts: 10 }', [
    'until',
    'poll',
    'retry_until',
  ]),
  workflow: kind(SUB_WORKFLOW, 'workflow: { id: other }', ['subworkflow', 'subflow', 'call']),
  dynamic: kind(DYNAMIC, 'dynamic: { action: plan.make@1 }'),
  wait: kind(WAIT, 'wait: { for: 10s }', ['sleep', 'delay', 'pause', 'signal', 'approval']),
  set: {
    type: { is: 'object' },
    doc: 'Assigns variables, which later nodes read as `$vars.<name>`.',
    kind: true,
    alias: ['assign', 'let', 'setVariables'],
    example: 'set: { total: "{{ $vars.total + 1 }}" }',
  },
  terminate: {
    type: { is: 'choice', of: ['completed', 'failed'] },
    doc: 'Ends the run immediately; `with` contains its `output` or its `error`.',
    kind: true,
    alias: ['end', 'stop', 'exit', 'fail'],
    example: 'terminate: completed',
  },
  split: kind(SPLIT, 'split: { in: $input.items }'),
  merge: kind(MERGE, 'merge: { wait: all }'),
};

export const KIND_RECORDS: readonly RecordType[] = [
  BRANCH,
  BRANCH_CASE,
  FOR_EACH,
  WHILE,
  RETRY_UNTIL,
  SUB_WORKFLOW,
  DYNAMIC,
  WAIT,
  WAIT_ONE,
  APPROVAL,
  SPLIT,
  MERGE,
  COMPENSATE,
  CACHE,
  CONCURRENCY,
  RATE_LIMIT,
];
