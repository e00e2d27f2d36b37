/** The hostile suite, of values: keys, numbers, patterns, documents, links, redirects, answers and floods. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Action } from '@nebula/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot } from '../support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, signIn } from '../support/users.ts';
import { callback, echo } from '../support/workflows.ts';

const projectDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-values-')));
const returnsProto: Action = {
  id: 'test.proto',
  version: '1',
  effect: 'pure',
  run: () => JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
};

let server: Booted;
let target: Server;
let redirecting: Server;
let heard = 0;
const as: Record<string, Headers> = {};
const portOf = (one: Server): number => (one.address() as AddressInfo).port;

beforeAll(async () => {
  target = createServer((_request, response) => {
    heard++;
    response.end('reached');
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  redirecting = createServer((request, response) => {
    const host = decodeURIComponent(request.url?.slice(1) ?? '');
    response.writeHead(302, { location: Buffer.from(`http://${host}:${portOf(target)}/`).toString('latin1') }).end();
  }).listen(0, '127.0.0.1');
  await once(redirecting, 'listening');
  server = await boot({ users: true, actions: [returnsProto], sandbox: { projectDir } });
  for (const project of ['alpha', 'beta']) {
    await addProject(server, project);
    for (const role of ['owner', 'viewer'] as const) {
      await addUser(server, `${project}-${role}`, { roles: { [project]: role } });
      as[`${project}-${role}`] = await signIn(server, `${project}-${role}`);
    }
  }
});
afterAll(async () => {
  await server.close();
  target.close();
  redirecting.close();
  rmSync(projectDir, { recursive: true, force: true });
});

const call = (who: string, line: string, body?: unknown, more: Headers = {}): Promise<Answer> =>
  ask(server, line.replace(' /', ' /api/v1/'), {
    headers: { ...(as[who] as Headers), ...more },
    ...(typeof body === 'string' ? { raw: body } : body !== undefined && { body }),
  });

async function must(who: string, line: string, body?: unknown): Promise<Answer> {
  const answer = await call(who, line, body);
  expect(answer.status, `${line} ${answer.text}`).toBeLessThan(300);
  return answer;
}

async function ran(definition: { readonly id: string }, input = '{}'): Promise<Answer> {
  await must('alpha-owner', 'POST /workflows', { definition, project: 'alpha' });
  return await must('alpha-owner', 'POST /executions?wait=20s', `{"workflowId":"${definition.id}","input":${input}}`);
}

async function goesOn(): Promise<void> {
  expect((await ran(echo('alpha-echo'))).json.status).toBe('completed');
}

/** The most work that was done at a stretch, in milliseconds of this thread: a busy machine does not count. */
async function stretchOf<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const spent = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let ms = 0;
  let last = spent();
  const look = (): void => {
    const now = spent();
    ms = Math.max(ms, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  const result = await work().finally(() => clearInterval(timer));
  look();
  return { result, ms };
}

describe('hostile values', () => {
  it('[SRV-646] no key of a document reaches the prototype of anything', async () => {
    const keys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
    const bodies = [
      ...keys.map((key) => `{"workflowId":"alpha-keys","input":{"${key}":{"polluted":1}}}`),
      '{"workflowId":"alpha-keys","input":{"constructor":{"prototype":{"polluted":1}}}}',
    ];
    const expressions = [
      '{{ {"__proto__": {"polluted": 1}} }}',
      '{{ $input.merge({"__proto__": {"polluted": 1}}) }}',
      '{{ [{"k": "__proto__", "polluted": 1}].groupBy(x => x.k) }}',
      '{{ $input.__proto__ }}',
      '{{ $input.constructor }}',
      '{{ $input.constructor.constructor("return process")() }}',
      '{{ $nodes.__proto__ }}',
      '{{ $vars.__proto__ }}',
      '{{ [].constructor }}',
      '{{ "".constructor.prototype }}',
    ];
    const nodes = Object.fromEntries([
      ...expressions.map((value, index) => [`n${index}`, { action: 'core.set', with: { value }, onError: 'ignore' }]),
      ['p', { action: 'test.proto', onError: 'ignore' }],
      ['after', { needs: ['p'], action: 'core.set', with: { value: '{{ $nodes.p.output }}' }, onError: 'ignore' }],
    ]);
    const keyed = { id: 'alpha-keys', nodes, output: '{{ $input }}' };
    await call('alpha-owner', 'POST /workflows', { definition: keyed, project: 'alpha' });
    const results: Answer[] = [];
    for (const body of bodies) results.push(await call('alpha-owner', 'POST /executions?wait=20s', body));
    const sources = [
      'id: alpha-yaml\n__proto__: { polluted: 1 }\nnodes: { a: { action: core.noop } }',
      'id: alpha-yaml\nnodes: { __proto__: { action: core.noop } }',
      'id: alpha-yaml\nvariables: { __proto__: { polluted: 1 } }\nnodes: { a: { set: { __proto__: 1 } } }',
      'id: alpha-yaml\nnodes: { constructor: { action: core.noop }, b: { needs: [constructor], action: core.noop } }',
      'a: &a { polluted: 1 }\nid: alpha-yaml\n<<: *a\nnodes: { a: { <<: *a, action: core.noop } }',
    ];
    for (const source of sources) {
      results.push(await call('alpha-owner', 'POST /workflows', { source, project: 'alpha' }));
      if (results.at(-1)?.status === 201)
        await must('alpha-owner', 'POST /executions?wait=20s', '{"workflowId":"alpha-yaml"}');
    }
    for (const { status, text } of results) expect(status, text).toBeLessThan(500);
    for (const text of results.map((one) => one.text)) expect(text).not.toMatch(/native code|\[Function/);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
    await goesOn();
  });

  it('[SRV-646] no pattern, number, nesting or alias holds up the server', async () => {
    const a = 'a'.repeat(50_000);
    const expressions = [
      `{{ "${'a'.repeat(30)}!".matches("(a+)+$") }}`,
      `{{ $input.a.matches("(a|a)*b") }}`,
      `{{ $input.a.matches("(.*)*x") }}`,
      `{{ $input.a.replace("(a*)*$", "b") }}`,
      `{{ $input.a.split("").map(x => $input.a) }}`,
      '{{ 10 ** 400 }}',
      '{{ 1e308 * 10 }}',
      '{{ 9007199254740993 + 1 }}',
      '{{ "x".repeat(1e9) }}',
      '{{ "x".padStart(1e9) }}',
      '{{ range(0, 1e9) }}',
      `{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`,
      `{{ ${'!'.repeat(5_000)}true }}`,
      `{{ ${'-'.repeat(5_000)}1 }}`,
      `{{ ${'1+'.repeat(20_000)}1 }}`,
      `{{ $input${'.a'.repeat(20_000)} }}`,
      '{{ [1].map(x => [1].map(x => [1].map(x => x))) }}',
    ];
    const laughs = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [index, name] of [...'bcdefghij'].entries()) {
      laughs.push(`${name}: &${name} [${Array(10).fill(`*${'abcdefghi'[index]}`).join(', ')}]`);
    }
    const sources = [
      `${laughs.join('\n')}\nid: x\nnodes: { a: { action: core.noop } }`,
      `id: x\nvariables: { v: ${'['.repeat(5_000)}${']'.repeat(5_000)} }\nnodes: { a: { action: core.noop } }`,
      `id: x\nvariables: { v: 1e999999999, w: 0x${'f'.repeat(10_000)} }\nnodes: { a: { action: core.noop } }`,
      `id: x\nnodes: { a: &n { action: core.noop, needs: [*n] } }`,
      `id: x\nconfig: { timeout: 99999999999999999999d, maxParallelism: 1e300 }\nnodes: { a: { action: core.noop } }`,
    ];
    for (const [index, value] of expressions.entries()) {
      const definition = { id: `alpha-heavy-${index}`, nodes: { a: { action: 'core.set', with: { value } } } };
      const { result, ms } = await stretchOf(async () => {
        const registered = await call('alpha-owner', 'POST /workflows', { definition, project: 'alpha' });
        if (registered.status >= 400) return registered;
        return await call('alpha-owner', 'POST /executions?wait=20s', { workflowId: definition.id, input: { a } });
      });
      expect(result.status, `${value.slice(0, 60)} ${result.text.slice(0, 200)}`).toBeLessThan(500);
      expect(ms, value.slice(0, 60)).toBeLessThan(500);
    }
    for (const source of sources) {
      const { result, ms } = await stretchOf(() => call('alpha-owner', 'POST /workflows/validate', { source }));
      expect(result.status, `${source.slice(0, 60)} ${result.text.slice(0, 200)}`).toBeLessThan(500);
      expect(ms, source.slice(0, 60)).toBeLessThan(500);
    }
    await goesOn();
  });

  const VIEWS = ['', '/result', '/rest', '/journal', '/timeline', '/explain', '/logs', '/undo-plan', '/definition'];

  it('[SRV-646] the address of a callback, which lets its holder answer, is in nothing that a viewer reads', async () => {
    await must('alpha-owner', 'POST /workflows', { definition: callback('alpha-callback'), project: 'alpha' });
    const started = await must('alpha-owner', 'POST /executions', { workflowId: 'alpha-callback' });
    const { executionId } = started.json;
    await server.parts.engine.waitFor(executionId);
    for (const view of [...VIEWS, '/explain?node=hold']) {
      const { text } = await must('alpha-viewer', `GET /executions/${executionId}${view}`);
      expect(text, view).not.toMatch(/callbacks\/|\.[\w-]{43}/);
    }
  });

  it('[SRV-646] nor is it when the workflow sends it to a service that echoes it', async () => {
    const sent: string[] = [];
    const echoing = createServer((request, response) => {
      void text(request).then((body) => {
        sent.push(`${request.url} ${request.headers['x-notify']} ${body}`);
        response.setHeader('x-notify', String(request.headers['x-notify']));
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ url: request.url, body }));
      });
    }).listen(0, '127.0.0.1');
    await once(echoing, 'listening');
    const network = [`127.0.0.1:${portOf(echoing)}`];
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { network } });
    const url = `http://${network[0]}/?notify={{ $nodes.called.callbackUrl.urlEncode() }}`;
    const given = { url, headers: { 'x-notify': '{{ $nodes.called.callbackUrl }}' } };
    const definition = {
      id: 'alpha-notify',
      config: { capabilities: { network } },
      nodes: {
        tell: {
          action: 'http.request',
          with: { method: 'POST', ...given, body: { notify: '{{ $nodes.called.callbackUrl }}' } },
        },
        called: { needs: ['tell'], wait: { callback: true } },
      },
    };
    await must('alpha-owner', 'POST /workflows', { definition, project: 'alpha' });
    const { executionId } = (await must('alpha-owner', 'POST /executions', { workflowId: definition.id })).json;
    await server.parts.engine.waitFor(executionId);
    const [token = ''] = sent.join().match(/WyJ[\w-]+\.[\w-]{43}/) ?? [];
    for (const view of [...VIEWS, '/explain?node=called']) {
      const { text } = await must('alpha-viewer', `GET /executions/${executionId}${view}`);
      expect(text, view).not.toContain(token.split('.')[1]);
      for (const [readable] of text.matchAll(/WyJ[\w-]+\.[\w-]+/g)) {
        expect((await ask(server, `POST /callbacks/${readable}`, { body: { forged: 1 } })).status, view).toBe(404);
      }
    }
    expect((await ask(server, `POST /callbacks/${token}`, { body: {} })).status).toBe(202);
    echoing.close();
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-646] an Idempotency-Key never returns the answer of another caller', async () => {
    for (const project of ['alpha', 'beta']) {
      await must(`${project}-owner`, 'POST /workflows', { definition: echo(`${project}-twin`), project });
    }
    const start = (who: string, workflowId: string) =>
      call(who, 'POST /executions', { workflowId, input: { of: workflowId } }, { 'idempotency-key': 'the same' });
    const first = await start('beta-owner', 'beta-twin');
    const other = await start('alpha-owner', 'alpha-twin');
    expect([first.status, other.status]).toEqual([201, 201]);
    expect(other.text).not.toContain('beta');
    expect((await start('alpha-owner', 'beta-twin')).text).not.toContain(first.json.executionId);
    const keyed = (workflowId: string) => ({ workflowId, idempotencyKey: 'for ever' });
    const mine = await must('alpha-owner', 'POST /executions', keyed('alpha-twin'));
    const theirs = await must('beta-owner', 'POST /executions', keyed('beta-twin'));
    expect(mine.json.executionId).not.toBe(theirs.json.executionId);
  });

  it('[SRV-646] no redirect and no spelling of an address leads to a host that is not granted', async () => {
    const granted = `127.0.0.1:${portOf(redirecting)}`;
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { network: ['*', granted] } });
    const hosts = [
      '127.0.0.1',
      'localhost',
      'LOCALHOST.',
      '0177.0.0.1',
      '0x7f.1',
      '017700000001',
      '127.0.0.1.',
      'a@127.0.0.1',
      '①②⑦.⓪.⓪.①',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[fec0::1]',
      '[ff02::1]',
      '198.18.0.1',
      '192.0.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '240.0.0.1',
    ];
    const urls = hosts.flatMap((host) => [
      `http://${host}:${portOf(target)}/`,
      `http://${granted}/${encodeURIComponent(host)}`,
    ]);
    const failures: string[] = [];
    for (const [index, url] of urls.entries()) {
      const node = { action: 'http.request', with: { url }, timeout: '5s', retry: { attempts: 1 } };
      const config = { capabilities: { network: ['*', granted] } };
      const { json } = await ran({ id: `alpha-reach-${index}`, config, nodes: { get: node } } as { id: string });
      if (!['CAPABILITY_DENIED', 'URL_INVALID'].includes(json.error?.code))
        failures.push(`${url}: ${JSON.stringify(json)}`);
    }
    expect(failures).toEqual([]);
    expect(heard).toBe(0);
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-646] no header of a request smuggles another one or another host', async () => {
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { network: [`127.0.0.1:${portOf(target)}`] } });
    const config = { capabilities: { network: [`127.0.0.1:${portOf(target)}`] } };
    const seen: string[] = [];
    target.on('request', ({ rawHeaders }) => seen.push(rawHeaders.join('\n').toLowerCase()));
    const all = [
      { 'x-a': 'b\r\nx-smuggled: 1' },
      { 'x-a\r\nx-smuggled': '1' },
      { host: 'evil.example' },
      { 'transfer-encoding': 'chunked' },
      { connection: 'x-smuggled' },
      { 'content-length': '5' },
    ];
    for (const [index, headers] of all.entries()) {
      const url = `http://127.0.0.1:${portOf(target)}/`;
      const node = { action: 'http.request', with: { url, headers }, timeout: '5s', retry: { attempts: 1 } };
      await ran({ id: `alpha-smuggle-${index}`, config, nodes: { get: node } } as { id: string });
    }
    for (const text of seen) expect(text).not.toMatch(/x-smuggled\n|evil\.example/);
    heard = 0;
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-646] no link leads out of the files that are granted', async () => {
    const outside = mkdtempSync(path.join(tmpdir(), 'nebula-outside-'));
    writeFileSync(path.join(outside, 'secret'), 'as it was');
    mkdirSync(path.join(projectDir, 'data', 'sub'), { recursive: true });
    const link = (to: string, name: string): void => symlinkSync(to, path.join(projectDir, 'data', name));
    link(path.join(outside, 'secret'), 'file');
    link(outside, 'folder');
    link('../..', 'up');
    link('loop', 'loop');
    link(path.join(outside, 'new'), 'dangling');
    // A link that leads nowhere is replaced by the file, and nothing is written where it led.
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { files: { write: ['data/**'] } } });
    const write = { action: 'file.write', with: { path: 'data/dangling', content: 'x' } };
    await ran({
      id: 'alpha-dangling',
      config: { capabilities: { files: { write: ['data/**'] } } },
      nodes: { write },
    } as {
      id: string;
    });
    expect(existsSync(path.join(outside, 'new'))).toBe(false);
    const names = ['file', 'folder/secret', 'folder/new', `up/${path.basename(outside)}/secret`, 'loop'];
    const paths = [...names, 'sub/../../x', 'sub/../folder/secret', './file', 'sub//..//file'].map(
      (one) => `data/${one}`,
    );
    const files = { read: ['data/**'], write: ['data/**'] };
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { files } });
    const failures: string[] = [];
    for (const [index, file] of paths.entries()) {
      for (const action of ['file.read', 'file.write']) {
        const input = { path: file, ...(action === 'file.write' && { content: 'changed' }) };
        const nodes = { it: { action, with: input, retry: { attempts: 1 } } };
        const id = `alpha-link-${index}-${action.slice(5)}`;
        const { json } = await ran({ id, config: { capabilities: { files } }, nodes } as { id: string });
        if (!['CAPABILITY_DENIED', 'FILE_NOT_REGULAR', 'FILE_NOT_FOUND'].includes(json.error?.code)) {
          failures.push(`${action} ${file}: ${JSON.stringify(json)}`);
        }
      }
    }
    expect(failures).toEqual([]);
    expect(readFileSync(path.join(outside, 'secret'), 'utf8')).toBe('as it was');
    rmSync(outside, { recursive: true, force: true });
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: null });
  });

  it('[SRV-646] a flood of messages over a socket blocks no one else, and ends with its socket', async () => {
    const { token } = (await must('alpha-owner', 'POST /keys', { name: 'ws', roles: { alpha: 'viewer' } })).json;
    const address = `${server.server.url.replace('http', 'ws')}/api/v1/live`;
    const flood = `
      const sockets = Array.from({ length: 10 }, () => new WebSocket(process.argv[1]));
      await Promise.all(sockets.map((one) => new Promise((resolve) => one.addEventListener('open', resolve))));
      for (const socket of sockets) {
        socket.send(JSON.stringify({ token: process.argv[2] }));
        for (let at = 0; at < 2000; at++) socket.send(JSON.stringify({ subscribe: 's' + at }));
        for (let at = 0; at < 2000; at++) socket.send(JSON.stringify({ subscribe: 'e' + at, executionId: 'none' }));
        socket.send('['.repeat(20_000));
        socket.send('x'.repeat(2_000_000));
      }
      console.log('sent');
      setTimeout(() => {}, 60_000);`;
    const flooding = spawn(process.execPath, ['--input-type=module', '-e', flood, address, token], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const { ms } = await stretchOf(async () => {
        await once(flooding.stdout, 'data');
        for (let runs = 0; runs < 20; runs++) await goesOn();
      });
      expect(ms).toBeLessThan(500);
    } finally {
      flooding.kill('SIGKILL');
    }
    await goesOn();
  });
});
