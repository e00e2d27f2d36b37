/** Requests under /hooks: what comes in becomes a run, and nothing that is secret becomes part of it. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { type Answer, type Ask, ask, type Headers } from '../support/users.ts';
import { echo, failing, waiting } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const SECRET = 'a secret of both sides';

/** A workflow whose run ends with the payload and `$trigger`. */
const hooked = (id: string, webhook: Record<string, unknown>, more: object = {}) =>
  echo(id, {
    triggers: [
      {
        webhook: {
          path: `/${id}`,
          respond: 'result',
          input: { came: '{{ $input }}', trigger: '{{ $trigger }}' },
          ...webhook,
        },
      },
    ],
    ...more,
  });

describe('webhooks', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot();
    await booted.parts.secrets.set('shared', SECRET);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) await register(hooked(`by-${method}`, { method }));
  });
  afterAll(() => booted.close());

  async function register(definition: { readonly id: string }): Promise<Answer> {
    const answer = await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
    expect(answer.status, answer.text).toBe(201);
    return answer;
  }

  const hook = (path: string, raw: Ask['raw'], type?: string, more: Headers = {}): Promise<Answer> =>
    ask(booted, `POST /hooks${path}`, {
      ...(raw !== undefined && { raw }),
      headers: { ...(type !== undefined && { 'content-type': type }), ...more },
    });

  it('[SRV-60] JSON is JSON, a form is an object, a text is a text; without a body it is the query', async () => {
    const came = async (raw: Ask['raw'], type?: string): Promise<unknown> => {
      const answer = await hook('/by-POST', raw, type);
      expect(answer.status, answer.text).toBe(200);
      return answer.json.came;
    };
    expect(await came('{"a":[1,null,"ü"]}', 'application/json')).toEqual({ a: [1, null, 'ü'] });
    expect(await came('[1]', 'application/cloudevents+json; charset=utf-8')).toEqual([1]);
    expect(await came('"x"', 'text/json')).toBe('x');
    expect(await came('a=1&b=x+y&a=2&__proto__=z', 'application/x-www-form-urlencoded')).toEqual(
      JSON.parse('{"a":["1","2"],"b":"x y","__proto__":"z"}'),
    );
    expect(await came(' {"order": 7}', 'application/x-www-form-urlencoded')).toEqual({ order: 7 });
    expect(await came('%7Ba=1', 'application/x-www-form-urlencoded')).toEqual({ '{a': '1' });
    expect(await came('hello', 'text/plain')).toBe('hello');
    expect(await came('<a/>', 'text/xml; charset=utf-8')).toBe('<a/>');
    for (const method of ['GET', 'DELETE', 'POST']) {
      const answer = await ask(booted, `${method} /hooks/by-${method}?a=1&b=2`);
      expect(answer.json.came, answer.text).toEqual({ a: '1', b: '2' });
      expect(answer.json.trigger).toMatchObject({
        type: 'webhook',
        id: `${method} /by-${method}`,
        method,
        query: { a: '1', b: '2' },
      });
    }
    for (const method of ['PUT', 'PATCH']) {
      expect((await ask(booted, `${method} /hooks/by-${method}`, { body: { b: 1 } })).json.came).toEqual({ b: 1 });
    }
  });

  it('[SRV-674] a form has at most 10,000 fields, of one name or of many', async () => {
    const type = 'application/x-www-form-urlencoded';
    const once = await hook('/by-POST', `${'a&'.repeat(9_999)}a`, type);
    expect(once.json.came).toEqual({ a: Array.from({ length: 10_000 }, () => '') });
    for (const raw of ['a&'.repeat(200_000), '&'.repeat(10_000)]) {
      const refused = await hook('/by-POST', raw, type);
      expect([refused.status, refused.json.detail]).toEqual([413, 'The body has more than 10000 fields.']);
    }
  });

  it('[SRV-60] an unreadable body is refused', async () => {
    expect((await hook('/by-POST', '{', 'application/json')).json.code).toBe('BODY_INVALID');
    expect((await hook('/by-POST', Buffer.from([0xff, 0xfe]), 'text/plain')).json.code).toBe('BODY_INVALID');
    expect((await hook('/by-POST', 'x', 'application/octet-stream')).json.code).toBe('MEDIA_TYPE');
    expect((await hook('/by-POST', '['.repeat(100_000), 'application/json')).json.code).toBe('BODY_INVALID');
    expect((await hook('/nowhere', '{}', 'application/json')).status).toBe(404);
    expect((await ask(booted, 'GET /hooks/by-POST')).status).toBe(404);
  });

  it('[SRV-61] a signature is checked over the bytes, in the way that was agreed', async () => {
    const body = '{ "a":1 }';
    for (const algorithm of ['sha256', 'sha1', 'sha512'] as const) {
      for (const encoding of ['hex', 'base64'] as const) {
        const id = `signed-${algorithm}-${encoding}`;
        await register(
          hooked(id, { signature: { secret: 'shared', header: 'X-Proof', algorithm, encoding, prefix: 'v1=' } }),
        );
        const proof = `v1=${createHmac(algorithm, SECRET).update(body).digest(encoding)}`;
        expect((await hook(`/${id}`, body, 'application/json', { 'x-proof': proof })).status).toBe(200);
        for (const wrong of [undefined, '', proof.slice(3), `${proof}0`, proof.replace(/.$/, '!'), 'v1=']) {
          const answer = await hook(
            `/${id}`,
            body,
            'application/json',
            wrong === undefined ? {} : { 'x-proof': wrong },
          );
          expect([answer.status, answer.json.code], wrong).toEqual([403, 'SIGNATURE_WRONG']);
        }
        expect((await hook(`/${id}`, '{"a":1}', 'application/json', { 'x-proof': proof })).status).toBe(403);
      }
    }
    const before = await ask(booted, 'GET /api/v1/executions?workflowId=signed-sha256-hex', { headers });
    expect(before.json.items).toHaveLength(1);
  });

  it('[SRV-61] a webhook with an unset secret admits no caller, and its name is not revealed', async () => {
    await register(hooked('unset', { signature: { secret: 'not-there' } }));
    const answer = await hook('/unset', '{}', 'application/json', { 'x-signature': 'x' });
    expect(answer.json.code).toBe('SECRET_NOT_FOUND');
    expect(answer.text).not.toContain('not-there');
  });

  it('[SRV-62] credential headers are not part of the run', async () => {
    await register(hooked('private', { signature: { secret: 'shared', header: 'X-Token', scheme: 'token' } }));
    const secrets = {
      'x-token': SECRET,
      authorization: 'Bearer planted-1',
      cookie: 'session=planted-2',
      'proxy-authorization': 'planted-3',
      'x-api-key': 'planted-4',
      'x-csrf-token': 'planted-5',
    };
    const answer = await hook('/private', '{}', 'application/json', { ...secrets, 'x-public': 'shown' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json.trigger.headers['x-public']).toBe('shown');
    const executionId = String(answer.headers['x-nebula-execution']);
    const journal = await ask(booted, `GET /api/v1/executions/${executionId}/journal`, { headers });
    for (const text of [answer.text, journal.text]) {
      expect(text).not.toContain('planted');
      expect(text).not.toContain(SECRET);
    }
  });

  it('[SRV-63] the answer is the id of the run, or its result; a run that fails is a problem', async () => {
    await register(hooked('quick', { respond: 'immediate' }));
    const quick = await hook('/quick', '{}', 'application/json');
    expect(quick.status).toBe(202);
    expect(quick.json).toEqual({ executionId: expect.stringMatching(/^exe_/) });
    await register(failing('breaks', { triggers: [{ webhook: { path: '/breaks', respond: 'result' } }] }));
    const broken = await hook('/breaks', '{}', 'application/json');
    expect(broken.status).toBe(422);
    expect(broken.json).toMatchObject({ code: 'RUN_FAILED', details: { status: 'failed', error: { code: 'BROKEN' } } });
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-63] a payload that does not fit the trigger’s input, or the workflow’s, is an error of the caller', async () => {
    await register(hooked('picky', { input: { n: '{{ $input.order.id }}' } }));
    expect((await hook('/picky', '{}', 'application/json')).json.code).toBe('TRIGGER_INPUT_INVALID');
    const typed = echo('typed', {
      input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      triggers: [{ webhook: { path: '/typed' } }],
    });
    await register(typed);
    expect((await hook('/typed', '{"n":"x"}', 'application/json')).json.code).toBe('INPUT_INVALID');
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-64] the same Idempotency-Key is the same run', async () => {
    const send = () => hook('/quick', '{}', 'application/json', { 'idempotency-key': 'once' });
    const ids = [(await send()).json.executionId, (await send()).json.executionId];
    expect(ids[0]).toBe(ids[1]);
  });
});

