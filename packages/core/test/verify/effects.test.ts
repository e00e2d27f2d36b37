import { describe, expect, it } from 'vitest';
import { codes } from './verifying.ts';

describe('effects', () => {
  const saga = (node: string, more = ''): string[] =>
    codes(`nodes:
  book: { action: pay, compensate: { action: do } }
  send: { needs: book, ${node} }
  ${more}`);

  it('[VER-30] that happen once and are never undone are reported where something can fail later', () => {
    const last = 'last: { needs: send, action: do }';
    expect(saga('action: pay', last)).toEqual(['NEVER_UNDONE nodes.send']);
    expect(saga('action: pay', 'beside: { action: do }')).toEqual(['NEVER_UNDONE nodes.send']);
    expect(saga('action: do, effect: once', last)).toEqual(['NEVER_UNDONE nodes.send']);
    expect(
      codes(`nodes:
  book: { action: pay, compensate: { action: do } }
  each: { needs: book, forEach: { in: [1, 2] }, do: { nodes: { send: { action: pay } } } }`),
    ).toEqual(['NEVER_UNDONE nodes.each.do.nodes.send']);
  });

  it('[VER-30] not where nothing follows, a repeat does no harm, or the action can verify', () => {
    const last = 'last: { needs: send, action: do }';
    expect(saga('action: pay')).toEqual([]);
    expect(saga('action: pay', 'sorry: { action: do }\nedges: [{ from: send, to: sorry, on: error }]')).toEqual([]);
    expect(saga('action: sure', last)).toEqual([]);
    expect(saga('action: do', last)).toEqual([]);
    expect(saga('action: pay, effect: pure', last)).toEqual([]);
    expect(codes('nodes: { a: { action: pay }, b: { needs: a, action: do } }')).toEqual([]);
  });

  it('[VER-30] that depend on the parameters are known where these are written out', () => {
    const last = 'last: { needs: send, action: do }';
    expect(saga('action: ask, with: { method: POST, body: "{{ $book }}" }', last)).toEqual(['NEVER_UNDONE nodes.send']);
    expect(saga('action: ask, with: { method: GET }', last)).toEqual([]);
    expect(saga('action: ask, with: { method: "{{ $book.method }}" }', last)).toEqual([]);
  });

  it('[VER-31] of a pure action cannot be undone', () => {
    expect(codes('nodes: { a: { action: look, compensate: { action: do } } }')).toEqual([
      'NOTHING_TO_UNDO nodes.a.compensate',
    ]);
    expect(codes('nodes: { a: { action: look, effect: once, compensate: { action: do } } }')).toEqual([]);
  });
});
