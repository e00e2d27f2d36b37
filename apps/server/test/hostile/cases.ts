/**
 * Requests that nobody should send, over all borders. Each names its threat and the statuses with which it may be
 * refused; whatever it does, the server answers `/health` and runs a workflow afterwards.
 */

export interface HostileCase {
  readonly threat: string;
  readonly name: string;
  readonly line: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Left out: any of 400 to 499. */
  readonly refused?: readonly number[];
  /** Sent without a token. */
  readonly isNobody?: true;
}

export interface HostileSetting {
  readonly leaseId: string;
}

const WORKFLOWS = 'POST /api/v1/workflows';
const VALIDATE = 'POST /api/v1/workflows/validate';
const WORKERS = 'POST /api/v1/workers';
const START = 'POST /api/v1/executions';
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const nested = (levels: number): unknown => {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
};
const short = (value: unknown): string => JSON.stringify(value)?.slice(0, 60) ?? String(value);

export function hostileCases(setting: HostileSetting): readonly HostileCase[] {
  return [
    ...announcements(),
    ...times(setting),
    ...schemas(),
    ...filePatterns(),
    ...definitions(),
    ...bodies(),
    ...logLines(setting),
    ...graphEndpoints(setting),
    ...foreignPages(),
    ...forms(),
    ...streams(),
    ...identities(),
  ];
}

function announcements(): HostileCase[] {
  const builtin = ['http.request', 'core.set', 'core.noop', 'core.fail', 'core.log'];
  const announce = (id: string, version: string) => ({ workerId: 'w', actions: [{ id, version, effect: 'pure' }] });
  return [
    ...builtin.flatMap((id) =>
      ['1.99', '2'].map((version) => ({
        threat: 'announced-actions',
        name: `announce ${id}@${version}`,
        line: WORKERS,
        body: announce(id, version),
      })),
    ),
    ...[null, 1, '', '../x', 'x'.repeat(300), '__proto__ x'].map((id) => ({
      threat: 'announced-actions',
      name: `announce the id ${short(id)}`,
      line: WORKERS,
      body: { workerId: 'w', actions: [{ id, effect: 'pure' }] },
    })),
    {
      threat: 'announced-actions',
      name: 'announce 1,001 actions',
      line: WORKERS,
      body: { workerId: 'w', actions: many(1_001, (at) => ({ id: `a.b${at}`, effect: 'pure' })) },
    },
  ];
}

const TIMES = [
  '2016-12-31T23:59:60Z',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '2026-01-01T00:61:00Z',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  'yesterday',
  '',
  '1e300',
];

function times({ leaseId }: HostileSetting): HostileCase[] {
  return [
    ...TIMES.map((at) => ({
      threat: 'impossible-times',
      name: `a log line at ${short(at)}`,
      line: `POST /api/v1/leases/${leaseId}/logs`,
      body: { lines: [{ message: 'x', at }] },
    })),
    ...[1e300, -1, -1e300, 8.64e15, '0', [], {}, true].map((timestamp_ms) => ({
      threat: 'impossible-times',
      name: `a log chunk at ${short(timestamp_ms)}`,
      line: `POST /api/jobs/${leaseId}/logs`,
      body: { chunks: [{ data: 'x', timestamp_ms }] },
    })),
    ...TIMES.filter((at) => at !== '').map((at) => ({
      threat: 'impossible-times',
      name: `runs since ${short(at)}`,
      line: `GET /api/v1/executions?since=${encodeURIComponent(at)}`,
    })),
  ];
}

function doubling(keyword: string): unknown {
  const $defs: Record<string, unknown> = { a40: { type: 'string' } };
  for (let at = 0; at < 40; at++) $defs[`a${at}`] = { [keyword]: many(2, () => ({ $ref: `#/$defs/a${at + 1}` })) };
  return { $defs, $ref: '#/$defs/a0' };
}

