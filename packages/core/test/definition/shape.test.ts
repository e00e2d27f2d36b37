import { describe, expect, it } from 'vitest';
import { WORKFLOW } from '../../src/definition/keys.ts';
import { NODE } from '../../src/definition/node-keys.ts';
import { REPORT_LIMITS } from '../../src/definition/problem-list.ts';
import { retryPolicyOf } from '../../src/definition/rules.ts';
import { codes, find, json, positions, underlined, yaml } from './reading.ts';

const NODES = 'nodes: { a: { action: x }, b: { action: y } }\n';

/** A workflow whose node `a` has these lines too. */
const node = (lines: string): string =>
  `id: x\nnodes:\n  a:\n    action: http.request@1\n    ${lines}\n  b: { action: y }\n`;
const workflow = (lines: string): string => `id: x\n${NODES}${lines}\n`;

describe('everything the language has now', () => {
  it('[DEF-50] is accepted', () => {
    const result = yaml(`
nebula: 1
id: order-fulfilment
name: Order fulfilment
description: Ships what was paid
tags: [orders, eu]
version: 3
input: { type: object, required: [order] }
variables: { region: eu }
config:
  mode: levels
  maxParallelism: 25
  timeout: 1h30m
  onFailure: finish-running
  retry: { policy: exponential-jitter, initial: 1s, max: 30s, multiplier: 2.5, attempts: 5, lost: 0, on: [TIMEOUT] }
  maxTotalRetries: 0
  priority: 9
  retention: forever
  capabilities: { network: ["*.example.com"], files: { read: [data/**], write: [] }, shell: [git], env: [HOME] }
nodes:
  fetch:
    name: Fetch
    action: http.request@1.2
    with: { url: "{{ $input.order.url }}" }
    retry: { policy: my-policy, attempts: 2 }
    timeout: { attempt: 10s, queued: 1m, total: PT2M }
    onError: branch
    priority: 0
    estimate: 250ms
    enabled: false
    effect: idempotent
    capabilities: { network: [api.example.com] }
    credentials: { api: stripe-key }
    notes: |
      two
      lines
  charge: { needs: fetch, when: $nodes.fetch.output.total > 0, join: any, action: payment.charge, timeout: 5s, onError: halt }
  pack: { needs: [fetch, charge], join: 2, when: true, action: warehouse.pack_it-now@10, retry: { delay: 1s, attempts: 3 } }
  tell: { action: email.send }
edges:
  - fetch -> tell
  - { from: fetch, to: tell, on: error, match: { code: [A, /B.*/], kind: USER, message: x } }
  - { from: charge, to: tell, on: always }
  - { from: charge, to: tell, on: result, match: { total: { gt: 5 } }, when: $vars.region == 'eu' }
output: { packed: "{{ $nodes.pack.output }}" }
`);
    expect(result.problems).toEqual([]);
    expect(result.definition?.nodes?.charge?.needs).toEqual(['fetch']);
    expect(result.graphs?.get('')?.ids).toEqual(['fetch', 'charge', 'pack', 'tell']);
  });

  it('[DEF-50] all problems come at once, in order, with path and range', () => {
    const result = yaml(
      'id: a b\nconfig: { mode: x }\nnodes:\n  a: { needs: q, action: A }\n  b: { action: y, priority: 99, foo: 1 }\nfoo: 1\n',
    );
    expect(positions(result)).toEqual([
      'BAD_ID 1:5',
      'UNKNOWN_CHOICE 2:17',
      'UNKNOWN_NODE 4:15',
      'BAD_ACTION_REFERENCE 4:26',
      'OUT_OF_RANGE 5:29',
      'UNKNOWN_KEY 5:33',
      'UNKNOWN_KEY 6:1',
    ]);
    expect(result.problems.map(({ path }) => path.join('.'))).toEqual([
      'id',
      'config.mode',
      'nodes.a.needs.0',
      'nodes.a.action',
      'nodes.b.priority',
      'nodes.b.foo',
      'foo',
    ]);
    expect(result.definition).toBeUndefined();
  });

  it('[DEF-50] no number of warnings hides an error', () => {
    const unsafe = Array.from({ length: REPORT_LIMITS.maxProblems + 50 }, () => '9007199254740993').join(',');
    const result = json(`{"id":"x","output":[${unsafe}],"nodes":{"a":{}}}`);
    expect(codes(result).filter((code) => code === 'UNSAFE_INTEGER')).toHaveLength(REPORT_LIMITS.maxProblems);
    expect(codes(result)).toContain('MISSING_KIND');
  });

  it('[DEF-50] there is a limit to listing them', () => {
    const keys = Array.from({ length: REPORT_LIMITS.maxProblems + 50 }, (_, n) => `"k${n}": 1`).join(',');
    const { problems } = json(`{"id":"x",${keys}}`);
    expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(REPORT_LIMITS.maxProblems);
  });
});

