import { describe, expect, it } from 'vitest';
import { parseExpression, type Reference } from '../../src/expression/index.ts';
import { evaluate, failure, parseFailure, sampleScope, scopeOf } from './sample-scope.ts';

describe('names of the scope', () => {
  it('[EXP-10] values of the scope', () => {
    expect(evaluate('$input')).toBe(sampleScope.input);
    expect(evaluate('$input.order.id')).toBe(7);
    expect(evaluate('$trigger.kind')).toBe('manual');
    expect(evaluate('$vars.region')).toBe('eu');
    expect(evaluate('$execution.startedAt')).toBe('2024-05-01T10:00:00.000Z');
    expect(evaluate('$workflow.version')).toBe(3);
  });

  it('[EXP-11] members of a node', () => {
    expect(evaluate('$nodes.fetch.output.body.total')).toBe(12);
    expect(evaluate('$nodes.fetch.result')).toBe(evaluate('$nodes.fetch.output'));
    expect(evaluate('$nodes.fetch.status')).toBe('completed');
    expect(evaluate('$nodes.fetch.success')).toBe(true);
    expect(evaluate('$nodes.fetch.attempts')).toBe(2);
    expect(evaluate('$nodes.fetch.input.asked')).toBe(true);
    expect(evaluate('$nodes.fetch.error')).toBe(null);
    expect(evaluate('$nodes.broken.error.code')).toBe('CARD_DECLINED');
  });

  it('[EXP-11] any other member is refused when parsed', () => {
    expect(parseFailure('$nodes.fetch.body.total').hint).toContain('$nodes.fetch.output.body');
    expect(parseFailure('$nodes.fetch.staus').hint).toContain('$nodes.fetch.status');
    expect(parseFailure('$nodes.fetch').code).toBe('EXPRESSION_REFERENCE');
    expect(parseFailure('$nodes').code).toBe('EXPRESSION_SYNTAX');
  });

  it('[EXP-12] ids that are no names', () => {
    expect(evaluate(`$nodes['my-id'].output`)).toBe('hyphen');
    expect(evaluate(`$nodes["my-id"]['output'].length`)).toBe(6);
    expect(parseFailure('$nodes[$input.name].output').message).toContain('must be a literal');
    expect(parseFailure('$nodes.my-id.output').hint).toContain(`$nodes['my-id']`);
  });

  it('[EXP-13] short for the output of a node', () => {
    expect(evaluate('$fetch')).toBe(evaluate('$nodes.fetch.output'));
    expect(evaluate('$fetch.body.items[1].price')).toBe(2);
  });

  it('[EXP-14] an unknown node is an error, whatever guards it', () => {
    expect(failure('$nodes.fetsh.output').hint).toContain('fetch');
    expect(failure('$fecth.body').hint).toBe('did you mean $fetch?');
    expect(failure('$inptu.name').hint).toBe('did you mean $input?');
    expect(failure('$nodes.gone.output ?? 1').code).toBe('EXPRESSION_REFERENCE');
    expect(failure('$gone?.x').code).toBe('EXPRESSION_REFERENCE');
    expect(failure('$order').hint).toBe('did you mean $input.order?');
    expect(failure('$region').hint).toBe('did you mean $vars.region?');
  });

  it('[EXP-111] the iteration before', () => {
    expect(evaluate('$previous')).toBe('before');
    const { loop: _, ...outside } = sampleScope;
    expect(failure('$previous', outside).code).toBe('EXPRESSION_REFERENCE');
  });

  it('[EXP-15] the innermost loop', () => {
    expect(evaluate('$item.sku')).toBe('x');
    expect(evaluate('$index + 1')).toBe(2);
    expect(evaluate('$items.length')).toBe(2);
    for (const name of ['$item', '$index', '$items', '$item ?? 1']) {
      expect(failure(name, scopeOf(null)).message).toContain('no enclosing loop');
    }
  });

  it('[EXP-16] outer loops', () => {
    expect(evaluate('$parent.item')).toBe('outer');
    expect(evaluate('$parent.index')).toBe(4);
    expect(evaluate('$parent.items.length')).toBe(1);
    expect(evaluate('$parent.parent.item')).toBe('outermost');
    expect(failure('$parent.parent.parent.item').code).toBe('EXPRESSION_REFERENCE');
    expect(failure('$parent.item', scopeOf(null)).code).toBe('EXPRESSION_REFERENCE');
    expect(parseFailure('$parent').code).toBe('EXPRESSION_REFERENCE');
    expect(parseFailure('$parent.itme').hint).toContain('$parent.item');
    expect(parseFailure('$parent.sku').hint).toContain('$parent.item.sku');
  });

  it('[EXP-17] the node itself', () => {
    expect(evaluate('$self.output.id')).toBe('ch_1');
    expect(evaluate('$self.attempts')).toBe(1);
    expect(failure('$self.output', scopeOf(null)).message).toContain('$self');
    expect(parseFailure('$self.id').hint).toContain('$self.output.id');
  });

  it('[EXP-18] the output of a node that did not complete is null', () => {
    expect(evaluate('$nodes.skipped.output')).toBe(null);
    expect(evaluate('$skipped')).toBe(null);
    expect(evaluate('$skipped?.x.y')).toBe(null);
    expect(evaluate('$broken.x ?? "none"')).toBe('none');
  });
});

