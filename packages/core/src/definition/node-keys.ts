/** The keys of nodes, edges and bodies. */
import {
  CAPABILITIES,
  DURATION,
  EXPRESSION,
  ID,
  PLAIN_TEXT,
  PRIORITY,
  RETRY_KEY,
  TEXT,
  TIMEOUT_KEY,
  VALUE,
} from './attempt-keys.ts';
import { CACHE, COMPENSATE, CONCURRENCY, EXPRESSION_TEXT, KIND_KEYS, RATE_LIMIT } from './kind-keys.ts';
import type { KeyType, RecordType } from './value-type.ts';

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
      type: EXPRESSION,
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
      doc: 'From how many sources an edge must be taken: all but those dead by choice (default), any one, or a number.',
    },
    retry: RETRY_KEY,
    timeout: TIMEOUT_KEY,
    onError: {
      type: { is: 'choice', of: ['halt', 'ignore', 'branch'] },
      doc: 'When a failure is not handled by an edge: halt fails the run at once, ignore goes on with the output null, branch says that error edges take it.',
    },
    priority: { type: PRIORITY, doc: 'From 0 to 9, 9 being the most urgent. Default: that of the workflow.' },
    estimate: { type: DURATION, doc: 'How long the node will probably take, to start the critical path first.' },
    labels: {
      type: { is: 'list', of: PLAIN_TEXT, orOne: true },
      doc: 'The node is run by a worker that has all of these labels.',
      alias: ['runsOn', 'runs_on', 'runs-on', 'tags'],
      example: 'labels: [gpu]',
    },
    enabled: { type: { is: 'boolean' }, doc: 'false skips the node but goes on after it, with the output null.' },
    effect: {
      type: { is: 'choice', of: ['pure', 'idempotent', 'once'] },
      doc: 'What running the action twice would do; overrides what the action says.',
    },
    cache: { type: { is: 'record', record: CACHE }, doc: CACHE.doc, example: 'cache: { ttl: 1h }' },
    compensate: {
      type: { is: 'record', record: COMPENSATE },
      doc: COMPENSATE.doc,
      alias: ['undo', 'rollback', 'compensation'],
      example: 'compensate: { action: payment.refund@1 }',
    },
    credentials: {
      type: { is: 'map', of: ID },
      doc: 'The secrets that the action may ask for, by alias: `{ alias: name of the secret }`. Values never stand in a workflow.',
      alias: ['secrets'],
      example: 'credentials: { api: stripe-key }',
    },
    capabilities: {
      type: { is: 'record', record: CAPABILITIES },
      doc: 'What this node may reach besides what the workflow grants.',
    },
    concurrency: {
      type: { is: 'record', record: CONCURRENCY },
      doc: CONCURRENCY.doc,
      alias: ['mutex', 'semaphore', 'lock'],
      example: 'concurrency: { key: "customer-{{ $input.id }}", limit: 1 }',
    },
    rateLimit: {
      type: { is: 'record', record: RATE_LIMIT },
      doc: RATE_LIMIT.doc,
      alias: ['throttle', 'rate'],
      example: 'rateLimit: { key: crm, limit: 10, per: 1s }',
    },
    notes: { type: TEXT, doc: 'Remarks for people.' },
    break: {
      type: { is: 'boolean' },
      doc: 'In the body of a loop: true begins no round after this node has completed.',
    },
    emit: {
      type: { is: 'either', of: [EXPRESSION_TEXT, { is: 'list', of: VALUE }] },
      doc: 'In the body of a forEach: items that are added to the loop when this node has completed; `$self.output` is its output.',
      example: 'emit: $self.output.children',
    },
    do: {
      type: {
        is: 'record',
        get record() {
          return BODY;
        },
      },
      doc: 'The body of a loop: a graph of its own.',
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
    with: {
      type: { is: 'object' },
      doc: "The action's parameters; strings may hold {{ expressions }}.",
      alias: ['params', 'parameters', 'args', 'arguments', 'inputs', 'input'],
      example: 'with: { url: … }',
    },
    group: {
      type: {
        is: 'record',
        get record() {
          return BODY;
        },
      },
      doc: 'A body with a scope of its own, run once: its failure is the failure of the group, so retry, timeout, error edges and compensate apply to the whole.',
      kind: true,
      alias: ['block', 'scope', 'sequence', 'try', 'subgraph'],
      example: 'group: { nodes: { first: { action: … } } }',
    },
    ...KIND_KEYS,
  },
};

/** Every node has exactly one of these keys, which says what it does. */
export const NODE_KINDS = Object.keys(NODE.keys).filter((key) => NODE.keys[key]?.kind);

export const EDGE: RecordType = {
  name: 'edge',
  title: 'an edge',
  doc: 'What leads from one node to the next.',
  keys: {
    from: { type: ID, doc: 'The node the edge leaves.', required: true },
    to: { type: ID, doc: 'The node the edge enters.', required: true },
    when: { type: EXPRESSION, doc: 'The edge is dead when this expression is false.' },
    on: {
      type: { is: 'choice', of: ['success', 'error', 'always', 'result'] },
      doc: 'success when `from` completed, error when it failed for good, always when it started and ended (a finally, which handles no failure), result when its output fits `match`. Default success.',
    },
    match: {
      type: { is: 'value' },
      doc: 'For `on: error` a matcher `{ code, kind, message }`; for `on: result` the value the output must fit, with `{ gt, gte, lt, lte, in, type, exists, regex }` at any depth.',
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

/** What a workflow and a body have in common. */
export const GRAPH_KEYS = {
  nodes: NODES,
  edges: EDGES,
  output: {
    type: VALUE,
    doc: 'The output; strings may hold {{ expressions }}. Without it, that of the end nodes.',
    alias: ['outputs', 'result', 'returns'],
  },
  order: {
    type: { is: 'list', of: ID },
    doc: 'The order of the nodes, for programs that write JSON: objects do not keep the order of ids that look like integers. Files need none; nodes that it does not name come last.',
    example: "order: ['10', '9']",
  },
} satisfies Readonly<Record<string, KeyType>>;

export const BODY: RecordType = {
  name: 'body',
  title: 'a body',
  doc: 'The graph that a loop runs in every round, and a group once. Its output is `output`, else that of its only end node, else those of the end nodes that ran, by id.',
  keys: { ...GRAPH_KEYS, nodes: { ...NODES, required: true } },
};
