/** Notifications on a clock that the test moves, to a receiver on a real socket. */
import { createHmac } from 'node:crypto';
import dns from 'node:dns';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { NebulaError } from '@nebula/core';
import { localLeader } from '@nebula/drivers/memory';
import { defineAction } from '@nebula/sdk';
import { describe, expect, it } from 'vitest';
import { type Booted, type Keeping, memoryKeeping, TOKEN } from './support/boot.ts';
import {
  answerWith,
  arrived,
  booting,
  fails,
  listed,
  open,
  put,
  type Received,
  received,
  receiver,
  register,
  start,
  url,
  withReceiver,
} from './support/notified.ts';
import { Time } from './support/time.ts';
import { addProject, addUser, ask, signIn } from './support/users.ts';

withReceiver();

/** The series of webhooks of the default project. */
async function figures({ server }: Booted): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  const series = /^nebula_notifications_(\w+?)(?:_total)?\{project="default",channel="webhook"\} (\d+)$/gm;
  return Object.fromEntries(Array.from(text.matchAll(series), ([, name, value]) => [name, Number(value)]));
}

/** The events that no request has caused, newest first. */
async function audited({ client }: Booted): Promise<readonly unknown[][]> {
  const { items } = await client.call('listAudit', { query: { who: 'server' } });
  return items.map(({ operation, target, details }) => [operation, target, (details as { error?: string }).error]);
}

