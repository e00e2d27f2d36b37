/** The contract suite of the port `sandbox`. Rules: `packages/ports/spec-sandbox.md`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type Action,
  type ActionContext,
  type Capabilities,
  type Json,
  NebulaError,
  type Verification,
} from '@nebula/core';
import type { Invocation, InvocationOutcome, Sandbox } from '@nebula/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { credentialRules, handsOut } from './sandbox-credentials.ts';

export interface OpenSandbox {
  readonly sandbox: Sandbox;
  /** An empty folder. */
  readonly projectDir: string;
  close(): Promise<void>;
}

/** `env`: the host's environment, as far as the sandbox may know it. */
export type OpenSandboxFunction = (options: { readonly env: Readonly<Record<string, string>> }) => Promise<OpenSandbox>;

type Run = (ctx: ActionContext, input: never) => unknown;

export function makeAction(run: Run, rest: Partial<Action> = {}): Action {
  return { id: 'test.action', version: '1', run: run as Action['run'], ...rest };
}

interface Recorded {
  readonly logs: [level: string, message: string, fields: unknown][];
  readonly progress: [fraction: number, message: string | undefined][];
  heartbeats: number;
}

export function makeInvocation(
  action: Action,
  rest: Partial<Invocation> = {},
): Invocation & { readonly recorded: Recorded } {
  const recorded: Recorded = { logs: [], progress: [], heartbeats: 0 };
  return {
    action,
    input: null,
    granted: {},
    executionId: 'exe_1',
    workflowId: 'flow',
    node: 'items/3/pack',
    attempt: 2,
    idempotencyKey: 'exe_1:items/3/pack:1',
    signal: new AbortController().signal,
    credential: async (alias) => `secret of ${alias}`,
    onLog: (level, message, fields) => recorded.logs.push([level, message, fields]),
    onProgress: (fraction, message) => recorded.progress.push([fraction, message]),
    onHeartbeat: () => recorded.heartbeats++,
    ...rest,
    recorded,
  };
}

export function errorOf(outcome: InvocationOutcome) {
  if (outcome.status === 'completed') throw new Error(`completed with ${JSON.stringify(outcome.output)}`);
  return outcome.error;
}

/** Variables of the host that no grant covers. */
const SECRETS_IN_ENV = { NEBULA_SECRETS_KEY: 'a key', NEBULA_SECRET_A: 'a secret', NEBULA_TOKEN: 'a token' };

export function sandboxSuite(name: string, open: OpenSandboxFunction): void {
  describe(`sandbox: ${name}`, () => {
    let host: OpenSandbox;
    beforeEach(async () => {
      host = await open({ env: { PATH: process.env.PATH ?? '', GRANTED: 'yes', SECRET: 'hidden', ...SECRETS_IN_ENV } });
    });
    afterEach(() => host.close());

    const run = (action: Action, rest?: Partial<Invocation>) => host.sandbox.run(makeInvocation(action, rest));
    const runs = async (body: Run, rest?: Partial<Invocation>) => run(makeAction(body), rest);
    const output = async (body: Run, rest?: Partial<Action>, invocation?: Partial<Invocation>) => {
      const outcome = await run(makeAction(body, rest), invocation);
      if (outcome.status !== 'completed') throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
      return outcome.output;
    };

    outcomeRules({ run, runs, output });
    errorRules({ runs });
    abortRules({ run, runs, output });
    contextRules({ run, output, sandbox: () => host.sandbox });
    capabilityRules({ run, output, projectDir: () => host.projectDir });
    verifyRules((action, rest) => host.sandbox.verify(makeInvocation(action, rest)));
    foreignRules(() => host.sandbox);
    credentialRules({
      outcomeOf: async (body, action, rest) => {
        const invocation = makeInvocation(makeAction(body, action), { ...handsOut, ...rest });
        const outcome = await host.sandbox.run(invocation);
        return { outcome, said: [...invocation.recorded.logs, ...invocation.recorded.progress] };
      },
      verify: (action, rest) =>
        host.sandbox.verify(
          makeInvocation(
            makeAction(() => null, action),
            { ...handsOut, ...rest },
          ),
        ),
    });
  });
}

