import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { Served, say } from './support/served.ts';

const HELLO = `
id: hello
input: { type: object, properties: { name: { type: string, default: world } } }
nodes:
  greet: { action: core.set@1, with: { value: "Hello {{ $input.name }}" } }
  note: { action: core.log@1, needs: [greet], with: { message: "said {{ $greet }}" } }
output: { text: "{{ $nodes.greet.output }}" }
`;
const INSIDE = `
id: outer
nodes:
  inline: { workflow: { id: hello, mode: inline, input: { name: inside } } }
  child: { workflow: { id: hello, mode: child, input: { name: beside } } }
output: "{{ [$nodes.inline.output.text, $nodes.child.output.text] }}"
`;
const FAILING = 'id: failing\nnodes: { boom: { action: core.fail@1, with: { message: no stock, code: NO_STOCK } } }\n';
const WAITING = `
id: waiting
nodes:
  ask: { wait: { approval: { who: [ann], title: Ship it? } } }
  go: { needs: [ask], wait: { signal: go } }
`;
const NOISY = `
id: noisy
nodes:
  before: { action: core.log@1, with: { message: one } }
  hold: { needs: [before], wait: { signal: go } }
  after: { needs: [hold], action: core.log@1, with: { message: two } }
`;
const SAGA = `
id: saga
nodes:
  book: { action: core.noop@1, compensate: { action: core.noop@1 } }
  hold: { needs: [book], wait: { signal: never } }
`;

let served: Served;

beforeAll(async () => {
  served = await Served.open({
    'hello.yaml': HELLO,
    'outer.yaml': INSIDE,
    'failing.yaml': FAILING,
    'waiting.yaml': WAITING,
    'saga.yaml': SAGA,
    'noisy.yaml': NOISY,
  });
});

afterAll(async () => {
  expect(served.troubles).toEqual([]);
  await served.close();
});

/** The output without the parts that differ from run to run. */
function plain(text: string): string {
  return text
    .replace(/exe_[0-9a-z]+/g, 'exe_…')
    .replace(/\d+(\.\d+)?(ms|s)\b/g, '⏱')
    .replace(/\d{2}:\d{2}:\d{2}\.\d{3}(?:Z|[+-]\d\d:\d\d)|\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, '⏱')
    .replace(/ {2,}/g, ' ');
}

