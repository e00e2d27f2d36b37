import { describe, expect, it } from 'vitest';
import { codes, problemsOf, problemTexts } from './verifying.ts';

const mail = (parameters: string, more = ''): string[] =>
  problemTexts(`input: { type: object, properties: { name: { type: string }, age: { type: number } } }
nodes:
  o: { action: order }
  m: { needs: o, action: mail, with: { ${parameters} } }
  ${more}`).map((one) => one.replace('the result of the expression ', ''));

describe('types', () => {
  it('[VER-20] of expressions are compared with those of parameters', () => {
    expect(mail('to: "{{ $o.id }}"')).toEqual([
      'TYPE_MISMATCH nodes.m.with.to: is a whole number, but must be a string',
    ]);
    expect(mail('count: "{{ $input.name }}"')).toEqual([
      'TYPE_MISMATCH nodes.m.with.count: is a string, but must be a whole number',
    ]);
    expect(mail('count: "{{ $o.id }} pieces"')).toEqual([
      'TYPE_MISMATCH nodes.m.with.count: is a string, but must be a whole number',
    ]);
    expect(mail('to: "{{ $o.total > 5 }}"')).toEqual([
      'TYPE_MISMATCH nodes.m.with.to: is true or false, but must be a string',
    ]);
    expect(mail('to: "{{ $o.id ?? 7 }}"')).toEqual([
      'TYPE_MISMATCH nodes.m.with.to: is a whole number, but must be a string',
    ]);
    expect(mail('state: "{{ $o.state }}"')).toEqual([
      'TYPE_MISMATCH nodes.m.with.state: is "open" or "paid", but must be "new" or "old"',
    ]);
    expect(mail('line: "{{ $o }}"')).toEqual(["TYPE_MISMATCH nodes.m.with.line: has no 'sku'"]);
    expect(mail(`line: "{{ { sku: 5, count: 1 } }}"`)).toEqual([
      "TYPE_MISMATCH nodes.m.with.line: has a 'sku' that is a whole number, but must be a string",
    ]);
    expect(mail('tags: ["{{ $o.id }}"]')).toEqual([
      'TYPE_MISMATCH nodes.m.with.tags.0: is a whole number, but must be a string',
    ]);
    expect(
      problemsOf('nodes: { o: { action: order }, m: { needs: o, action: mail, with: { to: "{{ $o.id }}" } } }'),
    ).toMatchObject([{ severity: 'error', range: { line: 2 } }]);
  });

  it('[VER-20] of the items of a list are a warning, since the list may be empty', () => {
    const problems = problemsOf(
      'nodes: { o: { action: order }, m: { needs: o, action: mail, with: { tags: "{{ $o.lines }}" } } }',
    );
    expect(problems).toMatchObject([
      {
        code: 'TYPE_MISMATCH',
        severity: 'warning',
        message: 'the result of the expression has items of which each is an object, but must be a string',
      },
    ]);
  });

  it('[VER-21] are compared in inputs of workflows, compensations and lists of loops', () => {
    expect(
      codes(
        `nodes:
  o: { action: order, effect: idempotent, compensate: { action: mail, with: { to: "{{ $self.output.id }}" } } }
  w: { needs: o, workflow: { id: other, input: { n: "{{ $o.state }}" } } }
  l: { needs: o, forEach: { in: $o.total }, do: { nodes: { a: { action: do } } } }
  s: { needs: o, split: { in: $o.state } }
  t: { needs: s, merge: {} }`,
        { other: 'input: { type: object, properties: { n: { type: number } } }\nnodes: { a: { action: do } }' },
      ),
    ).toEqual([
      'TYPE_MISMATCH nodes.o.compensate.with.to',
      'TYPE_MISMATCH nodes.w.workflow.input.n',
      'TYPE_MISMATCH nodes.l.forEach.in',
      'TYPE_MISMATCH nodes.s.split.in',
    ]);
  });

  it('[VER-22] that are not known for sure are not compared', () => {
    expect(mail('to: "{{ $input.name }}", count: "{{ $input.age }}", note: "{{ $o.id }}"')).toEqual([]);
    expect(mail('either: "{{ $o.id }}", tags: "{{ $o.lines.map(l => l.sku) }}", unknown: "{{ $o.id }}"')).toEqual([]);
    expect(mail('to: "{{ $input.name + $input.name }}", count: "{{ $o.id + 1 }}"')).toEqual([]);
    expect(mail('to: "{{ $trigger.x ?? 5 }}"')).toEqual([]);
    expect(
      codes('nodes: { o: { action: loose }, m: { needs: o, action: mail, with: { to: "{{ $o.id }}" } } }'),
    ).toEqual([]);
    expect(
      codes('nodes: { o: { action: order }, m: { needs: o, action: coerce, with: { n: "{{ $o.state }}" } } }'),
    ).toEqual([]);
  });
});