function foreignRules(sandbox: () => Sandbox): void {
  const action = { ...makeAction(() => null), output: ORDER };
  const foreign = { action, node: 'far', secrets: ['hunter2-hunter2'] };

  test('[SBX-40] an outcome of another process is checked against the schema and redacted', () => {
    const { admit } = sandbox();
    const output = { total: 7, note: 'with hunter2-hunter2 in it' };
    expect(admit(foreign, { status: 'completed', output })).toEqual({
      status: 'completed',
      output: { total: 7, note: 'with [redacted] in it' },
    });
    const refused = admit(foreign, { status: 'completed', output: { total: 'x' } });
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID', kind: 'USER', node: 'far' } });
    const error = { code: 'BROKEN', kind: 'SYSTEM', message: 'hunter2-hunter2', details: { a: 1 } } as const;
    expect(admit(foreign, { status: 'failed', error })).toEqual({
      status: 'failed',
      error: { ...error, message: '[redacted]', node: 'far' },
    });
    const long = { code: 'LONG', kind: 'USER', message: 'x'.repeat(10_000_000) } as const;
    expect(JSON.stringify(admit(foreign, { status: 'failed', error: long })).length).toBeLessThan(100_000);
  });

  test('[SBX-55] texts of another process are concealed', () => {
    const { admit, admitLine } = sandbox();
    const hidden = { ...foreign, conceal: (text: string) => text.replaceAll('token', 'concealed') };
    expect(admit(hidden, { status: 'completed', output: { total: 7, note: 'a token' } })).toMatchObject({
      output: { note: 'a concealed' },
    });
    const error = { code: 'BROKEN', kind: 'USER', message: 'the token', details: { at: 'token' } } as const;
    expect(admit(hidden, { status: 'failed', error })).toMatchObject({
      error: { message: 'the concealed', details: { at: 'concealed' } },
    });
    expect(admitLine(hidden, { message: 'token', fields: { token: 1 } })).toEqual({
      message: 'concealed',
      fields: { concealed: 1 },
    });
  });

  test('[SBX-40] so are its lines', () => {
    const line = { message: 'says hunter2-hunter2', fields: { a: ['hunter2-hunter2'] } };
    expect(sandbox().admitLine(foreign, line)).toEqual({ message: 'says [redacted]', fields: { a: ['[redacted]'] } });
    expect(sandbox().admitLine(foreign, { message: 'plain' })).toEqual({ message: 'plain' });
  });
}

interface Tools {
  readonly run: (action: Action, rest?: Partial<Invocation>) => Promise<InvocationOutcome>;
  readonly runs: (body: Run, rest?: Partial<Invocation>) => Promise<InvocationOutcome>;
  readonly output: (body: Run, rest?: Partial<Action>, invocation?: Partial<Invocation>) => Promise<Json>;
  readonly sandbox: () => Sandbox;
  readonly projectDir: () => string;
}

const ORDER = {
  type: 'object',
  properties: { total: { type: 'number' }, note: { type: 'string', default: 'none' } },
  required: ['total'],
} as const;

