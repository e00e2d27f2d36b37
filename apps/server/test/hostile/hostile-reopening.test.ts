/** The hostile suite for reopened runs: an old run gives no more than a new one. */
import { type Action, type Json, NebulaError } from '@nebula/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot } from '../support/boot.ts';
import { type Answer, addProject, addUser, ask, type Headers, signIn } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const given: { node: string; input: Json }[] = [];
const note: Action = {
  id: 'test.note',
  version: '1',
  effect: 'pure',
  input: { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false },
  run: (ctx, input) => {
    given.push({ node: ctx.node, input });
    return input;
  },
};
const lost: Action = {
  id: 'test.lost',
  version: '1',
  effect: 'once',
  output: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  run: () => {
    throw new NebulaError('LOST', 'nobody knows', { details: { outcome: 'unknown' } });
  },
};

let booted: Booted;
const as: Record<string, Headers> = {};

beforeAll(async () => {
  booted = await boot({ users: true, actions: [note, lost] });
  for (const project of ['alpha', 'beta']) {
    await addProject(booted, project);
    for (const role of ['owner', 'editor', 'operator', 'viewer'] as const) {
      await addUser(booted, `${project}-${role}`, { roles: { [project]: role } });
      as[`${project}-${role}`] = await signIn(booted, `${project}-${role}`);
    }
  }
  await addUser(booted, 'both', { roles: { alpha: 'viewer', beta: 'operator' } });
  as['both'] = await signIn(booted, 'both');
});
afterAll(() => booted.close());

const call = (who: string, line: string, body?: unknown, headers: Headers = {}): Promise<Answer> =>
  ask(booted, line.replace(' /', ' /api/v1/'), {
    headers: { ...(as[who] as Headers), ...headers },
    ...(typeof body === 'string' ? { raw: body } : body !== undefined && { body }),
  });

async function must(who: string, line: string, body?: unknown): Promise<Answer> {
  const answer = await call(who, line, body);
  expect(answer.status, `${who} ${line} ${answer.text}`).toBeLessThan(300);
  return answer;
}

async function started(definition: { readonly id: string }, body: object = {}): Promise<string> {
  await must('alpha-editor', 'POST /workflows', { definition, project: 'alpha' });
  const { json } = await must('alpha-editor', 'POST /executions?wait=5s', { workflowId: definition.id, ...body });
  return json.executionId;
}

/** The run once only a person moves it. */
async function rested(executionId: string): Promise<Answer['json']> {
  const { json } = await must('alpha-viewer', `GET /executions/${executionId}/rest?wait=10s`);
  return json.execution;
}

const shell = (id: string) => ({
  id,
  config: { capabilities: { shell: ['*'] } },
  nodes: { sh: { action: 'shell.run', with: { program: 'true' } } },
});
const EDITED = { program: 'id', args: ['-u'] };

describe('a ceiling that was lowered', () => {
  let ended = '';
  beforeAll(async () => {
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: { shell: ['*'] } });
    ended = await started(shell('shell'));
    expect((await rested(ended)).status).toBe('completed');
    await must('alpha-owner', 'PUT /projects/alpha', { ceiling: {} });
  });

  it.each([
    ['a replay', { node: 'sh' }],
    ['a replay with edited input', { node: 'sh', input: EDITED }],
    ['a fork', { node: 'sh', fork: true }],
    ['a fork with edited input', { node: 'sh', input: EDITED, fork: true }],
  ])('[SRV-654] does not come back by %s', async (_, body) => {
    const { json } = await must('alpha-operator', `POST /executions/${ended}/replay`, body);
    const run = await rested(json.executionId);
    expect([run.status, run.error?.code]).toEqual(['failed', 'CAPABILITY_DENIED']);
  });

  it('[SRV-654] does not come back by a retry, by a bulk retry or by a relaunch', async () => {
    await must('alpha-operator', `POST /executions/${ended}/retry`);
    expect((await rested(ended)).error?.code).toBe('CAPABILITY_DENIED');
    await must('alpha-operator', 'POST /executions/bulk', { operation: 'retry', ids: [ended] });
    expect((await rested(ended)).error?.code).toBe('CAPABILITY_DENIED');
    const { json } = await must('alpha-operator', `POST /executions/${ended}/relaunch`, { input: {} });
    expect((await rested(json.executionId)).error?.code).toBe('CAPABILITY_DENIED');
  });
});

