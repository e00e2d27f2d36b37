/** Hostile requests: each is refused with a proper error, and none is too expensive. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { API_PREFIX, OPERATIONS, type Operation, type OperationId, ROUTES } from '@nebula/client/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { type Answer, type Ask, ask } from './support/users.ts';
import { echo, remote, waiting } from './support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const GUARDS = [
  'cache-control',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'cross-origin-resource-policy',
  'content-security-policy',
];

const HUGE = 'x'.repeat(100_000);
const DEEP = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const PARAMETERS = [
  '..%2F..%2Fetc%2Fpasswd',
  '.%252e',
  '%00',
  '%ff',
  '%',
  '__proto__',
  'constructor',
  '%20',
  '%C3%BC',
  'x'.repeat(300),
  'x'.repeat(6_000),
];
const QUERIES = [
  'limit=-1',
  'limit=0',
  'limit=1000000000',
  'limit=1e999',
  'limit=many',
  'limit=1&limit=2',
  'limit=',
  'cursor=garbage',
  'cursor=%00',
  `cursor=${'x'.repeat(5_000)}`,
  'after=-1',
  'after=NaN',
  'wait=soon',
  'wait=-1s',
  'status=happy',
  'since=yesterday',
  'since=2016-12-31T23:59:60Z',
  'project=..',
  'from=0',
  'from=1&to=x',
  'node=',
  'level=loud',
  'unknown=1',
  '__proto__=1',
  'constructor=1',
  'a[b]=1',
  '%ff=%fe',
];
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  '../../etc/passwd',
  '__proto__',
  '\u0000',
  '\ud800',
  HUGE,
  [],
  [[]],
  {},
  { [HUGE]: 1 },
  { constructor: 1, toString: 2, hasOwnProperty: 3 },
  JSON.parse(DEEP(240)),
];
const BODIES: readonly Ask[] = [
  ...['null', '1', '"x"', '[]', 'true', '{"a":', '{"a":1}}', '', '\ufeff{}', DEEP(100_000), DEEP(300)].map((raw) => ({
    raw,
  })),
  { raw: '{"__proto__":{"a":1}}' },
  { raw: '{"constructor":{"prototype":{"a":1}}}' },
  { raw: `{"${HUGE}":1}` },
  { raw: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
  { raw: Buffer.from('{}', 'utf16le') },
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'text/xml',
    'multipart/form-data; boundary=x',
    'nonsense',
    HUGE.slice(0, 5_000),
  ].map((type) => ({ raw: 'a=1', headers: { 'content-type': type } })),
];
const HEADERS: readonly Record<string, string>[] = [
  { 'if-match': '"not-ours"' },
  { 'if-match': 'W/"1"' },
  { 'if-match': '"999999"' },
  { 'if-match': 'x'.repeat(5_000) },
  { 'idempotency-key': 'x'.repeat(600) },
  { 'idempotency-key': '' },
  { 'last-event-id': 'x'.repeat(2_000) },
];

/** A valid body, of which one member after the other is made invalid. */
const GOOD: Partial<Record<OperationId, Record<string, unknown>>> = {
  validateWorkflow: { definition: echo(), source: 'id: x', filename: 'x.yaml' },
  registerWorkflow: { definition: echo(), project: 'default', activate: true },
  activateWorkflow: { version: 1 },
  startExecution: {
    workflowId: 'echo',
    version: 1,
    input: {},
    executionId: 'exe_1',
    idempotencyKey: 'k',
    plan: undefined,
  },
  startTest: {
    definition: echo('hostile-test'),
    source: undefined,
    project: 'default',
    input: {},
    until: 'say',
    from: 'exe_held',
    pins: { say: { output: 1 } },
    executionId: 'exe_hostile_test',
  },
  rehearseWorkflow: { definition: echo(), limit: 2 },
  bulkExecutions: { operation: 'resume', ids: ['exe_1'], filter: {}, limit: 1, reason: '', signal: { signal: 'x' } },
  relaunchExecution: { input: {}, version: 'same' },
  cancelExecution: { reason: 'r', node: 'hold', compensate: false },
  pauseExecution: { reason: 'r' },
  signalExecution: { signal: 'other', key: 'k', payload: {} },
  answerApproval: { node: 'hold', approved: true, comment: 'c', form: {} },
  callBack: { node: 'hold', payload: {} },
  replayExecution: { node: 'hold', input: {}, fork: false },
  migrateExecution: { version: 1, keep: ['hold'], again: [], drop: [], dryRun: true, back: false },
  settleNode: { node: 'hold', happened: true, output: {}, attempt: 1, then: 'fail' },
  publishSignal: { signal: 's', key: 'k', payload: {}, project: 'default', keep: '1s' },
  putSecret: { value: 'some value' },
  putLaunchPlan: {
    workflowId: 'echo',
    version: 1,
    inputs: {},
    fixed: {},
    concurrency: { limit: 1, policy: 'skip' },
    active: true,
  },
  putSchedule: {
    workflowId: 'echo',
    plan: 'p',
    cron: '* * * * *',
    every: '1h',
    timezone: 'UTC',
    catchUp: 'all',
    input: {},
  },
  login: { user: 'nobody', password: 'nothing' },
  putUser: { name: 'n', admin: false, disabled: false, roles: {}, password: 'twelve letters' },
  createKey: { name: 'n', roles: {}, scopes: [], expires: '1h' },
  putProject: { name: 'n' },
  registerWorker: { workerId: 'a-worker', labels: ['far'], actions: [{ id: 'far.work', effect: 'pure' }] },
  claimWork: { max: 1, wait: '0s', lease: '1m', actions: ['far.work'] },
  extendLease: { lease: '1m', progress: 0.5, message: 'm' },
  logLease: { lines: [{ message: 'm', level: 'info', at: '2026-01-01T00:00:00.000Z', fields: {} }] },
  completeLease: { output: {} },
  failLease: { code: 'C', message: 'm', kind: 'USER', details: {}, outcome: 'failed' },
};

