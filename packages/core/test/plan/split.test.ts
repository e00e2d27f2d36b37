import { describe, expect, it } from 'vitest';
import type { Json, Scope } from '../../src/index.ts';
import type { ForEachWork } from '../../src/plan/plan.ts';
import { codes, findings, nodeOf, planOf } from './compiling.ts';

describe('split and merge', () => {
  it('[PLN-27] the nodes between them are the body of a parallel loop', () => {
    const plan = planOf(`id: x
nodes:
  first: { action: do }
  s: { needs: first, split: { in: $first.list } }
  a: { needs: s, action: do, with: { i: "{{ $item }} {{ $first }}" } }
  b: { needs: a, action: do, when: $a.ok }
  note: { needs: a, action: do }
  m: { needs: b, merge: {} }
  last: { needs: m, action: do, with: { all: "{{ $m.aggregated }}" } }
edges: [{ from: a, to: b, on: error }, { from: s, to: last, on: error }]`);
    expect(plan.root.nodes.map(({ id, work }) => [id, work.kind])).toEqual([
      ['first', 'action'],
      ['s', 'forEach'],
      ['m', 'merge'],
      ['last', 'action'],
    ]);
    expect(nodeOf(plan, 's').outgoing.map(({ key, on }) => [key, on])).toEqual([
      ['m', 'success'],
      ['last', 'error'],
    ]);
    expect(nodeOf(plan, 'm').work).toEqual({ kind: 'merge', of: 's' });
    const work = nodeOf(plan, 's').work as ForEachWork;
    expect(work).toMatchObject({ maxConcurrency: 10, until: 'all' });
    expect(work.body.nodes.map(({ id }) => id)).toEqual(['a', 'b', 'note']);
    expect(work.body.entries.map(({ id }) => id)).toEqual(['a']);
    expect(nodeOf(plan, 's/a').outgoing.map(({ key, on }) => [key, on])).toEqual([
      ['b', 'success'],
      ['note', 'success'],
      ['b#2', 'error'],
    ]);
    expect(nodeOf(plan, 's/a').reads).toEqual([{ up: 1, index: 0 }]);
    expect(work.body.outputReads).toEqual([{ up: 0, index: 1 }]);
  });

  it('[RUN-421] merge.timeout cannot read nodes after the split, and the problem is reported at its position', () => {
    const text = `id: x
nodes:
  s: { split: { in: [1] } }
  a: { needs: s, action: do }
  m: { needs: a, merge: { timeout: "{{ $a }}s" } }`;
    expect(findings(text).join()).toMatch(/^INSIDE_A_BODY nodes.m.merge.timeout/);
  });

  it('[PLN-27] an iteration gives the output of the node before the merge, or of several by id, or its item', () => {
    const output = (nodes: string): Json => {
      const plan = planOf(`id: x\nnodes:\n  s: { split: { in: [1] } }\n  ${nodes}`);
      const scope = {
        node: (id: string) => ({ status: 'completed', output: `${id}!` }),
        loop: { item: 7 },
      } as unknown as Scope;
      return (nodeOf(plan, 's').work as ForEachWork).body.output?.evaluate(scope, plan.newBudget()) as Json;
    };
    expect(output('a: { needs: s, action: do }\n  m: { needs: a, merge: {} }')).toBe('a!');
    expect(
      output('a: { needs: s, action: do }\n  b: { needs: s, action: do }\n  m: { needs: [a, b], merge: {} }'),
    ).toEqual({
      a: 'a!',
      b: 'b!',
    });
    expect(output('m: { needs: s, merge: {} }')).toBe(7);
  });

  it('[PLN-27] a merge says whether the first iteration is enough, and how long all may take', () => {
    const plan = planOf(
      'id: x\nnodes: { s: { split: { in: [1] } }, a: { needs: s, action: do }, m: { needs: a, merge: { wait: any, timeout: 5s } } }',
    );
    expect(nodeOf(plan, 's').work).toMatchObject({ until: 'first' });
    expect(nodeOf(plan, 's').timeouts.attemptMs).toBe(5_000);
  });

  it('[PLN-27] pairs nest, in bodies too', () => {
    const plan = planOf(`id: x
nodes:
  loop:
    forEach: { in: $input.list }
    do:
      nodes:
        s: { split: { in: $item } }
        t: { needs: s, split: { in: $item } }
        a: { needs: t, action: do, with: { x: "{{ [$item, $parent.item, $parent.parent.item] }}" } }
        u: { needs: t, split: { in: $item } }
        mu: { needs: u, merge: {} }
        mt: { needs: [a, mu], merge: {} }
        ms: { needs: mt, merge: {} }
      output: "{{ $ms.aggregated }}"`);
    expect(nodeOf(plan, 'loop/s/t/u').work.kind).toBe('forEach');
    expect(nodeOf(plan, 'loop/s/t/mu').work).toEqual({ kind: 'merge', of: 'u' });
    expect(nodeOf(plan, 'loop/s/mt').work).toEqual({ kind: 'merge', of: 't' });
  });

  it('[PLN-28] pairs that do not fit are reported', () => {
    const found = (nodes: string): string[] =>
      findings(`id: x\nnodes:\n  s: { split: { in: [1] } }\n  a: { needs: s, action: do }\n  ${nodes}`).map(
        (text) => text.split(' (')[0] as string,
      );
    expect(found('b: { action: do }')).toEqual(['SPLIT_WITHOUT_MERGE nodes.s.split']);
    expect(found('b: { action: do }\n  m: { needs: [a, b], merge: {} }')).toEqual(['CROSSING_SPLIT nodes.m.needs']);
    expect(found('m: { needs: a, merge: {} }\n  n: { needs: a, merge: {} }')).toEqual(['SEVERAL_MERGES nodes.n.merge']);
    expect(found('m: { needs: a, merge: {} }\n  n: { needs: m, merge: {} }')).toEqual([
      'MERGE_WITHOUT_SPLIT nodes.n.merge',
    ]);
    expect(found('m: { needs: a, merge: {}, join: any }')).toEqual(['MISPLACED_KEY nodes.m.join']);
    expect(
      codes(
        'id: x\nnodes: { s: { split: { in: [1] } }, m: { merge: {} } }\nedges: [{ from: s, to: m, when: $input.x }]',
      ),
    ).toEqual(['SPLIT_EDGE']);
  });

  it('[PLN-28] the nodes between them cannot be read from outside', () => {
    expect(
      findings(`id: x
nodes:
  s: { split: { in: [1] } }
  a: { needs: s, action: do, with: { x: "{{ $nodes.s.status }}" } }
  m: { needs: a, merge: {} }
  z: { needs: m, action: do, with: { x: "{{ $a }}" } }`),
    ).toEqual([
      'NOT_UPSTREAM nodes.a.with.x (use $item for the current item)',
      "INSIDE_A_BODY nodes.z.with.x (read the output of 'm')",
    ]);
  });

  it('[PLN-102] between them the output of the split is the item, and its members are checked', () => {
    expect(
      findings(`id: x
nodes:
  s: { split: { in: [{ n: 1 }] } }
  a: { needs: s, action: do, with: { item: "{{ $s.n }}", list: "{{ $nodes.s.output.m }}" } }
  m: { needs: a, merge: {} }`),
    ).toEqual(["UNKNOWN_FIELD nodes.a.with.list (did you mean 'n'?)"]);
  });

  it('[PLN-28] any depth of nesting is reported', () => {
    const ids = Array.from({ length: 2_000 }, (_, n) => n);
    const splits = ids.map((n) => `  s${n}: { ${n === 0 ? '' : `needs: s${n - 1}, `}split: { in: [1] } }`);
    const merges = ids.map((n) => `  m${n}: { needs: ${n === 0 ? 's1999' : `m${n - 1}`}, merge: {} }`);
    expect(codes(`id: x\nnodes:\n${[...splits, ...merges].join('\n')}`)).toContain('TOO_DEEP');
  });

  it('[RUN-474] retry belongs to the split or to its merge, and is checked where it is written', () => {
    const pair = (split: string, merge: string) =>
      `id: x\nnodes:\n  s: { split: { in: [1] }${split} }\n  a: { needs: s, action: do }\n  m: { needs: a, merge: {}${merge} }`;
    const retry = ', retry: { attempts: 2 }';
    expect(nodeOf(planOf(pair('', retry)), 's').retry.rules).toMatchObject([{ attempts: 2 }]);
    expect(nodeOf(planOf(pair('', retry)), 'm').retry.rules).toEqual([]);
    expect(findings(pair(retry, retry))).toEqual(['MISPLACED_KEY nodes.s.retry (keep one of them)']);
    const wrong = codesAt(pair('', ', retry: { attempts: "{{ $nope }}", policy: mine }'));
    expect(wrong).toEqual(['UNKNOWN_REFERENCE nodes.m.retry.attempts', 'UNKNOWN_RETRY_POLICY nodes.m.retry.policy']);
  });
});

function codesAt(yaml: string): string[] {
  return findings(yaml).map((finding) => finding.replace(/ \(.*\)$/s, ''));
}
