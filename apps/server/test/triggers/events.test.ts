/** Published signals that start runs, and those that reach the runs they have started. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, signIn } from '../support/users.ts';
import { echo, waiting } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };

/** A run per order: it ends when the order is paid. */
const order = (id = 'order') => ({
  id,
  triggers: [{ event: { name: 'order', key: '$input.id' } }],
  nodes: { paid: { wait: { signal: 'order' } } },
  output: { first: '{{ $input }}', second: '{{ $nodes.paid.output.payload }}' },
});

describe('events', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot();
    for (const definition of [order(), echo('each', { triggers: [{ event: { name: 'tick' } }] })]) {
      const answer = await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
      expect(answer.status, answer.text).toBe(201);
    }
  });
  afterAll(() => booted.close());

  const publish = (signal: string, payload: unknown, more: Headers = {}): Promise<Answer> =>
    ask(booted, 'POST /api/v1/signals', { headers: { ...headers, ...more }, body: { signal, payload } });
  const result = async (executionId: string) =>
    (await ask(booted, `GET /api/v1/executions/${executionId}/result?wait=10s`, { headers })).json;
  const runs = async (workflowId: string): Promise<number> =>
    (await ask(booted, `GET /api/v1/executions?workflowId=${workflowId}`, { headers })).json.items.length;

  it('[SRV-80] each event starts a run of its own, with the payload as its input', async () => {
    const { json } = await publish('tick', { n: 1 });
    expect(json).toEqual({ taken: null, started: [expect.any(String)] });
    expect((await result(json.started[0])).output).toEqual({ n: 1 });
    const again = await publish('tick', { n: 1 });
    expect(again.json.started[0]).not.toBe(json.started[0]);
    const keyed = [
      await publish('tick', 1, { 'idempotency-key': 'k' }),
      await publish('tick', 1, { 'idempotency-key': 'k' }),
    ];
    expect(keyed[0]?.json.started).toEqual(keyed[1]?.json.started);
  });

  it('[SRV-405] a workflow that cannot be started is reported, and does not block the others', async () => {
    for (const [id, more] of [
      ['fan-a', {}],
      ['fan-b', { triggers: [{ event: { name: 'fan', input: '{{ $input.missing }}' } }] }],
      ['fan-c', {}],
    ] as const) {
      const definition = echo(id, { triggers: [{ event: { name: 'fan' } }], ...more });
      await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
    }
    const { status, json } = await publish('fan', { n: 1 });
    expect(status).toBe(202);
    expect(json.refused).toEqual([
      { workflowId: 'fan-b', code: 'TRIGGER_INPUT_INVALID', message: expect.stringContaining('missing') },
    ]);
    expect([await runs('fan-a'), await runs('fan-b'), await runs('fan-c')]).toEqual([1, 0, 1]);
  });

  it('[SRV-405] one that starts nothing at all is refused', async () => {
    const definition = echo('alone', { triggers: [{ event: { name: 'alone', input: '{{ $input.missing }}' } }] });
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } });
    const { status, json } = await publish('alone', { n: 1 });
    expect([status, json.code]).toEqual([422, 'TRIGGER_INPUT_INVALID']);
  });

  it('[SRV-81] with a key, the first event starts a run and the later ones go to it', async () => {
    const first = (await publish('order', { id: 7, step: 1 })).json;
    expect(first.started).toHaveLength(1);
    const second = (await publish('order', { id: 7, step: 2 })).json;
    expect(second).toEqual({ taken: first.started[0], started: [] });
    expect((await result(first.started[0])).output).toEqual({ first: { id: 7, step: 1 }, second: { id: 7, step: 2 } });
    const other = (await publish('order', { id: 8, step: 1 })).json;
    expect(other.started).toHaveLength(1);
  });

  it('[SRV-81] when a run of a key has ended, the next event starts another, and those after it go to that one', async () => {
    for (let generation = 0; generation < 3; generation++) {
      const { started } = (await publish('order', { id: 'again', generation })).json;
      expect(started).toHaveLength(1);
      const { taken } = (await publish('order', { id: 'again', generation, paid: true })).json;
      expect(taken).toBe(started[0]);
      expect((await result(started[0])).output.first.generation).toBe(generation);
    }
  });

  it('[SRV-81] of two that come at once one starts the run, and the other reaches it', async () => {
    const before = await runs('order');
    const [one, two] = await Promise.all([
      publish('order', { id: 'race', n: 1 }),
      publish('order', { id: 'race', n: 2 }),
    ]);
    expect(await runs('order')).toBe(before + 1);
    const executionId = [...one.json.started, ...two.json.started][0];
    const { output } = await result(executionId);
    expect([output.first.n, output.second.n].toSorted()).toEqual([1, 2]);
  });

  it('[SRV-82] an event that starts a run is not buffered for another; one that starts none is', async () => {
    await publish('tick', {});
    const waits = { id: 'late', nodes: { hold: { wait: { signal: 'tick', deadline: '100ms' } } } };
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: waits } });
    const late = await ask(booted, 'POST /api/v1/executions?wait=10s', { headers, body: { workflowId: 'late' } });
    expect(late.json.error.code).toBe('TIMEOUT');
    await publish('kept', { a: 1 });
    const kept = {
      id: 'keeps',
      nodes: { hold: { wait: { signal: 'kept' } } },
      output: '{{ $nodes.hold.output.payload }}',
    };
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: kept } });
    const found = await ask(booted, 'POST /api/v1/executions?wait=10s', { headers, body: { workflowId: 'keeps' } });
    expect(found.json.output).toEqual({ a: 1 });
  });

  it('[SRV-83] an event belongs to one project: no other project starts or receives it', async () => {
    const other = await boot({ users: true });
    for (const project of ['a', 'b']) await addProject(other, project);
    await addUser(other, 'root', { admin: true });
    await addUser(other, 'ann', { roles: { a: 'operator', b: 'viewer' } });
    const root = await signIn(other, 'root');
    const register = (definition: object, project: string) =>
      ask(other, 'POST /api/v1/workflows', { headers: root, body: { definition, project } });
    const waits: string[] = [];
    for (const project of ['a', 'b']) {
      await register(echo(`of-${project}`, { triggers: [{ event: { name: 'ping' } }] }), project);
      await register(waiting(`waits-${project}`), project);
      const body = { workflowId: `waits-${project}` };
      waits.push((await ask(other, 'POST /api/v1/executions', { headers: root, body })).json.executionId);
      await other.parts.engine.waitFor(waits.at(-1) as string);
    }
    const ann = await signIn(other, 'ann');
    const send = (headersOf: Headers, signal: string, project?: string): Promise<Answer> =>
      ask(other, 'POST /api/v1/signals', { headers: headersOf, body: { signal, ...(project && { project }) } });
    expect((await send(ann, 'ping', 'a')).json.started).toHaveLength(1);
    expect((await send(ann, 'ping', 'b')).status).toBe(403);
    expect((await send(ann, 'ping')).status).toBe(404);
    expect((await send(root, 'ping')).json.started).toEqual([]);
    expect((await other.keeping.store.list({ workflowId: 'of-b', limit: 10 })).rows).toEqual([]);
    expect((await send(root, 'go')).json.taken).toBe(null);
    expect((await send(ann, 'go', 'a')).json.taken).toBe(waits[0]);
    expect((await send(ann, 'go', 'a')).json.taken).toBe(null);
    expect((await send(root, 'go', 'b')).json.taken).toBe(waits[1]);
    await other.close();
  });
});