describe('activation', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot();
  });
  afterAll(() => booted.close());

  const register = (definition: { readonly id: string }, more: object = {}): Promise<Answer> =>
    ask(booted, 'POST /api/v1/workflows', { headers, body: { definition, ...more } });
  const call = async (line: string): Promise<number> => (await ask(booted, line, { body: {} })).status;

  it('[SRV-65] triggers follow the active version, and go with it', async () => {
    const version = (path: string) =>
      echo('follows', { triggers: [{ webhook: { path } }, { schedule: { cron: '0 0 1 1 *' } }] });
    await register(version('/v1'));
    expect(await call('POST /hooks/v1')).toBe(202);
    await register(version('/v2'), { activate: false });
    expect([await call('POST /hooks/v1'), await call('POST /hooks/v2')]).toEqual([202, 404]);
    await ask(booted, 'POST /api/v1/workflows/follows/activate', { headers, body: { version: 2 } });
    expect([await call('POST /hooks/v1'), await call('POST /hooks/v2')]).toEqual([404, 202]);
    expect((await ask(booted, 'GET /api/v1/schedules/follows--1', { headers })).json).toMatchObject({
      source: 'workflow',
    });
    await ask(booted, 'POST /api/v1/workflows/follows/deactivate', { headers });
    expect([await call('POST /hooks/v1'), await call('POST /hooks/v2')]).toEqual([404, 404]);
    expect((await ask(booted, 'GET /api/v1/schedules/follows--1', { headers })).status).toBe(404);
    const kinds = await Promise.all(
      ['webhook', 'schedule', 'triggers'].map((kind) => booted.parts.records.list(kind, { limit: 9 })),
    );
    expect(kinds.flat()).toEqual([]);
  });

  it('[SRV-66] a path belongs to one workflow: registering or activating another changes nothing', async () => {
    const owner = (id: string, path: string) => echo(id, { triggers: [{ webhook: { path } }] });
    await register(owner('first', '/taken'));
    const second = await register(owner('second', '/taken'));
    expect([second.status, second.json.code]).toEqual([409, 'PATH_TAKEN']);
    expect((await ask(booted, 'GET /api/v1/workflows/second', { headers })).status).toBe(404);
    expect(await booted.parts.records.get('workflow', 'second')).toBeUndefined();
    expect((await register(owner('second', '/taken'), { activate: false })).status).toBe(201);
    const activated = await ask(booted, 'POST /api/v1/workflows/second/activate', { headers, body: {} });
    expect(activated.json.code).toBe('PATH_TAKEN');
    const { json } = await ask(booted, 'GET /api/v1/workflows/second', { headers });
    expect(json.activeVersion).toBe(null);
    await ask(booted, 'POST /api/v1/workflows/first/deactivate', { headers });
    expect((await ask(booted, 'POST /api/v1/workflows/second/activate', { headers, body: {} })).status).toBe(200);
    const twice = echo('twice', { triggers: [{ webhook: { path: '/same' } }, { webhook: { path: '/same' } }] });
    expect((await register(twice)).json.code).toBe('PATH_TAKEN');
  });

  it('[SRV-66] one of many concurrent claims of a path succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        register(echo(`rival-${index}`, { triggers: [{ webhook: { path: '/rare' } }] })),
      ),
    );
    const winners = answers.filter(({ status }) => status === 201);
    expect(winners).toHaveLength(1);
    for (const { status, json } of answers)
      if (status !== 201) expect(['PATH_TAKEN', 'CHANGED_MEANWHILE']).toContain(json.code);
    const hook = await booted.parts.records.get('webhook', 'POST /rare');
    expect(JSON.parse(hook?.body ?? '{}').workflowId).toBe(winners[0]?.json.workflowId);
    const active = await Promise.all(
      Array.from(
        { length: 8 },
        async (_, index) => (await booted.parts.records.get('workflow', `rival-${index}`))?.body,
      ),
    );
    expect(active.filter((body) => body !== undefined && JSON.parse(body).active !== null)).toHaveLength(1);
  });

  it.each([1, 2, 3, 4])('[SRV-66] a path that is taken while it is looked at is taken (look %s)', async (look) => {
    const { records } = booted.parts;
    const get = records.get.bind(records);
    const path = `/contested-${look}`;
    const rival = { kind: 'webhook', id: `POST ${path}`, body: JSON.stringify({ workflowId: 'rival' }) };
    let looks = 0;
    const [early, late] = [look <= 3, look > 3];
    records.get = async (kind, id) => {
      const isLooked = kind === 'webhook' && id === rival.id && ++looks === Math.min(look, 3);
      if (isLooked && early) await records.commit([rival]);
      const row = await get(kind, id);
      if (isLooked && late) await records.commit([rival]);
      return row;
    };
    const answer = await register(echo(`loser-${look}`, { triggers: [{ webhook: { path } }] }));
    records.get = get;
    expect(looks).toBeGreaterThanOrEqual(Math.min(look, 3));
    expect([answer.status, answer.json.code]).toEqual([409, 'PATH_TAKEN']);
    expect(JSON.parse((await get('webhook', rival.id))?.body as string).workflowId).toBe('rival');
    const loser = await get('workflow', `loser-${look}`);
    expect(loser === undefined ? null : JSON.parse(loser.body).active).toBe(null);
  });

  it('[SRV-67] registrations of one workflow at the same time all succeed, and one of their versions is active', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        register(echo('busy', { name: `N${index}`, triggers: [{ webhook: { path: `/busy${index}` } }] })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    const { json } = await ask(booted, 'GET /api/v1/workflows/busy', { headers });
    expect(json.versions).toBe(6);
    const hooks = (await booted.parts.records.list('webhook', { prefix: 'POST /busy', limit: 9 })).map(({ body }) =>
      JSON.parse(body),
    );
    expect(hooks.map(({ version }) => version)).toEqual([json.activeVersion]);
  });

  it('[SRV-68] an id is claimed by the project that comes first', async () => {
    await ask(booted, 'PUT /api/v1/projects/one', { headers, body: {} });
    await ask(booted, 'PUT /api/v1/projects/two', { headers, body: {} });
    const answers = await Promise.all(
      ['one', 'two', 'one', 'two'].map((project) => register(waiting('claimed'), { project })),
    );
    const { json } = await ask(booted, 'GET /api/v1/workflows/claimed', { headers });
    for (const [index, { json: answer }] of answers.entries()) {
      const project = ['one', 'two'][index % 2];
      if (project === json.project) expect(answer.workflowId).toBe('claimed');
      else expect(answer.code).toBe('ID_TAKEN');
    }
    expect(json.versions).toBe(1);
  });

  it('[SRV-69] an API schedule cannot take the id of a trigger', async () => {
    await register(echo('clock', { triggers: [{ interval: { every: '1h' } }] }));
    for (const id of ['clock--0', 'clock--1', 'other--12']) {
      const body = { workflowId: 'clock', every: '2h' };
      expect((await ask(booted, `PUT /api/v1/schedules/${id}`, { headers, body })).status, id).toBeGreaterThanOrEqual(
        400,
      );
      expect((await ask(booted, `DELETE /api/v1/schedules/${id}`, { headers })).status, id).toBeGreaterThanOrEqual(400);
    }
    expect((await ask(booted, 'GET /api/v1/schedules/clock--0', { headers })).json).toMatchObject({
      every: '1h',
      source: 'workflow',
    });
  });
});
