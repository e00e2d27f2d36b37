import { describe, expect, it } from 'vitest';
import { isParked } from '../../../src/run.ts';
import { drive, type Short } from '../drive.ts';

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

  it('[RUN-345] not for the delay of a retry, however long: then there is work to do', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '1h' } } } }).fail('a');
    expect(isParked(run.state, run.now)).toBe(false);
  });
});