describe('callers without permission', () => {
  let ended = '';
  let waiting = '';
  beforeAll(async () => {
    ended = await started({ id: 'ended', nodes: { a: { action: 'test.note', with: { n: 1 } } } } as never);
    waiting = await started({
      id: 'waiting',
      nodes: {
        ok: { wait: { approval: { title: 'deploy?', who: ['alpha-owner'] } } },
        deploy: { needs: ['ok'], action: 'test.note', with: { n: 2 } },
        heard: { wait: { signal: 'go', schema: { type: 'object', required: ['n'] } } },
        called: { wait: { callback: true } },
        paid: { action: 'test.lost' },
      },
    } as never);
    await rested(waiting);
  });

  const requests = (): readonly (readonly [string, object])[] => [
    [`POST /executions/${ended}/replay`, { node: 'a', input: { n: 9 } }],
    [`POST /executions/${ended}/replay`, { node: 'a', fork: true }],
    [`POST /executions/${ended}/relaunch`, { input: { n: 9 } }],
    [`POST /executions/${ended}/retry`, {}],
    [`POST /executions/${waiting}/signal`, { signal: 'go', payload: { n: 1 } }],
    [`POST /executions/${waiting}/answer`, { node: 'ok', approved: true }],
    [`POST /executions/${waiting}/callback`, { node: 'called', payload: 1 }],
    [`POST /executions/${waiting}/settle`, { node: 'paid', happened: true, output: { id: 'x' } }],
    [`POST /executions/${waiting}/cancel`, {}],
  ];

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('[SRV-654] are refused, or told of no such run (request %i)', async (index) => {
    const [line, body] = requests()[index] as readonly [string, object];
    const nowhere = line.replace(/executions\/[^/]+/, 'executions/exe_nowhere');
    expect((await call('alpha-viewer', line, body)).status, line).toBe(403);
    expect((await call('both', line, body)).status, line).toBe(403);
    for (const who of ['beta-owner', 'beta-operator']) {
      const [real, none] = [await call(who, line, body), await call(who, nowhere, body)];
      expect([real.status, real.json.code], line).toEqual([404, 'UNKNOWN_EXECUTION']);
      expect(real.text.replaceAll(/exe_[a-zA-Z0-9_-]+/g, 'exe')).toBe(
        none.text.replaceAll(/exe_[a-zA-Z0-9_-]+/g, 'exe'),
      );
    }
    expect(given.some(({ input }) => (input as { n?: number }).n === 9)).toBe(false);
  });

  it('[SRV-654] do not reach foreign runs through bulk operations, idempotency keys or chosen ids', async () => {
    const bulk = await must('beta-operator', 'POST /executions/bulk', { operation: 'retry', ids: [ended, waiting] });
    expect(bulk.json).toMatchObject({
      done: 0,
      failed: [{ code: 'UNKNOWN_EXECUTION' }, { code: 'UNKNOWN_EXECUTION' }],
    });
    const key = { 'idempotency-key': 'the same' };
    const own = await call('alpha-operator', `POST /executions/${ended}/relaunch`, { input: {} }, key);
    expect(own.status).toBe(201);
    expect((await call('beta-operator', `POST /executions/${ended}/relaunch`, { input: {} }, key)).status).toBe(404);
    await must('beta-editor', 'POST /workflows', { definition: echo('beta-echo'), project: 'beta' });
    const taken = await call('beta-operator', 'POST /executions', { workflowId: 'beta-echo', executionId: ended });
    expect([taken.status, taken.json.code]).toEqual([409, 'EXECUTION_ID_TAKEN']);
    expect(taken.text).not.toContain('alpha');
  });

  it('[SRV-654] an operator answers only for themselves, and approves nothing by a replay, a fork or a retry', async () => {
    const answer = (body: object) =>
      call('alpha-operator', `POST /executions/${waiting}/answer`, { node: 'ok', approved: true, ...body });
    for (const body of [{}, { by: 'alpha-owner' }]) expect((await answer(body)).status).toBe(403);
    const replay = (body: object) => call('alpha-operator', `POST /executions/${waiting}/replay`, body);
    expect((await replay({ node: 'deploy' })).json.code).toBe('STILL_RUNNING');
    await must('alpha-operator', `POST /executions/${waiting}/settle`, { node: 'paid', happened: false, then: 'fail' });
    await must('alpha-operator', `POST /executions/${waiting}/cancel`, {});
    expect((await rested(waiting)).status).toBe('failed');
    const forked = await replay({ node: 'deploy', input: { n: 7 }, fork: true });
    for (const executionId of [forked.json.executionId, waiting]) {
      if (executionId === waiting) expect((await replay({ node: 'deploy', input: { n: 7 } })).status).toBe(202);
      const run = await rested(executionId);
      expect(run.nodes.deploy.status, JSON.stringify(run.nodes)).not.toBe('completed');
    }
    await call('alpha-operator', `POST /executions/${waiting}/retry`);
    expect((await rested(waiting)).nodes.deploy.status).not.toBe('completed');
    expect(given.some(({ node }) => node === 'deploy')).toBe(false);
  });
});