describe('runs at a server', () => {
  test('[CLI-251] run registers, starts and follows, as on a folder', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    const here = await say(cwd, ['run', 'hello.yaml', '--set', 'name=Ann']);
    const there = await served.nebula(['run', 'hello.yaml', '--set', 'name=Ann']);
    // Events and log lines arrive by two streams, in no fixed order.
    const lines = (text: string): string[] => plain(text).split('\n').sort();
    expect([there.code, lines(there.out), there.err]).toEqual([0, lines(here.out), here.err]);
    expect(there.out).toContain('{ "text": "Hello Ann" }');
    expect(there.out).toContain('note: said Hello Ann');
  });

  test('[CLI-251] workflows inside a file are registered first, children are followed', async () => {
    const { code, out, err } = await served.nebula(['run', 'outer.yaml', '--json']);
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      output: ['Hello inside', 'Hello beside'],
      children: [{ node: 'child', status: 'completed' }],
    });
  });

  test('[CLI-251] a run that fails, an input that does not fit, a file with errors', async () => {
    const failed = await served.nebula(['run', 'failing.yaml']);
    expect([failed.code, failed.out]).toEqual([1, expect.stringContaining('error NO_STOCK at boom: no stock')]);
    const odd = await served.nebula(['run', 'hello.yaml', '--set', 'name=[1]']);
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('error INPUT_INVALID')]);
    served.write('bad.yaml', 'id: bad\nnodes: { a: { action: core.sett@1 } }\n');
    const bad = await served.nebula(['run', 'bad.yaml']);
    expect([bad.code, bad.err]).toEqual([2, expect.stringMatching(/bad\.yaml:2:23 .*UNKNOWN_ACTION/)]);
  });

  test('[CLI-251] looking: the same words as beside the server, on its folder', async () => {
    const { executionId } = await served.json('run', 'failing.yaml');
    for (const words of [['show'], ['explain'], ['timeline'], ['timeline', '--events'], ['journal'], ['undo-plan']]) {
      const argv = ['executions', words[0] as string, executionId, ...words.slice(1)];
      for (const more of [[], ['--json']]) {
        const there = await served.nebula([...argv, ...more]);
        const here = await say(served.cwd, [...argv, ...more]);
        expect(there, argv.join(' ')).toEqual({ ...here, out: there.out });
        expect(plain(there.out), argv.join(' ')).toBe(plain(here.out));
      }
    }
    const list = await served.json('executions', 'list', '--status', 'failed', '--limit', '1');
    expect(list).toEqual(
      await JSON.parse(
        (await say(served.cwd, ['executions', 'list', '--status', 'failed', '--limit', '1', '--json'])).out,
      ),
    );
    expect(list).toMatchObject({ items: [{ status: 'failed' }], next: expect.any(String) });
  });

  test('[CLI-251] logs, read and followed to the end', async () => {
    const { executionId } = await served.json('run', 'hello.yaml');
    for (const more of [[], ['--follow']]) {
      const { code, out } = await served.nebula(['executions', 'logs', executionId, ...more]);
      expect([code, plain(out)]).toEqual([0, '⏱ info note said Hello world\n']);
    }
    const none = await served.nebula(['executions', 'logs', executionId, '--level', 'error']);
    expect([none.code, none.out]).toEqual([0, '']);
  });

  test('[CLI-620] logs that are followed end with their run', async () => {
    const { executionId } = await served.json('run', 'noisy.yaml');
    const following = served.nebula(['executions', 'logs', executionId, '--follow']);
    expect((await served.nebula(['executions', 'signal', executionId, 'go'])).code).toBe(0);
    const { code, out, err } = await following;
    expect([code, plain(out), err]).toEqual([0, '⏱ info before one\n⏱ info after two\n', '']);
  });

  test('[CLI-251] a parked run, approvals, signals', async () => {
    const parked = await served.nebula(['run', 'waiting.yaml']);
    expect(parked.code, parked.err).toBe(4);
    expect(parked.out).toContain('Ship it?');
    const executionId = /exe_[0-9a-z]+/.exec(parked.out)?.[0] as string;
    expect(parked.out).toContain(`nebula executions approve ${executionId} ask`);
    const refused = await served.nebula(['executions', 'approve', executionId, 'ask', '--by', 'bob']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('error NOT_ALLOWED: bob may not answer')]);
    // The owner of a desktop answers as the user of the system: here ann.
    const answered = await served.nebula(['executions', 'approve', executionId, 'ask']);
    expect([answered.code, answered.out]).toEqual([0, 'Recorded: ask is approved by ann. The server acts on it.\n']);
    expect((await served.nebula(['executions', 'signal', executionId, 'go'])).code).toBe(0);
    const resumed = await served.nebula(['resume', executionId]);
    expect([resumed.code, resumed.err]).toEqual([0, '']);
    const published = await served.json('signal', 'nobody-waits', '--keep', '1m');
    expect(published).toMatchObject({ executionId: null, keptUntil: expect.any(String) });
  });

  test('[CLI-251] pausing, cancelling, retrying, replaying, forking and deleting', async () => {
    const executionId = JSON.parse((await served.nebula(['run', 'saga.yaml', '--json'])).out).executionId;
    const plan = await served.json('executions', 'undo-plan', executionId);
    expect(plan).toMatchObject({ toUndo: [{ node: 'book', action: 'core.noop@1' }] });
    expect(await served.json('executions', 'pause', executionId)).toMatchObject({ status: 'paused' });
    expect((await served.nebula(['executions', 'resume', executionId])).code).toBe(4);
    expect(await served.json('executions', 'cancel', executionId)).toMatchObject({ status: 'cancelled' });
    const gone = await served.nebula(['executions', 'delete', executionId]);
    expect([gone.code, gone.out]).toEqual([0, `deleted ${executionId}\n`]);
    const again = await served.nebula(['executions', 'show', executionId]);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('error UNKNOWN_EXECUTION: there is no run')]);
    const { executionId: failed } = await served.json('run', 'failing.yaml');
    expect((await served.nebula(['executions', 'retry', failed])).code).toBe(1);
    const { executionId: done } = await served.json('run', 'hello.yaml');
    expect(await served.json('executions', 'replay', done, 'note')).toMatchObject({
      executionId: done,
      status: 'completed',
    });
    const fork = await served.json('executions', 'replay', done, 'note', '--fork');
    expect(fork).toMatchObject({ status: 'completed' });
    expect(fork.executionId).not.toBe(done);
    const many = await served.nebula(['executions', 'delete', '--workflow', 'failing', '--yes']);
    expect([many.code, many.out]).toEqual([0, expect.stringMatching(/^delete: \d+ runs?\n$/)]);
  });

  test('[CLI-251] an idempotency key is one run, and actions are those of the server', async () => {
    const first = await served.json('run', 'hello.yaml', '--idempotency-key', 'order-7');
    const { code, out, err } = await served.nebula(['run', 'hello.yaml', '--idempotency-key', 'order-7', '--json']);
    expect([code, JSON.parse(out).executionId]).toEqual([0, first.executionId]);
    expect(err).toContain('already completed');
    const { out: actions } = await served.nebula(['actions']);
    expect(actions).toContain('http.request');
  });

  test('[CLI-251] secrets are set and forgotten there, and never seen', async () => {
    const set = await served.nebula(['secrets', 'set', 'stripe-key'], { stdin: 'sk_live_1234\n' });
    expect([set.code, set.err]).toEqual([0, '']);
    expect(await served.json('secrets', 'list')).toMatchObject({ items: [{ name: 'stripe-key' }] });
    expect((await served.nebula(['secrets', 'rotate', 'other'], { stdin: 'sk_live_5678' })).code).toBe(2);
    expect((await served.nebula(['secrets', 'rotate', 'stripe-key'], { stdin: 'sk_live_5678' })).code).toBe(0);
    expect((await served.nebula(['secrets', 'rotate', '--key'])).code).toBe(2);
    expect((await served.nebula(['secrets', 'delete', 'stripe-key'])).code).toBe(0);
    expect(await served.json('secrets', 'list')).toEqual({ items: [] });
  });

  test('[CLI-252] commands on the folder that the server has', async () => {
    const { code, out, err } = await say(served.cwd, ['run', 'hello.yaml', '--json']);
    expect(code, err).toBe(0);
    const { executionId } = JSON.parse(out);
    expect(
      JSON.parse((await say(served.cwd, ['executions', 'replay', executionId, 'note', '--fork', '--json'])).out),
    ).toMatchObject({
      status: 'completed',
    });
    expect(await say(served.cwd, ['resume', executionId])).toMatchObject({ code: 0, err: '' });
  });
});

