import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { applySettings, readJson } from '../src/input.ts';
import { memoryIo } from './support/screen-text.ts';

describe('--input', () => {
  test('[CLI-20] JSON, @file and stdin', async () => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'nebula-input-'));
    writeFileSync(path.join(cwd, 'order.json'), '{"id": 7}');
    const io = memoryIo({ cwd, stdin: '[1]' });
    expect(await readJson(io, '{"a": null}', '--input')).toEqual({ a: null });
    expect(await readJson(io, '@order.json', '--input')).toEqual({ id: 7 });
    expect(await readJson(io, '-', '--input')).toEqual([1]);
  });

  test('[CLI-20] input that is not JSON is rejected with a hint', async () => {
    const io = memoryIo({ cwd: tmpdir() });
    await expect(readJson(io, "{'a': 1}", '--input')).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      hint: expect.stringContaining('double quotes'),
    });
    await expect(readJson(io, 'order.json', '--input')).rejects.toMatchObject({
      hint: expect.stringContaining('@file'),
    });
    await expect(readJson(io, '@missing.json', '--input')).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('there is no file missing.json'),
    });
  });
});

describe('--set', () => {
  test('[CLI-21] values are JSON where they can be, else text', () => {
    expect(applySettings(undefined, ['a=1', 'b=true', 'c=null', 'd=x y', 'e="7"', 'f=[1,2]', 'g=', 'h=a=b'])).toEqual({
      a: 1,
      b: true,
      c: null,
      d: 'x y',
      e: '7',
      f: [1, 2],
      g: '',
      h: 'a=b',
    });
  });

  test('[CLI-21] creates missing objects on the path', () => {
    expect(applySettings(undefined, ['order.items.0.sku=A7', 'order.items[1].sku=B8', 'order.rush=true'])).toEqual({
      order: { items: [{ sku: 'A7' }, { sku: 'B8' }], rush: true },
    });
    expect(applySettings({ a: { b: 1 }, l: [1, 2] }, ['a.c=2', 'l.1=9'])).toEqual({ a: { b: 1, c: 2 }, l: [1, 9] });
    expect(applySettings({ a: null }, ['a.b=1'])).toEqual({ a: { b: 1 } });
  });

  test('[CLI-21] the given input is not changed, and __proto__ is a field like any other', () => {
    const input = { a: { b: 1 } };
    applySettings(input, ['a.b=2']);
    expect(input).toEqual({ a: { b: 1 } });
    const result = applySettings(undefined, ['__proto__.polluted=1']) as object;
    expect(Object.hasOwn(result, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('[CLI-22] a setting that cannot be applied is reported', () => {
    const refused = (input: Parameters<typeof applySettings>[0], setting: string) => () =>
      applySettings(input, [setting]);
    expect(refused(undefined, 'novalue')).toThrow(/--set novalue: not of the form key=value/);
    expect(refused(undefined, '=1')).toThrow(/key=value/);
    expect(refused(undefined, 'a..b=1')).toThrow(/key=value/);
    expect(refused({ list: [1] }, 'list.5=1')).toThrow(/5 is not a place in the list/);
    expect(refused({ list: [1] }, 'list.x=1')).toThrow(/x is not a place in the list/);
    expect(refused({ name: 'Ada' }, 'name.first=A')).toThrow(/name is "Ada", which has no fields/);
  });
});