const BAD_SCHEMAS: readonly unknown[] = [
  { $async: true },
  { $async: false, type: 'object' },
  { properties: { a: { $async: true } } },
  { $defs: { a: { $async: true } }, $ref: '#/$defs/a' },
  { anyOf: [{ items: { $async: true } }] },
  { $ref: 'https://evil.example/schema' },
  { $ref: 'file:///etc/passwd' },
  { $ref: '#/nowhere' },
  { $ref: 7 },
  { type: 'text' },
  { pattern: '(' },
  { pattern: '(a{100}){100}' },
  { pattern: 'x'.repeat(1_001) },
  { patternProperties: { '[': {} } },
  { enum: many(20_001, () => 0) },
  { properties: Object.fromEntries(many(8, (at) => [`p${at}`, { pattern: `${at}{990}`.repeat(4) }])) },
  { not: many(70, () => 0).reduce<unknown>((inner) => ({ not: inner }), {}) },
  { required: [1] },
  { allOf: [] },
  { minLength: -1 },
];

function schemas(): HostileCase[] {
  const definition = (input: unknown) => ({ id: 'hostile-schema', input, nodes: { a: { action: 'core.noop' } } });
  return BAD_SCHEMAS.flatMap((schema, index) => [
    {
      threat: index < 5 ? 'async-schemas' : 'invalid-schemas',
      name: `input schema ${short(schema)}`,
      line: WORKFLOWS,
      body: { definition: definition(schema) },
    },
    {
      threat: index < 5 ? 'async-schemas' : 'invalid-schemas',
      name: `schema of an action ${short(schema)}`,
      line: WORKERS,
      body: { workerId: 'w', actions: [{ id: 'far.hostile', effect: 'pure', input: schema }] },
    },
    {
      threat: index < 5 ? 'async-schemas' : 'invalid-schemas',
      name: `output schema of an action ${short(schema)}`,
      line: WORKERS,
      body: { workerId: 'w', actions: [{ id: 'far.hostile', effect: 'pure', output: schema }] },
    },
  ]);
}

/** Registered first, then started: the check is on a budget. */
export const EXPONENTIAL: readonly { readonly id: string; readonly input: unknown; readonly value: unknown }[] = [
  ...['allOf', 'oneOf'].map((keyword) => ({ id: `exponential-${keyword}`, input: doubling(keyword), value: 'x' })),
  { id: 'exponential-self', input: { $ref: '#' }, value: 'x' },
  { id: 'exponential-items', input: { items: { allOf: [{ $ref: '#' }, { $ref: '#' }] } }, value: nested(60) },
  { id: 'exponential-not', input: { not: { $ref: '#' } }, value: 1 },
];

function filePatterns(): HostileCase[] {
  const patterns = [
    '{a,b}'.repeat(26),
    '{a,{b,{c,d}}}'.repeat(12),
    `{${'a,'.repeat(100)}b}`,
    'a{b',
    'x'.repeat(501),
    'a/'.repeat(40),
    '+(a|aa)b',
    '../x',
    '/etc/*',
    '.{.,}/x/*',
    '{,/}abs/*',
    '{a,../b}/c',
  ];
  return patterns.map((pattern, index) => ({
    threat: index < 7 ? 'costly-patterns' : 'patterns-outside-the-project',
    name: `a file trigger at ${short(pattern)}`,
    line: WORKFLOWS,
    body: {
      definition: {
        id: 'hostile-file',
        triggers: [{ file: { path: pattern } }],
        nodes: { a: { action: 'core.noop' } },
      },
    },
  }));
}

function definitions(): HostileCase[] {
  const nodes = (count: number) => Object.fromEntries(many(count, (at) => [`n${at}`, { action: 'core.noop' }]));
  const validate = (name: string, body: unknown, refused?: readonly number[]): HostileCase => ({
    threat: 'costly-definitions',
    name,
    line: VALIDATE,
    body,
    ...(refused !== undefined && { refused }),
  });
  const checked = [200, 400, 413, 422];
  return [
    validate('two million newlines', { source: '\n'.repeat(2_000_000) }),
    validate('a quarter of a million newlines', { source: `id: x${'\n'.repeat(250_000)}` }, checked),
    validate('2,001 nodes', { definition: { id: 'x', nodes: nodes(2_001) } }),
    validate('2,001 nodes in a body', {
      definition: { id: 'x', nodes: { l: { forEach: { in: '$.a' }, do: { nodes: nodes(2_001) } } } },
    }),
    validate(
      '100 levels',
      { definition: { id: 'x', nodes: { a: { action: 'core.set', with: { value: nested(100) } } } } },
      checked,
    ),
    validate('YAML bomb', { source: `a: &a [x]\nb: &b [*a,*a,*a]\nc: [${'*b,'.repeat(200)}*b]` }, checked),
    ...['[', '{', '"', "'", '&', '*', '!', '|', '>', '%', '@', '`', '- ', ': ', '? ', '\t'].map((text) =>
      validate(`20,000 times ${short(text)}`, { source: text.repeat(20_000) }, checked),
    ),
    ...[null, 1, [], true, 'text'].map((definition) =>
      validate(`the definition ${short(definition)}`, { definition }, checked),
    ),
    validate('nothing', {}),
  ];
}

