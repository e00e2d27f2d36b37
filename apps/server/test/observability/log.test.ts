/** The log: lines that programs read, without what nobody should read. */
import { NebulaError } from '@nebula/core';
import { virtualClock } from '@nebula/drivers/memory';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog, type LogLevel } from '../../src/observability/log.ts';
import { Repeated } from '../../src/observability/repeated.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';

let booted: Booted | undefined;
afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

function paper(isTTY = false) {
  const lines: string[] = [];
  return {
    lines,
    stream: { isTTY, write: (line: string) => void lines.push(line) },
    read: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('the log', () => {
  it('[SRV-220] is one JSON object per line, from warnings on', () => {
    const { stream, lines, read } = paper();
    const log = createLog({ stream });
    log.info('quiet');
    log.warn({ n: 1 }, 'two\nlines');
    log.error('bad');
    expect(lines.every((line) => line.endsWith('}\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
    expect(read()).toMatchObject([
      { level: 'warn', msg: 'two\nlines', n: 1, pid: process.pid },
      { level: 'error', msg: 'bad' },
    ]);
    expect(new Date(String(read()[0]?.['time'])).getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  it('[SRV-221] contains no credential, and no secret that was handed out', () => {
    const { stream, lines } = paper();
    const log = createLog({ stream, conceal: (text) => text.replaceAll('hunter2', '[redacted]') });
    const headers = { authorization: 'Bearer abc-1', Cookie: 'session=abc-2', 'set-cookie': ['abc-3'], accept: 'kept' };
    log.error(
      {
        headers,
        body: [{ password: 'abc-4', csrfToken: 'abc-5', deep: { apiKey: 'abc-6', client_secret: 'abc-7' } }],
        token: 'abc-8',
        'proxy-authorization': 'abc-9',
        passphrase: 'abc-10',
        'x-api-key': 'abc-11',
        credentials: { key: 'abc-12' },
        refresh_token: 'abc-13',
        csrf: 'abc-14',
      },
      'x',
    );
    log.error({ error: new Error('it said hunter2') }, 'the password is hunter2');
    expect(lines.join('')).not.toMatch(/abc-\d|hunter2/);
    expect(lines.join('')).toContain('"accept":"kept"');
    expect(lines[1]).toContain('the password is [redacted]');
  });

  it('[SRV-222] on a terminal it is for people, and cannot move the cursor', () => {
    const { stream, lines } = paper(true);
    createLog({ stream }).warn({ code: 'X', text: '\u001b[2J' }, 'careful \u001b[31m');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}careful \ufffd\[31m code="X"/);
    expect(lines[0]).not.toContain('\u001b');
  });

  it('[SRV-223] logs requests on demand, and troubles and faults with their codes', async () => {
    const { stream, read, lines } = paper();
    const level: LogLevel = 'debug';
    booted = await boot({ log: { level, stream } });
    const { parts, server, client } = booted;
    await client.call('getInfo');
    await fetch(`${server.url}/api/v1/me?token=in-the-query`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { store } = parts;
    const counts = store.counts.bind(store);
    store.counts = () => Promise.reject(new Error('the machine room is on fire'));
    await fetch(`${server.url}/api/v1/executions/counts?workflowId=in-the-query`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    store.counts = counts;
    const claimDue = store.claimDue.bind(store);
    store.claimDue = () => Promise.reject(new NebulaError('STORE_BUSY', 'busy', { retryable: true }));
    await parts.engine.publishSignal({ signal: 'anything' });
    await expect.poll(() => read().some(({ code }) => code === 'STORE_BUSY')).toBe(true);
    store.claimDue = claimDue;
    expect(read()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 'info', msg: 'listening' }),
        expect.objectContaining({ level: 'debug', msg: 'request', operation: 'getInfo', status: 200 }),
        expect.objectContaining({
          level: 'error',
          msg: 'a request failed',
          code: 'INTERNAL',
          path: '/api/v1/executions/counts',
          error: 'the machine room is on fire',
          stack: expect.any(String),
        }),
        expect.objectContaining({ level: 'error', code: 'STORE_BUSY' }),
      ]),
    );
    expect(lines.join('')).not.toContain(TOKEN);
    expect(lines.join('')).not.toContain('in-the-query');
  });

  it('[SRV-224] a repeated error is logged from time to time', async () => {
    const clock = virtualClock(0);
    const repeated = new Repeated(clock);
    expect([repeated.count('a'), repeated.count('a'), repeated.count('b'), repeated.count('a')]).toEqual([1, 0, 1, 0]);
    await clock.advance(10_000);
    expect([repeated.count('a'), repeated.count('b')]).toEqual([3, 1]);
  });
});
