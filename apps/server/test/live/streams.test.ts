/** Live updates as they go over the wire: Server-Sent Events, and one WebSocket. */
import type { LiveEvent } from '@nebula/client';
import { virtualClock } from '@nebula/drivers/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { raw, upgradeHead } from '../support/sockets.ts';
import { addProject, addUser, ask, type Headers, signIn } from '../support/users.ts';
import { approval, chatty, echo, verbose, waiting } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };

let booted: Booted;
const open: (() => void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) close();
  await booted.close();
});

async function registered(...definitions: { readonly id: string }[]): Promise<void> {
  for (const definition of definitions) await booted.client.call('registerWorkflow', { body: { definition } });
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const run = async (workflowId: string): Promise<string> =>
  (await booted.client.call('startExecution', { body: { workflowId }, query: { wait: '10s' } })).executionId;

describe('Server-Sent Events', () => {
  beforeEach(async () => {
    booted = await boot();
    await registered(echo(), chatty(), waiting());
  });

  it('[SRV-53] a run’s events are those of its timeline, and continue from Last-Event-ID', async () => {
    const executionId = await run('echo');
    const { items } = await booted.client.call('getTimeline', { params: { executionId } });
    const events = await taken(booted.client.events(executionId), items.length);
    expect(events.map(({ type }) => type)).toEqual(items.map(({ type }) => type));
    const middle = events[1] as LiveEvent;
    const rest = await taken(booted.client.events(executionId, { after: middle.id as string }), items.length - 2);
    expect(rest).toEqual(events.slice(2));
    const all = await taken(booted.client.allEvents({ workflowId: 'echo' }), items.length);
    expect(all).toEqual(events);
  });

  it('[SRV-53] a follower gets new events, and leaves nothing behind when it disconnects', async () => {
    const { executionId } = await booted.client.start('waiting');
    const gone = new AbortController();
    const heard: LiveEvent[] = [];
    const listening = (async () => {
      for await (const event of booted.client.events(executionId, { after: 'now', signal: gone.signal }))
        heard.push(event);
    })();
    await until(() => listeners() === 1);
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    await until(() => heard.some(({ type }) => type === 'WorkflowCompleted'));
    gone.abort();
    await listening;
    await until(() => listeners() === 0);
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-840] the events of a run end with it, and those of a retried run with its second end', async () => {
    const { executionId } = await booted.client.start('waiting');
    const reading = all(booted.client.events(executionId));
    await until(() => listeners() === 1);
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    const events = await reading;
    expect(events.at(-1)?.type).toBe('WorkflowCompleted');
    expect(await all(booted.client.events(executionId))).toEqual(events);
    await booted.client.call('replayExecution', { params: { executionId }, body: { node: 'hold' } });
    const further = all(booted.client.events(executionId, { after: events.at(-1)?.id as string }));
    await until(() => listeners() === 1);
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    const types = (await further).map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['WorkflowReopened', 'WorkflowCompleted']);
    await until(() => listeners() === 0);
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-51] a slow client gets every event in the end, once and in order', async () => {
    const list = Array.from({ length: 4_000 }, (_, n) => n);
    const body = { nodes: { s: { set: { v: '{{ $item }}' } } } };
    await registered({ id: 'long', nodes: { each: { forEach: { in: '$input.list' }, do: body } } } as { id: string });
    const response = await fetch(`${booted.server.url}/api/v1/events?workflowId=long`, { headers });
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const start = { body: { workflowId: 'long', input: { list } }, query: { wait: '20s' }, waitMs: 20_000 };
    const { executionId, status } = await booted.client.call('startExecution', start);
    expect(status).toBe('completed');
    const wanted: string[] = [];
    for (let after = 0; ; ) {
      const page = await booted.client.call('getTimeline', {
        params: { executionId },
        query: { after, limit: 10_000 },
      });
      wanted.push(...page.items.map(({ type, node }) => `${type} ${node}`));
      if (page.next === null) break;
      after = Number(page.next);
    }
    expect(wanted.length).toBeGreaterThan(8_000);
    // The client has read nothing so far.
    const seen: LiveEvent[] = [];
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block.match(/^data: (.*)$/m)?.[1];
        if (data !== undefined && !block.startsWith('event:')) seen.push(JSON.parse(data));
      }
      if (seen.length >= wanted.length) break;
    }
    expect(seen.map(({ type, node }) => `${type} ${node}`)).toEqual(wanted);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(wanted.length);
    await until(() => listeners() === 0);
  });

  it('[SRV-54] log lines are followed from their position', async () => {
    const executionId = await run('chatty');
    const [line] = await taken(booted.client.logs(executionId), 1);
    expect(line).toMatchObject({ message: 'on my way', node: 'say', level: 'info' });
    const { items } = await booted.client.call('listLogs', { params: { executionId } });
    expect(items).toEqual([line]);
    expect(await all(booted.client.logs(executionId, { after: line?.position as number }))).toEqual([]);
  });

  it('[SRV-889] the log of a run ends after its last line, and that of a reopened run with its second end', async () => {
    await registered(verbose());
    const { executionId } = await booted.client.start('verbose', { input: { list: ['a', 'b'] } });
    const reading = all(booted.client.logs(executionId));
    await until(() => listeners() === 1);
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    const lines = await reading;
    expect(lines.map(({ message }) => message)).toEqual(['a', 'b']);
    expect(await all(booted.client.logs(executionId, { node: 'hold' }))).toEqual([]);
    await booted.client.call('replayExecution', { params: { executionId }, body: { node: 'hold' } });
    const further = all(booted.client.logs(executionId, { after: lines.at(-1)?.position as number }));
    await until(() => listeners() === 1);
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    expect((await further).map(({ message }) => message)).toEqual(['a', 'b']);
    const text = await (
      await fetch(`${booted.server.url}/api/v1/executions/${executionId}/logs/stream`, { headers })
    ).text();
    expect(text.match(/^id: /gm)).toHaveLength(4);
    expect(text).toMatch(/\n\nevent: end\ndata: {"executionId":"exe_\w+","status":"completed"}\n\n$/);
    await until(() => listeners() === 0);
    expect(booted.troubles).toEqual([]);
  });

  it('[SRV-54] an invalid line position is refused, and unknown parameters are not ignored', async () => {
    const executionId = await run('chatty');
    const follow = (query: string, more: Headers = {}) =>
      ask(booted, `GET /api/v1/executions/${executionId}/logs/stream${query}`, { headers: { ...headers, ...more } });
    expect((await follow('', { 'last-event-id': 'x' })).json.code).toBe('QUERY_INVALID');
    expect((await follow('?limit=1')).json.code).toBe('QUERY_INVALID');
  });

  it('[SRV-53] closing the server ends all streams', async () => {
    const response = await fetch(`${booted.server.url}/api/v1/events`, { headers });
    const closing = booted.server.close();
    await expect(response.text().catch(() => 'cut')).resolves.toBeTypeOf('string');
    await closing;
    booted = await boot();
  });
});

