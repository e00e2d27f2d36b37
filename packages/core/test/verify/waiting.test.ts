import { describe, expect, it } from 'vitest';
import { codes, problemsOf, problemTexts } from './verifying.ts';

describe('waits that a limit cuts off', () => {
  const approval = '{ wait: { approval: { title: Go }, deadline: 3d } }';

  it('[VER-61] a deadline or a time beyond the limit of the workflow', () => {
    expect(problemTexts(`config: { timeout: 1h }\nnodes: { ok: ${approval} }`)).toEqual([
      "WAIT_EXCEEDS_LIMIT nodes.ok.wait.deadline: 'ok' has a deadline of 3d, but config.timeout ends it after 1h",
    ]);
    expect(problemTexts('config: { timeout: PT5M }\nnodes: { w: { wait: { for: 10m } } }')).toEqual([
      "WAIT_EXCEEDS_LIMIT nodes.w.wait.for: 'w' waits for 10m, but config.timeout ends it after 5m",
    ]);
    const [problem] = problemsOf(`config: { timeout: 1h }\nnodes: { ok: ${approval} }`);
    expect(problem).toMatchObject({
      severity: 'warning',
      hint: 'raise config.timeout above 3d, or shorten the wait',
      range: { line: 3, column: 59, length: 2 },
    });
  });

  it('[VER-61] beyond that of the node, of a node around it, or its own deadline', () => {
    expect(codes('nodes: { w: { wait: { for: 10m }, timeout: 5m } }')).toEqual(['WAIT_EXCEEDS_LIMIT nodes.w.wait.for']);
    expect(codes('nodes: { w: { wait: { for: 10m, deadline: 5m } } }')).toEqual([
      'WAIT_EXCEEDS_LIMIT nodes.w.wait.for',
    ]);
    expect(codes('nodes: { w: { wait: { any: [{ signal: go }, { for: 2h }], deadline: 1h } } }')).toEqual([
      'WAIT_EXCEEDS_LIMIT nodes.w.wait.any.1.for',
    ]);
    const loop = (limit: string) =>
      problemTexts(`config: { timeout: 30d }
nodes:
  each: { forEach: { in: [1] }, timeout: ${limit}, do: { nodes: { inner: { while: { condition: $index < 2 }, do: { nodes: { ok: ${approval} } } } } } }`);
    expect(loop('{ total: 1d }')).toEqual([
      "WAIT_EXCEEDS_LIMIT nodes.each.do.nodes.inner.do.nodes.ok.wait.deadline: 'ok' has a deadline of 3d, but the timeout of 'each' ends it after 1d",
    ]);
    expect(loop('{ queued: 1d, total: 7d }')).toEqual([]);
  });

  it('[VER-61] a wait of a workflow inside is seen from the node that runs it', () => {
    const kid = { kid: `nodes: { l: { forEach: { in: [1] }, do: { nodes: { ok: ${approval} } } } }` };
    expect(problemTexts('config: { timeout: 1h }\nnodes: { k: { workflow: { id: kid, mode: inline } } }', kid)).toEqual(
      ["WAIT_EXCEEDS_LIMIT nodes.k: 'l/ok' in the workflow of 'k' waits for 3d, but config.timeout ends it after 1h"],
    );
  });

  it('[VER-61] not where the wait fits, is not known, or is switched off', () => {
    expect(codes(`config: { timeout: 3d }\nnodes: { ok: ${approval} }`)).toEqual([]);
    expect(codes('config: { timeout: 1h }\nnodes: { ok: { wait: { approval: { title: Go } } } }')).toEqual([]);
    expect(codes('config: { timeout: 1h }\nnodes: { w: { wait: { for: "{{ $input.pause }}" } } }')).toEqual([]);
    expect(
      codes('config: { timeout: 1h }\nnodes: { w: { wait: { signal: a, deadline: 2030-01-01T00:00:00Z } } }'),
    ).toEqual([]);
    expect(
      codes(`config: { timeout: 1h }\nnodes: { ok: ${approval.replace('{ wait', '{ enabled: false, wait')} }`),
    ).toEqual([]);
  });
});

describe('waits that have passed', () => {
  it('[VER-76] a number for `until` is a time since 1970', () => {
    expect(problemTexts('nodes: { w: { wait: { until: "{{ 5000 }}" } } }')).toEqual([
      "UNTIL_PASSED nodes.w.wait.until: 'w' does not wait: 5000 is a time in milliseconds since 1970, which has passed",
    ]);
    expect(problemsOf('nodes: { w: { wait: { until: "{{ 60 * 1000 }}" } } }')).toMatchObject([
      { hint: 'write a date, or, to wait for 1m, for: 60000ms' },
    ]);
    expect(codes('nodes: { w: { wait: { any: [{ signal: go }, { until: "{{ 1 }}" }] } } }')).toEqual([
      'UNTIL_PASSED nodes.w.wait.any.1.until',
    ]);
    const fine = [
      '$input.at',
      '"{{ 4102444800000 }}"',
      '"2030-01-01T08:00:00Z"',
      '$execution.startedAt.toMillis() + 5000',
    ];
    for (const until of fine) expect(codes(`nodes: { w: { wait: { until: ${until} } } }`), until).toEqual([]);
  });
});