describe('edited values', () => {
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const RAW: Readonly<Record<string, readonly [value: string, codes: readonly string[]]>> = {
    'a prototype': ['{"__proto__":{"polluted":1}}', ['BODY_INVALID']],
    'a prototype of a constructor': ['{"constructor":{"prototype":{"polluted":1}}}', ['BODY_INVALID']],
    'a number that no JSON has': ['{"n":1e999}', ['INPUT_INVALID']],
    '201 levels': [nested(201), ['INPUT_INVALID']],
    '10,000 levels': [nested(10_000), ['BODY_INVALID']],
    '5 MB of text': [JSON.stringify('x'.repeat(5_000_000)), ['TOO_LARGE']],
    '300,000 values': [`[${'1,'.repeat(299_999)}1]`, ['TOO_LARGE']],
    'no JSON': ['{"n":', ['BODY_INVALID']],
  };
  let ended = '';
  let waiting = '';
  beforeAll(async () => {
    ended = await started({ id: 'edited', nodes: { a: { action: 'test.note', with: { n: 1 } } } } as never);
    waiting = await started({
      id: 'edited-waits',
      nodes: {
        ok: { wait: { approval: { title: 'ok?', form: { type: 'object', properties: { n: { type: 'number' } } } } } },
        heard: { wait: { signal: 'go' } },
        called: { wait: { callback: true } },
        paid: { action: 'test.lost' },
      },
    } as never);
    await rested(waiting);
  });

  it.each(Object.keys(RAW))('[SRV-655] %s is refused wherever it is given', async (name) => {
    const [value, codes] = RAW[name] as (typeof RAW)[string];
    const requests: readonly (readonly [string, string])[] = [
      [`POST /executions/${ended}/replay`, `{"node":"a","input":${value}}`],
      [`POST /executions/${ended}/replay`, `{"node":"a","fork":true,"input":${value}}`],
      [`POST /executions/${ended}/relaunch`, `{"input":${value}}`],
      [`POST /executions/${waiting}/signal`, `{"signal":"go","payload":${value}}`],
      ['POST /signals', `{"signal":"go","project":"alpha","payload":${value}}`],
      [`POST /executions/${waiting}/answer`, `{"node":"ok","approved":true,"form":${value}}`],
      [`POST /executions/${waiting}/callback`, `{"node":"called","payload":${value}}`],
      [`POST /executions/${waiting}/settle`, `{"node":"paid","happened":true,"output":${value}}`],
    ];
    for (const [line, body] of requests) {
      const { status, json } = await call('alpha-operator', line, body);
      expect([line, codes.includes(json?.code) ? status < 500 : json], line).toEqual([line, true]);
    }
    expect(await booted.parts.store.inbox(waiting)).toEqual([]);
  });

  it.each([
    ['of another type', { n: 'text' }],
    ['with members that the schema forbids', { n: 1, more: true }],
    ['that is no object', [1]],
    ['null', null],
  ])('[SRV-655] an edited input %s fails its node before the action sees it', async (_, input) => {
    const before = given.length;
    const { json } = await must('alpha-operator', `POST /executions/${ended}/replay`, { node: 'a', input, fork: true });
    const run = await rested(json.executionId);
    expect([run.status, run.error?.code]).toEqual(['failed', 'INPUT_INVALID']);
    expect(given.length).toBe(before);
  });

  it('[SRV-655] expressions in an edited input are text', async () => {
    const id = await started({ id: 'free', nodes: { a: { action: 'core.set', with: { value: 1 } } } } as never);
    const value = '{{ $execution.id }} {{ $input }} {{ $secrets.key }}';
    const { json } = await must('alpha-operator', `POST /executions/${id}/replay`, {
      node: 'a',
      input: { value },
      fork: true,
    });
    const run = await rested(json.executionId);
    expect(run.status).toBe('completed');
    expect(JSON.stringify(run.nodes.a.output)).toContain('{{ $execution.id }}');
  });

  it('[SRV-655] a told output and a form that do not fit are refused', async () => {
    const settle = { node: 'paid', happened: true, output: { id: 7 } };
    expect((await call('alpha-operator', `POST /executions/${waiting}/settle`, settle)).json.code).toBe(
      'OUTPUT_INVALID',
    );
    const answer = { node: 'ok', approved: true, form: { n: 'text' } };
    expect((await call('alpha-operator', `POST /executions/${waiting}/answer`, answer)).json.code).toBe('FORM_INVALID');
    for (const node of ['nowhere', '../ok', 'ok/0', '', '__proto__', 'constructor']) {
      const refused = await call('alpha-operator', `POST /executions/${ended}/replay`, { node, input: {} });
      expect([node, refused.status >= 400 && refused.status < 500]).toEqual([node, true]);
    }
  });
});
