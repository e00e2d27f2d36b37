/** Known ways out of expression sandboxes, and text that was made to break parsers. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileValue, createBudget, ExpressionError, parseExpression } from '../../src/expression/index.ts';
import { cpuMs, evaluate, failure, sampleScope, scopeOf } from './sample-scope.ts';

describe('escapes', () => {
  /** Payloads of n8n CVE-2025-68613, CVE-2026-25049 and their kin, and of other template and filter languages. */
  it.each([
    `this`,
    `this.constructor`,
    `this.process.mainModule.require('child_process').execSync('id').toString()`,
    `(function(){ return this.process.mainModule.require('child_process').execSync('id') })()`,
    `(() => this.process)()`,
    `constructor.constructor('return process')()`,
    `''.constructor.constructor('return process')()`,
    `[].constructor.constructor('return globalThis')()`,
    `[]['constructor']['constructor']('return 1')()`,
    `[]['con' + 'structor']`,
    `[].filter['constructor']('return process')()`,
    `[].map.constructor`,
    `''.upper.constructor`,
    `$input.constructor.constructor('return process.env')()`,
    `$input['__proto__']['polluted']`,
    `$input.__proto__.polluted`,
    `$input.order.__proto__.__proto__`,
    `$input['constructor']['prototype']`,
    `$nodes.fetch.constructor`,
    `$nodes.fetch.output.constructor`,
    `$nodes['__proto__'].output`,
    `$nodes.constructor.output`,
    `$constructor`,
    `$__proto__`,
    `$toString`,
    `$vars.constructor('x')`,
    `$execution.__defineGetter__('a', i => 1)`,
    `[1].map(i => i.constructor)`,
    `[1].map(constructor)`,
    `[1].reduce((a, b) => a.__proto__, {})`,
    `Object.assign({}, {})`,
    `Object`,
    `globalThis`,
    `global.process`,
    `process.env`,
    `require('fs')`,
    `import('fs')`,
    `eval('1')`,
    `Function('return 1')()`,
    `new Date()`,
    `Date.now()`,
    `Math.random()`,
    `Reflect.get($input, 'a')`,
    `Proxy`,
    `Symbol.iterator`,
    `arguments`,
    `arguments.callee.caller`,
    `Error().stack`,
    `window.location`,
    `with ($input) order`,
    `$input.order = 1`,
    `delete $input.order`,
    `$input.order.id++`,
    `a\u2028b`,
    `\`\${process.env}\``,
    `{{ 1 }}`,
    `#{7*7}`,
    `<%= 7 * 7 %>`,
    `$.constructor`,
    `$['__proto__']`,
    `$.order.constructor.constructor`,
    `({}).toString.call($input)`,
    `[].sort.call`,
    `{}.valueOf()`,
    `{}.hasOwnProperty('a')`,
    `[].at.name`,
    `i => i`,
  ])('[EXP-70] %s', (source) => {
    expect(failure(source).code).toMatch(/^EXPRESSION_(SYNTAX|REFERENCE|TYPE)$/);
  });

  it('[EXP-70] guarded, the same names give nothing', () => {
    for (const name of ['constructor', '__proto__', 'prototype', 'toString', '__lookupGetter__', 'isPrototypeOf']) {
      expect(evaluate(`$input?.['${name}']`)).toBe(null);
      expect(evaluate(`$..['${name}']`)).toEqual([]);
      expect(evaluate(`{}.get('${name}', 'none')`)).toBe('none');
      expect(evaluate(`{}.has('${name}')`)).toBe(false);
      expect(evaluate(`{}.pick('${name}')`)).toEqual({});
      expect(evaluate(`[{}, {a: 1}].some(i => i?.['${name}'] != null)`)).toBe(false);
      expect(failure(`[{}].pluck('${name}')`).code).toBe('EXPRESSION_REFERENCE');
      if (name !== 'toString') expect(failure(`[].${name}()`).code).toMatch(/REFERENCE|TYPE/);
    }
    expect(evaluate(`{}.toString()`)).toBe('{}');
  });

  it('[EXP-71] __proto__ is data like any other', () => {
    const polluted = JSON.parse('{"__proto__": {"admin": true}}');
    const made = [
      evaluate(`{__proto__: {admin: true}}`),
      evaluate(`{'__proto__': {admin: true}}`),
      evaluate(`{['__pro' + 'to__']: {admin: true}}`),
      evaluate(`{...$input}`, scopeOf(polluted)),
      evaluate(`{}.set('__proto__', {admin: true})`),
      evaluate(`{}.merge($input)`, scopeOf(polluted)),
      evaluate(`{}.mergeDeep($input)`, scopeOf(polluted)),
      evaluate(`object([['__proto__', {admin: true}]])`),
      evaluate(`{a: {admin: true}}.mapKeys(k => '__proto__')`),
      evaluate(`'{"__proto__": {"admin": true}}'.parseJson()`),
      evaluate(`[{admin: true}].keyBy(i => '__proto__')`),
      evaluate(`$input.mapValues(v => v)`, scopeOf(polluted)),
      evaluate(`$input.filterValues(v => true)`, scopeOf(polluted)),
      compileValue(polluted).evaluate(sampleScope, createBudget()),
      compileValue(JSON.parse('{"__proto__": {"admin": "{{ true }}"}}')).evaluate(sampleScope, createBudget()),
    ];
    for (const value of made) {
      expect(JSON.stringify(value)).toBe('{"__proto__":{"admin":true}}');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect((value as Record<string, unknown>).admin).toBeUndefined();
    }
    expect(evaluate(`'__proto__=1&__proto__=2'.parseQuery()`)).toEqual(JSON.parse('{"__proto__": ["1", "2"]}'));
    expect(evaluate(`[1].groupBy(i => '__proto__')`)).toEqual(JSON.parse('{"__proto__": [1]}'));
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  it('[EXP-72] nothing but JSON comes out', () => {
    const hostile = scopeOf({ method: () => 1, missing: undefined, list: [Number.NaN, () => 1] } as never);
    expect(failure('$input.method', hostile).message).toContain('not JSON');
    expect(failure('$input.missing', hostile).code).toBe('EXPRESSION_REFERENCE');
    expect(failure('$input.a', scopeOf(undefined as never)).code).toBe('EXPRESSION_TYPE');
    expect(failure('$input', scopeOf(undefined as never)).message).toContain('not JSON');
    expect(failure('[$input.method]', hostile).message).toContain('not JSON');
    expect(failure('[$input.list[0]]', hostile).message).toContain('finite');
    expect(failure('$input.method.name', hostile).code).toMatch(/TYPE|REFERENCE/);
    expect(failure('[$input.list[1]].first()', hostile).message).toContain('not JSON');
  });
});