function bodies(): HostileCase[] {
  const raws = [
    '{"a":',
    '{"a":1}}',
    '\u0000',
    '[',
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":1}}',
    'NaN',
    "{'a':1}",
  ];
  return [
    ...raws.flatMap((raw) =>
      [START, VALIDATE, WORKERS].map((line) => ({
        threat: 'malformed-bodies',
        name: `${line} with ${short(raw)}`,
        line,
        raw,
      })),
    ),
    ...[START, VALIDATE, WORKERS].map((line) => ({
      threat: 'oversized-bodies',
      name: `${line}: 100,000 brackets`,
      line,
      raw: '['.repeat(100_000),
    })),
    ...[START, VALIDATE, WORKERS].map((line) => ({
      threat: 'oversized-bodies',
      name: `${line}: 300,000 values`,
      line,
      raw: `[${'[],'.repeat(300_000)}1]`,
    })),
    ...[START, VALIDATE, WORKERS].flatMap((line) =>
      [12_490, 150_000].map((count) => ({
        threat: 'oversized-bodies',
        name: `${line}: ${count} names of members`,
        line,
        raw: `[${many(count, (at) => `{"n${at}":1}`).join()}]`,
      })),
    ),
    ...[START, VALIDATE, WORKERS].map((line) => ({
      threat: 'oversized-bodies',
      name: `${line}: 49,000 members with one name`,
      line,
      raw: `[${'{"n":1},'.repeat(49_000)}1]`,
    })),
    {
      threat: 'malformed-bodies',
      name: 'a login of 20 KB',
      line: 'POST /api/v1/login',
      body: { user: 'a', password: 'x'.repeat(20_000) },
      isNobody: true,
    },
    ...[
      START,
      VALIDATE,
      WORKERS,
      'POST /api/jobs/claim',
      'POST /api/workflows',
      'POST /hooks/nowhere',
      'POST /callbacks/x.y',
    ].map((line) => ({
      threat: 'malformed-bodies',
      name: `${line} by nobody, 3 MB`,
      line,
      raw: 'x'.repeat(3_000_000),
      isNobody: true as const,
    })),
  ];
}

function logLines({ leaseId }: HostileSetting): HostileCase[] {
  const line = `POST /api/v1/leases/${leaseId}/logs`;
  return [
    { threat: 'oversized-bodies', name: '1,001 lines', line, body: { lines: many(1_001, () => ({ message: 'x' })) } },
    {
      threat: 'oversized-bodies',
      name: 'a line of 100,001 characters',
      line,
      body: { lines: [{ message: 'x'.repeat(100_001) }] },
    },
    {
      threat: 'oversized-bodies',
      name: '100,000 chunks',
      line: `POST /api/jobs/${leaseId}/logs`,
      body: { chunks: many(100_000, () => 1) },
    },
    ...[
      null,
      1,
      'x',
      {},
      [null],
      [1],
      [[]],
      [{}],
      [{ message: 1 }],
      [{ message: 'x', level: 'loud' }],
      [{ message: 'x', fields: 1 }],
    ].map((lines) => ({ threat: 'oversized-bodies', name: `the lines ${short(lines)}`, line, body: { lines } })),
  ];
}