function outcomeRules({ run, runs, output }: Pick<Tools, 'run' | 'runs' | 'output'>): void {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
      getPrototypeOf: () => {
        throw new Error('no');
      },
    },
  );
  test.each([
    ['an error', new Error('broken'), 'broken'],
    ['text', 'broken', 'broken'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object with a message', { message: 'broken' }, 'broken'],
    ['something that cannot be looked at', hostile, 'cannot be read'],
  ])('[SBX-1] %s that is thrown, or rejected with, is a failure', async (_, thrown, message) => {
    for (const body of [() => throwing(thrown), () => Promise.reject(thrown)]) {
      const outcome = await runs(body);
      expect(outcome).toMatchObject({ status: 'failed', error: { kind: 'USER', node: 'items/3/pack' } });
      expect(errorOf(outcome).message).toContain(message);
    }
  });

  test('[SBX-2] the output of an action is what it returns or resolves with', async () => {
    expect(await output(() => ({ a: [1, 'x', null, true] }))).toEqual({ a: [1, 'x', null, true] });
    expect(await output(async () => 'later')).toBe('later');
    expect(await output(() => undefined)).toBe(null);
  });

  test('[SBX-3] an input that does not fit is refused before the action is called', async () => {
    let called = false;
    const action = makeAction(() => (called = true), { input: ORDER });
    const outcome = await run(action, { input: { total: 'much' } });
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'INPUT_INVALID', kind: 'USER', details: { problems: [{ path: 'total' }] } },
    });
    expect(errorOf(await run(action, { input: {} })).message).toContain('total is missing');
    expect(called).toBe(false);
  });

  test('[SBX-4] defaults are filled in, in a copy that belongs to the action', async () => {
    const input = { total: 1, list: [3, 1, 2] };
    const body = (_: ActionContext, own: { total: number; list: number[]; note: string }) => {
      own.list.sort();
      own.total++;
      return own;
    };
    expect(await output(body, { input: ORDER }, { input })).toEqual({ total: 2, list: [1, 2, 3], note: 'none' });
    expect(input).toEqual({ total: 1, list: [3, 1, 2] });
  });

  test('[SBX-5] parseInput gets the value that passed the schema, and run gets its result', async () => {
    const parseInput = async (input: Json) => ({ at: new Date((input as { total: number }).total) }) as unknown as Json;
    const body = (_: ActionContext, input: { at: Date }) => input.at.getTime();
    expect(await output(body, { input: ORDER, parseInput }, { input: { total: 7 } })).toBe(7);
    expect(errorOf(await run(makeAction(body, { input: ORDER, parseInput }), { input: {} })).code).toBe(
      'INPUT_INVALID',
    );
    const refusing = makeAction(() => 'called', { parseInput: () => throwing(new Error('refused')) });
    expect(await run(refusing)).toMatchObject({ status: 'failed', error: { message: 'refused' } });
  });

  test('[SBX-6] an output that does not fit is a failure; parseOutput comes first', async () => {
    const outcome = await run(makeAction(() => ({ total: 'much' }), { output: ORDER }));
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID', kind: 'USER' } });
    const parseOutput = () => ({ total: 3 });
    expect(await output(() => 'raw', { output: ORDER, parseOutput })).toEqual({ total: 3 });
  });

  const circular: Record<string, unknown> = {};
  circular.self = { again: circular };
  test.each([
    ['a function', { a: { run: () => 1 } }, 'output.a.run'],
    ['a symbol', [Symbol('x')], 'output[0]'],
    ['a BigInt', { n: 1n }, 'output.n'],
    ['NaN', { list: [1, Number.NaN] }, 'output.list[1]'],
    ['infinity', Number.POSITIVE_INFINITY, 'output'],
    ['a circle', circular, 'circular'],
    ['a Map', { m: new Map() }, 'output.m'],
    ['a Set', new Set([1]), 'output'],
    ['bytes', { data: new Uint8Array(3) }, 'output.data'],
    ['an Error', { failure: new Error('x') }, 'output.failure'],
    [
      'a member that cannot be read',
      { inner: Object.defineProperty({}, 'x', { enumerable: true, get: () => throwing(new Error('no')) }) },
      'output.inner.x',
    ],
  ])('[SBX-7] %s is no output', async (_, value, path) => {
    const outcome = await runs(() => value);
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_NOT_JSON', kind: 'USER' } });
    expect(errorOf(outcome).message).toContain(path);
  });

  test('[SBX-7] a small output that expands to a huge one is stopped', async () => {
    let list: unknown[] = ['ha'];
    for (let doubling = 0; doubling < 40; doubling++) list = [list, list];
    expect(errorOf(await runs(() => list)).code).toBe('OUTPUT_TOO_LARGE');
  });

  test('[SBX-8] a convertible value is converted to JSON; every output is copied', async () => {
    class Point {
      readonly x = 1;
      readonly skip = undefined;
    }
    const at = new Date(0);
    const value = { at, point: new Point(), list: [1, undefined, -0], gone: undefined, __proto__x: 1 };
    expect(await output(() => value)).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      point: { x: 1 },
      list: [1, null, 0],
      __proto__x: 1,
    });
    const tricky = JSON.parse('{"__proto__": {"polluted": true}, "d": 1}');
    const converted = (await output(() => ({ ...tricky, tricky, when: at }))) as { tricky: object; polluted?: unknown };
    expect(Object.keys(converted.tricky)).toEqual(['__proto__', 'd']);
    expect(converted.polluted).toBeUndefined();
    const clean = { a: [{ b: 'c' }] };
    const taken = (await output(() => clean)) as typeof clean;
    Object.assign(clean.a[0] as object, { b: 'changed later' });
    expect(taken).toEqual({ a: [{ b: 'c' }] });
  });

  test('[SBX-9] a schema that only describes does not judge', async () => {
    const rest: Partial<Action> = { input: ORDER, output: ORDER, describeOnly: ['input', 'output'] };
    expect(await output(() => 'anything', rest, { input: 'anything' })).toBe('anything');
  });

  test('[SBX-10] a schema that is none fails its own action only', async () => {
    const broken = makeAction(() => 1, { input: { type: 'object', allOf: [{ type: 'strnig' }] } });
    expect(errorOf(await run(broken, { input: {} })).code).toBe('ACTION_SCHEMA_INVALID');
    expect(errorOf(await run(broken, { input: {} })).code).toBe('ACTION_SCHEMA_INVALID');
    expect(await output(() => 1, { input: { allOf: [{ type: 'object' }] } }, { input: {} })).toBe(1);
  });
}

