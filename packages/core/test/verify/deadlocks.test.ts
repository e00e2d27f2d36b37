import { describe, expect, it } from 'vitest';
import { codes, problemTexts } from './verifying.ts';

describe('keys', () => {
  it('[VER-14] that are held around their own waiters are a deadlock', () => {
    const key = 'concurrency: { key: k }';
    const found14 = ['SELF_DEADLOCK nodes.l.concurrency.key'];
    const around = (inner: string, more = ''): string[] =>
      codes(`nodes: { l: { ${key}, forEach: { in: [1] }, do: { nodes: { x: { action: do, ${inner} } } } } ${more} }`);
    expect(around(key)).toEqual(found14);
    expect(around('concurrency: { key: other }')).toEqual([]);
    expect(around('concurrency: { key: k, limit: 2 }')).toEqual([]);
    expect(around('concurrency: { key: "{{ $input.k }}" }')).toEqual([]);
    expect(around(`${key}, enabled: false`)).toEqual([]);
    expect(codes(`nodes: { a: { action: do, ${key} }, b: { action: do, ${key}, needs: a } }`)).toEqual([]);
    const kid = {
      kid: `nodes: { w: { while: { condition: $index < 2 }, do: { nodes: { a: { action: do, ${key} } } } } }`,
    };
    for (const mode of ['inline', 'child']) {
      expect(codes(`nodes: { l: { ${key}, workflow: { id: kid, mode: ${mode} } } }`, kid)).toEqual(found14);
    }
    const twice = { outer: 'nodes: { k: { workflow: { id: kid, mode: child } } }', ...kid };
    expect(problemTexts(`nodes: { l: { ${key}, workflow: { id: outer, mode: child } } }`, twice)).toEqual([
      "SELF_DEADLOCK nodes.l.concurrency.key: deadlock: 'l' holds the key 'k' while 'a' of the workflow 'kid' of the workflow 'outer' inside it waits for the same key",
    ]);
    const circle = { circle: 'nodes: { k: { workflow: { id: circle, mode: child } } }' };
    expect(codes(`nodes: { l: { ${key}, workflow: { id: circle, mode: child } } }`, circle)).toEqual([]);
  });
});
