/** Requests that are repeated, that are conditional, that turn pages and that wait. */
import { NebulaError } from '@nebula/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, memoryKeeping, sqliteKeeping, TOKEN } from './support/boot.ts';
import { type Answer, addUser, ask, type Headers, signIn } from './support/users.ts';
import { echo, waiting } from './support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };

describe('repeated requests', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot();
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: echo() } });
  });
  afterAll(() => booted.close());

  const start = (key: string, body: unknown, more: Headers = {}): Promise<Answer> =>
    ask(booted, 'POST /api/v1/executions', { headers: { ...headers, 'idempotency-key': key, ...more }, body });

  it('[SRV-40] the same key gives the same answer, and nothing happens twice', async () => {
    const first = await start('k1', { workflowId: 'echo', input: { n: 1 } });
    const again = await start('k1', { workflowId: 'echo', input: { n: 1 } });
    expect(first.status).toBe(201);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    const list = await ask(booted, 'GET /api/v1/executions?workflowId=echo', { headers });
    expect(list.json.items).toHaveLength(1);
  });

  it('[SRV-41] the same key for another request is refused', async () => {
    await start('k2', { workflowId: 'echo', input: { n: 1 } });
    const other = await start('k2', { workflowId: 'echo', input: { n: 2 } });
    expect(other.status).toBe(422);
    expect(other.json.code).toBe('KEY_REUSED');
    const operation = await ask(booted, 'POST /api/v1/signals', {
      headers: { ...headers, 'idempotency-key': 'k2' },
      body: { signal: 'x' },
    });
    expect(operation.status).toBe(202);
  });

  it('[SRV-40] a repeat during the first request gets its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => start('k3', { workflowId: 'echo' })));
    expect(new Set(answers.map(({ json }) => json.executionId)).size).toBe(1);
  });

  it('[SRV-40] a failed request is not stored: the key may be used again', async () => {
    expect((await start('k4', { workflowId: 'later' })).status).toBe(404);
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: echo('later') } });
    expect((await start('k4', { workflowId: 'later' })).status).toBe(201);
  });

  it('[SRV-40] an operation without a body can be repeated, too', async () => {
    await ask(booted, 'PUT /api/v1/schedules/s', { headers, body: { workflowId: 'echo', every: '1h' } });
    const fire = () =>
      ask(booted, 'POST /api/v1/schedules/s/fire', { headers: { ...headers, 'idempotency-key': 'f' } });
    const [one, two] = [await fire(), await fire()];
    expect(one.status).toBe(201);
    expect(two.json.executionId).toBe(one.json.executionId);
  });

  it('[SRV-400] a process that dies before it keeps the answer has started one run', async () => {
    const keeping = memoryKeeping();
    const { records } = keeping;
    let isDying = false;
    const commit = records.commit.bind(records);
    records.commit = async (changes) => {
      if (isDying && changes.some(({ kind }) => kind === 'idempotency')) throw new NebulaError('STORE_FAILED', 'gone');
      return commit(changes);
    };
    const other = await boot({ keeping });
    const post = (route: string, body?: unknown) =>
      ask(other, `POST /api/v1/${route}`, { headers: { ...headers, 'idempotency-key': 'once' }, body });
    await post('workflows', { definition: echo() });
    await ask(other, 'PUT /api/v1/schedules/s', { headers, body: { workflowId: 'echo', every: '1h' } });
    const { executionId } = await other.client.start('echo');
    for (const [route, body] of [
      ['executions', { workflowId: 'echo' }],
      [`executions/${executionId}/relaunch`, {}],
      ['schedules/s/fire', undefined],
    ] as const) {
      const before = (await other.client.call('countExecutions', {})).counts;
      isDying = true;
      expect((await post(route, body)).status).toBe(503);
      isDying = false;
      const again = await post(route, body);
      expect(again.status).toBe(201);
      await other.client.call('getResult', { params: { executionId: again.json.executionId }, query: { wait: '1m' } });
      const after = (await other.client.call('countExecutions', {})).counts;
      const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, one) => sum + one, 0);
      expect(total(after)).toBe(total(before) + 1);
    }
    await other.close();
  });

  it('[SRV-401] a caller that disconnected before the answer gets it with the same key, and so does a waiting repeat', async () => {
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: waiting('left') } });
    const gone = new AbortController();
    const request = (signal?: AbortSignal) =>
      fetch(`${booted.server.url}/api/v1/executions?wait=1m`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': 'left' },
        body: JSON.stringify({ workflowId: 'left' }),
        ...(signal && { signal }),
      });
    const running = async (): Promise<string> => {
      for (;;) {
        const { items } = await booted.client.call('listExecutions', { query: { workflowId: 'left' } });
        if (items[0] !== undefined) return items[0].executionId;
      }
    };
    const first = request(gone.signal).catch((error: unknown) => error);
    const executionId = await running();
    const together = request();
    gone.abort();
    await first;
    const later = request();
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    for (const answer of [await together, await later, await request()]) {
      expect(answer.status).toBe(201);
      expect(await answer.json()).toMatchObject({ executionId, ended: true });
    }
    const other = await start('left', { workflowId: 'left', input: { n: 1 } });
    expect(other.json.code).toBe('KEY_REUSED');
  });

  it('[SRV-42] keys are each caller’s own', async () => {
    const other = await boot({ users: true });
    const callers: Headers[] = [];
    for (const user of ['ann', 'bob']) {
      await addUser(other, user, { roles: { default: 'editor' } });
      callers.push(await signIn(other, user));
    }
    await ask(other, 'POST /api/v1/workflows', { headers: callers[0] as Headers, body: { definition: echo() } });
    const ids = [];
    for (const caller of callers) {
      const answer = await ask(other, 'POST /api/v1/executions', {
        headers: { ...caller, 'idempotency-key': 'same' },
        body: { workflowId: 'echo' },
      });
      ids.push(answer.json.executionId);
    }
    expect(new Set(ids).size).toBe(2);
    await other.close();
  });
});