function errorRules({ runs }: Pick<Tools, 'runs'>): void {
  test('[SBX-11] errors with a code keep it', async () => {
    const actionError = Object.assign(new Error('declined'), {
      name: 'ActionError',
      code: 'CARD_DECLINED',
      kind: 'SYSTEM',
      details: { card: 4 },
    });
    expect(errorOf(await runs(() => throwing(actionError)))).toEqual({
      code: 'CARD_DECLINED',
      kind: 'SYSTEM',
      message: 'declined',
      details: { card: 4 },
      node: 'items/3/pack',
    });
    const nebulaError = new NebulaError('NOT_FOUND', 'no such order.', { hint: 'Look again', details: { id: 1 } });
    expect(errorOf(await runs(() => throwing(nebulaError)))).toMatchObject({
      code: 'NOT_FOUND',
      kind: 'USER',
      message: 'no such order. Look again',
      details: { id: 1 },
    });
    expect(errorOf(await runs(() => throwing(new NebulaError('BUSY', 'busy', { retryable: true })))).kind).toBe(
      'SYSTEM',
    );
  });

  test('[SBX-12] other errors are ACTION_FAILED, and everything is capped', async () => {
    const typeError = errorOf(await runs(() => (undefined as unknown as { x: unknown }).x));
    expect(typeError).toMatchObject({ code: 'ACTION_FAILED', kind: 'USER', details: { name: 'TypeError' } });
    expect(errorOf(await runs(() => throwing(new Error(''))))).toMatchObject({
      message: 'the action failed without a message',
    });
    const big = Object.assign(new Error('x'.repeat(1e6)), {
      name: 'ActionError',
      code: 'C'.repeat(1e4),
      details: { d: 'y'.repeat(1e6) },
    });
    expect(JSON.stringify(errorOf(await runs(() => throwing(big)))).length).toBeLessThan(25_000);
    const odd = Object.assign(new Error('odd'), { name: 'ActionError', code: 'ODD', details: { f: () => 1 } });
    expect(errorOf(await runs(() => throwing(odd)))).toEqual({
      code: 'ODD',
      kind: 'USER',
      message: 'odd',
      node: 'items/3/pack',
    });
  });

  test('[SBX-13] errors of the network are SYSTEM, with their code', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(errorOf(await runs(() => throwing(new TypeError('fetch failed', { cause: refused }))))).toEqual({
      code: 'ECONNREFUSED',
      kind: 'SYSTEM',
      message: 'fetch failed: connect ECONNREFUSED',
      node: 'items/3/pack',
    });
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(errorOf(await runs(() => throwing(new AggregateError([reset], 'all failed'))))).toMatchObject({
      code: 'ECONNRESET',
      kind: 'SYSTEM',
      details: { outcome: 'unknown' },
    });
    const missing = Object.assign(new Error('no such file'), { code: 'ENOENT' });
    expect(errorOf(await runs(() => throwing(missing)))).toMatchObject({
      code: 'ACTION_FAILED',
      kind: 'USER',
      details: { code: 'ENOENT' },
    });
  });
}

