import { describe, expect, it } from 'vitest';
import { compileCondition, compileValue, createBudget, type ExpressionError } from '../../src/expression/index.ts';
import type { Json } from '../../src/value.ts';
import { failure, limited, sampleScope } from './sample-scope.ts';

function resolved(raw: Json): Json {
  return compileValue(raw).evaluate(sampleScope, createBudget());
}

describe('values', () => {
  it('[EXP-90] a whole string keeps the type', () => {
    expect(resolved('{{ $input.order.id }}')).toBe(7);
    expect(resolved('{{$input.order.items}}')).toBe((sampleScope.input as { order: { items: Json } }).order.items);
    expect(resolved('{{ $input.nothing }}')).toBe(null);
    expect(resolved('{{ 1 == 1 }}')).toBe(true);
    expect(resolved('{{\n  $input.name\n}}')).toBe('Ada');
    expect(resolved(' {{ $input.order.id }}')).toBe(' 7');
  });

  it('[EXP-91] templates', () => {
    expect(resolved('Hello {{ $input.name }}!')).toBe('Hello Ada!');
    expect(resolved('{{ $input.name }}{{ $input.order.id }}')).toBe('Ada7');
    expect(resolved('<{{ $input.nothing }}>')).toBe('<>');
    expect(resolved('x {{ $input.order.items[0] }} {{ [1, null] }} {{ true }} {{ 1.5 }}')).toBe(
      'x {"sku":"a","price":3,"n":1} [1,null] true 1.5',
    );
    expect(failure(() => resolved('Hello {{ $input.nme }}')).hint).toContain('name');
    const tight = createBudget(limited({ maxStringBytes: 10 }));
    expect(failure(() => compileValue('12345{{ "678901" }}').evaluate(sampleScope, tight)).code).toBe(
      'EXPRESSION_LIMIT',
    );
  });

  it('[EXP-92] literal braces, and braces that do not close', () => {
    expect(resolved('\\{{ not }}')).toBe('{{ not }}');
    expect(resolved('a \\{{ b {{ 1 }} \\{{')).toBe('a {{ b 1 {{');
    expect(resolved('{ { } }')).toBe('{ { } }');
    expect(resolved('}} closed')).toBe('}} closed');
    expect(resolved('{{ 1 }} }}')).toBe('1 }}');
    expect(resolved('{{ "\\\\{{" }}')).toBe('\\{{');
    for (const open of ['{{', 'a {{ $input', '{{ $input }', '{{ "a }}', '{{ [1, 2 ']) {
      const error = failure(() => resolved(open));
      expect(error.code).toBe('EXPRESSION_SYNTAX');
      expect(`${error.message} ${error.hint}`).toMatch(/never closed|end it with|expected/);
    }
    expect(failure(() => resolved('Use {{ $input')).hint).toContain('\\{{');
    expect(failure(() => resolved('{{ 1 2 }}')).message).toContain('}} expected');
    expect(failure(() => resolved('{{ }}')).code).toBe('EXPRESSION_SYNTAX');
  });

  it('[EXP-93] braces of the expression itself', () => {
    expect(resolved('{{ "}}" }}')).toBe('}}');
    expect(resolved('{{ \'{{\' + "}}" }}!')).toBe('{{}}!');
    expect(resolved('{{ {a: {b: {}}} }}')).toEqual({ a: { b: {} } });
    expect(resolved('{{ {a: {b: 1}}}}')).toEqual({ a: { b: 1 } });
    expect(resolved('{{{a: 1}}}')).toEqual({ a: 1 });
    expect(resolved('x{{ {a: {b: 1}} }}y')).toBe('x{"a":{"b":1}}y');
    expect(resolved(`{{ $['}}'] ?? 'none' }}`)).toBe('none');
  });

  it('[EXP-94] literals at any depth, shared where nothing is evaluated', () => {
    const raw = {
      url: 'https://example.com/{{ $input.order.id }}',
      headers: { fixed: { a: [1, { b: null }] }, dynamic: ['{{ $vars.region }}', 'x'] },
      '{{ $input.name }}': true,
      count: 3,
    };
    const value = resolved(raw) as typeof raw;
    expect(value).toEqual({
      url: 'https://example.com/7',
      headers: { fixed: { a: [1, { b: null }] }, dynamic: ['eu', 'x'] },
      '{{ $input.name }}': true,
      count: 3,
    });
    expect(value.headers.fixed).toBe(raw.headers.fixed);
    expect(resolved(raw.headers.fixed)).toBe(raw.headers.fixed);
    expect(resolved({ a: ['\\{{'] })).toEqual({ a: ['{{'] });
    expect(resolved(null)).toBe(null);
    expect(resolved('plain')).toBe('plain');
    let deep: Json = 1;
    for (let level = 0; level < 100; level++) deep = [deep];
    expect(failure(() => compileValue(deep)).code).toBe('EXPRESSION_LIMIT');
  });

  it('[EXP-95] constant', () => {
    expect(compileValue({ a: [1, 'b', '\\{{ x }}'] }).constant).toBe(true);
    expect(compileValue('plain').constant).toBe(true);
    expect(compileValue({ a: ['{{ 1 }}'] }).constant).toBe(false);
    expect(compileValue('a {{ 1 }}').constant).toBe(false);
  });

  it('[EXP-96] errors know the path and the offset inside the string', () => {
    const raw = { headers: { x: ['ok', 'Bearer {{ $input.tokn }}'] } };
    const error = failure(() => resolved(raw));
    expect(error.path).toEqual(['headers', 'x', 1]);
    expect(raw.headers.x[1]?.slice(error.offset, error.offset + error.length)).toBe('.tokn');
    const syntax = failure(() => compileValue({ a: [0, '{{ 1 + }}'] }));
    expect(syntax).toMatchObject({ code: 'EXPRESSION_SYNTAX', path: ['a', 1], offset: 7 });
  });

  it('[EXP-96] report collects all errors of compiling', () => {
    const errors: ExpressionError[] = [];
    const value = compileValue(
      { a: '{{ foo }}', b: ['{{ 1 + }}', '{{ 2 }}'], c: '{{ $nodes.x.outptu }}' },
      { report: (error) => errors.push(error) },
    );
    expect(errors.map((error) => error.path)).toEqual([['a'], ['b', 0], ['c']]);
    expect(value.evaluate(sampleScope, createBudget())).toEqual({ a: null, b: [null, 2], c: null });
  });

  it('[EXP-96] references carry the path of their string', () => {
    const { references } = compileValue({ a: '{{ $input.x }} {{ $fetch.y }}', b: [{ c: '{{ $vars.z }}' }] });
    expect(references.map(({ kind, valuePath, offset }) => ({ kind, valuePath, offset }))).toEqual([
      { kind: 'input', valuePath: ['a'], offset: 3 },
      { kind: 'node', valuePath: ['a'], offset: 18 },
      { kind: 'vars', valuePath: ['b', 0, 'c'], offset: 3 },
    ]);
  });
});

