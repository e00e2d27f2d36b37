import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isParked, isQuiescent } from '../../../src/run.ts';
import { drive, type Short } from '../drive.ts';
import { stuckRun } from '../old-runs.ts';

const DELAY = '(delay)';
const { stuck } = JSON.parse(readFileSync(new URL('../../golden/stuck-1.golden.json', import.meta.url), 'utf8'));

const parkedAtOnce = (nodes: Short['nodes'], more: Omit<Short, 'nodes'> = {}): boolean => {
  const run = drive({ nodes, ...more } as Short);
  return isParked(run.state, run.now);
};

describe('a run parks', () => {
  it.each([
    ['for a person, with a deadline of days', { w: { wait: { approval: { title: 'Sure?' }, deadline: '3d' } } }],
    ['for a signal, with a deadline of two minutes', { w: { wait: { signal: 'go', deadline: '2m' } } }],
    ['for a call', { w: { wait: { callback: true, deadline: '1h' } } }],
    ['for more than a minute', { w: { wait: { for: '61s' } } }],
    ['for a person within a limit of the node', { w: { timeout: { total: '1d' }, wait: { signal: 'go' } } }],
    ['in a body', { each: { forEach: { in: [1] }, do: { nodes: { w: { wait: { signal: 'go', deadline: '1h' } } } } } }],
  ])('[RUN-345] %s', (_, nodes) => {
    expect(parkedAtOnce(nodes)).toBe(true);
  });

  it('[RUN-345] also where the workflow has a time limit', () => {
    expect(parkedAtOnce({ w: { wait: { signal: 'go' } } }, { config: { timeout: '7d' } })).toBe(true);
  });

  it.each([
    ['a time within a minute', { w: { wait: { for: '60s' } } }],
    ['a deadline within a minute', { w: { wait: { signal: 'go', deadline: '100ms' } } }],
    ['a signal or a short time', { w: { wait: { any: [{ signal: 'go' }, { for: '10s' }] } } }],
    ['an attempt beside it', { w: { wait: { signal: 'go' } }, a: {} }],
  ])('[RUN-345] not for %s', (_, nodes) => {
    expect(parkedAtOnce(nodes)).toBe(false);
  });

  it.each([
    ['a retry', { a: { retry: { attempts: 2, delay: DELAY } } }, 'a'],
    [
      'an iteration',
      { r: { retryUntil: { attempts: 2, backoff: { delay: DELAY } }, do: { nodes: { a: {} } } } },
      'r/0/a',
    ],
    ['a group', { g: { retry: { attempts: 2, delay: DELAY }, group: { nodes: { a: {} } } } }, 'g/a'],
  ])('[RUN-345] for the delay of %s of more than a minute, and not for a shorter one', (_, nodes, failing) => {
    for (const delay of ['61s', '60s']) {
      const run = drive({ nodes: JSON.parse(JSON.stringify(nodes).replaceAll(DELAY, delay)) }).fail(failing);
      expect(isParked(run.state, run.now), delay).toBe(delay === '61s');
    }
  });

  it('[RUN-345] for the moment of a rate limit more than a minute away, but not for the grant of another run', () => {
    const limited = drive({ nodes: { a: { rateLimit: { key: 'k', limit: 1, per: '1h' } } } });
    expect(isParked(limited.state, limited.now)).toBe(false);
    limited.step({ type: 'granted', node: 'a', gate: 'rate', until: limited.now + 61_000 });
    expect(isParked(limited.state, limited.now)).toBe(true);
    const waiting = drive({ nodes: { a: { concurrency: { key: 'k' } } } });
    expect(isParked(waiting.state, waiting.now)).toBe(false);
  });

  it('[RUN-345] before a start that is more than a minute away', () => {
    for (const delay of [61_000, 60_000]) {
      const run = drive({ nodes: { a: {} } }, { delay });
      expect(isParked(run.state, run.now), String(delay)).toBe(delay === 61_000);
    }
  });

  it('[RUN-471] not where the next turn records its end, in which an earlier version left a run', () => {
    const run = drive(stuckRun, { frames: stuck.frames });
    expect(isParked(run.state, run.now)).toBe(false);
    expect(isQuiescent(run.state, run.now)).toBe(false);
    expect(run.advance(0).status).toBe('failed');
  });
});