function abortRules({ run, runs, output }: Pick<Tools, 'run' | 'runs' | 'output'>): void {
  test('[SBX-14] an action that rejects after the abort is aborted', async () => {
    const stopper = new AbortController();
    const pending = runs((ctx) => ctx.sleep(60_000), { signal: stopper.signal });
    stopper.abort(new Error('cancelled by Ada'));
    expect(await pending).toMatchObject({ status: 'aborted', error: { code: 'ABORTED' } });
    expect(errorOf(await pending).message).toContain('cancelled by Ada');

    const coded = new AbortController();
    const timedOut = runs((ctx) => ctx.sleep(60_000), { signal: coded.signal });
    coded.abort(new NebulaError('TIMEOUT', 'too slow'));
    expect(await timedOut).toMatchObject({ status: 'aborted', error: { code: 'TIMEOUT' } });

    const own = new AbortController();
    const withOwnError = runs(
      async (ctx) => {
        await ctx.sleep(60_000).catch(() => {});
        throw new NebulaError('HALF_DONE', 'half done');
      },
      { signal: own.signal },
    );
    own.abort();
    expect(await withOwnError).toMatchObject({ status: 'aborted', error: { code: 'HALF_DONE' } });
  });

  test('[SBX-15] an action that resolves after the abort is completed', async () => {
    const stopper = new AbortController();
    const body = async (ctx: ActionContext) => ctx.sleep(60_000).catch(() => 'finished anyway');
    const pending = output(body, {}, { signal: stopper.signal });
    stopper.abort();
    expect(await pending).toBe('finished anyway');
  });

  test('[SBX-15] a resolved action is judged as usual: its outcome is known', async () => {
    const stopper = new AbortController();
    const body = async (ctx: ActionContext) => ctx.sleep(60_000).catch(() => Number.NaN);
    const pending = runs(body, { signal: stopper.signal });
    stopper.abort();
    expect(await pending).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_NOT_JSON' } });
  });

  test('[SBX-16] an action is not called once the signal is aborted', async () => {
    let called = false;
    const outcome = await run(
      makeAction(() => (called = true)),
      { signal: AbortSignal.abort() },
    );
    expect(outcome).toMatchObject({ status: 'aborted', error: { code: 'ABORTED', details: { started: false } } });
    const stopper = new AbortController();
    const parseInput = async (input: Json) => {
      stopper.abort();
      return input;
    };
    const duringParsing = await run(
      makeAction(() => (called = true), { parseInput }),
      { signal: stopper.signal },
    );
    expect(duringParsing).toMatchObject({ status: 'aborted', error: { details: { started: false } } });
    expect(called).toBe(false);
  });
}

