/** Planted values are looked for everywhere. */
import { type Json, NebulaError } from '@nebula/core';
import { FEED_START } from '@nebula/ports';
import { defineAction } from '@nebula/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { ask } from './support/users.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const PLANTED = 'planted/value+with=signs';
const OTHER = 'another planted value';
const FORMS = [
  PLANTED,
  OTHER,
  encodeURIComponent(PLANTED),
  Buffer.from(PLANTED).toString('base64'),
  Buffer.from(PLANTED).toString('base64url'),
  Buffer.from(OTHER).toString('base64'),
];

/** Tells everybody, in every way it knows. */
const leak = defineAction({
  id: 'test.leak',
  version: '1',
  effect: 'idempotent',
  credentials: ['key'],
  input: { type: 'object', properties: { fail: { type: 'boolean' } } },
  output: {},
  async run(ctx, { fail }) {
    const secret = await ctx.credential('key');
    const text = `${secret} ${encodeURIComponent(secret)} ${Buffer.from(secret).toString('base64')}`;
    ctx.log.info(`the key is ${text}`, { secret, text });
    ctx.progress(0.5, `with ${text}`);
    if (fail) throw new NebulaError('LEAKED', `it failed with ${text}`, { details: { secret, text } as Json });
    return { secret, text, nested: [{ secret }] };
  },
});

describe('secrets', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot({ actions: [leak] });
  });
  afterAll(() => booted.close());

  it('[SRV-90] a planted value appears nowhere', async () => {
    const answers: string[] = [];
    const tell = async (line: string, body?: unknown) => {
      const answer = await ask(booted, line, { headers, ...(body !== undefined && { body }) });
      answers.push(`${line} ${answer.text}`);
      return answer;
    };
    await tell('PUT /api/v1/secrets/planted', { value: PLANTED });
    await tell('PUT /api/v1/secrets/several', { value: { user: 'ann', password: OTHER } });
    await tell('PUT /api/v1/secrets/planted', { value: 5, other: PLANTED });
    const definition = {
      id: 'leaks',
      triggers: [{ webhook: { path: '/leaks', signature: { secret: 'planted', scheme: 'token', header: 'x-key' } } }],
      nodes: {
        tell: { action: 'test.leak', credentials: { key: 'planted' } },
        fail: {
          action: 'test.leak',
          credentials: { key: 'planted' },
          with: { fail: true },
          needs: ['tell'],
          onError: 'ignore',
        },
      },
      output: { told: '{{ $nodes.tell.output }}', failed: '{{ $nodes.fail.error }}' },
    };
    const registered = await tell('POST /api/v1/workflows', { definition });
    expect(registered.status, registered.text).toBe(201);
    const hears = await fetch(`${booted.server.url}/api/v1/events`, { headers });
    const { json } = await tell('POST /api/v1/executions?wait=10s', { workflowId: 'leaks' });
    expect(json.status, JSON.stringify(json)).toBe('completed');
    expect(json.output.told.nested).toHaveLength(1);
    const hooked = await ask(booted, 'POST /hooks/leaks', { headers: { 'x-key': PLANTED }, body: { a: 1 } });
    expect(hooked.status, hooked.text).toBe(202);
    await tell(`GET /api/v1/executions/${hooked.json.executionId}/result?wait=10s`);
    for (const executionId of [json.executionId, hooked.json.executionId]) {
      for (const part of [
        '',
        '/result',
        '/journal',
        '/timeline',
        '/logs',
        '/explain',
        '/explain?node=fail',
        '/definition',
        '/undo-plan',
      ]) {
        await tell(`GET /api/v1/executions/${executionId}${part}`);
      }
    }
    for (const list of ['secrets', 'audit', 'executions', 'workflows/leaks/versions/1', 'info', 'me'])
      await tell(`GET /api/v1/${list}`);
    answers.push(await heardFrom(hears));
    const { records, store, logs } = booted.parts;
    for (const kind of ['audit', 'idempotency', 'workflow', 'webhook', 'triggers']) {
      answers.push(JSON.stringify(await records.list(kind, { limit: 1_000 })));
    }
    answers.push(JSON.stringify(await store.feed({ after: FEED_START, limit: 10_000 })));
    answers.push(JSON.stringify(await logs.read({ executionId: json.executionId, limit: 100 })));
    for (const text of answers) {
      for (const form of FORMS) expect(text.includes(form), `${form} in ${text.slice(0, 200)}`).toBe(false);
    }
    // The lines and events themselves are there.
    expect(answers.some((text) => text.includes('the key is'))).toBe(true);
    expect(answers.some((text) => text.includes('it failed with'))).toBe(true);
  });
});

/** Everything that the server shows of two runs. */
async function heardFrom(response: Response): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.split('WorkflowCompleted').length <= 2) {
    const { value, done } = await reader.read();
    expect(done).toBe(false);
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}
