/** The kinds of nodes, and the records of keys that only some kinds take. */
import {
  BACKOFF,
  EXPRESSION,
  ID,
  LIMIT,
  PLAIN_TEXT,
  RETRY_KEY,
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

const ACTION_KEYS = {
  action: { type: { is: 'action' }, doc: 'The action to run.', required: true, example: 'action: http.request@1' },
  with: {
    type: { is: 'object' },
    doc: "The action's parameters; strings may hold {{ expressions }}.",
    alias: ['params', 'parameters', 'args', 'arguments', 'inputs', 'input'],
    example: 'with: { url: … }',
  },
} satisfies Readonly<Record<string, KeyType>>;

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

const BRANCH_CASE: RecordType = {
  name: 'case',
  title: 'a case',
  doc: 'One case of a branch: a test and where it leads.',
  keys: {
    when: { type: EXPRESSION, doc: 'Fits when this expression is true.', alias: ['if', 'condition'] },
    match: {
      type: VALUE,
      doc: 'Fits when the value of `on`, by default the output of the only node before, fits this pattern.',
    },
    error: {
      type: { is: 'record', record: ERROR_MATCH },
      doc: 'Fits when the node before failed with such an error.',
      example: 'error: { code: TIMEOUT }',
    },
    to: {
      type: TARGETS,
      doc: 'The node, or the nodes, to go on with.',
      required: true,
      alias: ['then', 'goto', 'next'],
      example: 'to: ship',
    },
  },
};

const BRANCH: RecordType = {
  name: 'branch',
  title: 'a branch',
  doc: 'Goes on with the nodes of the case that fits. Cases are edges: a target needs nothing more.',
  keys: {
    on: { type: EXPRESSION, doc: 'The value that cases are compared with.', alias: ['value', 'expression', 'switch'] },
    cases: {
      type: {
        is: 'either',
        of: [
          { is: 'map', of: TARGETS, anyKeys: true },
          { is: 'list', of: { is: 'record', record: BRANCH_CASE } },
        ],
      },
      doc: 'Either a mapping from values of `on`, compared as text, to nodes, or a list of cases, of which the first that fits is taken.',
      required: true,
      alias: ['when', 'conditions'],
      example: 'cases: { paid: ship, open: remind }',
    },
    default: { type: TARGETS, doc: 'Where to go on when no case fits.', alias: ['else', 'otherwise'] },
    many: { type: { is: 'boolean' }, doc: 'true takes every case of a list that fits, not just the first.' },
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
    parallel: { type: { is: 'boolean' }, doc: 'true runs several rounds at the same time. Default false.' },
    maxConcurrency: {
      type: COUNT,
      doc: 'Rounds at the same time, if parallel. Default 10.',
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
      doc: 'How many rounds must succeed, as a number or as a share such as 80%. Default: all. A round that failed gives null.',
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
      doc: 'Asked before every round; `$self.output` is the output of the last one, at first null.',
      required: true,
      alias: ['when', 'if', 'test'],
      example: 'condition: $vars.pages < 10',
    },
    maxIterations: { type: COUNT, doc: 'More rounds fail the node. Default 1000.', alias: ['max', 'limit'] },
  },
};

const RETRY_UNTIL: RecordType = {
  name: 'retryUntil',
  title: 'retryUntil',
  doc: 'Runs the body `do` until it succeeds and a condition holds.',
  keys: {
    until: {
      type: EXPRESSION,
      doc: 'Asked after every round; `$self.output` is its output. Without it a round that succeeds is enough.',
      alias: ['condition'],
      example: 'until: $self.output.done',
    },
    attempts: {
      type: COUNT,
      doc: 'How many rounds there may be.',
      required: true,
      alias: ['maxAttempts', 'max'],
      example: 'attempts: 10',
    },
    backoff: {
      type: { is: 'record', record: BACKOFF },
      doc: BACKOFF.doc,
      alias: ['retry', 'delay'],
      example: 'backoff: { delay: 5s }',
    },
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
      doc: 'Instead of an id: a launch plan of the same project. It says which workflow and version run, its fixed inputs win, and its limit of runs holds. It is a run of its own.',
      alias: ['launchPlan'],
      example: 'plan: nightly',
    },
    version: { type: { is: 'integer', min: 1, max: UNBOUNDED }, doc: 'Its version; without it the newest.' },
    mode: {
      type: { is: 'choice', of: ['inline', 'child'] },
      doc: 'inline runs it inside this run; child starts a run of its own and waits for it. Default inline.',
    },
    input: { type: VALUE, doc: 'Its input; strings may hold {{ expressions }}.', alias: ['with', 'inputs'] },
    output: {
      type: VALUE,
      doc: 'The output of the node; `$self.output` is that of the workflow. Without it, just that.',
      alias: ['outputs'],
    },
    isolation: {
      type: { is: 'choice', of: ['shared', 'isolated', 'transactional'] },
      doc: 'For inline: shared works on the variables around it, isolated has its own, transactional has its own and undoes what it did when it fails. Default isolated.',
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
  doc: 'A decision that a person takes; a rejection fails the node with REJECTED.',
  keys: {
    title: { type: TEXT, doc: 'What is asked; may hold {{ expressions }}.', example: 'title: Pay the bill?' },
    form: { type: { is: 'schema' }, doc: 'JSON Schema of what the person fills in.' },
    who: {
      type: { is: 'list', of: TEXT, orOne: true },
      doc: 'Who may decide; may hold {{ expressions }}.',
      alias: ['users', 'approvers'],
    },
  },
};

const WAIT_KEYS = {
  for: {
    type: { is: 'duration', expression: true },
    doc: 'Waits so long: a duration, or an {{ expression }} that gives one.',
    alias: ['duration', 'delay', 'time', 'sleep'],
    example: 'for: 10s',
  },
  until: {
    type: { is: 'moment' },
    doc: 'Waits until a moment: a date in ISO 8601, or an expression that gives one, or gives milliseconds since 1970.',
    alias: ['at'],
    example: 'until: 2030-01-01T08:00:00Z',
  },
  signal: { type: TEXT, doc: 'Waits for a signal of this name.', alias: ['event', 'message'], example: 'signal: paid' },
  key: {
    type: VALUE,
    doc: 'Which of the signals of that name: those sent with the same key. May be an {{ expression }}.',
  },
  schema: { type: { is: 'schema' }, doc: 'JSON Schema of what the signal carries; others are refused.' },
  approval: {
    type: { is: 'record', record: APPROVAL },
    doc: APPROVAL.doc,
    alias: ['approve'],
    example: 'approval: { title: Pay the bill? }',
  },
  callback: { type: { is: 'boolean' }, doc: 'true waits for a call to an address of its own.', alias: ['webhook'] },
} satisfies Readonly<Record<string, KeyType>>;

const WAIT_ONE: RecordType = {
  name: 'waitOne',
  title: 'a wait',
  doc: 'One of the things that end a wait.',
  keys: WAIT_KEYS,
};

const WAIT: RecordType = {
  name: 'wait',
  title: 'a wait',
  doc: 'Waits for a time, a signal, an approval or a call, and holds no worker meanwhile.',
  keys: {
    ...WAIT_KEYS,
    any: {
      type: { is: 'list', of: { is: 'record', record: WAIT_ONE } },
      doc: 'Several waits, of which the first ends it.',
      example: 'any: [{ for: 1d }, { signal: paid }]',
    },
    deadline: {
      type: { is: 'duration', expression: true, moment: true, positive: true },
      doc: 'How long, or until when, it waits at the most; passing it fails the node with TIMEOUT.',
      alias: ['timeout'],
      example: 'deadline: 7d',
    },
  },
};

const SPLIT: RecordType = {
  name: 'split',
  title: 'split',
  doc: 'Runs what follows, up to the matching merge, once per item of a list, several at the same time.',
  keys: { in: FOR_EACH.keys.in as KeyType },
};

const MERGE: RecordType = {
  name: 'merge',
  title: 'merge',
  doc: 'Collects what the rounds of a split gave, as `{ aggregated: […] }`.',
  keys: {
    wait: {
      type: { is: 'choice', of: ['all', 'any'] },
      doc: 'all waits for every round, any for the first that succeeds. Default all.',
    },
    timeout: {
      type: LIMIT,
      doc: 'How long the rounds may take together. An expression is evaluated when the split becomes ready.',
    },
  },
};

export const COMPENSATE: RecordType = {
  name: 'compensate',
  title: 'compensate',
  doc: 'The action that undoes this node when the run fails later; `$self.output` is what the node gave.',
  keys: {
    ...ACTION_KEYS,
    retry: RETRY_KEY,
    timeout: TIMEOUT_KEY,
    effect: {
      type: { is: 'choice', of: ['pure', 'idempotent', 'once'] },
      doc: 'What undoing twice would do; overrides what the action says.',
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
      doc: 'Another version has entries of its own: change it when the meaning of the output changes.',
    },
    ttl: {
      type: LIMIT,
      doc: 'How long an entry is good. Default: for ever.',
      alias: ['maxAge', 'expires', 'for'],
      example: 'ttl: 1h',
    },
    ignore: { type: TEXTS, doc: 'Parameters that make no difference.', example: 'ignore: [requestId]' },
    overwrite: { type: { is: 'boolean' }, doc: 'true runs the action in any case and renews the entry.' },
  },
};

const LIMIT_KEY: KeyType = {
  type: TEXT,
  doc: 'Nodes with the same key share the limit; may hold {{ expressions }}.',
  required: true,
  example: 'key: crm',
};

export const CONCURRENCY: RecordType = {
  name: 'concurrency',
  title: 'concurrency',
  doc: 'How many nodes with the same key, of all runs, may be at work at the same time.',
  keys: { key: LIMIT_KEY, limit: { type: COUNT, doc: 'How many. Default 1.', alias: ['max'] } },
};

export const RATE_LIMIT: RecordType = {
  name: 'rateLimit',
  title: 'rateLimit',
  doc: 'How many attempts with the same key, of all runs, may start in a time.',
  keys: {
    key: LIMIT_KEY,
    limit: { type: COUNT, doc: 'How many.', required: true, alias: ['max'], example: 'limit: 10' },
    per: {
      type: LIMIT,
      doc: 'In which time.',
      required: true,
      alias: ['window', 'interval', 'period'],
      example: 'per: 1s',
    },
  },
};

function kind(record: RecordType, example: string, alias: readonly string[] = []): KeyType {
  return { type: { is: 'record', record }, doc: record.doc, kind: true, example, alias };
}

/** Besides `action` and `group`. */
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
    doc: 'Assigns variables: `$vars.<name>` from then on.',
    kind: true,
    alias: ['assign', 'let', 'setVariables'],
    example: 'set: { total: "{{ $vars.total + 1 }}" }',
  },
  terminate: {
    type: { is: 'choice', of: ['completed', 'failed'] },
    doc: 'Ends the run at once; `with` has its `output` or its `error`.',
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