function contextRules({ run, output, sandbox }: Pick<Tools, 'run' | 'output' | 'sandbox'>): void {
  test('[SBX-17] the context has the invocation and passes on what the action reports', async () => {
    const body = ({ log, progress, heartbeat, now, ...facts }: ActionContext, _: never) => {
      log.info('hello', { n: 1 });
      log.error('odd', { f: (() => 1) as unknown as Json });
      progress(0.5, 'half');
      progress(7);
      progress(Number.NaN);
      heartbeat();
      return { facts: Object.keys(facts).length >= 0, recent: Math.abs(now() - Date.now()) < 60_000 };
    };
    const invocation = makeInvocation(makeAction(body));
    expect(await sandbox().run(invocation)).toMatchObject({ status: 'completed', output: { recent: true } });
    const { logs, progress, heartbeats } = invocation.recorded;
    expect(logs[0]).toEqual(['info', 'hello', { n: 1 }]);
    expect(logs[1]).toMatchObject(['error', 'odd', { unloggable: expect.any(String) }]);
    expect(progress).toEqual([
      [0.5, 'half'],
      [1, undefined],
      [0, undefined],
    ]);
    expect(heartbeats).toBe(1);
    const facts = await output(({ executionId, workflowId, node, attempt, idempotencyKey }) => ({
      executionId,
      workflowId,
      node,
      attempt,
      idempotencyKey,
    }));
    expect(facts).toEqual({
      executionId: 'exe_1',
      workflowId: 'flow',
      node: 'items/3/pack',
      attempt: 2,
      idempotencyKey: 'exe_1:items/3/pack:1',
    });
  });

  test('[SBX-18] sleep waits', async () => {
    const waited = await output(async ({ sleep, now }) => {
      const before = now();
      await sleep(30);
      return now() - before;
    });
    expect(waited).toBeGreaterThanOrEqual(28);
    expect(errorOf(await run(makeAction((ctx) => ctx.sleep(-1)))).message).toContain('-1');
  });

  test('[SBX-19] an attempt that has ended, or is aborted, can do nothing more', async () => {
    let context: ActionContext | undefined;
    const invocation = makeInvocation(
      makeAction(
        (ctx) => {
          context = ctx;
        },
        { capabilities: ['files', 'env'] },
      ),
      { granted: { files: { write: ['*'] }, env: ['*'] } },
    );
    await sandbox().run(invocation);
    await expect(context?.files.write('late.txt', 'x')).rejects.toMatchObject({ code: 'ATTEMPT_ENDED' });
    expect(() => context?.env('PATH')).toThrow();
    context?.progress(0.9);
    expect(invocation.recorded.progress).toEqual([]);

    const stopper = new AbortController();
    const zombie = async (ctx: ActionContext) => {
      await ctx.sleep(60_000).catch(() => {});
      await ctx.files.write('zombie.txt', 'x');
    };
    const granted = { files: { write: ['*'] } };
    const pending = run(makeAction(zombie, { capabilities: ['files'] }), { signal: stopper.signal, granted });
    stopper.abort();
    expect(await pending).toMatchObject({ status: 'aborted', error: { code: 'ABORTED' } });
  });
}