describe('conditional requests', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot();
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: echo() } });
  });
  afterAll(() => booted.close());

  const things = [
    ['plans/p', { workflowId: 'echo' }],
    ['schedules/s', { workflowId: 'echo', every: '1h' }],
    ['projects/q', { name: 'Q' }],
    ['users/u', { password: 'a long password' }],
  ] as const;

  it.each(things)(
    '[SRV-43] PUT and DELETE of %s with If-Match change only the revision that was seen',
    async (path, body) => {
      const put = (more: Headers = {}) =>
        ask(booted, `PUT /api/v1/${path}`, { headers: { ...headers, ...more }, body });
      const stale = (await put()).headers['etag'] as string;
      const fresh = (await put()).headers['etag'] as string;
      expect(fresh).not.toBe(stale);
      for (const wrong of [stale, '"0"', '"zzz"', 'W/"1"', '"1", "2"']) {
        expect((await put({ 'if-match': wrong })).status, wrong).toBe(412);
        const removed = await ask(booted, `DELETE /api/v1/${path}`, { headers: { ...headers, 'if-match': wrong } });
        expect(removed.status, wrong).toBe(412);
      }
      const newest = (await put({ 'if-match': fresh })).headers['etag'] as string;
      const gone = await ask(booted, `DELETE /api/v1/${path}`, { headers: { ...headers, 'if-match': newest } });
      expect(gone.status).toBe(204);
      expect((await put({ 'if-match': newest })).status).toBe(412);
    },
  );

  it('[SRV-43] a version is activated only if no one else activated another', async () => {
    const { headers: seen } = await ask(booted, 'GET /api/v1/workflows/echo', { headers });
    const etag = seen['etag'] as string;
    const line = 'POST /api/v1/workflows/echo/deactivate';
    expect((await ask(booted, line, { headers: { ...headers, 'if-match': '"99999"' } })).status).toBe(412);
    expect((await ask(booted, line, { headers: { ...headers, 'if-match': etag } })).status).toBe(200);
    expect((await ask(booted, line, { headers: { ...headers, 'if-match': etag } })).json.code).toBe('ETAG_MISMATCH');
  });

  it('[SRV-44] a caller that has the newest revision gets 304 without the document', async () => {
    for (const path of ['workflows/echo', 'workflows/echo/versions/1']) {
      const { headers: seen } = await ask(booted, `GET /api/v1/${path}`, { headers });
      const etag = seen['etag'] as string;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await ask(booted, `GET /api/v1/${path}`, { headers: { ...headers, 'if-none-match': known } });
        expect([answer.status, answer.text], `${path} ${known}`).toEqual([304, '']);
      }
      const other = await ask(booted, `GET /api/v1/${path}`, { headers: { ...headers, 'if-none-match': '"other"' } });
      expect(other.status).toBe(200);
    }
  });

  it('[SRV-414] writes without If-Match are retried after conflicts, however many there are', async () => {
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: echo() } });
    const bodies = [
      ['plans/many', { workflowId: 'echo' }],
      ['schedules/many', { workflowId: 'echo', every: '1h' }],
    ] as const;
    for (const [path, body] of bodies) {
      const puts = Array.from({ length: 20 }, () => ask(booted, `PUT /api/v1/${path}`, { headers, body }));
      const statuses = (await Promise.all(puts)).map(({ status }) => status).toSorted();
      expect(statuses, path).toEqual([...Array<number>(19).fill(200), 201]);
    }
  });

  it('[SRV-406] every document has an ETag, which changes with it', async () => {
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: waiting() } });
    const { executionId } = await booted.client.start('waiting');
    const look = (path: string, known = '"none"') =>
      ask(booted, `GET /api/v1/${path}`, { headers: { ...headers, 'if-none-match': known } });
    const paths = [`executions/${executionId}`, `executions/${executionId}/result`, 'executions?workflowId=waiting'];
    const tags = await Promise.all(paths.map(async (path) => (await look(path)).headers['etag'] as string));
    for (const [i, path] of paths.entries()) expect((await look(path, tags[i])).status, path).toBe(304);
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    await booted.client.run(executionId).result();
    for (const [i, path] of paths.entries()) expect((await look(path, tags[i])).status, path).toBe(200);
  });

  it('[SRV-406] the tag of a workflow changes with a version that is not active', async () => {
    const look = () => ask(booted, 'GET /api/v1/workflows/echo', { headers });
    const before = await look();
    const definition = echo('echo', { description: 'another' });
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition, activate: false } });
    const after = await look();
    expect(after.json.newestVersion).toBe(before.json.newestVersion + 1);
    expect(after.headers['etag']).not.toBe(before.headers['etag']);
  });

  it('[SRV-407] the active version is that one, and none where none is active', async () => {
    const look = (known = '"none"') =>
      ask(booted, 'GET /api/v1/workflows/echo/versions/active', { headers: { ...headers, 'if-none-match': known } });
    await ask(booted, 'POST /api/v1/workflows/echo/activate', { headers, body: { version: 1 } });
    const before = await look();
    expect(before.json).toMatchObject({ version: 1, active: true });
    await ask(booted, 'POST /api/v1/workflows/echo/deactivate', { headers });
    const after = await look(String(before.headers['etag']));
    expect([after.status, after.json.code]).toEqual([404, 'UNKNOWN_WORKFLOW']);
  });
});

