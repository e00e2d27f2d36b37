/** Messages and hints for invalid requests. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { ask } from './support/users.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
let booted: Booted;
beforeAll(async () => {
  booted = await boot();
});
afterAll(() => booted.close());

it.each([
  ['POST executions', { worflowId: 'a' }, "The body has an unknown member 'worflowId'.", "Did you mean 'workflowId'?"],
  ['POST executions', { workflowId: 5 }, "'workflowId' must be a string."],
  ['POST executions', { workflowId: 'a b' }, "'workflowId' is not valid.", 'It is: 1 to 200 letters'],
  ['POST executions', [], 'The body must be an object.'],
  ['POST executions/bulk', { operation: 'explode' }, `'operation' must be "cancel", "pause", "resume", "retry"`],
  ['POST signals', { signal: '' }, "'signal' is empty."],
  ['POST signals', {}, "The body lacks 'signal'."],
  ['PUT secrets/c', { value: 5 }, "'value' must be a string or an object."],
  ['PUT plans/p', { workflowId: 'w', concurrency: { limit: 0, policy: 'skip' } }, 'must be at least 1.'],
  ['GET executions?limit=1001', undefined, "'limit' must be at most 1000."],
  ['GET executions?limit=ten', undefined, "'limit' must be a whole number."],
  ['GET executions?limit=1&limit=2', undefined, "'limit' is given more than once."],
  ['GET executions?since=yesterday', undefined, "'since' must be a time.", 'E.g. 2026-01-31T12:00:00Z.'],
  ['GET executions?page=2', undefined, "The request has an unknown member 'page'.", 'It may have project, workflowId'],
  ['GET workflows/w/versions/last', undefined, `'version' must be a whole number, "newest" or "active".`],
  ['GET executions/%', undefined, 'The URL cannot be decoded.', '%25'],
])('[SRV-404] %s %j', async (route, body, detail, hint = '/api/docs') => {
  const [method, path] = route.split(' ');
  const { status, json } = await ask(booted, `${method} /api/v1/${path}`, { headers, body });
  expect(status).toBe(400);
  expect(json.detail).toContain(detail);
  expect(json.hint).toContain(hint);
});

it.each([
  ['{"workflowId":\n"a",}', 'line 2, column 4: '],
  ['{"a": tru', 'line 1, column 7: '],
  ['{"a": {"__proto__": 1}}', 'a member that JavaScript does not treat as plain data'],
])('[SRV-404] a body that is no JSON says where: %j', async (text, detail) => {
  for (const path of ['/api/v1/executions', '/api/v1/signals']) {
    const response = await fetch(`${booted.server.url}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: text,
    });
    const { code, detail: said, hint } = (await response.json()) as Record<string, string>;
    expect([response.status, code]).toEqual([400, 'BODY_INVALID']);
    expect(said).toContain(detail);
    expect(hint).toMatch(/\S/);
  }
});
