import { describe, expect, it } from 'vitest';
import { codes } from './verifying.ts';

describe('nodes after a failure', () => {
  const flow = (join: string, edges: string, more = ''): string => `nodes:
  try: { action: do${more} }
  fallback: { action: do }
  then: { action: do, needs: [fallback] }
  go: { action: do, needs: [try, then]${join} }
edges: [${edges}]`;
  const handled = '{ from: try, to: fallback, on: error }';

  it('[VER-63] join: all skips the node after the failure that its other source is for', () => {
    expect(codes(flow('', handled))).toEqual(['JOIN_WANTS_ANY nodes.go.needs.1']);
  });

  it('[VER-63] not with join: any, an edge that takes the failure, onError: ignore, or an ordinary join', () => {
    expect(codes(flow(', join: any', handled))).toEqual([]);
    expect(codes(flow('', `${handled}, { from: try, to: go, on: error }`))).toEqual([]);
    expect(codes(flow('', '{ from: try, to: fallback }'))).toEqual([]);
    expect(codes(flow('', '{ from: try, to: fallback, on: always }'))).toEqual([]);
  });

  it('[VER-56] an always edge brings errors to a branch that handles none of them', () => {
    const branch = (edges: string): string => `nodes:
  pay: { action: do }
  outcome: { branch: { cases: [{ error: { code: X }, to: mend }], default: go } }
  mend: { action: do }
  go: { action: do }
edges: [${edges}]`;
    const always = '{ from: pay, to: outcome, on: always }';
    expect(codes(branch(always))).toEqual(['ALWAYS_HANDLES_NOTHING edges.0']);
    expect(codes(branch('{ from: pay, to: outcome }, { from: pay, to: outcome, on: error }'))).toEqual([]);
    expect(codes(branch(`${always}, { from: pay, to: outcome, on: error }`))).toEqual([]);
  });
});