describe('keys', () => {
  it.each([
    ['id: x\nnam: y\n', 'nam', "did you mean 'name'?"],
    [node('retires: 3'), 'retires', "did you mean 'retry'?"],
    [node('depends_on: [b]'), 'depends_on', "did you mean 'needs'?"],
    [node('if: true'), 'if', "did you mean 'when'?"],
    [node('retry: { maxAttempts: 3 }'), 'maxAttempts', "did you mean 'attempts'?"],
    [workflow('config: { maxParalelism: 3 }'), 'maxParalelism', "did you mean 'maxParallelism'?"],
    [workflow('edges: [{ from: a, to: b, iff: x }]'), 'iff', 'the keys of an edge are from, to, when, on, match'],
    [node('timeout: { atempt: 1s }'), 'atempt', "did you mean 'attempt'?"],
    [node('capabilities: { netwrok: [] }'), 'netwrok', "did you mean 'network'?"],
  ])('[DEF-51] an unknown key in %j', (text, key, hint) => {
    const result = yaml(text);
    const problem = find(result, 'UNKNOWN_KEY');
    expect(underlined(result, problem)).toBe(key);
    expect(problem.hint).toBe(hint);
  });

  it('[DEF-51] a misspelt key is not reported missing as well', () => {
    expect(codes(yaml('Id: x\nnodes: { a: { acton: y } }\n'))).toEqual(['UNKNOWN_KEY', 'UNKNOWN_KEY']);
  });

  const LATER = {
    workflow: [] as string[],
    config: ['executor'],
    node: [],
  };

  it.each(LATER.config)('[DEF-52] config.%s is not built yet', (key) => {
    expect(codes(yaml(workflow(`config: { ${key}: x }`)))).toEqual(['NOT_BUILT_YET']);
  });

  it.each(LATER.node)('[DEF-52] %s of a node is not built yet', (key) => {
    const result = yaml(`id: x\nnodes: { a: { ${key}: x }, b: { action: y } }\n`);
    expect(codes(result)).toContain('NOT_BUILT_YET');
    const kind = NODE.keys[key]?.kind === true;
    expect(codes(result).includes('MISSING_KIND')).toBe(!kind);
  });

  it('[DEF-52] the tables know no other unbuilt key', () => {
    const later = (keys: Readonly<Record<string, { later?: boolean }>>): string[] =>
      Object.keys(keys).filter((key) => keys[key]?.later);
    expect(later(NODE.keys).sort()).toEqual([...LATER.node].sort());
    expect(later(WORKFLOW.keys)).toEqual(LATER.workflow);
  });

  it('[DEF-71] $schema is for editors', () => {
    const result = json('{"$schema":"./nebula.schema.json","id":"x","nodes":{"a":{"action":"b"}}}');
    expect(result.problems).toEqual([]);
    expect(Object.keys(result.definition ?? {})).toEqual(['id', 'nodes']);
  });

  it('[DEF-53] required keys', () => {
    expect(positions(yaml(NODES))).toEqual(['MISSING_KEY 1:1']);
    expect(positions(yaml(workflow('edges:\n  - { from: a }')))).toEqual(['MISSING_KEY 4:5']);
  });
});

