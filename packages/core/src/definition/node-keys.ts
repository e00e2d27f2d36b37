/** The keys of nodes, edges and bodies. */

import {
  CAPABILITIES,
  DURATION,
  EXPRESSION,
  ID,
  PLAIN_TEXT,
  PRIORITY,
  RETRY_KEY,
  recordKey,
  TEXT,
  TIMEOUT_KEY,
  VALUE,
} from './attempt-keys.ts';
import { ACTION_KEYS, CACHE, COMPENSATE, CONCURRENCY, EXPRESSION_TEXT, KIND_KEYS, RATE_LIMIT } from './kind-keys.ts';
import type { NodeKind } from './model.ts';
import type { KeyType, RecordType } from './value-type.ts';

export const NODE: RecordType = {
  name: 'node',
  title: 'a node',
  doc: 'A step of the workflow, of exactly one kind.',
  keys: {
    name: { type: TEXT, doc: 'A title for people.' },
    needs: {
      type: { is: 'list', of: ID, orOne: true },
      doc: 'Nodes that must succeed before this one; each entry is short for an edge.',
      alias: ['dependsOn', 'depends_on', 'depends', 'dependencies', 'after', 'requires'],
      example: 'needs: [fetch]',
    },
    when: {
      type: EXPRESSION,
      doc: 'The node is skipped when this expression is false.',
      alias: ['if', 'condition', 'only_if'],
    },
    join: {
      type: {
        is: 'either',
        of: [
          { is: 'choice', of: ['all', 'any', 'ended'] },
          { is: 'integer', min: 1, max: 1_000_000 },
        ],
      },
      doc: 'How many incoming edges must be taken: all except those dead by choice (default), any one, or a number. ended takes none: the node runs when all nodes before it have ended, skipped ones included.',
    },
    retry: RETRY_KEY,
    timeout: TIMEOUT_KEY,
    onError: {
      type: { is: 'choice', of: ['halt', 'ignore', 'branch'] },
      doc: 'What a failure does that no edge handles: halt fails the run immediately, ignore continues with the output null, branch declares that error edges handle it.',
    },
    priority: { type: PRIORITY, doc: 'From 0 to 9, 9 being the most urgent. Default: the priority of the workflow.' },
    estimate: { type: DURATION, doc: 'The expected duration of the node, used to start the critical path first.' },
    labels: {
      type: { is: 'list', of: PLAIN_TEXT, orOne: true },
      doc: 'Only workers that have all of these labels run the node.',
      alias: ['runsOn', 'runs_on', 'runs-on', 'tags'],
      example: 'labels: [gpu]',
    },
    enabled: { type: { is: 'boolean' }, doc: 'false skips the node and continues after it, with the output null.' },
    effect: {
      type: { is: 'choice', of: ['pure', 'idempotent', 'once'] },
      doc: 'The consequence of running the action twice; overrides the effect of the action.',
    },
    cache: recordKey(CACHE, 'cache: { ttl: 1h }'),
    compensate: recordKey(COMPENSATE, 'compensate: { action: payment.refund@1 }', ['undo', 'rollback', 'compensation']),
    credentials: {
      type: { is: 'map', of: ID },
      doc: 'The secrets that the action may read, by alias: `{ alias: name of the secret }`. A workflow never contains their values.',
      alias: ['secrets'],
      example: 'credentials: { api: stripe-key }',
    },
    capabilities: {
      type: { is: 'record', record: CAPABILITIES },
      doc: 'Resources that this node may use in addition to those that the workflow grants.',
    },
    concurrency: recordKey(CONCURRENCY, 'concurrency: { key: "customer-{{ $input.id }}", limit: 1 }', [
      'mutex',
      'semaphore',
      'lock',
    ]),
    rateLimit: recordKey(RATE_LIMIT, 'rateLimit: { key: crm, limit: 10, per: 1s }', ['throttle', 'rate']),
    notes: { type: TEXT, doc: 'Remarks for people.' },
    break: {
      type: { is: 'boolean' },
      doc: 'In the body of a loop: true ends the loop when this node has completed. The rest of its iteration is cancelled, other open iterations finish, and no further one begins.',
    },
    emit: {
      type: { is: 'either', of: [EXPRESSION_TEXT, { is: 'list', of: VALUE }] },
      doc: 'In the body of a forEach: items to add to the loop when this node completes; `$self.output` is its output.',
      example: 'emit: $self.output.children',
    },
    do: {
      type: {
        is: 'record',
        get record() {
          return BODY;
        },
      },
      doc: 'The body of a loop, a nested graph.',
      alias: ['body', 'then'],
      example: 'do: { nodes: { first: { action: … } } }',
    },
    action: {
      type: { is: 'action' },
      doc: 'The action to run: `name`, `name@major` or `name@major.minor`.',
      alias: ['uses', 'type', 'task', 'activity'],
      kind: true,
      example: 'action: http.request@1',
    },
    with: ACTION_KEYS.with,
    group: {
      type: {
        is: 'record',
        get record() {
          return BODY;
        },
      },
      doc: 'A nested graph with its own scope, run once. Its failure is the failure of the group, so retry, timeout, error edges and compensate apply to the whole group.',
      kind: true,
      alias: ['block', 'scope', 'sequence', 'try', 'subgraph'],
      example: 'group: { nodes: { first: { action: … } } }',
    },
    ...KIND_KEYS,
  },
};