describe('notifications', () => {
  it('[SRV-805, SRV-806] failures of a minute are one message: a count, the first five, and how to look', async () => {
    const time = new Time(Date.parse('2026-01-01T00:00:00Z'));
    const booted = await booting({ time });
    await register(booted, fails('order'));
    await start(booted, 'order');
    await put(booted, {});
    const ids: string[] = [];
    for (let count = 0; count < 12; count++) ids.push(await start(booted, 'order'));
    await time.advance(50_000);
    expect(received).toEqual([]);
    await arrived(time, 1);
    const [{ message }] = received as [Received];
    expect(message).toMatchObject({
      notificationId: 'ops',
      project: 'default',
      isTest: false,
      counts: { failed: 12, unknown: 0, approval: 0 },
    });
    expect(message.first.map(({ executionId }) => executionId)).toEqual(ids.slice(0, 5));
    expect(message.first[0]).toMatchObject({
      workflowId: 'order',
      node: 'charge',
      code: 'DECLINED',
      message: 'no money',
    });
    expect(message.text).toContain('12 runs failed in project default');
    expect(message.text).toContain(`nebula executions explain ${ids[0]} 'charge'`);
    expect(message.text).toContain('and 7 more');
    await time.advance(600_000);
    expect(received).toHaveLength(1);
    await expect.poll(async () => (await listed(booted))?.lastSentAt).not.toBe(null);
  });

  it('[SRV-807] children, cancelled runs, other workflows, tags and projects are left out', async () => {
    const time = new Time();
    const booted = await booting({ time });
    const { client } = booted;
    await addProject(booted, 'other');
    await register(booted, fails('order', { tags: ['billing'] }));
    await register(booted, fails('plain'));
    await register(booted, { id: 'parent', nodes: { kid: { workflow: { id: 'order', mode: 'child' } } } });
    await register(booted, { id: 'waits', nodes: { a: { wait: { signal: 'x' } } } });
    await client.call('registerWorkflow', { body: { definition: fails('abroad'), project: 'other' } as never });
    await put(booted, {}, 'all');
    await put(booted, { workflows: ['order'] }, 'order-only');
    await put(booted, { tag: 'billing' }, 'tagged');
    await start(booted, 'parent');
    await start(booted, 'plain');
    await start(booted, 'abroad');
    await start(booted, 'order');
    const { executionId } = await client.call('startExecution', { body: { workflowId: 'waits' } });
    await client.call('cancelExecution', { params: { executionId } });
    await expect.poll(async () => (await booted.parts.store.execution(executionId))?.finishedAt).not.toBe(null);
    await arrived(time, 3);
    const about = Object.fromEntries(
      received.map(({ message }) => [message.notificationId, message.first.map(({ workflowId }) => workflowId)]),
    );
    expect(about).toEqual({ all: ['parent', 'plain', 'order'], 'order-only': ['order'], tagged: ['order'] });
  });

  it('[SRV-808] an approval that nobody has answered is told, an answered one is not', async () => {
    const time = new Time();
    const booted = await booting({ time });
    const { client, parts } = booted;
    await register(booted, { id: 'asks', nodes: { ok: { wait: { approval: { title: 'Go?' } } } } });
    await put(booted, { on: ['approval'] });
    const ids: string[] = [];
    for (let count = 0; count < 2; count++) {
      const { executionId } = await client.call('startExecution', { body: { workflowId: 'asks' } });
      await expect.poll(async () => (await parts.store.heads([executionId])).get(executionId)).toBeGreaterThan(0);
      ids.push(executionId);
    }
    const params = { executionId: ids[0] as string };
    await client.call('answerApproval', { params, body: { node: 'ok', approved: true } });
    await expect.poll(async () => (await parts.store.execution(params.executionId))?.finishedAt).not.toBe(null);
    await arrived(time, 1);
    expect(received[0]?.message).toMatchObject({
      counts: { approval: 1 },
      first: [{ executionId: ids[1], node: 'ok' }],
    });
  });

  it('[SRV-808] an unknown outcome that a person has settled is left out', async () => {
    const time = new Time();
    const lose = (): never => {
      throw new NebulaError('LOST', 'no answer', { details: { outcome: 'unknown' }, retryable: true });
    };
    const own = defineAction({ id: 'own.once', version: '1', effect: 'once', run: lose });
    const booted = await booting({ time, actions: [own] });
    const { client, parts } = booted;
    await register(booted, { id: 'unsure', nodes: { say: { action: 'own.once' } } });
    await put(booted, { on: ['unknown'] });
    const ids: string[] = [];
    for (let count = 0; count < 2; count++) {
      const { executionId } = await client.call('startExecution', { body: { workflowId: 'unsure' } });
      const isUnknown = async () =>
        (await parts.store.frames(executionId, 0)).some(({ entries }) => entries.includes('"node.unknown"'));
      await expect.poll(isUnknown).toBe(true);
      ids.push(executionId);
    }
    const params = { executionId: ids[0] as string };
    await client.call('settleNode', { params, body: { node: 'say', happened: true, output: null } });
    await expect.poll(async () => (await parts.store.execution(params.executionId))?.finishedAt).not.toBe(null);
    await arrived(time, 1);
    expect(received[0]?.message).toMatchObject({
      counts: { failed: 0, unknown: 1 },
      first: [{ kind: 'unknown', executionId: ids[1], node: 'say' }],
    });
  });

  it('[SRV-809, SRV-886, SRV-887, SRV-890] a refused message is tried again with growing pauses and the same id, and shown; others go on', async () => {
    const time = new Time();
    const booted = await booting({ time });
    await register(booted, fails('order'));
    await put(booted, {});
    answerWith(503);
    await start(booted, 'order');
    await arrived(time, 1);
    await expect
      .poll(async () => (await listed(booted))?.lastError)
      .toMatch(/POST http:\/\/localhost:\d+: the receiver answered with 503\./);
    expect((await listed(booted))?.nextTryAt).not.toBe(null);
    await expect.poll(() => figures(booted)).toEqual({ sent: 0, failed: 1, pending: 1 });
    expect(await audited(booted)).toEqual([['notificationFailing', 'ops', expect.stringContaining('503')]]);
    await start(booted, 'order');
    const at = time.now();
    await arrived(time, 3);
    // 10 s and 20 s after the first two attempts, and not every second.
    expect(time.now() - at).toBeGreaterThan(25_000);
    answerWith(204);
    await arrived(time, 4);
    const ids = received.map(({ message }) => message.messageId);
    expect(new Set(ids.slice(0, 4)).size).toBe(1);
    expect(received[3]?.headers['idempotency-key']).toBe(ids[0]);
    expect(received[3]?.message.counts.failed).toBe(1);
    // The second failure is the next message.
    await arrived(time, 5);
    expect(received[4]?.message).toMatchObject({ counts: { failed: 1 } });
    expect(ids[0]).not.toBe(received[4]?.message.messageId);
    await expect.poll(async () => (await listed(booted))?.lastError).toBe(null);
    await expect.poll(() => figures(booted)).toEqual({ sent: 2, failed: 3, pending: 0 });
    expect((await audited(booted)).map(([operation]) => operation)).toEqual([
      'notificationRecovered',
      'notificationFailing',
    ]);
  });

  it('[SRV-888] receivers of a project that do not answer delay no message of another project', async () => {
    const time = new Time();
    const booted = await booting({ time });
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      await addProject(booted, 'other');
      await register(booted, fails('order'));
      const definition = fails('abroad');
      await booted.client.call('registerWorkflow', { body: { definition, project: 'other' } as never });
      const mute = `http://localhost:${(silent.address() as AddressInfo).port}/`;
      for (let at = 0; at < 30; at++) await put(booted, { url: mute }, `a${at}`);
      await put(booted, { project: 'other' }, 'z');
      await start(booted, 'order');
      await start(booted, 'abroad');
      const at = time.now();
      await arrived(time, 1);
      expect(received[0]?.message).toMatchObject({ notificationId: 'z', project: 'other' });
      // The minute in which events are gathered, and a few passes.
      expect(time.now() - at).toBeLessThan(90_000);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  it('[SRV-810] after a restart nothing is lost, and nothing that was delivered is told again', async () => {
    const time = new Time();
    const keeping: Keeping = memoryKeeping(time.clock);
    const first = await booting({ time, keeping });
    await register(first, fails('order'));
    await put(first, {});
    await start(first, 'order');
    await arrived(time, 1);
    await expect.poll(async () => (await listed(first))?.lastSentAt).not.toBe(null);
    const missed = [await start(first, 'order'), await start(first, 'order')];
    open.delete(first);
    await first.close();
    const second = await booting({ time, keeping });
    await arrived(time, 2);
    expect(received[1]?.message.first.map(({ executionId }) => executionId)).toEqual(missed);
    await time.advance(300_000);
    expect(received).toHaveLength(2);
    expect(second.troubles).toEqual([]);
  });

  it('[SRV-811] only the leader sends', async () => {
    const time = new Time();
    const keeping = memoryKeeping(time.clock);
    const leader = { campaign: () => ({ isLeader: false, resign: async () => undefined }) };
    const follower = await booting({ time, keeping, leader });
    await register(follower, fails('order'));
    await put(follower, {});
    await start(follower, 'order');
    await time.advance(120_000);
    expect(received).toEqual([]);
    open.delete(follower);
    await follower.close();
    await booting({ time, keeping, leader: localLeader() });
    await arrived(time, 1);
  });

  it('[SRV-812] the body is signed as webhooks expect, secrets fill the path, and none is stored or shown', async () => {
    const time = new Time();
    const booted = await booting({ time });
    const { client, keeping } = booted;
    await client.call('putSecret', { params: { name: 'hook-key' }, body: { value: 'the-key-of-the-hook' } });
    await client.call('putSecret', { params: { name: 'token' }, body: { value: 'tok-in-path' } });
    await put(booted, { url: `${url}/{{token}}`, secret: 'hook-key' });
    expect(await client.call('testNotification', { params: { notificationId: 'ops' } })).toEqual({
      delivered: true,
      error: null,
    });
    const [{ headers, path, body, message }] = received as [Received];
    expect(path).toBe('/hook/tok-in-path');
    expect(headers['x-signature']).toBe(createHmac('sha256', 'the-key-of-the-hook').update(body).digest('hex'));
    expect(message).toMatchObject({ isTest: true, text: expect.stringContaining('Test: ') });
    const stored = JSON.stringify(await keeping.records.list('notification', { limit: 10 }));
    expect(stored + JSON.stringify(await client.call('listNotifications'))).not.toMatch(/the-key-of|tok-in-path/);
    receiver.closeAllConnections();
    receiver.close();
    const failed = await client.call('testNotification', { params: { notificationId: 'ops' } });
    expect(failed).toEqual({ delivered: false, error: expect.stringContaining('could not be reached') });
    expect(failed.error).not.toContain('tok-in-path');
    await put(booted, { url, secret: 'nowhere' });
    expect(await client.call('testNotification', { params: { notificationId: 'ops' } })).toMatchObject({
      delivered: false,
      error: expect.stringContaining('SECRET_NOT_FOUND'),
    });
  });

  it('[SRV-813] the target is within the ceiling of the project, when it is set and when it is sent', async () => {
    const time = new Time();
    const booted = await booting({ time, users: true });
    await addProject(booted, 'shop');
    await addUser(booted, 'olga', { roles: { shop: 'owner' } });
    const headers = await signIn(booted, 'olga');
    const call = (line: string, body?: object) => ask(booted, line, { headers, ...(body && { body }) });
    const target = new URL(url).host;
    const body = { url, project: 'shop' };
    const refused = await call('PUT /api/v1/notifications/ops', body);
    expect([refused.status, refused.json.code]).toEqual([422, 'OVER_CEILING']);
    await call('PUT /api/v1/projects/shop', { ceiling: { network: ['*'] } });
    expect((await call('PUT /api/v1/notifications/ops', body)).json.code).toBe('OVER_CEILING');
    await call('PUT /api/v1/projects/shop', { ceiling: { network: [target, 'rebound.example.com'] } });
    expect((await call('PUT /api/v1/notifications/ops', body)).status).toBe(201);
    expect((await call('POST /api/v1/notifications/ops/test')).json).toEqual({ delivered: true, error: null });
    await call('PUT /api/v1/projects/shop', { ceiling: {} });
    const lowered = (await call('POST /api/v1/notifications/ops/test')).json;
    expect(lowered).toMatchObject({ delivered: false, error: expect.stringContaining('CAPABILITY_DENIED') });
    expect(received).toHaveLength(1);
  });

  it('[SRV-813] a public name that leads to a private address is refused when the connection is made', async () => {
    const time = new Time();
    const booted = await booting({ time, ceiling: { network: ['public.example.com', '127.0.0.0/8'] } });
    const { port } = new URL(url);
    const { lookup } = dns;
    const asked: string[] = [];
    const leadsHere = (name: string, _options: object, answer: (error: null, found: dns.LookupAddress[]) => void) => {
      asked.push(name);
      answer(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    Object.assign(dns, { lookup: leadsHere });
    syncBuiltinESMExports();
    try {
      const people = 'from=a@example.com&to=b@example.com&tls=none';
      const error = expect.stringMatching(
        /^CAPABILITY_DENIED: .*public\.example\.com .* leads to 127\.0\.0\.1, which is not a/,
      );
      const test = () => booted.client.call('testNotification', { params: { notificationId: 'ops' } });
      for (const target of [`http://public.example.com:${port}/hook`, `smtp://public.example.com:${port}/?${people}`]) {
        await put(booted, { url: target });
        expect(await test(), target).toEqual({ delivered: false, error });
      }
      expect(received).toEqual([]);
      // The address is reached if it is named, too.
      await put(booted, { url: `http://public.example.com:${port}/hook`, network: ['127.0.0.1'] });
      expect(await test()).toEqual({ delivered: true, error: null });
      expect(new Set(asked)).toEqual(new Set(['public.example.com']));
    } finally {
      Object.assign(dns, { lookup });
      syncBuiltinESMExports();
    }
  });

  it('[SRV-814] bad input is refused with its place', async () => {
    const time = new Time();
    const booted = await booting({ time });
    const bad = [
      { url: 'ftp://example.com/x' },
      { url: 'https://user:pass@example.com/' },
      { url: 'https://{{host}}/' },
      { url: 'nonsense' },
      { url: 'x'.repeat(3_000) },
      { gather: '1ms' },
      { gather: '40d' },
      { on: [] },
      { on: ['completed'] },
      { surprise: 1 },
      { command: 'rm' },
    ];
    for (const body of bad) {
      await expect(put(booted, body), JSON.stringify(body)).rejects.toMatchObject({ code: 'BODY_INVALID' });
    }
    await expect(put(booted, { project: 'nowhere' })).rejects.toMatchObject({ code: 'UNKNOWN_PROJECT' });
    await put(booted, {});
    await addProject(booted, 'other');
    await expect(put(booted, { project: 'other' })).rejects.toMatchObject({ code: 'ID_TAKEN' });
    await booted.client.call('deleteNotification', { params: { notificationId: 'ops' } });
    await expect(booted.client.call('deleteNotification', { params: { notificationId: 'ops' } })).rejects.toMatchObject(
      { code: 'UNKNOWN_NOTIFICATION' },
    );
  });
});
