/** The signature of a callback URL, which lets its holder call the node, is given to attempts and shown to nobody. */
import type { Action, Json } from '@nebula/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Booted, boot, type Keeping, memoryKeeping, TOKEN } from './support/boot.ts';

/** The inputs of attempts, as text. */
let got: string[];
/** Live events. */
let events: string[];
let keeping: Keeping;
let booted: Booted;

const action = (id: string, run: Action['run']): Action => ({
  id,
  version: '1',
  effect: 'idempotent',
  capabilities: ['files'],
  run,
});

/** Keeps its input, and leaks it wherever it can. */
const post = action('post', (ctx, input) => {
  const text = JSON.stringify(input);
  got.push(text);
  ctx.log.info(`posting ${text}`, { input });
  ctx.progress(0.5, text);
  return { echo: input, [text]: 1, base64: btoa(text), hex: Buffer.from(text).toString('hex') };
});
const flaky = action('flaky', (ctx, input) => {
  got.push(JSON.stringify(input));
  if (ctx.attempt > 1) return null;
  const message = `cannot post ${JSON.stringify(input)}`;
  throw Object.assign(new Error(message), { name: 'ActionError', code: 'FLAKY', kind: 'SYSTEM', details: { input } });
});
const planner = action('planner', (_ctx, input) => ({
  nodes: { send: { action: 'post@1', with: { to: (input as { url: string }).url } } },
}));
/** A service that lists the URLs which it was given. */
const listing = action('listing', (ctx) => {
  ctx.log.info(`they know ${got.join()}`);
  return { known: got };
});

const URL_IN = /http:\/\/[\w.:]+\/callbacks\/[\w.-]+|http%(25)*3A[\w%.]+callbacks[\w%.-]+/g;
const urlsIn = (text: string): string[] => [...(text.match(URL_IN) ?? [])].map(decoded);
const decoded = (url: string): string =>
  url.includes('%') ? decoded(decodeURIComponent(url)) : url.replace(/_and-more$/, '');
const call = (url: string, body: unknown = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const start = async (nodes: object, more: object = {}, input: Json = {}): Promise<string> => {
  const reply = { wait: { callback: true } };
  const definition = { id: 'w', nodes: { reply, ...nodes }, ...more };
  await booted.client.call('registerWorkflow', { body: { definition } });
  return (await booted.client.call('startExecution', { body: { workflowId: 'w', input } })).executionId;
};
const URL_OF = '{{ $nodes.reply.callbackUrl }}';

/** Everything that people read of the runs. */
async function views(): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const read = async (line: string): Promise<string> =>
    await (await fetch(`${booted.server.url}/api/v1${line}`, { headers })).text();
  const { items } = await booted.client.call('listExecutions', { query: { limit: 50 } });
  const parts = [
    '',
    '/journal',
    '/timeline',
    '/explain',
    '/explain?node=reply',
    '/logs',
    '/rest',
    '/result',
    '/undo-plan',
  ];
  const texts = [await read('/executions'), await read('/cache')];
  for (const { executionId } of items) {
    for (const part of [...parts, '/definition']) texts.push(await read(`/executions/${executionId}${part}`));
  }
  const rows = await keeping.store.frames(items[0]?.executionId ?? '', 0);
  return [...texts, ...events, JSON.stringify(rows)].join('\n');
}

/** Nothing that people read can be called, and the URL that the attempt was given can. */
async function expectUnsigned(executionId: string): Promise<void> {
  const [url = 'none'] = got.flatMap(urlsIn);
  const signature = url.slice(url.lastIndexOf('.') + 1);
  expect(signature).toMatch(/^(?!unsigned-)[\w-]{43}$/);
  const shown = await views();
  for (const form of [signature, btoa(signature).slice(2, -4), Buffer.from(signature).toString('hex')]) {
    expect(shown).not.toContain(form);
  }
  const readable = [...new Set(urlsIn(shown))];
  expect(readable.length).toBeGreaterThan(0);
  for (const one of readable) {
    const answer = await call(one);
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'UNKNOWN_CALLBACK' }]);
  }
  expect((await call(url, { from: 'outside' })).status).toBe(202);
  const query = { wait: '10s' };
  expect(await booted.client.call('getResult', { params: { executionId }, query })).toMatchObject({
    status: 'completed',
  });
}

const atRest = async (count = 1): Promise<void> => {
  await vi.waitFor(() => expect(got.length).toBeGreaterThanOrEqual(count), { timeout: 5_000 });
  await vi.waitFor(async () => expect(await views()).toContain('callbacks'), { timeout: 5_000 });
};

beforeEach(async () => {
  got = [];
  events = [];
  keeping = memoryKeeping();
  booted = await boot({ actions: [post, flaky, planner, listing], keeping });
  booted.parts.engine.on((event) => events.push(JSON.stringify(event)));
});
afterEach(() => booted.close());

