import { describe, expect, it } from 'vitest';
import { codes, problemsIn, problemsOf } from './verifying.ts';

describe('warnings', () => {
  it('[VER-51] are found in time in graphs of any size', { timeout: 120_000 }, () => {
    const count = 20_000;
    const nodes: Record<string, object> = {};
    for (let at = 0; at < count; at++) {
      const needs = at === 0 ? [] : [`n${at - 1}`, ...(at % 7 === 0 ? [`n${at >> 1}`] : [])];
      nodes[`n${at}`] = { action: 'do', needs, ...(at % 5 === 0 ? { when: '$input.x' } : {}) };
    }
    nodes.fan = { action: 'do', join: 3 };
    const edges = Array.from({ length: count }, (_, at) => ({
      from: `n${at}`,
      to: 'fan',
      on: at % 2 === 0 ? 'error' : 'result',
      ...(at % 2 === 0 ? {} : { match: { ok: true } }),
    }));
    const started = process.cpuUsage().user;
    expect(problemsIn({ id: 'test', nodes, edges })).toEqual([]);
    expect(process.cpuUsage().user - started).toBeLessThan(60_000_000);
  });

  it('[VER-77] a default retry that no node has', () => {
    const config = 'config: { retry: { attempts: 3 } }\n';
    const dynamic = 'd: { dynamic: { action: do } }';
    expect(codes(`${config}nodes: { ${dynamic} }`)).toEqual(['UNUSED_RETRY config.retry']);
    expect(codes(`${config}nodes: { ${dynamic}, a: { action: do } }`)).toEqual([]);
    expect(codes(`${config}nodes: { g: { group: { nodes: { a: { action: do } } } } }`)).toEqual([]);
    expect(codes(`nodes: { ${dynamic} }`)).toEqual([]);
  });

  it('[VER-52] are reported only if requested', () => {
    const definition = { id: 'test', nodes: { a: { action: 'do', when: false } } };
    expect(problemsIn(definition)).toEqual(['NEVER_RUNS']);
    expect(problemsIn(definition, false)).toEqual([]);
  });

  it('[VER-50] have a code, a message, a hint and a position', () => {
    const problems = problemsOf(`variables: { idle: 1 }
config: { failureNode: z, onFailure: ignore }
nodes:
  a: { action: call, when: false }
  b: { needs: a, action: pay }
  c: { action: look, compensate: { action: do } }
  d: { while: { condition: true }, do: { nodes: { x: { action: do, when: $vars.later } } } }
  e: { needs: c, set: { later: true } }
  r: { branch: { cases: [{ when: true, to: s }], default: t } }
  s: { action: do }
  t: { action: do }
  j: { needs: [s, t], join: 2, action: do }
  z: { action: do }
edges: [{ from: c, to: j, when: false }]`);
    expect(new Set(problems.map(({ code }) => code))).toEqual(
      new Set([
        'UNUSED_VARIABLE',
        'NEVER_RUNS',
        'NO_TIMEOUT',
        'NEVER_UNDONE',
        'NOTHING_TO_UNDO',
        'ENDLESS_LOOP',
        'UNSET_VARIABLE',
        'NEVER_TAKEN',
        'JOIN_NEVER_FIRES',
      ]),
    );
    for (const { hint, message, range, path, severity } of problems) {
      expect(severity).toBe('warning');
      expect(hint, message).toBeTruthy();
      expect(range?.line, message).toBeGreaterThan(1);
      expect(range?.column, message).toBeGreaterThan(0);
      expect(path.length, message).toBeGreaterThan(0);
    }
  });
});

describe('errors in single values', () => {
  it('[VER-54] do not hide other problems', () => {
    const never = 'c: { action: do, when: false }';
    const hidden = 'NEVER_RUNS nodes.c.when';
    expect(codes(`nodes: { a: { action: do }, b: { needs: a, join: 3, action: do }, ${never} }`)).toEqual([
      'JOIN_TOO_HIGH nodes.b.join',
      hidden,
    ]);
    expect(codes(`nodes: { a: { action: mail, with: { count: many } }, ${never} }`)).toEqual([
      'BAD_PARAMETER nodes.a.with.count',
      hidden,
    ]);
  });
});