describe.each(['memory', 'SQLite'])('pages, on %s', (kind) => {
  let booted: Booted;
  let remove = async (): Promise<void> => {};
  beforeAll(async () => {
    const opened = kind === 'SQLite' ? await sqliteKeeping() : undefined;
    remove = opened?.remove ?? remove;
    booted = await boot(opened === undefined ? {} : { keeping: opened.keeping });
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: echo() } });
  });
  afterAll(async () => {
    await booted.close();
    await remove();
  });

  it('[SRV-45] turning pages while others are added or go shows every old one once', async () => {
    const start = async (): Promise<string> =>
      (await ask(booted, 'POST /api/v1/executions?wait=10s', { headers, body: { workflowId: 'echo' } })).json
        .executionId;
    const old: string[] = [];
    for (let index = 0; index < 12; index++) old.push(await start());
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await ask(booted, `GET /api/v1/executions?limit=5${cursor}`, { headers });
      seen.push(...json.items.map(({ executionId }: { executionId: string }) => executionId));
      await start();
      await ask(booted, `DELETE /api/v1/executions/${seen[0]}`, { headers });
      if (json.next === null) break;
      cursor = `&cursor=${encodeURIComponent(json.next)}`;
    }
    expect(seen.filter((id) => old.includes(id)).toSorted()).toEqual(old.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('[SRV-45] a cursor that is none of the list’s is refused', async () => {
    for (const list of ['executions', 'workflows/echo/versions', 'actions']) {
      const answer = await ask(booted, `GET /api/v1/${list}?cursor=nonsense`, { headers });
      expect([answer.status, answer.json.code], list).toEqual([400, 'CURSOR_INVALID']);
    }
  });

  it('[SRV-45] all pages together are all actions, versions, plans and keys, once each', async () => {
    for (let index = 0; index < 5; index++) {
      await ask(booted, 'POST /api/v1/workflows', {
        headers,
        body: { definition: echo('many', { name: `N${index}` }) },
      });
      await ask(booted, `PUT /api/v1/plans/plan-${index}`, { headers, body: { workflowId: 'echo' } });
      await ask(booted, 'POST /api/v1/keys', { headers, body: { name: `k${index}`, roles: {} } });
    }
    for (const list of ['actions', 'workflows/many/versions', 'plans', 'keys', 'workflows', 'audit']) {
      const { json: whole } = await ask(booted, `GET /api/v1/${list}?limit=100`, { headers });
      const items: unknown[] = [];
      for (let cursor = ''; ; ) {
        const { json } = await ask(booted, `GET /api/v1/${list}?limit=2${cursor}`, { headers });
        expect(json.items.length, list).toBeLessThanOrEqual(2);
        if (json.next !== null) expect(json.items.length, list).toBe(2);
        items.push(...json.items);
        if (json.next === null) break;
        cursor = `&cursor=${encodeURIComponent(json.next)}`;
      }
      expect(items, list).toEqual(whole.items);
    }
  });
});