describe('a callback URL', () => {
  const send = (to: unknown, more: object = {}) => ({ action: 'post@1', with: { to }, ...more });
  const uses: Record<string, object> = {
    'as it is': { send: send(URL_OF) },
    'in a text': { send: send(`call <a href="${URL_OF}">this</a>, or ${URL_OF}.`) },
    'in a text that goes on': { send: send(`${URL_OF}_and-more`) },
    'in a query': { send: send('https://shop.example/?notify={{ $nodes.reply.callbackUrl.urlEncode() }}') },
    'in a query in a query': { send: send('{{ ("a?b=" + $nodes.reply.callbackUrl.urlEncode()).urlEncode() }}') },
    'in JSON in a text': { send: send('{{ { notify: [$nodes.reply.callbackUrl] }.toJson() }}') },
    'as the name of a member': { send: send('{{ { [$nodes.reply.callbackUrl]: 1 } }}') },
    'with another scheme': { send: send('{{ $nodes.reply.callbackUrl.replace("http:", "http:") }}') },
    'through another node': {
      kept: { action: 'core.set@1', with: { value: URL_OF } },
      send: send('{{ $kept }}', { needs: ['kept'] }),
    },
    'through a variable': { kept: { set: { url: URL_OF } }, send: send('{{ $vars.url }}', { needs: ['kept'] }) },
    'in a loop': { each: { forEach: { in: [URL_OF] }, do: { nodes: { send: send('{{ $item }}') } } } },
    'in a graph that an action returns': { plan: { dynamic: { action: 'planner@1', with: { url: URL_OF } } } },
    'in a cached node': { send: send(URL_OF, { cache: { version: 1 } }) },
    'in a large input': { send: send(`${'x'.repeat(80_000)} ${URL_OF}`) },
  };

  it.each(Object.entries(uses))('[SRV-685] %s is signed for the attempt, and shown to nobody', async (_, nodes) => {
    const executionId = await start(nodes, { variables: { url: '' } });
    await atRest();
    await expectUnsigned(executionId);
  });

  it('[SRV-685] is the same for every attempt, and in no error of an attempt that failed', async () => {
    const executionId = await start({ send: { action: 'flaky@1', with: { to: URL_OF }, retry: { attempts: 2 } } });
    await atRest(2);
    expect(got[1]).toBe(got[0]);
    await expectUnsigned(executionId);
  });

  it('[SRV-685] is signed for a compensation', async () => {
    const undo = { action: 'post@1', with: { to: URL_OF } };
    await start({ made: { action: 'core.noop', compensate: undo }, fail: { action: 'core.fail', needs: ['made'] } });
    await vi.waitFor(() => expect(got).toHaveLength(1));
    expect(urlsIn(got[0] as string)[0]).toMatch(/\.(?!unsigned-)[\w-]{43}$/);
    await vi.waitFor(async () => expect(await views()).toContain('scope.compensated'));
    expect(await views()).not.toContain((got[0] as string).match(/\.([\w-]{43})/)?.[1]);
  });

  it('[SRV-685] is signed for the children that are given it, at any depth', async () => {
    const input = { url: { type: 'string' } };
    const child = (id: string, nodes: object) => ({ id, input: { type: 'object', properties: input }, nodes });
    const below = (id: string, url: string) => ({ workflow: { id, mode: 'child', input: { url } } });
    for (const definition of [
      child('lowest', { send: send('{{ $input.url }}') }),
      child('middle', { down: below('lowest', '{{ $input.url }}') }),
    ]) {
      await booted.client.call('registerWorkflow', { body: { definition } });
    }
    const executionId = await start({ down: below('middle', URL_OF) });
    await atRest();
    await expectUnsigned(executionId);
  });

  it('[SRV-685] is another one in a fork, and signed there', async () => {
    const executionId = await start({ send: send(URL_OF), reply: { needs: ['send'], wait: { callback: true } } });
    await atRest();
    await call(urlsIn(got[0] as string)[0] as string);
    const { client } = booted;
    await client.call('getResult', { params: { executionId }, query: { wait: '10s' } });
    got = [];
    const body = { node: 'send', fork: true };
    const fork = await client.call('replayExecution', { params: { executionId }, body });
    await vi.waitFor(() => expect(got).toHaveLength(1));
    const address = urlsIn(got[0] as string)[0]
      ?.split('/')
      .at(-1)
      ?.split('.')[0] as string;
    expect(Buffer.from(address, 'base64url').toString()).toContain(fork.executionId);
    await expectUnsigned(fork.executionId);
  });

  it('[SRV-685] is not shown when the other side lists it later', async () => {
    const executionId = await start({ send: send(URL_OF), ask: { action: 'listing@1', needs: ['send'] } });
    await vi.waitFor(async () => expect(await views()).toContain('they know'));
    await expectUnsigned(executionId);
  });

  it('[SRV-685] is not shown by a run that only asks the other side', async () => {
    const executionId = await start({ send: send(URL_OF) });
    await atRest();
    const definition = { id: 'asks', nodes: { ask: { action: 'listing@1' } } };
    await booted.client.call('registerWorkflow', { body: { definition } });
    await booted.client.call('startExecution', { body: { workflowId: 'asks' }, query: { wait: '10s' } });
    await expectUnsigned(executionId);
  });

  it('[SRV-685] is signed for a remote worker, and not shown by what it reports', async () => {
    const { client } = booted;
    const actions = [{ id: 'far.post', version: '1', effect: 'idempotent' as const }];
    await client.call('registerWorker', { body: { workerId: 'far', actions } });
    const executionId = await start({ send: { action: 'far.post@1', with: { to: URL_OF } } });
    const { work } = await client.call('claimWork', { params: { workerId: 'far' }, body: { wait: '5s' } });
    const [{ leaseId, input } = { leaseId: '', input: null }] = work;
    got.push(JSON.stringify(input));
    const text = got[0] as string;
    await client.call('logLease', { params: { leaseId }, body: { lines: [{ message: text, fields: { text } }] } });
    await client.call('extendLease', { params: { leaseId }, body: { progress: 0.5, message: text } });
    const output = { echo: input, base64: btoa(text) };
    await client.call('completeLease', { params: { leaseId }, body: { output } });
    await atRest();
    await expectUnsigned(executionId);
  });

  it('[SRV-686] of another run stays unsigned, and the log says so', async () => {
    const first = await start({ send: send(URL_OF) });
    await atRest();
    const [copied] = urlsIn(
      JSON.stringify((await booted.client.call('getExecution', { params: { executionId: first } })).nodes),
    );
    expect(copied).toContain('.unsigned-');
    got = [];
    const other = await start({ send: send('{{ $input.url }}') }, {}, { url: copied as string });
    await vi.waitFor(() => expect(got).toHaveLength(1));
    expect(got[0]).toContain(copied);
    expect(await views()).toMatch(/"node":"send","attempt":1,[^}]*"level":"warn","message":"[^"]*stays unsigned/);
    expect((await booted.client.call('getResult', { params: { executionId: other } })).ended).toBe(false);
  });

  it('[SRV-686] with a guessed mark stays unsigned', async () => {
    const executionId = 'exe_k'.padEnd(20, 'x');
    const address = Buffer.from(JSON.stringify([executionId, 'reply', 1])).toString('base64url');
    await start({ send: send(`http://h/callbacks/${address}.unsigned-${'x'.repeat(34)}`) });
    await vi.waitFor(() => expect(got).toHaveLength(1));
    expect(got[0]).toContain(`unsigned-${'x'.repeat(34)}`);
  });

  it.each(['toBase64()', 'upper()', 'slug()', 'slice(0, -10)', 'truncate(60)'])(
    '[EXP-113] cannot be changed by %s, because it could not be signed any more',
    async (change) => {
      const executionId = await start({ send: send(`{{ $nodes.reply.callbackUrl.${change} }}`) });
      await vi.waitFor(async () => expect(await views()).toContain('cannot be encoded or cut'));
      expect(got).toEqual([]);
      const { error } = await booted.client.call('getResult', { params: { executionId } });
      expect(error).toMatchObject({ node: 'send' });
    },
  );
});

describe('after a restart', () => {
  let second: Booted | undefined;
  afterEach(() => second?.close());

  it('[SRV-685] an attempt that is repeated gets the same URL', async () => {
    const stuck: Action = {
      ...post,
      id: 'stuck',
      run: (_ctx, input) => {
        got.push(JSON.stringify(input));
        return got.length > 1 ? null : new Promise(() => {});
      },
    };
    await booted.close();
    booted = await boot({ actions: [stuck], keeping });
    const executionId = await start({ send: { action: 'stuck@1', with: { to: URL_OF } } });
    await vi.waitFor(() => expect(got).toHaveLength(1));
    await booted.close();
    booted = await boot({ actions: [stuck], keeping });
    await vi.waitFor(() => expect(got).toHaveLength(2), { timeout: 10_000 });
    const [first, again] = got.map((text) => urlsIn(text)[0]?.split('/callbacks/')[1]);
    expect(again).toBe(first);
    // The new server listens at another port.
    const url = `${booted.server.url}/callbacks/${again}`;
    expect((await call(url)).status).toBe(202);
    const result = await booted.client.call('getResult', { params: { executionId }, query: { wait: '10s' } });
    expect(result).toMatchObject({ status: 'completed' });
  });
});