/** Every node has exactly one of these keys, which determines its kind. */
export const NODE_KINDS: readonly NodeKind[] = Object.keys(NODE.keys).filter(
  (key): key is NodeKind => NODE.keys[key]?.kind === true,
);

export const EDGE: RecordType = {
  name: 'edge',
  title: 'an edge',
  doc: 'A connection from one node to another.',
  keys: {
    from: { type: ID, doc: 'The node the edge leaves.', required: true },
    to: { type: ID, doc: 'The node the edge enters.', required: true },
    when: { type: EXPRESSION, doc: 'The edge is dead when this expression is false.' },
    on: {
      type: { is: 'choice', of: ['success', 'error', 'always', 'result'] },
      doc: 'success when `from` completed, error when it failed after all retries, always when it started and ended (like finally; it does not handle the failure), result when its output matches `match`. Default success.',
    },
    match: {
      type: { is: 'value' },
      doc: 'For `on: error` a matcher `{ code, kind, message }`; for `on: result` the value that the output must match, with `{ gt, gte, lt, lte, in, type, exists, regex }` at any depth.',
    },
  },
};

const NODES: KeyType = {
  type: { is: 'map', of: { is: 'record', record: NODE } },
  doc: 'The nodes by id.',
  alias: ['steps', 'tasks', 'jobs', 'activities'],
  example: 'nodes: { fetch: { action: http.request@1 } }',
};

const EDGES: KeyType = {
  type: { is: 'list', of: { is: 'either', of: [{ is: 'edgeText' }, { is: 'record', record: EDGE }] } },
  doc: 'The edges besides those from `needs`; `a -> b` is short for `{ from: a, to: b }`.',
  example: 'edges: [a -> b]',
};

/** Keys that workflows and bodies share. */
export const GRAPH_KEYS = {
  nodes: NODES,
  edges: EDGES,
  output: {
    type: VALUE,
    doc: 'The output; strings may contain {{ expressions }}. Default: the output of the end nodes.',
    alias: ['outputs', 'result', 'returns'],
  },
  order: {
    type: { is: 'list', of: ID },
    doc: 'The order of the nodes, for programs that write JSON: objects do not preserve the order of ids that look like integers. Files do not need it. Nodes that are not listed come last.',
    example: "order: ['10', '9']",
  },
} satisfies Readonly<Record<string, KeyType>>;

export const BODY: RecordType = {
  name: 'body',
  title: 'a body',
  doc: 'The graph that a loop runs in every iteration, and a group once. Its output is `output`; by default the output of its only end node, or the outputs of the end nodes that ran, by id.',
  keys: { ...GRAPH_KEYS, nodes: { ...NODES, required: true } },
};
