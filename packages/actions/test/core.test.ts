import { afterEach, beforeEach, expect, test } from 'vitest';
import { coreAssert, coreFail, coreLog, coreNoop, coreSet, coreSleep } from '../src/index.ts';
import { openProject, type Project } from './running.ts';

let project: Project;
beforeEach(async () => {
  project = await openProject();
});
afterEach(() => project.close());

test('[ACT-3] core.noop gives its input, or null', async () => {
  expect(await project.output(coreNoop, { a: [1] })).toEqual({ a: [1] });
  expect(await project.output(coreNoop, 'text')).toBe('text');
  expect(await project.output(coreNoop, [])).toEqual([]);
  expect(await project.output(coreNoop, 0)).toBe(0);
  expect(await project.output(coreNoop, {})).toBe(null);
  expect(await project.output(coreNoop, null)).toBe(null);
});

test('[ACT-4] core.set gives its value', async () => {
  for (const value of [{ a: 1 }, [], 'x', 0, false, null])
    expect(await project.output(coreSet, { value })).toEqual(value);
  expect(await project.error(coreSet, {})).toMatchObject({ code: 'INPUT_INVALID' });
  expect((await project.error(coreSet, { value: 1, other: 2 })).message).toContain('other is not known');
});

test('[ACT-5] core.sleep waits and reports its progress', async () => {
  const { clock } = project;
  for (const duration of ['50ms', 50]) {
    let output: unknown;
    const slept = project.output(coreSleep, { duration }).then((one) => (output = one));
    await clock.advance(49);
    expect(output).toBeUndefined();
    await clock.advance(1);
    expect(await slept).toEqual({ sleptMs: 50 });
  }
  project.progress.length = 0;
  const slept = project.output(coreSleep, { duration: '1100ms' });
  await clock.advance(1_100);
  await slept;
  expect(project.progress).toHaveLength(2);
  expect(project.progress[0]).toBeCloseTo(1_000 / 1_100);
  expect(project.progress[1]).toBe(1);
});

test('[ACT-5] core.sleep ends at once when it is aborted', async () => {
  const stopper = new AbortController();
  const pending = project.run(coreSleep, { duration: '1h' }, { signal: stopper.signal });
  await project.clock.advance(1_000);
  stopper.abort();
  // The clock stands still: only the abort can end it.
  expect(await pending).toMatchObject({ status: 'aborted' });
});

test('[ACT-5] core.sleep rejects an invalid duration', async () => {
  expect(await project.error(coreSleep, { duration: '10 seconds' })).toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('10s'),
  });
  for (const duration of [-1, 1.5, true])
    expect((await project.error(coreSleep, { duration })).code).toBe('INPUT_INVALID');
});

test('[ACT-6] core.fail fails with the given error', async () => {
  const input = { message: 'no stock', code: 'NO_STOCK', kind: 'SYSTEM', details: { sku: 'x' } };
  expect(await project.error(coreFail, input)).toEqual({ ...input, node: 'node' });
  expect(await project.error(coreFail, {})).toMatchObject({
    code: 'FAILED',
    kind: 'USER',
    message: 'failed on purpose',
  });
});

test('[ACT-7] core.log writes a line', async () => {
  expect(await project.output(coreLog, { message: 'hello' })).toBe(null);
  await project.output(coreLog, { message: { n: 1 }, level: 'warn', fields: { order: 7 } });
  expect(project.logs).toEqual([
    ['info', 'hello', undefined],
    ['warn', '{"n":1}', { order: 7 }],
  ]);
  expect((await project.error(coreLog, { message: 'x', level: 'fatal' })).message).toContain('"debug", "info"');
});

test('[ACT-8] core.assert lets only true pass', async () => {
  expect(await project.output(coreAssert, { condition: true })).toBe(null);
  expect(await project.error(coreAssert, { condition: false, message: 'too few' })).toMatchObject({
    code: 'ASSERTION_FAILED',
    kind: 'USER',
    message: 'too few',
  });
  for (const condition of ['true', 1, null]) {
    expect((await project.error(coreAssert, { condition })).code).toBe('INPUT_INVALID');
  }
});