describe('values', () => {
  it.each([
    ['id: 5\n', "'id' must be an id, not 5", 'put it in quotes: "5"'],
    ['id: x\nname: [a]\n', "'name' must be a string, not a list", undefined],
    ['id: x\ntags: a\n', "'tags' must be a list, not the string 'a'", 'write it as a list: [a]'],
    ['id: x\ntags: [a, 1]\n', "an item of 'tags' must be a string, not 1", 'put it in quotes: "1"'],
    [
      'id: x\nnodes: [a]\n',
      "'nodes' must be a mapping, not a list",
      'e.g. nodes: { fetch: { action: http.request@1 } }',
    ],
    ['id: x\nnodes: { a: }\n', "'a' must be a mapping, not nothing", 'give it a value, or remove the key'],
    [
      'id: x\nversion: "3"\n',
      "'version' must be a whole number of at least 1, not the string '3'",
      'remove the quotes',
    ],
    ['id: x\nversion: 1.5\n', "'version' must be a whole number of at least 1, not 1.5", undefined],
    [
      node('enabled: no'),
      "'enabled' must be true or false, not the string 'no'",
      'in YAML 1.2, only true and false are booleans',
    ],
    [
      node('timeout: 10'),
      "'timeout' must be a duration such as 10s or a mapping, not 10",
      'add a unit: did you mean 10s or 10ms?',
    ],
    [node('with: [1]'), "'with' must be a mapping, not a list", 'e.g. with: { url: … }'],
    [node('when:'), "'when' must be an expression, not nothing", 'give it a value, or remove the key'],
    [node('when: " "'), "'when' is empty", 'write an expression or remove the key'],
    [
      node('join: true'),
      "'join' must be one of all, any, ended or a whole number from 1 to 1000000, not true",
      'e.g. all',
    ],
    [
      'id: x\ninput: text\n',
      "'input' must be a JSON Schema (a mapping, or true or false), not the string 'text'",
      'e.g. input: { type: object }',
    ],
    [workflow('edges: [5]'), "an item of 'edges' must be a string such as 'a -> b' or a mapping, not 5", undefined],
    [node('capabilities: { files: [a] }'), "'files' must be a mapping, not a list", 'e.g. files: { read: [data/**] }'],
    [node('credentials: [a]'), "'credentials' must be a mapping, not a list", 'e.g. credentials: { api: stripe-key }'],
    [node('retry: 3'), "'retry' must be a mapping or a list, not 3", 'e.g. retry: { attempts: 3, delay: 1s }'],
  ])('[DEF-54] %j', (text, message, hint) => {
    const problem = find(yaml(text), 'WRONG_TYPE');
    expect(problem.message).toBe(message);
    expect(problem.hint).toBe(hint);
  });

  it.each([
    ['order fulfilment', "an id has letters, digits, '_' and '-' only, e.g. 'order-fulfilment'"],
    ['größe', "an id has letters, digits, '_' and '-' only, e.g. 'gro-e'"],
    ['', "an id has letters, digits, '_' and '-' only"],
    ['a, b', "an id has letters, digits, '_' and '-' only, e.g. 'a-b'"],
    ['a.b/c', "an id has letters, digits, '_' and '-' only, e.g. 'a-b-c'"],
    ['x'.repeat(201), 'an id has at most 200 characters'],
  ])('[DEF-55] %j is not an id', (id, hint) => {
    const ids = { id, nodes: { [id]: { action: 'x' }, b: { action: 'x', needs: [id] } } };
    const result = json(JSON.stringify(ids));
    expect(codes(result)).toEqual(['BAD_ID', 'BAD_ID', 'BAD_ID']);
    expect(result.problems[0]?.hint).toBe(hint);
    expect(underlined(result, result.problems[1] as never)).toBe(JSON.stringify(id));
  });

  it('[DEF-55] several ids in one text', () => {
    expect(find(yaml(node('needs: b, c')), 'BAD_ID').hint).toBe('several ids are a list: [b, c]');
  });

  it('[DEF-55] 200 characters of every kind are fine', () => {
    const id = `_-9${'x'.repeat(197)}`;
    expect(codes(json(JSON.stringify({ id, nodes: { [id]: { action: 'x' } } })))).toEqual([]);
  });

  it.each([
    'version: 0',
    'config: { maxParallelism: 0 }',
    'config: { priority: 10 }',
    'config: { priority: -1 }',
    'config: { maxTotalRetries: -1 }',
    'config: { retry: { attempts: 0 } }',
    'config: { retry: { attempts: 1, lost: -1 } }',
    'config: { retry: { attempts: 2, initial: 1s, multiplier: 0.5 } }',
  ])('[DEF-56] %s is out of range', (lines) => {
    expect(codes(yaml(workflow(lines)))).toEqual(['OUT_OF_RANGE']);
  });

  it('[DEF-56] so is a join of 0', () => {
    expect(codes(yaml(node('join: 0')))).toEqual(['OUT_OF_RANGE']);
  });

  it.each([
    [
      workflow('config: { mode: paralel }'),
      "'mode' must be one of parallel, levels, sequential, not 'paralel'",
      "did you mean 'parallel'?",
    ],
    [
      workflow('config: { onFailure: failfast }'),
      "'onFailure' must be one of fail-fast, finish-running, ignore, not 'failfast'",
      "did you mean 'fail-fast'?",
    ],
    [node('onError: continue'), "'onError' must be one of halt, ignore, branch, not 'continue'", undefined],
    [node('effect: Pure'), "'effect' must be one of pure, idempotent, once, not 'Pure'", "did you mean 'pure'?"],
    [node('join: some'), "'join' must be one of all, any, ended, not 'some'", undefined],
    [
      workflow('edges: [{ from: a, to: b, on: failure }]'),
      "'on' must be one of success, error, always, result, not 'failure'",
      undefined,
    ],
  ])('[DEF-57] %j', (text, message, hint) => {
    expect(find(yaml(text), 'UNKNOWN_CHOICE')).toMatchObject({ message, ...(hint ? { hint } : {}) });
  });

  it.each([
    [node('timeout: 10 sec'), "'timeout': '10 sec' is not a duration", "did you mean '10s'?"],
    [node('timeout: 0s'), "'timeout' must be longer than zero", 'remove the key for no limit'],
    [node('timeout: { queued: 1y }'), "'queued': '1y' is not a duration", undefined],
    [node('estimate: -1s'), "'estimate': '-1s' is not a duration", 'a duration cannot be negative'],
    [workflow('config: { retention: forevr }'), "'retention': 'forevr' is not a duration", "did you mean 'forever'?"],
    [workflow('config: { timeout: forever }'), "'timeout': 'forever' is not a duration", undefined],
  ])('[DEF-58] %j', (text, message, hint) => {
    expect(find(yaml(text), 'BAD_DURATION')).toMatchObject({ message, ...(hint ? { hint } : {}) });
  });

  it.each([
    ['HTTP.request', "did you mean 'http.request'?"],
    ['http.request@v1', "did you mean 'http.request@1'?"],
    ['http.request@1.2.3', "did you mean 'http.request@1.2'?"],
    ['http request', "did you mean 'httprequest'?"],
    ['http.request@latest', 'write it as http.request, http.request@1 or http.request@1.2'],
    ['1st', 'write it as http.request, http.request@1 or http.request@1.2'],
    ['', 'write it as http.request, http.request@1 or http.request@1.2'],
  ])('[DEF-59] %j is not an action reference', (action, hint) => {
    const result = json(JSON.stringify({ id: 'x', nodes: { a: { action } } }));
    expect(find(result, 'BAD_ACTION_REFERENCE').hint).toBe(hint);
  });
});

