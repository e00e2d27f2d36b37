import { describe, expect, it } from 'vitest';
import { cpuMs, evaluate, failure, scopeOf } from './sample-scope.ts';

describe('members', () => {
  it('[EXP-20] a missing member is an error that names the closest', () => {
    expect(failure('$input.nmae')).toMatchObject({ code: 'EXPRESSION_REFERENCE', hint: 'did you mean "name"?' });
    expect(failure('$input.order.quantity').hint).toContain('id, email, items');
    expect(failure('$input.order.items[2]').message).toContain('only 2 elements');
    expect(failure('$input.order.items[-3]').code).toBe('EXPRESSION_REFERENCE');
    expect(failure('[][0]').message).toContain('empty');
    expect(failure('$input.order.items.sku').hint).toContain('.map(i => i.sku)');
    expect(failure('$input.name.first').hint).toContain('.first()');
    expect(failure('$input.zero.x').code).toBe('EXPRESSION_TYPE');
  });

  it('[EXP-20] a huge object or name does not slow the suggestion down', () => {
    const long = 'k'.repeat(200_000);
    const started = cpuMs();
    expect(failure(`$input['${long}x']`, scopeOf({ [`${long}y`]: 1 })).message.length).toBeLessThan(200);
    expect(cpuMs() - started).toBeLessThan(1_000);
  });

  it('[EXP-21] ?. ends its chain with null', () => {
    expect(evaluate('$input.order?.id')).toBe(7);
    expect(evaluate('$input?.missing')).toBe(null);
    expect(evaluate('$input.missing?.name')).toBe(null);
    expect(evaluate('$input.order.items[7]?.sku.length')).toBe(null);
    expect(failure('$input.missing.name?.x').code).toBe('EXPRESSION_REFERENCE');
    expect(failure('$input.nothing.name?.x').code).toBe('EXPRESSION_TYPE');
    expect(failure('$input.zero.name?.x').code).toBe('EXPRESSION_TYPE');
    expect(failure('$input.nothing.upper()?.x').code).toBe('EXPRESSION_TYPE');
    expect(evaluate('$input.order.items[$index + 5]?.sku')).toBe(null);
    expect(evaluate('$input?.missing.deeper.still')).toBe(null);
    expect(evaluate('$input.nothing?.x.y')).toBe(null);
    expect(evaluate('$input.nothing?.[0].y')).toBe(null);
    expect(evaluate('$input?.["missing"]')).toBe(null);
    expect(evaluate('$input.order.items?.[9].sku')).toBe(null);
    expect(evaluate('$input.nothing?.upper().x')).toBe(null);
    expect(evaluate('$input.zero?.x')).toBe(null);
    expect(failure('($input?.missing).x').code).toBe('EXPRESSION_TYPE');
    expect(failure('$input.order?.id.x').code).toBe('EXPRESSION_TYPE');
  });

  it('[EXP-22] on the left of ?? and of .default() nothing is missing', () => {
    expect(evaluate('$input.a.b.c ?? "d"')).toBe('d');
    expect(evaluate('$input.nothing.x ?? 1')).toBe(1);
    expect(evaluate('$input.a.map(i => i) ?? []')).toEqual([]);
    expect(evaluate('$input.order.items[5].sku ?? 1')).toBe(1);
    expect(evaluate('($input.a.b) ?? 1')).toBe(1);
    expect(evaluate('$input.a ?? $input.b ?? 2')).toBe(2);
    expect(evaluate('$input.a.b.default(3)')).toBe(3);
    expect(evaluate('$input.a.default(3).toString()')).toBe('3');
    expect(evaluate('$input.zero.default(3)')).toBe(0);
  });

  it('[EXP-23] a member of null is an error that shows ?.', () => {
    expect(failure('$input.nothing.x')).toMatchObject({ code: 'EXPRESSION_TYPE', hint: 'write ?.x if it may be null' });
    expect(failure('$skipped.total').message).toBe('$skipped is null and has no member "total"');
    expect(failure('$input.nothing[0]').hint).toContain('?.[0]');
    expect(failure('$input.nothing.upper()').hint).toContain('?.upper');
  });

  it('[EXP-24] length', () => {
    expect(evaluate('"héllo".length')).toBe(5);
    expect(evaluate('$input.order.items.length')).toBe(2);
    expect(evaluate('{length: "own"}.length')).toBe('own');
    expect(failure('{}.length').code).toBe('EXPRESSION_REFERENCE');
  });

  it('[EXP-25] indexes', () => {
    expect(evaluate('[1, 2, 3][0]')).toBe(1);
    expect(evaluate('[1, 2, 3][-1]')).toBe(3);
    expect(evaluate('[1, 2, 3][1 + 1]')).toBe(3);
    expect(evaluate('$input["odd-name"]')).toBe(1);
    expect(evaluate('$input["na" + "me"]')).toBe('Ada');
    for (const bad of ['[1]["0"]', '[1]["a"]', '{a: 1}[0]', '{a: 1}[null]', '[1][true]', '"abc"[0]', '[1][[0]]']) {
      expect(failure(bad).code, bad).toBe('EXPRESSION_TYPE');
    }
    expect(failure('[1][0.5]').code).toBe('EXPRESSION_REFERENCE');
  });

  it('[EXP-26] names that objects inherit are own members or nothing', () => {
    const inherited = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];
    for (const name of inherited) {
      expect(failure(`$input.${name}`).code, name).toBe('EXPRESSION_REFERENCE');
      expect(evaluate(`$input?.${name}`), name).toBe(null);
      expect(evaluate(`$input?.['${name}']`), name).toBe(null);
      expect(evaluate(`$input?.['' + '${name}']`), name).toBe(null);
      expect(evaluate(`$['${name}'] ?? 'none'`), name).toBe('none');
    }
    const own = scopeOf(JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}'));
    expect(evaluate('[$input.__proto__, $input.constructor, $input.toString]', own)).toEqual([1, 2, 3]);
    expect(failure('[].constructor').code).toBe('EXPRESSION_TYPE');
    expect(failure('"".constructor').code).toBe('EXPRESSION_TYPE');
  });

  it('[EXP-26] inherited members of a class instance do not exist either', () => {
    class Host {
      own = 1;
      get secret(): string {
        return 'read';
      }
      method(): string {
        return 'called';
      }
    }
    const scope = scopeOf(new Host() as never);
    expect(evaluate('$input.own', scope)).toBe(1);
    expect(evaluate('$input?.secret', scope)).toBe(null);
    expect(evaluate('$input?.method', scope)).toBe(null);
  });
});
