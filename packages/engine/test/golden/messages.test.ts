/**
 * Messages as engines of this and of earlier versions left them in inboxes. Lines are only added: `GOLDEN=record npm test --
 * packages/engine/test/golden` adds those that are missing.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inlineValue } from '@nebula/core/run';
import { expect, it } from 'vitest';
import { encodeMessage, type Message, receivedMessage } from '../../src/turn/messages.ts';

const FILE = new URL('messages.golden.jsonl', import.meta.url);

const MESSAGES: { readonly [T in Message['type']]: readonly Extract<Message, { type: T }>[] } = {
  cancel: [
    { type: 'cancel', reason: 'no longer needed' },
    { type: 'cancel', reason: 'stop', compensate: false },
    { type: 'cancel', reason: 'stop', node: 'loop/3/charge' },
  ],
  placed: [{ type: 'placed' }],
  restart: [{ type: 'restart', input: { a: 1 }, until: 1_700_000_000_000 }],
  retry: [{ type: 'retry' }, { type: 'retry', reply: true }],
  replay: [
    { type: 'replay', node: 'charge' },
    { type: 'replay', node: 'charge', input: { amount: 2 } },
  ],
  pause: [{ type: 'pause' }, { type: 'pause', reason: 'maintenance' }],
  resume: [{ type: 'resume' }],
  signal: [{ type: 'signal', signal: 'paid', key: 'o-1', payload: { amount: 3 } }],
  answer: [
    { type: 'answer', node: 'approve', approved: true, by: 'ada' },
    { type: 'answer', node: 'approve', approved: false, by: 'ada', comment: 'too much', form: { limit: 4 } },
  ],
  callback: [
    { type: 'callback', node: 'called', payload: [1, 2] },
    { type: 'callback', node: 'called', payload: null, generation: 2 },
  ],
  granted: [
    { type: 'granted', node: 'charge', gate: 'concurrency', ask: 'ask_1' },
    { type: 'granted', node: 'charge', gate: 'reserve' },
  ],
  migrate: [
    { type: 'migrate', version: 2 },
    { type: 'migrate', version: 3, decisions: { fetch: 'keep', 'items/pack': 'again' }, input: { a: 1 } },
    { type: 'migrate', version: 2, back: true },
  ],
  child: [
    {
      type: 'child',
      node: 'sub',
      executionId: 'exe_child',
      result: { status: 'completed', output: inlineValue({ a: 1 }), error: null },
    },
    {
      type: 'child',
      node: 'sub',
      executionId: 'exe_child',
      result: {
        status: 'failed',
        output: { blob: { sha256: 'a'.repeat(64), bytes: 70_000 } },
        error: { code: 'DECLINED', kind: 'USER', message: 'no', node: 'charge' },
      },
    },
  ],
  settle: [
    { type: 'settle', node: 'charge', settlement: { happened: true, output: { id: 5 } }, attempt: 2 },
    { type: 'settle', node: 'charge', settlement: { happened: false, then: 'retry' } },
    { type: 'settle', node: 'charge', settlement: { happened: 'unknown' } },
  ],
};

const line = (body: string): string => JSON.stringify({ body, received: receivedMessage(body) });
const read = (): string[] => readFileSync(FILE, 'utf8').trim().split('\n');

it('[ENG-276] messages are written as they are recorded, and all that are recorded are read as they were', () => {
  const written = Object.values<readonly Message[]>(MESSAGES).flat().map(encodeMessage);
  if (process.env.GOLDEN === 'record') {
    const kept = existsSync(FILE) ? read() : [];
    const added = written.map(line).filter((one) => !kept.includes(one));
    writeFileSync(FILE, `${[...kept, ...added].join('\n')}\n`);
  }
  const recorded = read().map((one) => JSON.parse(one) as { body: string; received: object });
  for (const { body, received } of recorded) expect(receivedMessage(body), body).toEqual(received);
  expect(recorded.map(({ body }) => body)).toEqual(expect.arrayContaining(written));
});