describe('the socket', () => {
  interface Spoken {
    readonly messages: Record<string, unknown>[];
    readonly closed: Promise<number>;
    say(message: unknown): void;
  }

  async function socket(more: Headers = headers): Promise<Spoken> {
    const url = booted.server.url.replace('http', 'ws');
    const Socket = WebSocket as unknown as new (url: string, options: { headers: Headers }) => WebSocket;
    const own = new Socket(`${url}/api/v1/live`, { headers: more });
    const messages: Record<string, unknown>[] = [];
    own.onmessage = ({ data }) => void messages.push(JSON.parse(String(data)));
    const closed = new Promise<number>((resolve) => {
      own.onclose = ({ code }) => resolve(code);
    });
    await new Promise<void>((resolve, reject) => {
      own.onopen = () => resolve();
      own.onerror = () => reject(new Error('the socket was not opened'));
    });
    own.onerror = () => {};
    open.push(() => own.close());
    return {
      messages,
      closed,
      say: (message) => own.send(typeof message === 'string' ? message : JSON.stringify(message)),
    };
  }

  const typesOf = (messages: Record<string, unknown>[], subscription: string): string[] =>
    messages
      .filter((message) => message['subscription'] === subscription)
      .flatMap((message) => (message['events'] as LiveEvent[] | undefined) ?? [])
      .map(({ type }) => type);

  it('[SRV-55] many subscriptions share it, each with its own place', async () => {
    booted = await boot();
    await registered(echo());
    const executionId = await run('echo');
    const { messages, say } = await socket();
    say({ subscribe: 'one', executionId });
    say({ subscribe: 'all' });
    const { items } = await booted.client.call('getTimeline', { params: { executionId } });
    const types = items.map(({ type }) => type);
    await until(
      () => typesOf(messages, 'one').length === types.length && typesOf(messages, 'all').length === types.length,
    );
    expect(typesOf(messages, 'one')).toEqual(types);
    say({ unsubscribe: 'all' });
    await until(() => listeners() === 0);
    await run('echo');
    expect(typesOf(messages, 'one')).toEqual(types);
  });

  it('[SRV-1072] a subscription to runs has their own events and those of nodes that begin to wait for a person', async () => {
    booted = await boot();
    await registered(echo());
    await registered(approval());
    const { messages, say } = await socket();
    say({ subscribe: 'runs', level: 'runs' });
    const finished = () => typesOf(messages, 'runs').filter((type) => type === 'WorkflowCompleted').length;
    await run('echo');
    await until(() => finished() === 1);
    const { executionId } = await booted.client.call('startExecution', { body: { workflowId: 'approval' } });
    await until(() => typesOf(messages, 'runs').includes('NodeWaiting'));
    await booted.client.call('answerApproval', { params: { executionId }, body: { node: 'ask', approved: true } });
    await until(() => finished() === 2);
    const types = ['WorkflowStarted', 'WorkflowCompleted', 'WorkflowStarted', 'NodeWaiting', 'WorkflowCompleted'];
    expect(typesOf(messages, 'runs')).toEqual(types);
    // The same from the store, for a follower that comes later.
    const controller = new AbortController();
    const past: string[] = [];
    for await (const event of booted.client.allEvents({ level: 'runs', signal: controller.signal })) {
      past.push(event.type);
      if (past.length === types.length) controller.abort();
    }
    expect(past).toEqual(types);
    say({ subscribe: 'wrong', level: 'nodes' });
    await until(() => messages.some((message) => message['subscription'] === 'wrong' && 'problem' in message));
  });

  it('[SRV-840] a subscription to a run ends with it, and its name is free again', async () => {
    booted = await boot();
    await registered(echo());
    const executionId = await run('echo');
    const { messages, say } = await socket();
    const ends = () => messages.filter((message) => 'end' in message);
    for (const times of [1, 2]) {
      say({ subscribe: 'one', executionId });
      await until(() => ends().length === times);
      expect(ends().at(-1)).toEqual({ subscription: 'one', end: { executionId, status: 'completed' } });
      await until(() => listeners() === 0);
    }
  });

  it('[SRV-889] a subscription to a log ends with its run', async () => {
    booted = await boot();
    await registered(chatty());
    const executionId = await run('chatty');
    const { messages, say } = await socket();
    say({ subscribe: 'log', executionId, logs: true });
    await until(() => messages.length === 2);
    expect(messages).toMatchObject([
      { subscription: 'log', lines: [{ message: 'on my way' }] },
      { subscription: 'log', end: { executionId, status: 'completed' } },
    ]);
    await until(() => listeners() === 0);
  });

  it('[SRV-410] it carries the logs of runs, from a position, a node or a level on', async () => {
    booted = await boot();
    await registered(chatty());
    const executionId = await run('chatty');
    const { items } = await booted.client.call('listLogs', { params: { executionId } });
    const { messages, say } = await socket();
    const linesOf = (name: string) =>
      messages.filter(({ subscription }) => subscription === name).flatMap(({ lines }) => (lines as unknown[]) ?? []);
    say({ subscribe: 'log', executionId, logs: true });
    say({ subscribe: 'level', executionId, logs: true, level: 'error' });
    say({ subscribe: 'node', executionId, logs: true, node: 'say', after: 0 });
    say({ subscribe: 'past', executionId, logs: true, after: items.at(-1)?.position });
    await until(() => linesOf('log').length === items.length && linesOf('node').length === items.length);
    expect(linesOf('log')).toEqual(items);
    const ends = () => messages.flatMap((message) => ('end' in message ? [message['subscription']] : []));
    await until(() => ends().length === 4);
    expect(ends().toSorted()).toEqual(['level', 'log', 'node', 'past']);
    expect([linesOf('level'), linesOf('past')]).toEqual([[], []]);
    expect(messages.some((message) => 'problem' in message)).toBe(false);
  });

  it('[SRV-411] of all runs, those of a project or a workflow may be meant', async () => {
    booted = await boot();
    await registered(echo(), chatty());
    const { messages, say } = await socket();
    const wanted = [await run('echo'), await run('chatty')][1];
    say({ subscribe: 'workflow', workflowId: 'chatty' });
    say({ subscribe: 'project', project: 'elsewhere' });
    say({ subscribe: 'home', project: 'default' });
    const isOver = (name: string) => typesOf(messages, name).includes('WorkflowCompleted');
    await until(() => isOver('workflow') && isOver('home'));
    const seen = messages
      .filter(({ subscription }) => subscription === 'workflow')
      .flatMap(({ events }) => (events as LiveEvent[] | undefined) ?? []);
    expect(new Set(seen.map(({ executionId }) => executionId))).toEqual(new Set([wanted]));
    expect(typesOf(messages, 'project')).toEqual([]);
  });

  it('[SRV-55] a name that is given up and taken again is the new subscription’s', async () => {
    booted = await boot();
    await registered(echo());
    const executionId = await run('echo');
    const { messages, say } = await socket();
    for (let round = 0; round < 5; round++) {
      say({ subscribe: 'a', after: 'now' });
      say({ unsubscribe: 'a' });
    }
    say({ subscribe: 'a', after: 'now' });
    // Messages are handled in order: with the end of this subscription, those before it are over, too.
    say({ subscribe: 'b', executionId });
    await until(() => messages.some((message) => 'end' in message) && listeners() === 1);
    await run('echo');
    await until(() => typesOf(messages, 'a').includes('WorkflowCompleted'));
    expect(messages.some((message) => 'problem' in message)).toBe(false);
  });

  it('[SRV-55] an invalid message is answered with a problem; other subscriptions continue', async () => {
    booted = await boot();
    const { messages, say } = await socket();
    const wrong = [
      '{',
      '[]',
      '1',
      '{}',
      '{"subscribe":5}',
      '{"subscribe":"a","after":"yesterday"}',
      '{"subscribe":"a","executionId":5}',
      '{"subscribe":"a","executionID":"exe_none"}',
      '{"subscribe":"a","logs":true}',
      '{"subscribe":"a","logs":1,"executionId":"exe_none"}',
      '{"subscribe":"a","logs":true,"executionId":"exe_none","level":"loud"}',
      '{"subscribe":"a","logs":true,"executionId":"exe_none","after":"1.0"}',
      '{"subscribe":"a","executionId":"exe_none","workflowId":"echo"}',
    ];
    for (const text of [...wrong, '{"subscribe":"x","executionId":"exe_none"}']) say(text);
    await until(() => messages.length === wrong.length + 1);
    const codes = messages.map(({ problem }) => (problem as { code: string }).code);
    expect(new Set(codes.slice(0, -1))).toEqual(new Set(['BODY_INVALID']));
    expect(codes.at(-1)).toBe('UNKNOWN_EXECUTION');
    expect(listeners()).toBe(0);
  });

  it('[SRV-752] a peer that answers no ping is gone; one that does stays', async () => {
    booted = await boot({ app: { limits: { pingMs: 200 } } });
    const { messages, say } = await socket();
    const gone = await raw(booted, upgradeHead(TOKEN));
    expect(await gone.over).toContain('101 Switching Protocols');
    gone.socket.destroy();
    say({ subscribe: '' });
    await until(() => messages.length === 1);
  });

  it('[SRV-55] a request without an upgrade to a WebSocket is refused', async () => {
    booted = await boot();
    const { status, json } = await ask(booted, 'GET /api/v1/live', { headers });
    expect([status, json.code]).toEqual([404, 'NO_SUCH_ROUTE']);
  });

  it('[SRV-56] it is for pages of this server and of named origins only', async () => {
    booted = await boot({ app: { origins: ['https://studio.example'] } });
    const { host } = new URL(booted.server.url);
    for (const origin of ['https://evil.example', 'null', `http://${host}.evil.example`]) {
      expect(await (await socket({ ...headers, origin })).closed, origin).toBe(4403);
    }
    for (const origin of ['https://studio.example', `http://${host}`]) {
      const { messages, say } = await socket({ ...headers, origin });
      say({ subscribe: '' });
      await until(() => messages.length === 1);
    }
  });

  it('[SRV-57] an unauthenticated socket is closed', async () => {
    booted = await boot();
    const silent = await socket({});
    silent.say({ subscribe: 'a' });
    expect(await silent.closed).toBe(4401);
    const wrong = await socket({});
    wrong.say({ token: 'a guess' });
    expect(await wrong.closed).toBe(4401);
    const right = await socket({});
    right.say({ token: TOKEN });
    right.say({ subscribe: 'a' });
    await until(() => listeners() === 1);
  });

  it('[SRV-57] shows only what its caller may see, including keys with scopes', async () => {
    booted = await boot({ users: true });
    for (const project of ['a', 'b']) await addProject(booted, project);
    await addUser(booted, 'root', { admin: true });
    await addUser(booted, 'ann', { roles: { a: 'editor' } });
    const root = await signIn(booted, 'root');
    const ann = await signIn(booted, 'ann');
    const ids: string[] = [];
    for (const project of ['a', 'b']) {
      await ask(booted, 'POST /api/v1/workflows', {
        headers: root,
        body: { definition: echo(`of-${project}`), project },
      });
      const started = await ask(booted, 'POST /api/v1/executions?wait=10s', {
        headers: root,
        body: { workflowId: `of-${project}` },
      });
      ids.push(started.json.executionId);
    }
    const { messages, say } = await socket(ann);
    say({ subscribe: 'all' });
    say({ subscribe: 'other', executionId: ids[1] });
    await until(() => typesOf(messages, 'all').includes('WorkflowCompleted'));
    await until(() => messages.some(({ problem }) => problem !== undefined));
    const seen = messages.flatMap(({ events }) => (events as LiveEvent[] | undefined) ?? []);
    expect(new Set(seen.map(({ executionId }) => executionId))).toEqual(new Set([ids[0]]));
    const { json } = await ask(booted, 'POST /api/v1/keys', {
      headers: ann,
      body: { name: 'k', roles: { a: 'viewer' }, scopes: ['startExecution'] },
    });
    const scoped = await socket({ authorization: `Bearer ${json.token}` });
    scoped.say({ subscribe: 'all' });
    await until(() => scoped.messages.length === 1);
    expect(scoped.messages[0]).toMatchObject({ problem: { code: 'NOT_ALLOWED' } });
  });

  it('[SRV-59] streams and sockets of a caller with reduced permissions are closed; others stay open', async () => {
    const clock = virtualClock(Date.now());
    booted = await boot({ users: true, clock });
    await addProject(booted, 'a');
    await addUser(booted, 'root', { admin: true });
    for (const user of ['ann', 'bob']) await addUser(booted, user, { roles: { a: 'viewer' } });
    const root = await signIn(booted, 'root');
    const ends: string[] = [];
    for (const user of ['ann', 'bob']) {
      const own = await signIn(booted, user);
      const response = await fetch(`${booted.server.url}/api/v1/events`, { headers: own });
      expect(response.status).toBe(200);
      response.text().then(
        () => ends.push(`${user} stream`),
        () => {},
      );
      const { say, closed } = await socket(own);
      say({ subscribe: 'all' });
      closed.then((code) => ends.push(`${user} socket ${code}`)).catch(() => {});
    }
    await until(() => listeners() === 4);
    await clock.advance(31_000);
    expect(ends).toEqual([]);
    await ask(booted, 'PUT /api/v1/users/ann', { headers: root, body: { roles: {} } });
    await clock.advance(31_000);
    await until(() => listeners() === 2);
    await until(() => ends.length === 2);
    expect(ends.toSorted()).toEqual(['ann socket 4401', 'ann stream']);
  });

  it('[SRV-58] a client that disconnects during a subscription leaves nothing behind', async () => {
    booted = await boot();
    await registered(waiting());
    const { executionId } = await booted.client.start('waiting');
    const { store } = booted.parts;
    const look = store.execution.bind(store);
    const blocked = Promise.withResolvers<void>();
    let isQueried = false;
    store.execution = async (id) => {
      isQueried = true;
      await blocked.promise;
      return look(id);
    };
    const { say, closed } = await socket();
    say({ subscribe: 'a', executionId });
    await until(() => isQueried);
    for (const close of open.splice(0)) close();
    await closed;
    blocked.resolve();
    // When another request is answered, the pending subscription has been handled.
    await booted.client.call('countExecutions');
    expect(listeners()).toBe(0);
    store.execution = look;
  });
});

/** The number of listeners, as the server counts them. */
function listeners(): number {
  return booted.server.listeners();
}

async function taken<T>(events: AsyncGenerator<T>, count: number): Promise<T[]> {
  const items: T[] = [];
  for await (const event of events) {
    items.push(event);
    if (items.length === count) break;
  }
  return items;
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    expect(tries).toBeLessThan(500);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
