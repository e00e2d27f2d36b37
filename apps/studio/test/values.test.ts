import { describe, expect, test } from 'vitest';
import { matching } from '../src/app/matching.ts';
import { ansiSpans } from '../src/pages/run/ansi.ts';
import { rowRange } from '../src/ui/row-range.ts';
import { fieldsOf, formValue, typedFrom } from '../src/ui/schema-form/fields.ts';
import { valueRows } from '../src/ui/value-rows.ts';

describe('a value as a tree', () => {
  const value = { order: { id: 'A-1', items: [{ sku: 'x' }, { sku: 'y' }] }, paid: true, note: null };

  test('[STU-27] has rows for what is open', () => {
    const rows = valueRows(value, (_, depth) => depth < 1);
    expect(rows.map(({ depth, name, text }) => [depth, name, text])).toEqual([
      [0, undefined, '{3}'],
      [1, 'order', '{2}'],
      [1, 'paid', 'true'],
      [1, 'note', 'null'],
    ]);
    expect(valueRows(value, () => true)).toHaveLength(10);
    expect(valueRows(value, () => false)).toHaveLength(1);
  });

  test('[STU-27] bounds long lists and texts', () => {
    const rows = valueRows([...Array(100_000).keys()], () => true);
    expect(rows).toHaveLength(5_002);
    expect(rows.at(-1)?.text).toBe('… 95000');
    expect(valueRows('x'.repeat(1_000_000), () => true)[0]?.text.length).toBeLessThan(3_000);
  });

  test('[STU-27] tells members with odd names apart', () => {
    const ids = valueRows({ 'a/b': 1, a: { b: 2 }, __proto__x: 3 }, () => true).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a form from a schema', () => {
  const schema = {
    type: 'object',
    required: ['days', 'name'],
    properties: {
      days: { type: 'integer', title: 'Days to pay', default: 14 },
      rate: { type: 'number' },
      name: { type: 'string' },
      tone: { enum: ['kind', 'strict'] },
      sure: { type: 'boolean' },
      more: { type: 'object' },
    },
  };
  const fields = fieldsOf(schema) ?? [];

  test('[STU-28] gives a value of the types of the schema', () => {
    expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
      ['days', 'integer'],
      ['rate', 'number'],
      ['name', 'text'],
      ['tone', 'choice'],
      ['sure', 'boolean'],
      ['more', 'json'],
    ]);
    const typed = { ...typedFrom(fields, {}), name: 'Ann', tone: '1', sure: true, more: '{"a": 1}' };
    expect(formValue(fields, typed)).toEqual({
      ok: true,
      value: { days: 14, name: 'Ann', tone: 'strict', sure: true, more: { a: 1 } },
    });
  });

  test('[STU-28] names what is wrong', () => {
    expect(formValue(fields, { days: '1.5', rate: 'much', more: '{' })).toEqual({
      ok: false,
      problems: { days: 'not-an-integer', rate: 'not-a-number', name: 'missing', more: 'not-json' },
    });
  });

  test('[STU-28] shows a value that is there, and edits other schemas as JSON', () => {
    const value = { days: 3, name: 'Bo', tone: 'kind', more: { b: 2 } };
    expect(formValue(fields, typedFrom(fields, value))).toEqual({ ok: true, value });
    expect(fieldsOf({ type: 'string' })).toBeUndefined();
    expect(fieldsOf(undefined)).toBeUndefined();
    expect(fieldsOf(true)).toBeUndefined();
  });
});

test('[STU-29] of a million rows those in view exist', () => {
  expect(rowRange({ scrollTop: 9_000_000, height: 400, rowHeight: 18, count: 1_000_000 })).toEqual({
    from: 499_992,
    to: 500_031,
  });
  expect(rowRange({ scrollTop: 0, height: 400, rowHeight: 18, count: 3 })).toEqual({ from: 0, to: 3 });
  expect(rowRange({ scrollTop: 500, height: 400, rowHeight: 18, count: 0 })).toEqual({ from: 0, to: 0 });
});

test('[STU-26] colours of terminals become class names', () => {
  expect(ansiSpans('plain')).toEqual([{ text: 'plain', style: '' }]);
  expect(ansiSpans('a \u001b[1;31mred\u001b[0m b\u001b[2K\u001b[92mgreen')).toEqual([
    { text: 'a ', style: '' },
    { text: 'red', style: 'ansi-bold ansi-31' },
    { text: ' b', style: '' },
    { text: 'green', style: 'ansi-32' },
  ]);
});

test('[STU-32] the palette prefers beginnings', () => {
  const found = (typed: string) => matching(['reorder', 'order', 'my order', 'other'], typed, (text) => text);
  expect(found('order')).toEqual(['order', 'my order', 'reorder']);
  expect(found('odr')).toEqual(['reorder', 'order', 'my order']);
  expect(found('zz')).toEqual([]);
  expect(found(' ')).toHaveLength(4);
});