describe('types of composite nodes', () => {
  it('[VER-23] items have the type of their list', () => {
    expect(
      codes(`nodes:
  o: { action: order }
  l:
    needs: o
    forEach: { in: $o.lines }
    do:
      nodes:
        a: { action: mail, with: { to: "{{ $item.sku }}", line: "{{ $item }}", count: "{{ $items.length }}" } }
        b: { action: mail, with: { to: "{{ $item.count }}" } }
        c: { action: mail, with: { to: "{{ $item.name }}" } }
        d: { forEach: { in: [1] }, do: { nodes: { x: { action: mail, with: { to: "{{ $parent.item.name }}" } } } } }
        e: { action: mail, with: { to: "{{ $items[0].name }}" } }`),
    ).toEqual([
      'UNKNOWN_FIELD nodes.l.do.nodes.c.with.to',
      'UNKNOWN_FIELD nodes.l.do.nodes.d.do.nodes.x.with.to',
      'UNKNOWN_FIELD nodes.l.do.nodes.e.with.to',
    ]);
    expect(
      codes(`nodes:
  l: { forEach: { in: [{ sku: a }, { sku: b }] }, do: { nodes: { a: { action: mail, with: { count: "{{ $item.sku }}" } } } } }`),
    ).toEqual(['TYPE_MISMATCH nodes.l.do.nodes.a.with.count']);
  });

  it('[VER-23] items that the body adds may be anything', () => {
    expect(
      codes(`nodes:
  l: { forEach: { in: [{ sku: a }] }, do: { nodes: { a: { action: do, with: { x: "{{ $item.name }}" }, emit: $self.output } } } }`),
    ).toEqual([]);
  });

  it('[VER-23] a loop gives a list of the outputs of its body, also if the loop is defined below', () => {
    expect(
      codes(`nodes:
  m: { needs: [l, n, t], action: mail, with: { to: "{{ $l[0].nobody }}", note: "{{ $n[0].anything }}" } }
  k: { needs: [l, t], action: mail, with: { to: "{{ $l[0].id }}", count: "{{ $t.aggregated[0].id }}" } }
  p: { needs: t, action: mail, with: { to: "{{ $t.aggregated[0].nobody }}" } }
  l: { forEach: { in: [1] }, do: { nodes: { o: { action: order } } } }
  n: { forEach: { in: [1], minSuccess: 0 }, do: { nodes: { o: { action: order } } } }
  s: { split: { in: [1] } }
  o: { needs: s, action: order }
  t: { needs: o, merge: {} }`),
    ).toEqual(['UNKNOWN_FIELD nodes.m.with.to', 'UNKNOWN_FIELD nodes.p.with.to']);
    expect(
      codes(`nodes:
  k: { needs: l, action: mail, with: { to: "{{ $l[0].id }}" } }
  l: { forEach: { in: [1] }, do: { nodes: { o: { action: order } } } }`),
    ).toEqual(['TYPE_MISMATCH nodes.k.with.to']);
  });

  it('[VER-24] inline workflows, iterations and payloads have the types of their outputs', () => {
    expect(
      codes(
        `nodes:
  w: { workflow: { id: inner } }
  v: { workflow: { id: inner, output: { number: "{{ $self.output.id }}" } } }
  c: { workflow: { id: inner, mode: child, output: { kept: 1 } } }
  r: { retryUntil: { attempts: 2 }, do: { nodes: { o: { action: order } }, output: { state: "{{ $o.state }}" } } }
  h: { while: { condition: $index < 2 }, do: { nodes: { o: { action: order } } } }
  g: { wait: { signal: go, schema: { type: object, properties: { by: { type: string } }, additionalProperties: false } } }
  ok: { needs: [w, v, r, h, g, c], action: mail, with: { count: "{{ $w.id }}", to: "{{ $g.payload.by }}", note: "{{ $h.note }}" } }
  a: { needs: w, action: do, with: { x: "{{ $w.nobody }}" } }
  b: { needs: v, action: do, with: { x: "{{ $v.id }}" } }
  d: { needs: c, action: do, with: { x: "{{ $c.lost }}" } }
  e: { needs: r, action: do, with: { x: "{{ $r.id }}" } }
  f: { needs: g, action: do, with: { x: "{{ $g.payload.when }}" } }
  t: { needs: v, action: mail, with: { to: "{{ $v.number }}" } }`,
        { inner: 'nodes: { o: { action: order } }\noutput: { id: "{{ $o.id }}" }' },
      ),
    ).toEqual([
      'UNKNOWN_FIELD nodes.a.with.x',
      'UNKNOWN_FIELD nodes.b.with.x',
      'UNKNOWN_FIELD nodes.d.with.x',
      'UNKNOWN_FIELD nodes.e.with.x',
      'UNKNOWN_FIELD nodes.f.with.x',
    ]);
  });
});