const PARAMS: Record<string, string> = {
  workflowId: 'echo',
  version: '1',
  executionId: 'exe_held',
  sha256: 'a'.repeat(64),
  actionId: 'core.noop',
  name: 'a-secret',
  planId: 'a-plan',
  scheduleId: 'a-schedule',
  userId: 'a-user',
  keyId: 'a-key',
  projectId: 'a-project',
  workerId: 'a-worker',
  alias: 'key',
};

function expectPolite(answer: Answer, what: string): void {
  const where = `${what}: ${answer.status} ${answer.text.slice(0, 300)}`;
  expect(answer.status, where).toBeLessThan(500);
  for (const name of GUARDS) expect(answer.headers[name], `${name} of ${where}`).toBeDefined();
  if (answer.status < 400) return;
  expect(answer.headers['content-type'], where).toBe('application/problem+json; charset=utf-8');
  expect(answer.json?.status, where).toBe(answer.status);
  expect(answer.json?.code, where).toMatch(/^[A-Z][A-Z0-9_]+$/);
  expect(answer.json?.detail, where).toEqual(expect.any(String));
  expect(answer.text, where).not.toMatch(/x{201}/);
  expect(answer.text, where).not.toMatch(/node_modules|\.ts:\d|\bat [\w.]+ \(/);
  expect(answer.text.length, where).toBeLessThan(60_000);
}

const served = Object.keys(ROUTES) as OperationId[];

describe('hostile requests', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot({ app: { bodyLimitBytes: 1_000_000 } });
    await booted.client.call('registerWorkflow', { body: { definition: echo() } });
    await booted.client.call('registerWorkflow', { body: { definition: waiting() } });
    await booted.client.call('startExecution', { body: { workflowId: 'waiting', executionId: 'exe_held' } });
  });
  afterAll(() => booted.close());

  /** The lease of a task that has just been claimed. */
  async function lease(): Promise<string> {
    const { client } = booted;
    await client.call('registerWorker', {
      body: { workerId: 'taker', labels: ['far'], actions: [{ id: 'far.work' }] },
    });
    await client.call('registerWorkflow', { body: { definition: remote() } });
    await client.call('startExecution', { body: { workflowId: 'remote' } });
    const { work } = await client.call('claimWork', { params: { workerId: 'taker' }, body: { wait: '5s' } });
    return work[0]?.leaseId as string;
  }

  async function polite(line: string, request: Ask = {}): Promise<Answer> {
    const answer = await ask(booted, line, { ...request, headers: { ...headers, ...request.headers } });
    expectPolite(answer, `${line.slice(0, 200)} ${String(request.raw ?? JSON.stringify(request.body)).slice(0, 100)}`);
    return answer;
  }

  it.each(served)('[SRV-2] %s refuses them with a problem', async (operation) => {
    const [method, route] = ROUTES[operation].split(' ') as [string, string];
    const { params, query, body, stream }: Operation = OPERATIONS[operation];
    const names = Object.keys(params?.properties ?? {});
    if (names.includes('leaseId')) PARAMS.leaseId = await lease();
    const at = (spoilt?: string, value = ''): string =>
      `${method} ${API_PREFIX}${route.replaceAll(/:(\w+)/g, (_, name: string) => (name === spoilt ? value : (PARAMS[name] as string)))}`;
    for (const name of names) {
      for (const value of PARAMETERS) await polite(at(name, value), body && { body: GOOD[operation] ?? {} });
    }
    if (query !== undefined) {
      for (const text of QUERIES) {
        const answer = await polite(`${at()}?${text}`, body && { body: GOOD[operation] ?? {} });
        if (stream === 'events') expect(answer.status).toBeGreaterThanOrEqual(400);
      }
    }
    if (body !== undefined) {
      for (const request of BODIES) await polite(at(), request);
      const good = GOOD[operation] ?? {};
      await polite(at(), { body: { ...good, unknown: 1 } }).then(({ status }) => expect(status).toBe(400));
      for (const member of Object.keys(good)) {
        for (const value of VALUES) await polite(at(), { body: { ...good, [member]: value } });
        const { [member]: _, ...rest } = good;
        await polite(at(), { body: rest });
      }
    }
    if (stream !== 'events' && method !== 'DELETE') {
      for (const more of HEADERS) await polite(at(), { headers: more, ...(body && { body: GOOD[operation] ?? {} }) });
    }
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-2] every report of a worker about its work is accepted or refused', async () => {
    for (const value of VALUES) {
      await polite(`POST /api/v1/leases/${await lease()}/complete`, { body: { output: value } });
      await polite(`POST /api/v1/leases/${await lease()}/fail`, { body: { message: 'm', details: value } });
      const lines = [{ message: 'm', fields: { value } }];
      await polite(`POST /api/v1/leases/${await lease()}/logs`, { body: { lines } });
    }
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-2] every announcement of a worker is accepted or refused', async () => {
    const members = ['id', 'version', 'effect', 'input', 'output', 'title', 'description', 'capabilities'];
    for (const member of members) {
      for (const value of VALUES) {
        const actions = [{ id: 'far.odd', [member]: value }];
        await polite('POST /api/v1/workers', { body: { workerId: 'odd', actions } });
      }
    }
    expect((await polite('GET /api/v1/actions?limit=1000')).status).toBe(200);
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-2] a body that is too large, too deep or no JSON has a code of its own', async () => {
    const line = 'POST /api/v1/executions';
    expect((await polite(line, { raw: `"${'y'.repeat(1_100_000)}"` })).json.code).toBe('TOO_LARGE');
    expect((await polite(line, { raw: DEEP(300) })).json.detail).toContain('256 levels');
    expect((await polite(line, { raw: 'a=1', headers: { 'content-type': 'text/plain' } })).json.code).toBe(
      'MEDIA_TYPE',
    );
    const depth = `{"workflowId":"echo","input":{"a":${DEEP(210)}}}`;
    expect((await polite(line, { raw: depth })).json.code).toBe('INPUT_INVALID');
    const fine = `{"workflowId":"echo","input":{"a":${DEEP(190)}}}`;
    expect((await polite(line, { raw: fine })).status).toBe(201);
  });

  it('[SRV-2] routes that are not there, and methods that are not served, are problems', async () => {
    for (const line of [
      'GET /api',
      'PATCH /api/v1/workflows',
      'GET /api/v1/workflows/%',
      'OPTIONS /api/v1/me',
      `GET /${HUGE.slice(0, 5_000)}`,
    ]) {
      expect((await polite(line)).status).toBeGreaterThanOrEqual(400);
    }
  });

  it('[SRV-3] bytes that are no request are answered with a problem, and the connection is closed', async () => {
    const { port } = new URL(booted.server.url);
    const say = (text: string): Promise<string> =>
      new Promise((resolve) => {
        let heard = '';
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
        socket.on('data', (data) => {
          heard += String(data);
        });
        socket.on('error', () => resolve(heard));
        socket.on('close', () => resolve(heard));
      });
    for (const text of ['nonsense\r\n\r\n', `GET /api/v1/info?${'x'.repeat(40_000)} HTTP/1.1\r\nhost: a\r\n\r\n`]) {
      const heard = await say(text);
      expect(heard).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(heard).toContain('application/problem+json');
      expect(heard).toContain('x-content-type-options: nosniff');
      expect(heard).not.toMatch(/x{201}/);
    }
    expect(await say(`GET /api/v1/info?${'x'.repeat(40_000)} HTTP/1.1\r\nhost: a\r\n\r\n`)).toContain('HEAD_TOO_LARGE');
  });

  const corpus = path.resolve(import.meta.dirname, '../../../../shared/corpora/bad-input');

  // The corpus lies beside the repository, and not on every machine.
  it.skipIf(!existsSync(corpus))(
    '[SRV-2] the corpus of bad input is taken or refused',
    async () => {
      await booted.client.call('registerWorkflow', {
        body: { definition: echo('hooked', { triggers: [{ webhook: { path: '/corpus' } }] }) },
      });
      const files = readdirSync(path.join(corpus, 'json'));
      expect(files.length).toBeGreaterThan(100);
      for (const file of files) {
        const raw = readFileSync(path.join(corpus, 'json', file));
        for (const line of ['workflows', 'workflows/validate', 'executions']) {
          const answer = await polite(`POST /api/v1/${line}`, { raw });
          if (file.startsWith('n_')) expect(answer.status, file).toBe(400);
        }
        const answer = await polite('POST /hooks/corpus', { raw });
        if (file.startsWith('y_')) expect(answer.status, `${file} ${answer.text}`).toBe(202);
        // An empty text is a missing body.
        if (file.startsWith('n_') && raw.length > 0) expect(answer.status, file).toBe(400);
        await polite('POST /api/v1/workflows/validate', { body: { source: raw.toString('latin1') } });
      }
      const strings = JSON.parse(readFileSync(path.join(corpus, 'blns.json'), 'utf8')) as string[];
      for (const text of strings) {
        await polite('POST /api/v1/workflows', { body: { definition: { ...echo(), id: text } } });
        await polite('POST /api/v1/workflows/validate', { body: { source: text, filename: text.slice(0, 500) } });
        const run = await polite('POST /api/v1/executions?wait=5s', { body: { workflowId: 'echo', input: { text } } });
        expect(run.json.output.text).toBe(text);
        await polite('POST /hooks/corpus', { raw: text, headers: { 'content-type': 'text/plain' } });
      }
      expect(booted.troubles).toEqual([]);
    },
    120_000,
  );
});
