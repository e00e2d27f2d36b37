import { describe, expect, it } from 'vitest';
import { codes, compile, findings, nodeOf, planOf } from './compiling.ts';

describe('bodies', () => {
  it('[PLN-19] see nodes upstream of them, at any depth; the inner id wins', () => {
    const plan = planOf(`id: x
nodes:
  a: { action: do }
  b: { action: do }
  loop:
    needs: [a, b]
    forEach: { in: $a.list }
    do:
      nodes:
        b: { action: do }
        c:
          needs: b
          while: { condition: $b.more }
          do: { nodes: { d: { action: do, with: { x: "{{ $a }} {{ $b }} {{ $nodes.a.status }}" } } } }
      output: "{{ [$a, $b] }}"`);
    expect(nodeOf(plan, 'loop').reads).toEqual([{ up: 0, index: 0 }]);
    expect(nodeOf(plan, 'loop/c').reads).toEqual([{ up: 0, index: 0 }]);
    expect(nodeOf(plan, 'loop/c/d').reads).toEqual([
      { up: 2, index: 0 },
      { up: 1, index: 0 },
    ]);
    const { work } = nodeOf(plan, 'loop');
    expect(work.kind === 'forEach' && work.body.outputReads).toEqual([
      { up: 1, index: 0 },
      { up: 0, index: 0 },
    ]);
  });

  it('[PLN-19] a node that is not upstream is reported, with the missing needs', () => {
    expect(
      findings(`id: x
nodes:
  a: { action: do }
  loop:
    forEach: { in: [1] }
    do:
      nodes:
        b: { action: do, with: { x: "{{ $a }} {{ $loop }} {{ $c }}" } }
        c: { action: do }
      edges: [{ from: b, to: c, when: $a.ok }]
      output: "{{ $a }}"`),
    ).toEqual([
      "NOT_UPSTREAM nodes.loop.do.nodes.b.with.x (add 'a' to the needs of 'loop')",
      'NOT_UPSTREAM nodes.loop.do.nodes.b.with.x (use $item for the current item)',
      "NOT_UPSTREAM nodes.loop.do.nodes.b.with.x (add 'c' to the needs of 'b')",
      "NOT_UPSTREAM nodes.loop.do.edges.0.when (add 'a' to the needs of 'loop')",
      "NOT_UPSTREAM nodes.loop.do.output (add 'a' to the needs of 'loop')",
    ]);
  });

  it('[PLN-20] nodes inside a body cannot be read from outside', () => {
    expect(
      findings(`id: x
nodes:
  loop:
    while: { condition: $deep.ok }
    do: { nodes: { b: { forEach: { in: [1] }, do: { nodes: { deep: { action: do } } } } } }
  after: { needs: loop, action: do, with: { x: "{{ $deep.x }}" } }
output: "{{ $b }}"`),
    ).toEqual([
      'INSIDE_A_BODY nodes.loop.while.condition (use $self.output for the output of the last iteration)',
      "INSIDE_A_BODY nodes.after.with.x (read the output of 'loop')",
      "INSIDE_A_BODY output (read the output of 'loop')",
    ]);
  });

  it('[PLN-21] $item, $index, $items and $parent belong to the loops around', () => {
    expect(
      findings(`id: x
nodes:
  each:
    forEach: { in: $input.list }
    do:
      nodes:
        a: { action: do, with: { x: "{{ [$item, $index, $items] }}", y: "{{ $parent.item }}" } }
        iterations:
          while: { condition: $index < 3 && $parent.item.go }
          do:
            nodes:
              b: { action: do, with: { x: "{{ [$index, $parent.item, $parent.index] }}", y: "{{ $item }}" } }
  alone:
    retryUntil: { until: "$index > 3", attempts: 2 }
    do: { nodes: { c: { action: do, with: { x: "{{ $index }}", y: "{{ $items }}" } } } }
  out: { action: do, with: { x: "{{ $index }}" } }
  list: { forEach: { in: $item }, do: { nodes: { d: { action: do } } } }`),
    ).toEqual([
      'NOT_IN_A_LOOP nodes.each.do.nodes.a.with.y (the innermost loop has $item, $index and $items)',
      "NOT_IN_A_LOOP nodes.each.do.nodes.iterations.do.nodes.b.with.y (did you mean '$parent.item'?)",
      'NOT_IN_A_LOOP nodes.alone.do.nodes.c.with.y (use $index)',
      'NOT_IN_A_LOOP nodes.out.with.x (use $input or a node instead)',
      'NOT_IN_A_LOOP nodes.list.forEach.in (use $input or a node instead)',
    ]);
  });

  it('[PLN-22] $self has a value where a node or an iteration is over', () => {
    expect(
      codes('id: x\nnodes: { a: { action: do, compensate: { action: do, with: { x: "{{ $self.output }}" } } } }'),
    ).toEqual([]);
    expect(
      codes(`id: x
nodes:
  b: { while: { condition: $self.output }, do: { nodes: { s: { action: do } } } }
  c: { retryUntil: { until: $self.output, attempts: 2 }, do: { nodes: { s: { action: do } } } }
  d: { workflow: { id: w, mode: child, output: "{{ $self.output }}" } }
  e: { forEach: { in: [1] }, do: { nodes: { s: { action: do, emit: $self.output.more } } } }`),
    ).toEqual([]);
    expect(
      codes(`id: x
nodes:
  a: { action: do, with: { x: "{{ $self.output }}" } }
  b: { while: { condition: true }, do: { nodes: { s: { action: do, when: $self.output } } } }
  c: { forEach: { in: [1] }, do: { nodes: { s: { action: do } }, output: "{{ $self.output }}" } }
output: "{{ $self.output }}"`),
    ).toEqual(['NO_SELF', 'NO_SELF', 'NO_SELF', 'NO_SELF']);
  });

  it('[PLN-4] mistakes inside a body and beside it are reported together, in order', () => {
    expect(
      codes(`id: x
nodes:
  a: { action: nope }
  loop:
    forEach: { in: "$a.list +", minSuccess: 101% }
    do:
      nodes:
        b: { action: do, timeout: soon, with: { v: "{{ 1 + }}" } }
        c: { action: do, needs: [bb], with: { v: "{{ $nobody }}" } }
        d: { action: mail.send, with: { to: 5 } }
      edges: [b -> c -> d, { from: b, to: d, on: somtimes, when: "1 +" }]
  z: { needs: loop, action: do, with: { x: "{{ $vars.q }}" } }`),
    ).toEqual([
      'UNKNOWN_ACTION',
      'BAD_PERCENT',
      'BAD_DURATION',
      'EXPRESSION_SYNTAX',
      'UNKNOWN_NODE',
      'UNKNOWN_REFERENCE',
      'BAD_PARAMETER',
      'UNKNOWN_CHOICE',
      'EXPRESSION_SYNTAX',
      'UNKNOWN_VARIABLE',
    ]);
  });

  it('[PLN-5] expression problems in bodies point at their place', () => {
    const { problems } = compile(`id: x
nodes:
  loop:
    forEach: { in: [1] }
    do:
      nodes:
        b: { action: do, with: { v: "a {{ $itm }}" } }`);
    expect(problems).toMatchObject([
      {
        code: 'UNKNOWN_REFERENCE',
        path: ['nodes', 'loop', 'do', 'nodes', 'b', 'with', 'v'],
        range: { line: 7, column: 43 },
      },
    ]);
  });
});
