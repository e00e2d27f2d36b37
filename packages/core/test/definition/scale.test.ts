import { describe, expect, it } from 'vitest';
import { readDefinitionObject } from '../../src/definition/check.ts';
import { codes, cpuMs, json, yaml } from './reading.ts';

/** Limits are several times the CPU time measured on two busy cores (see the comments). */
const SLACK = 4;

function yamlOf(count: number): string {
  const node = (n: number): string => `  n${n}:
    name: Node number ${n}
    needs: [${n === 0 ? '' : `n${(n - 1) >> 1}`}]
    action: http.request@1
    with:
      url: "https://example.com/{{ $input.order.id }}/${n}"
      body: { a: 1, b: [1, 2, 3], c: 'it''s' }
    retry: { policy: exponential, initial: 1s, max: 30s, attempts: 5 }
    timeout: 10s
`;
  return `id: big\nnodes:\n${Array.from({ length: count }, (_, n) => node(n)).join('')}`;
}

function objectOf(count: number): { id: string; nodes: Record<string, object> } {
  const nodes: Record<string, object> = {};
  for (let n = 0; n < count; n++) {
    nodes[`n${n}`] = {
      name: `Node ${n}`,
      needs: n === 0 ? [] : [`n${(n - 1) >> 1}`],
      action: 'http.request@1',
      with: { url: `https://example.com/{{ $input.order.id }}/${n}`, body: { a: 1, b: [1, 2, 3] } },
      retry: { policy: 'exponential', initial: '1s', max: '30s', attempts: 5 },
      timeout: '10s',
    };
  }
  return { id: 'big', nodes };
}

function timed<T>(work: () => T): { result: T; ms: number } {
  const started = cpuMs();
  return { result: work(), ms: cpuMs() - started };
}

describe('large definitions', () => {
  it.each(['\n', '#\n', '  # x\r\n', ' \n'])('[DEF-103] 200,000 lines of %j are an empty file in no time', (line) => {
    // 2 ms; the YAML library takes 400 ms.
    const { result, ms } = timed(() => yaml(line.repeat(200_000)));
    expect(codes(result)).toEqual(['EMPTY_FILE']);
    expect(ms).toBeLessThan(25 * SLACK);
  });

  it('[DEF-70] 10,000 nodes in YAML', { timeout: 120_000 }, () => {
    const text = yamlOf(10_000);
    // 0.4 s.
    const good = timed(() => yaml(text));
    expect(good.result.problems).toEqual([]);
    expect(good.ms).toBeLessThan(1_000 * SLACK);
    // 0.4 s: positions cost a second pass.
    const bad = timed(() => yaml(`${text}foo: 1\n`));
    expect(codes(bad.result)).toEqual(['UNKNOWN_KEY']);
    expect(bad.ms).toBeLessThan(1_000 * SLACK);
  });

  it('[DEF-70] 100,000 nodes in JSON', { timeout: 120_000 }, () => {
    const object = objectOf(100_000);
    const text = JSON.stringify(object);
    // 1.3 to 2.1 s.
    const good = timed(() => json(text));
    expect(good.result.problems).toEqual([]);
    expect(good.ms).toBeLessThan(2_000 * SLACK);
    const bad = timed(() => json(`${text.slice(0, -1)},"foo":1}`));
    expect(codes(bad.result)).toEqual(['UNKNOWN_KEY']);
    expect(bad.ms).toBeLessThan(2_000 * SLACK);
    expect(codes(readDefinitionObject(object))).toEqual([]);
  });

  it('[DEF-70] a mistake in every one of 100,000 nodes', { timeout: 120_000 }, () => {
    const object = objectOf(100_000);
    for (const node of Object.values(object.nodes)) Object.assign(node, { needs: ['nobody'], tiemout: '1s' });
    // 1.3 s: the search ends when the list is full.
    const { result, ms } = timed(() => json(JSON.stringify(object)));
    expect(result.problems).toHaveLength(1_000);
    expect(ms).toBeLessThan(1_500 * SLACK);
  });
});