function capabilityRules({ run, output, projectDir }: Pick<Tools, 'run' | 'output' | 'projectDir'>): void {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: 'http://elsewhere.invalid/' }).end();
      else if (request.url === '/home') response.writeHead(302, { location: '/' }).end();
      else response.end(`hello from ${request.url}`);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const hostFunctions: Record<keyof Capabilities, { use: (ctx: ActionContext) => unknown; granted: Capabilities }> = {
    network: { use: async (ctx) => (await ctx.fetch(`${origin}/`)).text(), granted: { network: ['127.0.0.1'] } },
    files: { use: (ctx) => ctx.files.write('a.txt', 'x'), granted: { files: { write: ['a.txt'] } } },
    shell: { use: async (ctx) => (await ctx.shell('echo', ['hi'])).stdout, granted: { shell: ['echo'] } },
    env: { use: (ctx) => ctx.env('GRANTED'), granted: { env: ['GRANTED'] } },
  };
  test.each(Object.keys(hostFunctions) as (keyof Capabilities)[])(
    '[SBX-21] %s needs both the declaration and the grant',
    async (kind) => {
      const { use, granted } = hostFunctions[kind];
      const declared = makeAction(use, { capabilities: [kind] });
      expect(await run(declared, { granted })).toMatchObject({ status: 'completed' });
      const ungranted = errorOf(await run(declared));
      expect(ungranted).toMatchObject({ code: 'CAPABILITY_DENIED', kind: 'USER' });
      expect(ungranted.message).toContain(`config: { capabilities: { ${kind}: `);
      const undeclared = errorOf(await run(makeAction(use), { granted }));
      expect(undeclared).toMatchObject({ code: 'CAPABILITY_DENIED' });
      expect(undeclared.message).toContain(`capabilities: ['${kind}']`);
    },
  );

  const get = (path: string) => async (ctx: ActionContext) =>
    (await ctx.fetch(path.startsWith('/') ? origin + path : path)).text();
  const network: Partial<Action> = { capabilities: ['network'] };
  test('[SBX-22] only granted hosts are reached, by http or https', async () => {
    const granted = { network: ['127.0.0.1'] };
    expect(await output(get('/x'), network, { granted })).toBe('hello from /x');
    const wrongPort = { network: ['127.0.0.1:1'] };
    expect(errorOf(await run(makeAction(get('/x'), network), { granted: wrongPort })).code).toBe('CAPABILITY_DENIED');
    for (const url of ['data:text/plain,x', 'file:///etc/passwd', 'http://localhost/']) {
      expect(errorOf(await run(makeAction(get(url), network), { granted })).code).toBe('CAPABILITY_DENIED');
    }
  });

  test('[SBX-23] a redirect leads only to granted hosts', async () => {
    const granted = { network: ['127.0.0.1'] };
    expect(await output(get('/home'), network, { granted })).toBe('hello from /');
    const error = errorOf(await run(makeAction(get('/away'), network), { granted }));
    expect(error).toMatchObject({ code: 'CAPABILITY_DENIED', details: { wanted: 'elsewhere.invalid' } });
  });

  const files: Partial<Action> = { capabilities: ['files'] };
  test('[SBX-24] files are read and written where that is granted', async () => {
    await mkdir(join(projectDir(), 'in'));
    await writeFile(join(projectDir(), 'in/a.txt'), 'content');
    await writeFile(join(projectDir(), 'secret.txt'), 'secret');
    const granted = { files: { read: ['in/**'], write: ['out/*.txt'] } };
    const read = (path: string) => async (ctx: ActionContext) => new TextDecoder().decode(await ctx.files.read(path));
    expect(await output(read('in/a.txt'), files, { granted })).toBe('content');
    for (const path of ['secret.txt', 'in/../secret.txt', '../x', '/etc/passwd', 'out/a.txt']) {
      expect(errorOf(await run(makeAction(read(path), files), { granted })).code).toBe('CAPABILITY_DENIED');
    }
    expect(errorOf(await run(makeAction(read('in/none'), files), { granted })).code).toBe('FILE_NOT_FOUND');
    const writing = makeAction((ctx) => ctx.files.write('in/a.txt', 'x'), files);
    expect(errorOf(await run(writing, { granted })).code).toBe('CAPABILITY_DENIED');
  });

  test('[SBX-25] a file is replaced or added to; folders are made', async () => {
    const granted = { files: { write: ['**'] } };
    await output((ctx) => ctx.files.write('out/deep/a.txt', 'one'), files, { granted });
    await output((ctx) => ctx.files.write('out/deep/a.txt', 'two'), files, { granted });
    await output((ctx) => ctx.files.write('out/deep/a.txt', ' three', { append: true }), files, { granted });
    expect(await readFile(join(projectDir(), 'out/deep/a.txt'), 'utf8')).toBe('two three');
  });

  const shell: Partial<Action> = { capabilities: ['shell', 'env'] };
  test('[SBX-26] a program gets its arguments as they are, and only the environment that is granted', async () => {
    const granted = { shell: ['echo', 'env', 'cat', 'sh'], env: ['GRANTED'] };
    const result = await output((ctx) => ctx.shell('echo', ['$HOME; ls', '*']), shell, { granted });
    expect(result).toEqual({ exitCode: 0, stdout: '$HOME; ls *\n', stderr: '', truncated: false });
    const env = await output(async (ctx) => (await ctx.shell('env', [], { env: { OWN: '1' } })).stdout, shell, {
      granted,
    });
    const names = String(env)
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
      .sort();
    expect(names).toEqual(['GRANTED', 'OWN', 'PATH']);
    expect(await output(async (ctx) => (await ctx.shell('cat', [], { stdin: 'in' })).stdout, shell, { granted })).toBe(
      'in',
    );
    expect(await output((ctx) => ctx.shell('sh', ['-c', 'exit 3']), shell, { granted })).toMatchObject({ exitCode: 3 });
    expect(await output((ctx) => ctx.shell('sh', ['-c', 'kill -9 $$']), shell, { granted })).toMatchObject({
      exitCode: 137,
    });
  });

  test('[SBX-27] an abort ends the program', async () => {
    const stopper = new AbortController();
    const body = async (ctx: ActionContext) => ctx.shell('sleep', ['60']);
    const pending = run(makeAction(body, shell), { granted: { shell: ['sleep'] }, signal: stopper.signal });
    setTimeout(() => stopper.abort(), 100);
    expect(await pending).toMatchObject({ status: 'aborted' });
  });

  test('[SBX-28] output beyond the limit is left out', async () => {
    const script = 'i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i+1)); done; exit 4';
    const body = (ctx: ActionContext) => ctx.shell('sh', ['-c', script], { maxOutputBytes: 100 });
    const result = (await output(body, shell, { granted: { shell: ['sh'] } })) as { stdout: string };
    expect(result).toMatchObject({ exitCode: 4, truncated: true });
    expect(result.stdout).toHaveLength(100);
  });

  test('[SBX-29] only granted variables can be read', async () => {
    const granted = { env: ['GRANTED', 'UNSET', 'toString'] };
    expect(await output((ctx) => ctx.env('GRANTED'), shell, { granted })).toBe('yes');
    expect(await output((ctx) => ctx.env('UNSET') === undefined, shell, { granted })).toBe(true);
    expect(await output((ctx) => ctx.env('toString') === undefined, shell, { granted })).toBe(true);
    const error = errorOf(
      await run(
        makeAction((ctx) => ctx.env('SECRET'), shell),
        { granted },
      ),
    );
    expect(error).toMatchObject({ code: 'CAPABILITY_DENIED' });
    expect(JSON.stringify(error)).not.toContain('hidden');
  });

  test('[SBX-36] [SBX-50] no grant gives secrets of the host or its token to an action or a program', async () => {
    const granted = { env: ['*'], shell: ['env'] };
    for (const name of Object.keys(SECRETS_IN_ENV)) {
      expect(await output((ctx) => ctx.env(name) === undefined, shell, { granted }), name).toBe(true);
    }
    const seen = await output(async (ctx) => (await ctx.shell('env', [])).stdout, shell, { granted });
    expect(seen).toContain('GRANTED=yes');
    for (const name of Object.keys(SECRETS_IN_ENV)) expect(seen).not.toContain(name);
  });
}