describe('which server', () => {
  const list = ['executions', 'list', '--json'];
  const code = (text: string): string => JSON.parse(text).error?.code ?? 'ok';

  test('[CLI-250] options, the environment and contexts, in this order', async () => {
    const cwd = projectFolder({});
    const token = readFileSync(path.join(served.cwd, '.nebula/token'), 'utf8').trim();
    const env = { NEBULA_SERVER: 'http://127.0.0.1:1', NEBULA_TOKEN: token };
    expect(code((await say(cwd, list, { env })).out)).toBe('SERVER_UNREACHABLE');
    expect(code((await say(cwd, [...list, '--server', served.url], { env })).out)).toBe('ok');
    expect(code((await say(cwd, [...list, '--server', served.url, '--token', 'other'], { env })).out)).toBe(
      'NOT_SIGNED_IN',
    );
    const stdin = `${token}\n`;
    expect(await say(cwd, ['context', 'add', 'it', '--server', served.url, '--token-stdin'], { stdin })).toMatchObject({
      code: 0,
    });
    expect(code((await say(cwd, list)).out)).toBe('ok');
    expect(code((await say(cwd, list, { env: { NEBULA_SERVER: 'http://127.0.0.1:1' } })).out)).toBe(
      'SERVER_UNREACHABLE',
    );
    expect(
      code((await say(cwd, [...list, '--context', 'it'], { env: { NEBULA_SERVER: 'http://127.0.0.1:1' } })).out),
    ).toBe('ok');
    expect(code((await say(cwd, list, { env: { NEBULA_DATA_DIR: '.nebula' } })).out)).toBe('DATA_DIR_MISSING');
    expect(code((await say(cwd, [...list, '--data-dir', '.nebula'])).out)).toBe('DATA_DIR_MISSING');
    expect(code((await say(cwd, [...list, '--context', 'local'])).out)).toBe('DATA_DIR_MISSING');
    expect(code((await say(cwd, [...list, '--data-dir', 'x', '--server', served.url])).out)).toBe('USAGE');
    expect(code((await say(cwd, [...list, '--server', 'ftp://x y'])).out)).toBe('USAGE');
    // The folder of the server contains the token.
    expect(code((await say(served.cwd, [...list, '--server', served.url.replace('127.0.0.1', 'localhost')])).out)).toBe(
      'ok',
    );
  });

  test('[CLI-255] printed commands name the server when it would not be found', async () => {
    const { executionId } = await served.json('run', 'failing.yaml');
    const named = await say(served.cwd, ['executions', 'show', executionId, '--server', served.url]);
    expect(named.out).toContain(`nebula executions retry ${executionId} --server ${served.url}`);
    const shown = await served.nebula(['executions', 'show', executionId]);
    expect(shown.out).toMatch(new RegExp(`nebula executions retry ${executionId}\n`));
    expect(shown.out).not.toContain('--server');
  });

  test('[CLI-256] contexts: two of them, used in turn, forgotten; never their tokens', async () => {
    const cwd = projectFolder({});
    const other = await Served.open({ 'hello.yaml': HELLO });
    try {
      const secrets: string[] = [];
      for (const [name, one] of [
        ['first', served],
        ['second', other],
      ] as const) {
        const token = readFileSync(path.join(one.cwd, '.nebula/token'), 'utf8');
        secrets.push(token.trim());
        const added = await say(cwd, ['context', 'add', name, '--server', one.url, '--token-stdin'], { stdin: token });
        expect([added.code, added.out]).toEqual([
          0,
          `✓ ${name} is ${one.url}, signed in as owner; commands now use this server\n`,
        ]);
      }
      const file = path.join(cwd, 'user/nebula/contexts.json');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(JSON.parse((await say(cwd, list)).out).items).toEqual([]);
      await say(other.cwd, ['run', 'hello.yaml']);
      expect(JSON.parse((await say(cwd, list)).out).items).toHaveLength(1);
      expect((await say(cwd, ['context', 'use', 'first'])).code).toBe(0);
      expect(JSON.parse((await say(cwd, [...list, '--context', 'second'])).out).items).toHaveLength(1);
      const shown = await say(cwd, ['context', 'list']);
      expect(shown.out).toMatch(/✓ first .*yes\n {2}second .*yes\n {2}local/);
      const document = await say(cwd, ['context', 'list', '--json']);
      for (const secret of secrets) expect(shown.out + document.out).not.toContain(secret);
      expect(await say(cwd, ['context', 'use', 'frist'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('did you mean first?'),
      });
      expect((await say(cwd, ['context', 'remove', 'first'])).out).toContain('commands now use the data folder');
      expect(readFileSync(file, 'utf8')).not.toContain(secrets[0]);
      expect(await say(cwd, ['context', 'add', 'local', '--server', served.url])).toMatchObject({ code: 2 });
      expect(
        await say(cwd, ['context', 'add', 'x', '--server', served.url, '--token-stdin'], { stdin: 'a b' }),
      ).toMatchObject({ code: 2 });
      writeFileSync(file, '{');
      expect(await say(cwd, list)).toMatchObject({ code: 2, err: expect.stringContaining('error CONTEXTS_UNUSABLE') });
    } finally {
      await other.close();
    }
  });

  test('[CLI-253] errors of a server, and of a missing server', async () => {
    const unknown = await served.nebula(['run', 'hello.yaml', '--token', 'wrong']);
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringMatching(/^error NOT_SIGNED_IN: .*\nhint: .*--token/),
    ]);
    const nobody = await say(served.cwd, ['resume', '--server', 'http://127.0.0.1:1']);
    expect([nobody.code, nobody.err]).toEqual([
      2,
      expect.stringMatching(/^error SERVER_UNREACHABLE: .*\nhint: .*nebula serve/),
    ]);
  });
});