describe('regular expression bombs', () => {
  it.each(['(a+)+$', '(a|a)*$', '(a|aa)+$', '(.*a){20}$', '([a-z]+)*$', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    '[EXP-67] %s',
    (pattern) => {
      const started = cpuMs();
      const text = `${'a'.repeat(5_000)}!`;
      for (const method of ['matches', 'extract', 'extractAll', 'splitPattern']) {
        try {
          evaluate(`$input.${method}('${pattern}')`, scopeOf(text));
        } catch (error) {
          expect((error as ExpressionError).code).toBe('EXPRESSION_LIMIT');
        }
      }
      expect(cpuMs() - started).toBeLessThan(2_000);
    },
  );
});

describe('any text', () => {
  const only = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      expect(error.message.length).toBeLessThan(1_000);
    }
  };

  it('[EXP-73] broken and odd text throws ExpressionError and nothing else', () => {
    const parts = [
      '$',
      '.',
      '..',
      '[',
      ']',
      '(',
      ')',
      '{',
      '}',
      '{{',
      '}}',
      '?',
      '?.',
      '??',
      ':',
      ',',
      '=>',
      '"',
      "'",
      '\\',
      '@',
      '*',
      '-',
      '1',
      'a',
      '$a',
      ' ',
      '\0',
      '😀',
      '\ud800',
      '&&',
      '==',
      '!',
    ];
    for (const a of parts) for (const b of parts) for (const c of parts) only(() => evaluate(a + b + c));
  }, 30_000);

  const strings = join(import.meta.dirname, '../../../../../shared/corpora/bad-input/blns.json');
  // The strings are shared test data that is never committed.
  it.skipIf(!existsSync(strings))(
    `[EXP-73] naughty strings (${existsSync(strings) ? 'found' : 'NOT FOUND'}: ${strings})`,
    () => {
      for (const text of JSON.parse(readFileSync(strings, 'utf8')) as string[]) {
        only(() => evaluate(text));
        only(() => compileValue(text).evaluate(sampleScope, createBudget()));
        const quoted = JSON.stringify(text);
        if (text.isWellFormed()) expect(evaluate(quoted)).toBe(text);
        only(() => evaluate(`${quoted}.trim().upper().split(' ').join('-').slug().camelCase()`));
        only(() => evaluate(`$input.matches(${quoted})`, scopeOf(text)));
        only(() => evaluate('$input.toDate()', scopeOf(text)));
        if (!text.includes('{{')) expect(compileValue(text).evaluate(sampleScope, createBudget())).toBe(text);
      }
    },
  );

  it('[EXP-73] large text is parsed or refused in good time', () => {
    const started = cpuMs();
    const size = 50_000;
    for (const text of [
      ' '.repeat(size),
      'a'.repeat(size),
      '1'.repeat(size),
      `'${'x'.repeat(size)}`,
      `'${'\\n'.repeat(size)}'`,
      `[${'1,'.repeat(size)}]`,
      `${'$input.a '.repeat(size / 10)}`,
      `f(${'a,'.repeat(size)}`,
      `(${'a,'.repeat(size)}`,
      `(${' '.repeat(size)}`,
      `$${'[0]'.repeat(size)}`,
      `$${'.*'.repeat(size)}`,
      `$[${'0,'.repeat(size)}`,
      `$["${'a'.repeat(size)}`,
      `1 ${'- '.repeat(size)}`,
      `$a-${'b-'.repeat(size)}`,
      `{${'a:1,'.repeat(size)}}`,
    ]) {
      only(() => parseExpression(text));
      only(() => compileValue(`{{${text}}}`));
      only(() => compileValue(`{{${text}`));
    }
    only(() => compileValue('{{ 1 }}'.repeat(size / 10)).evaluate(sampleScope, createBudget()));
    only(() => compileValue('{{'.repeat(size)));
    only(() => compileValue('\\{{'.repeat(size)));
    expect(cpuMs() - started).toBeLessThan(10_000);
  }, 30_000);
});