function verifyRules(verify: (action: Action, rest?: Partial<Invocation>) => Promise<Verification>): void {
  test('[SBX-30] verify returns its finding', async () => {
    const saying = (verdict: unknown, rest: Partial<Action> = {}) =>
      verify(makeAction(() => null, { verify: () => verdict as Verification, ...rest }));
    expect(await saying({ happened: false })).toEqual({ happened: false });
    expect(await saying({ happened: true, output: { at: new Date(0) } })).toEqual({
      happened: true,
      output: { at: '1970-01-01T00:00:00.000Z' },
    });
    expect(await saying({ happened: 'unknown' })).toEqual({ happened: 'unknown' });
  });

  test('[SBX-30] an unclear finding is unknown', async () => {
    const unknown = { happened: 'unknown' };
    expect(await verify(makeAction(() => null))).toEqual(unknown);
    for (const verdict of [undefined, null, 'yes', { happened: 1 }, { happened: true, output: () => 1 }]) {
      expect(await verify(makeAction(() => null, { verify: () => verdict as Verification }))).toEqual(unknown);
    }
    expect(await verify(makeAction(() => null, { verify: () => throwing(new Error('x')) }))).toEqual(unknown);
    const strict: Partial<Action> = { output: ORDER, verify: () => ({ happened: true, output: 'odd' }) };
    expect(await verify(makeAction(() => null, strict))).toEqual(unknown);
    const refusing: Partial<Action> = { input: ORDER, verify: () => ({ happened: false }) };
    expect(
      await verify(
        makeAction(() => null, refusing),
        { input: 'odd' },
      ),
    ).toEqual(unknown);
  });
}

function throwing(thrown: unknown): never {
  throw thrown;
}