describe('waiting', () => {
  let booted: Booted;
  let waiters = 0;
  beforeAll(async () => {
    booted = await boot();
    const { engine } = booted.parts;
    const waitFor = engine.waitFor.bind(engine);
    engine.waitFor = async (...waiting) => {
      waiters++;
      return await waitFor(...waiting).finally(() => {
        waiters--;
      });
    };
    for (const definition of [echo(), waiting()]) {
      await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
    }
  });
  afterAll(() => booted.close());

  const started = async (workflowId: string, query = ''): Promise<Answer> =>
    ask(booted, `POST /api/v1/executions${query}`, { headers, body: { workflowId, input: { a: 1 } } });

  it('[SRV-46] the answer comes with the end, or when the time is over', async () => {
    const fast = await started('echo', '?wait=20s');
    expect(fast.json).toMatchObject({ ended: true, status: 'completed', output: { a: 1 } });
    const slow = await started('waiting', '?wait=50ms');
    expect(slow.json).toMatchObject({ ended: false, output: null });
    await until(() => waiters === 0);
    const waits = ask(booted, `GET /api/v1/executions/${slow.json.executionId}/result?wait=20s`, { headers });
    await ask(booted, `POST /api/v1/executions/${slow.json.executionId}/signal`, { headers, body: { signal: 'go' } });
    expect((await waits).json).toMatchObject({ ended: true, status: 'completed' });
    await until(() => waiters === 0);
  });

  it('[SRV-46] a caller that disconnects while waiting leaves nothing behind', async () => {
    const { json } = await started('waiting');
    const gone = new AbortController();
    const url = `${booted.server.url}/api/v1/executions/${json.executionId}/result?wait=60s`;
    const waits = fetch(url, { headers, signal: gone.signal }).catch((error: Error) => error.name);
    await until(() => waiters === 1);
    gone.abort();
    expect(await waits).toBe('AbortError');
    await until(() => waiters === 0);
    expect(booted.troubles).toEqual([]);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    expect(tries).toBeLessThan(500);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

it('[SRV-753] a run whose definition is refused today is shown, cancelled and deleted after a restart', async () => {
  const { keeping, remove } = await sqliteKeeping();
  const nodes = { a: { wait: { signal: 'go' }, onError: 'branch' }, b: { set: { x: 1 } } };
  const definition = { id: 'old', nodes, edges: [{ from: 'a', to: 'b', on: 'always' }] };
  let booted = await boot({ keeping });
  try {
    const check = await booted.client.call('validateWorkflow', { body: { definition } });
    expect(check.problems.map(({ code }) => code)).toContain('BRANCH_WITHOUT_EDGE');
    // Earlier versions registered it.
    await booted.parts.executions.register(definition);
    const executionId = await booted.parts.engine.start('old', 1);
    await booted.close();
    booted = await boot({ keeping });
    const { client } = booted;
    const params = { executionId };
    expect((await client.call('getExecution', { params })).status).toBe('running');
    await expect(client.call('deleteExecution', { params })).rejects.toMatchObject({ code: 'NOT_FINISHED' });
    await client.call('cancelExecution', { params, body: { reason: 'old' } });
    expect((await client.call('getResult', { params, query: { wait: '10s' } })).status).toBe('cancelled');
    await client.call('deleteExecution', { params });
    await expect(client.call('getExecution', { params })).rejects.toMatchObject({ code: 'UNKNOWN_EXECUTION' });
  } finally {
    await booted.close();
    await remove();
  }
});