function graphEndpoints({ leaseId }: HostileSetting): HostileCase[] {
  const chunks = [
    null,
    1,
    'x',
    [],
    true,
    { data: 1 },
    { data: 'x', stream: {} },
    { data: 'x', sequence: 'a' },
    { data: 'x', sequence: 1e300 },
  ];
  return [
    ...chunks.map((chunk) => ({
      threat: 'workflow-graph-endpoints',
      name: `the chunk ${short(chunk)}`,
      line: `POST /api/jobs/${leaseId}/logs`,
      body: { chunks: [chunk] },
    })),
    ...['run=a&run=b', 'run=a&run=b&run=c'].flatMap((query) =>
      ['/api/workflows/x/status', '/api/workflows/x/jobs/a/logs', '/api/jobs/x/a/cancelled'].map((path) => ({
        threat: 'workflow-graph-endpoints',
        name: `${path}?${query}`,
        line: `GET ${path}?${query}`,
      })),
    ),
    ...['limit=a', 'limit=-1', 'limit=1e9', 'limit=1&limit=2', 'offset=x', 'status=a&status=b'].map((query) => ({
      threat: 'workflow-graph-endpoints',
      name: `/api/workflows?${query}`,
      line: `GET /api/workflows?${query}`,
    })),
    ...[[1], 'x', 1].flatMap((body) =>
      ['claim', `${leaseId}/complete`, `${leaseId}/fail`, `${leaseId}/logs`].map((path) => ({
        threat: 'workflow-graph-endpoints',
        name: `/api/jobs/…/${path.split('/').at(-1)} with ${short(body)}`,
        line: `POST /api/jobs/${path}`,
        body,
      })),
    ),
    ...[0, -1, 1e300, '30', null].map((lease_ttl_secs) => ({
      threat: 'workflow-graph-endpoints',
      name: `a lease of ${short(lease_ttl_secs)} s`,
      line: 'POST /api/jobs/claim',
      body: { worker_id: 'w', lease_ttl_secs },
    })),
    ...[null, '', 'a b', 'x'.repeat(201), 1, {}].map((worker_id) => ({
      threat: 'workflow-graph-endpoints',
      name: `the worker ${short(worker_id)}`,
      line: 'POST /api/workers/register',
      body: { worker_id },
    })),
  ];
}

function foreignPages(): HostileCase[] {
  const from: readonly Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost.evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  ];
  return from.flatMap((headers) =>
    ['text/plain', 'application/json', 'application/x-www-form-urlencoded'].map((type) => ({
      threat: 'foreign-pages',
      name: `a webhook by a page: ${short(headers)} ${type}`,
      line: 'POST /hooks/hostile',
      raw: 'a=1',
      headers: { ...headers, 'content-type': type },
      refused: [403],
      isNobody: true as const,
    })),
  );
}

/** A field that is sent 200,000 times, as many different fields, and as a webhook that nobody waits for. */
function forms(): HostileCase[] {
  const form = (name: string, raw: string, line = 'POST /hooks/hostile', status = 413): HostileCase => ({
    threat: 'oversized-bodies',
    name: `a form of ${name}`,
    line,
    raw,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    refused: [status],
    isNobody: true,
  });
  const different = Array.from({ length: 200_000 }, (_, at) => `f${at}=${at}`).join('&');
  return [
    form('one field', 'a&'.repeat(200_000)),
    form('different fields', different),
    form('empty fields', '&'.repeat(400_000)),
    form('fields for nobody', different, 'POST /hooks/nobody', 404),
  ];
}

function streams(): HostileCase[] {
  return ['x', '-1', '1e9', '1.2.3', '9'.repeat(50), '%00', 'now,now'].map((after) => ({
    threat: 'invalid-positions',
    name: `follow everything after ${after.slice(0, 20)}`,
    line: `GET /api/v1/events?after=${after}`,
  }));
}

function identities(): HostileCase[] {
  const tokens = [
    '',
    'x',
    'nbk_',
    'nbk__',
    'nbk_a_b',
    'nbk_a_b_c',
    `nbk_${'a'.repeat(1_000)}_b`,
    'a-token-for-tests_',
    'a-token-for-testsx',
    '__proto__',
  ];
  return [
    ...tokens.map((token) => ({
      threat: 'invalid-tokens',
      name: `the token ${short(token)}`,
      line: 'GET /api/v1/me',
      headers: { authorization: `Bearer ${token}` },
      refused: [401],
      isNobody: true as const,
    })),
    ...['Basic eDp5', 'Bearer', 'bearer  ', 'Token x', 'Bearer a b'].map((authorization) => ({
      threat: 'invalid-tokens',
      name: `the header ${authorization}`,
      line: 'GET /api/v1/me',
      headers: { authorization },
      refused: [401],
      isNobody: true as const,
    })),
  ];
}
