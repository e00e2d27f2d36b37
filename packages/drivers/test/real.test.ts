import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { clockSuite, randomSuite } from '@nebula/ports/conformance';
import { afterEach, expect, test, vi } from 'vitest';
import { realClock, realRandom } from '../src/real/index.ts';
import { idMaker } from '../src/real/random.ts';

clockSuite('real', async () => ({
  clock: realClock,
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 10)),
}));

randomSuite('real', realRandom);

afterEach(() => {
  vi.useRealTimers();
});

test('[CLK-6] a delay above 24.8 days fires at its time', () => {
  vi.useFakeTimers();
  const called = vi.fn();
  const days = 86_400_000;
  realClock.timer(60 * days, called);
  vi.advanceTimersByTime(60 * days - 1);
  expect(called).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(called).toHaveBeenCalledTimes(1);
});

test('[CLK-1] a wall clock that is set back does not stop a timer', () => {
  vi.useFakeTimers();
  const called = vi.fn();
  realClock.timer(1_000, called);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(70_000);
  expect(called).toHaveBeenCalledTimes(1);
});

test('[CLK-3] timers of one delay that fire a moment too early call back in order', () => {
  vi.useFakeTimers();
  const order: string[] = [];
  for (const name of ['first', 'second', 'third']) realClock.timer(20, () => order.push(name));
  vi.setSystemTime(Date.now() - 1);
  vi.advanceTimersByTime(21);
  expect(order).toEqual(['first', 'second', 'third']);
});

test('a background timer does not keep the process alive', async () => {
  const clock = new URL('../src/real/clock.ts', import.meta.url).href;
  const script = `const { realClock } = await import('${clock}');
    realClock.timer(60_000, () => {}, { background: true });
    realClock.timer(5, () => console.log('front'));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('front\n');
});

test('[RND-3] ids grow when the clock goes back and when the chance part is used up', () => {
  let now = 1_000;
  const id = idMaker({ now: () => now, random40: () => 2 ** 40 - 1 });
  const ids = [id('exe'), id('exe')];
  now = 900;
  ids.push(id('exe'));
  now = 1_001;
  ids.push(id('exe'));
  now = 1_002;
  ids.push(id('exe'));
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(5);
});

test('[RND-2] the time can be read off an id', () => {
  const id = idMaker({ now: () => 1_790_000_000_000, random40: () => 0 });
  expect(id('exe')).toBe('exe_01m3250v000000000000000000');
  const digits = '0123456789abcdefghjkmnpqrstvwxyz';
  const time = [...id('exe').slice(4, 14)].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
  expect(time).toBe(1_790_000_000_000);
});