describe('keys that depend on each other', () => {
  it('[DEF-60] a node has exactly one kind', () => {
    const none = yaml('id: x\nnodes:\n  a: { name: y }\n');
    expect(positions(none)).toEqual(['MISSING_KIND 3:3']);
    expect(find(none, 'MISSING_KIND').hint).toBe(
      'add a kind (action, group, branch, forEach, while, retryUntil, workflow, dynamic, wait, set, terminate, split, merge), e.g. action: http.request@1',
    );
    const two = yaml('id: x\nnodes:\n  a: { action: y, wait: { for: 1s } }\n');
    expect(positions(two)).toEqual(['SEVERAL_KINDS 3:19']);
  });

  it.each([
    ['{ policy: exponential, delay: 1s, attempts: 2 }', 'delay'],
    ['{ policy: exponential-jitter, delay: 1s, attempts: 2 }', 'delay'],
    ['{ policy: fixed, initial: 1s, attempts: 2 }', 'initial'],
    ['{ policy: fixed, delay: 1s, max: 2s, attempts: 2 }', 'max'],
    ['{ delay: 1s, multiplier: 2, attempts: 2 }', 'multiplier'],
    ['{ delay: 1s, initial: 2s, attempts: 2 }', 'delay'],
    ['{ initial: 10s, max: 1s, attempts: 2 }', '1s'],
  ])('[DEF-61] retry: %s', (retry, marked) => {
    const result = yaml(node(`retry: ${retry}`));
    expect(codes(result)).toEqual(['RETRY_CONFLICT']);
    expect(underlined(result, find(result, 'RETRY_CONFLICT'))).toBe(marked);
  });

  it.each([
    '{ policy: fixed, delay: 1s, attempts: 2 }',
    '{ policy: mine, delay: 1s, initial: 2s, attempts: 2 }',
    '{ initial: 1s, max: 1s, attempts: 2 }',
  ])('[DEF-61] retry: %s is fine', (retry) => {
    expect(codes(yaml(node(`retry: ${retry}`)))).toEqual([]);
  });

  it('[DEF-61] the policy is implied by the keys', () => {
    expect([{}, { delay: '1s' }, { initial: '1s' }, { policy: 'mine', delay: '1s' }].map(retryPolicyOf)).toEqual([
      'exponential',
      'fixed',
      'exponential',
      'mine',
    ]);
  });

  it('[DEF-62] a retry that says how long but not how often', () => {
    expect(positions(yaml(node('retry: { delay: 1s }')))).toEqual(['RETRY_WITHOUT_ATTEMPTS 5:5']);
    expect(find(yaml(node('retry: { delay: 1s }')), 'RETRY_WITHOUT_ATTEMPTS').severity).toBe('warning');
    expect(codes(yaml(node('retry: { lost: 3 }')))).toEqual([]);
    const config = 'config: { retry: { attempts: 3 } }\n';
    expect(codes(yaml(`${node('retry: { delay: 1s }')}${config}`))).toEqual([]);
    expect(codes(yaml(`${node('retry: [{ on: [X], delay: 1s }, { attempts: 2 }]')}${config}`))).toEqual([
      'RETRY_WITHOUT_ATTEMPTS',
    ]);
    const group = (retry: string) =>
      `id: x\n${config}nodes: { g: { group: { nodes: { a: { action: do } } }, ${retry} } }`;
    expect(codes(yaml(group('retry: { delay: 1s }')))).toEqual(['RETRY_WITHOUT_ATTEMPTS']);
    expect(codes(yaml(group('retry: { delay: 1s, attempts: 2 }')))).toEqual([]);
  });

  it.each(['{ attempts: 3, system: 2 }', '[{ attempts: 3, lost: 1, system: 2 }]'])(
    '[DEF-51] retry: %s has a key of an earlier version: the hint says how to write it now',
    (retry) => {
      const result = yaml(node(`retry: ${retry}`));
      expect(codes(result)).toEqual(['UNKNOWN_KEY']);
      expect(find(result, 'UNKNOWN_KEY')).toMatchObject({
        message: "'system' is no longer a key of retry",
        hint: expect.stringMatching(/'attempts' for errors.*'lost' for attempts cut off/) as unknown,
      });
    },
  );

  it('[DEF-63] match belongs to error and result', () => {
    expect(positions(yaml(workflow('edges: [{ from: a, to: b, on: result }]')))).toEqual(['MISSING_MATCH 3:31']);
    expect(positions(yaml(workflow('edges: [{ from: a, to: b, match: { code: X } }]')))).toEqual(['UNUSED_MATCH 3:27']);
    expect(codes(yaml(workflow('edges: [{ from: a, to: b, on: always, match: { code: X } }]')))).toEqual([
      'UNUSED_MATCH',
    ]);
    expect(codes(yaml(workflow('edges: [{ from: a, to: b, on: result, match: null }]')))).toEqual([]);
  });

  it.each([
    ['{ cod: X }', 'UNKNOWN_KEY'],
    ['X', 'WRONG_TYPE'],
    ['{ code: [1] }', 'WRONG_TYPE'],
    ['{ kind: user }', 'UNKNOWN_CHOICE'],
    ['{ kind: [USER, SYS] }', 'UNKNOWN_CHOICE'],
  ])('[DEF-64] the error matcher %s', (match, code) => {
    expect(codes(yaml(workflow(`edges: [{ from: a, to: b, on: error, match: ${match} }]`)))).toEqual([code]);
    expect(codes(yaml(workflow(`edges: [{ from: a, to: b, on: result, match: ${match} }]`)))).toEqual([]);
  });

  it('[DEF-65] onError: branch needs an edge that takes the error', () => {
    expect(positions(yaml(node('onError: branch')))).toEqual(['BRANCH_WITHOUT_EDGE 5:14']);
    expect(codes(yaml(`${node('onError: branch')}edges: [a -> b]\n`))).toEqual(['BRANCH_WITHOUT_EDGE']);
    const edge = (on: string): string => `${node('onError: branch')}edges: [{ from: a, to: b, on: ${on} }]\n`;
    expect(codes(yaml(edge('error')))).toEqual([]);
    expect(codes(yaml(edge('always')))).toEqual(['BRANCH_WITHOUT_EDGE']);
  });

  it('[DEF-66] needs and edges have one form', () => {
    const { definition } = yaml(
      'id: x\nnodes: { a: {action: x}, b: {action: x, needs: a}, c: {action: x} }\nedges: [b -> c, a->b->c]\n',
    );
    expect(definition?.nodes?.b?.needs).toEqual(['a']);
    expect(definition?.edges).toEqual([
      { from: 'b', to: 'c' },
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
    ]);
  });

  it.each([
    ['a', "write it as 'a -> b', or as { from: a, to: b }"],
    ['a ->', "write it as 'a -> b', or as { from: a, to: b }"],
    ['a → b', "did you mean 'a -> b'?"],
    ['a => b', "did you mean 'a -> b'?"],
    ['a --> b', "did you mean 'a -> b'?"],
    ['a -> b c', "write it as 'a -> b', or as { from: a, to: b }"],
    ['a > b', "did you mean 'a -> b'?"],
  ])('[DEF-67] %j is not an edge', (edge, hint) => {
    const result = json(JSON.stringify({ id: 'x', nodes: { a: { action: 'x' }, b: { action: 'x' } }, edges: [edge] }));
    expect(codes(result)).toEqual(['BAD_EDGE']);
    expect(find(result, 'BAD_EDGE').hint).toBe(hint);
  });

  it('[DEF-68] how many nodes there are', { timeout: 60_000 }, () => {
    expect(positions(yaml('id: x\n'))).toEqual(['NO_NODES 1:1']);
    expect(find(yaml('id: x\nnodes: {}\n'), 'NO_NODES').severity).toBe('warning');
    const nodes = Array.from({ length: 200_001 }, (_, n) => `"n${n}":{"action":"x"}`).join(',');
    expect(codes(json(`{"id":"x","nodes":{${nodes}}}`))).toEqual(['TOO_MANY_NODES']);
  });
});
