/** The contract of the clock, by the rules of SPEC.md. */

import type { Clock } from '@nebula/ports';
import { describe, expect, test, vi } from 'vitest';

export interface ClockSubject {
  readonly clock: Clock;
  /** Lets that much of the clock's time pass. */
  readonly pass: (ms: number) => Promise<void>;
}

export function clockSuite(name: string, open: () => Promise<ClockSubject>): void {
  describe(`clock contract: ${name}`, () => {
    timerTests(open);
    turnTests(open);
  });
}

function timerTests(open: () => Promise<ClockSubject>): void {
  test('[CLK-1] a timer calls back once, not earlier than its delay', async () => {
    const { clock, pass } = await open();
    const called = vi.fn();
    clock.timer(40, called);
    await pass(20);
    expect(called).not.toHaveBeenCalled();
    await pass(60);
    expect(called).toHaveBeenCalledTimes(1);
    await pass(100);
    expect(called).toHaveBeenCalledTimes(1);
  });

  test('[CLK-1] a delay of zero or less calls back, but not at once', async () => {
    const { clock, pass } = await open();
    const called = vi.fn();
    clock.timer(0, called);
    clock.timer(-5, called, { background: true });
    expect(called).not.toHaveBeenCalled();
    await pass(20);
    expect(called).toHaveBeenCalledTimes(2);
  });

  test('[CLK-2] a cancelled timer does not call back', async () => {
    const { clock, pass } = await open();
    const called = vi.fn();
    const timer = clock.timer(10, called);
    timer.cancel();
    timer.cancel();
    await pass(40);
    expect(called).not.toHaveBeenCalled();
    const late = clock.timer(1, called);
    await pass(20);
    late.cancel();
    expect(called).toHaveBeenCalledTimes(1);
  });

  test('[CLK-2] a timer may cancel another in its callback', async () => {
    const { clock, pass } = await open();
    const called = vi.fn();
    const later = clock.timer(30, called);
    clock.timer(5, () => later.cancel());
    await pass(80);
    expect(called).not.toHaveBeenCalled();
  });

  test('[CLK-3] timers call back in order', async () => {
    const { clock, pass } = await open();
    const order: string[] = [];
    clock.timer(60, () => order.push('late'));
    clock.timer(20, () => order.push('first'));
    clock.timer(20, () => order.push('second'));
    clock.timer(40, () => order.push('middle'));
    await pass(120);
    expect(order).toEqual(['first', 'second', 'middle', 'late']);
  });

  test('[CLK-5] when a timer calls back its delay has passed', async () => {
    const { clock, pass } = await open();
    const late: number[] = [];
    for (let delay = 1; delay <= 30; delay++) {
      const dueAt = clock.now() + delay;
      clock.timer(delay, () => late.push(clock.now() - dueAt));
    }
    await pass(100);
    expect(late).toHaveLength(30);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  });

  test('[CLK-6] a timer of many weeks does not fire early', async () => {
    const { clock, pass } = await open();
    const called = vi.fn();
    const timers = [2 ** 31 - 1, 2 ** 31, 2 ** 32, 5_000_000_000_000].map((delay) => clock.timer(delay, called));
    await pass(30);
    expect(called).not.toHaveBeenCalled();
    for (const timer of timers) timer.cancel();
  });
}

function turnTests(open: () => Promise<ClockSubject>): void {
  test('[CLK-4] soon comes after promises, in order, before a later timer', async () => {
    const { clock, pass } = await open();
    const order: string[] = [];
    clock.soon(() => {
      order.push('soon 1');
      clock.soon(() => order.push('soon 3'));
      void Promise.resolve().then(() => order.push('promise 2'));
    });
    clock.soon(() => order.push('soon 2'));
    clock.timer(30, () => order.push('timer'));
    void Promise.resolve()
      .then(() => order.push('promise 1'))
      .then(() => order.push('promise 1b'));
    expect(order).toEqual([]);
    await pass(80);
    expect(order.indexOf('promise 1b')).toBeLessThan(order.indexOf('soon 1'));
    expect(order.indexOf('promise 2')).toBeLessThan(order.indexOf('soon 3'));
    expect(order.filter((step) => step.startsWith('soon'))).toEqual(['soon 1', 'soon 2', 'soon 3']);
    expect(order.at(-1)).toBe('timer');
  });
}
