import { describe, expect, it } from 'vitest';
import { codes, problemTexts } from './verifying.ts';

describe('variables', () => {
  it('[VER-40] that nothing reads are reported', () => {
    expect(
      codes(`variables: { used: 1, idle: 2, lost: 0 }
nodes:
  a: { set: { kept: 1, lost: 2, outer: 3 } }
  b: { needs: a, action: do, with: { x: "{{ $vars.used + $vars.kept }}" } }`),
    ).toEqual(['UNUSED_VARIABLE variables.idle', 'UNUSED_VARIABLE variables.lost']);
  });

  it('[VER-40] not where the output of the set, all variables, or others in their stead may read them', () => {
    expect(codes('nodes: { a: { set: { x: 1 } } }')).toEqual([]);
    expect(codes('nodes: { a: { set: { x: 1 } }, b: { needs: a, action: do, with: { y: "{{ $a.x }}" } } }')).toEqual(
      [],
    );
    expect(codes('variables: { x: 1 }\nnodes: { a: { action: do, with: { y: "{{ $vars }}" } } }')).toEqual([]);
    expect(codes('variables: { x: 1 }\nnodes: { a: { dynamic: { action: do } } }')).toEqual([]);
    expect(
      codes('variables: { x: 1 }\nnodes: { a: { workflow: { id: other, isolation: shared } } }', {
        other: 'nodes: { a: { action: do } }',
      }),
    ).toEqual([]);
  });

  it('[VER-41] that are read before they are set are reported', () => {
    expect(
      problemTexts(`nodes:
  early: { action: do, with: { x: "{{ $vars.n }}", y: "{{ $vars.n ?? 0 }}" } }
  set: { needs: early, set: { n: 1 } }
  late: { needs: set, action: do, when: $vars.n > 0 }
  beside: { action: do, with: { x: "{{ $vars.n }}" } }
output: "{{ $vars.n }}"`),
    ).toEqual([
      "UNSET_VARIABLE nodes.early.with.x: the variable 'n' is read here before anything sets it",
      "UNSET_VARIABLE nodes.beside.with.x: the variable 'n' is read here before anything sets it",
    ]);
  });

  it('[VER-41] not in loops, after bodies that set them, nor in the failure node', () => {
    expect(
      codes(`config: { failureNode: last }
nodes:
  each: { forEach: { in: [1] }, do: { nodes: { r: { action: do, when: $index > 0 && $vars.n > 0 }, s: { needs: r, set: { n: 1 } } } } }
  after: { needs: each, action: do, with: { x: "{{ $vars.n }}" } }
  last: { action: do, with: { x: "{{ $vars.n }}" } }`),
    ).toEqual([]);
  });

  it('[VER-42] of a workflow inside that shares them are known after it', () => {
    const inner = 'variables: { total: 0 }\nnodes: { a: { set: { seen: true, total: 1 } } }';
    const outer = (isolation: string, needs: string): string[] =>
      codes(
        `nodes:
  in: { workflow: { id: inner, isolation: ${isolation} } }
  b: { ${needs} action: do, with: { x: "{{ $vars.total }}", y: "{{ $vars.seen }}" } }`,
        { inner },
      );
    expect(outer('shared', 'needs: in,')).toEqual([]);
    expect(outer('shared', '')).toEqual(['UNSET_VARIABLE nodes.b.with.x', 'UNSET_VARIABLE nodes.b.with.y']);
    expect(outer('isolated', 'needs: in,')).toEqual([
      'UNKNOWN_VARIABLE nodes.b.with.x',
      'UNKNOWN_VARIABLE nodes.b.with.y',
    ]);
  });
});