describe('conditions', () => {
  const condition = (raw: Json) => compileCondition(raw).evaluate(sampleScope, createBudget());

  it('[EXP-97] bare, in braces, or literal', () => {
    expect(condition('$input.order.id > 5')).toBe(true);
    expect(condition('{{ $input.order.id > 5 }}')).toBe(true);
    expect(condition('  {{ $input.order.id > 5 }}\n')).toBe(true);
    expect(condition('$.order.items')).toHaveLength(2);
    expect(condition('{a: 1}.a')).toBe(1);
    expect(condition(true)).toBe(true);
    expect(condition([1, '{{ $vars.region }}', 'plain'])).toEqual([1, 'eu', 'plain']);
    expect(condition(`'{' + '{'`)).toBe('{{');
    expect(compileCondition('$input.order.id').references).toMatchObject([{ kind: 'input', valuePath: [] }]);
    expect(compileCondition(false).constant).toBe(true);
    expect(compileCondition('1 > 0').constant).toBe(false);
  });

  it('[EXP-97] text around the braces, or plain text, is an error', () => {
    expect(failure(() => condition('{{ $input.order.id }} > 5')).hint).toContain('braces');
    expect(failure(() => condition('{{ 1 }}{{ 2 }}')).code).toBe('EXPRESSION_SYNTAX');
    expect(failure(() => condition('yes')).code).toBe('EXPRESSION_REFERENCE');
    expect(failure(() => condition('')).code).toBe('EXPRESSION_SYNTAX');
    const errors: ExpressionError[] = [];
    compileCondition('1 +', { report: (error) => errors.push(error) });
    expect(errors).toHaveLength(1);
  });
});