describe('static facts', () => {
  const facts = (source: string): readonly Reference[] => parseExpression(source).references;

  it('[EXP-81] kind, id, member, path, place and guard, in order of appearance', () => {
    const source = `$nodes.fetch.output.body.items[0].price + $input.a?.b > ($vars.x ?? $my.y)`;
    expect(facts(source)).toEqual([
      {
        kind: 'node',
        id: 'fetch',
        member: 'output',
        path: ['output', 'body', 'items', 0, 'price'],
        optional: false,
        offset: 0,
        length: 39,
      },
      { kind: 'input', path: ['a', 'b'], optional: true, offset: 42, length: 11 },
      { kind: 'vars', path: ['x'], optional: true, offset: 57, length: 7 },
      { kind: 'node', id: 'my', member: 'output', path: ['output', 'y'], optional: false, offset: 68, length: 5 },
    ]);
    for (const { offset, length } of facts(source))
      expect(source.slice(offset, offset + length)).toMatch(/^\$[\w.?[\]]+$/);
  });

  it('[EXP-81] the path ends where it is no longer written out', () => {
    expect(facts('$input.a[$index].b')).toMatchObject([
      { kind: 'input', path: ['a'] },
      { kind: 'index', path: [] },
    ]);
    expect(facts('$nodes.x.status.upper()')).toMatchObject([{ kind: 'node', path: ['status'], length: 15 }]);
    expect(facts('$items.map(i => i.a + $item.b)')).toMatchObject([{ kind: 'items' }, { kind: 'item', path: ['b'] }]);
    expect(facts('$self.error.code')).toMatchObject([{ kind: 'self', path: ['error', 'code'] }]);
    expect(facts('$trigger.a.default(1)')).toMatchObject([{ kind: 'trigger', path: ['a'], optional: true }]);
    expect(facts('1 + 2')).toEqual([]);
  });

  it('[EXP-82] how far out $parent reaches', () => {
    expect(facts('$parent.item.a + $parent.parent.index')).toMatchObject([
      { kind: 'parent', level: 1, path: ['item', 'a'] },
      { kind: 'parent', level: 2, path: ['index'] },
    ]);
  });

  it('[EXP-83] queries refer to the input', () => {
    expect(facts('$.order.items[*].price.sum()')).toMatchObject([
      { kind: 'input', path: ['order', 'items'], optional: true, offset: 0, length: 22 },
    ]);
    expect(facts('$.order.id + 1')).toMatchObject([
      { kind: 'input', path: ['order', 'id'], optional: false, length: 10 },
    ]);
    expect(facts('$')).toMatchObject([{ kind: 'input', path: [], length: 1 }]);
  });
});
