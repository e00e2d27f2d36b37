import { describe, expect, it } from 'vitest';
import { codes } from './verifying.ts';

describe('loops', () => {
  const loop = (condition: string, body: string, more = ''): string[] =>
    codes(`variables: { go: true, n: 0 }
nodes:
  first: { action: do }
  loop: { needs: first, while: { condition: "${condition}" }, do: { nodes: { ${body} } } }
  read: { action: do, with: { x: "{{ [$vars.go, $vars.n] }}" } }
  ${more}`).filter((one) => one.startsWith('ENDLESS_LOOP'));

  it('[VER-10] whose condition reads nothing that changes have no end', () => {
    const endless = ['ENDLESS_LOOP nodes.loop.while.condition'];
    expect(loop('true', 'a: { action: do }')).toEqual(endless);
    expect(loop('$first.more', 'a: { action: do }')).toEqual(endless);
    expect(loop('$vars.go', 'a: { action: do }')).toEqual(endless);
    expect(loop('$vars.go', 'a: { set: { n: 1 } }')).toEqual(endless);
    expect(loop('$vars.go', 'a: { action: do }', 'after: { needs: loop, set: { go: false } }')).toEqual(endless);
  });

  it('[VER-10] that something may end are none of these', () => {
    expect(loop('$index < 5', 'a: { action: do }')).toEqual([]);
    expect(loop('$self.output ?? true', 'a: { action: do }')).toEqual([]);
    expect(loop('$vars.go', 'a: { set: { go: false } }')).toEqual([]);
    expect(
      loop(
        '$vars.go',
        'a: { action: do }',
        'beside: { wait: { signal: stop } }\n  stop: { needs: beside, set: { go: false } }',
      ),
    ).toEqual([]);
    expect(loop('true', 'a: { action: do, when: $index > 3, break: true }')).toEqual([]);
    expect(loop('true', 'a: { action: do }, b: { needs: a, when: $a, terminate: completed }')).toEqual([]);
    expect(loop('$vars.go', 'a: { dynamic: { action: do } }')).toEqual([]);
  });

  it('[VER-13] that never begin are reported', () => {
    expect(codes('nodes: { l: { while: { condition: 1 > 2 }, do: { nodes: { a: { action: do } } } } }')).toEqual([
      'NEVER_RUNS nodes.l.while.condition',
    ]);
    expect(codes('nodes: { l: { forEach: { in: [] }, do: { nodes: { a: { action: do } } } } }')).toEqual([
      'NEVER_RUNS nodes.l.forEach.in',
    ]);
    expect(codes('nodes: { s: { split: { in: [] } }, m: { needs: s, merge: {} } }')).toEqual([
      'NEVER_RUNS nodes.s.split.in',
    ]);
  });

  it('[VER-11] to which every iteration adds items have no end', () => {
    const each = (node: string): string[] =>
      codes(`nodes: { each: { forEach: { in: [1] }, do: { nodes: { a: { action: do, ${node} } } } } }`);
    expect(each('emit: [1]')).toEqual(['ENDLESS_LOOP nodes.each.do.nodes.a.emit']);
    expect(each('emit: "[$item]"')).toEqual(['ENDLESS_LOOP nodes.each.do.nodes.a.emit']);
    expect(each('emit: ["{{ $item }}"]')).toEqual(['ENDLESS_LOOP nodes.each.do.nodes.a.emit']);
    expect(each('emit: "[...$self.output]"')).toEqual([]);
    expect(each('emit: []')).toEqual([]);
    expect(each('emit: $self.output.more')).toEqual([]);
    expect(each('emit: [1], when: $index < 5')).toEqual([]);
    expect(each('emit: [1], break: true')).toEqual([]);
  });
});
