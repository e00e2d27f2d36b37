import { describe, expect, it } from 'vitest';
import { codes, problemsOf, problemTexts } from './verifying.ts';

describe('capabilities', () => {
  const web = (url: string, grants: string, more = '') =>
    problemTexts(`config: { capabilities: { ${grants} } }
nodes: { get: { action: web, with: { url: "${url}" }${more} } }`);

  it('[VER-66] a host that no grant covers is denied, with the line that grants it', () => {
    expect(web('https://api.example.com/orders', 'network: [other.example.com]')).toEqual([
      "CAPABILITY_DENIED nodes.get.with.url: 'get' is not allowed to reach api.example.com: the grant is other.example.com",
    ]);
    expect(problemsOf('nodes: { get: { action: web, with: { url: "http://localhost:8080/" } } }')[0]).toMatchObject({
      severity: 'warning',
      message: "'get' is not allowed to reach localhost:8080: no such capability is granted",
      hint: 'add config: { capabilities: { network: [localhost:8080] } }',
      range: { line: 2, column: 43, length: 24 },
    });
  });

  it('[VER-66] also where only the host is written out, or no such capability is granted at all', () => {
    expect(web('https://api.example.com/orders/{{ $input.id }}', 'network: [other.example.com]')).toHaveLength(1);
    for (const host of ['localhost:3000', '127.0.0.1', '10.1.2.3:80', '[::1]:80', 'api.localhost']) {
      expect(web(`https://${host}/`, 'network: ["*"]')).toHaveLength(1);
    }
    expect(codes('nodes: { get: { action: web, with: { url: "{{ $input.url }}" } } }')).toEqual([
      'CAPABILITY_DENIED nodes.get.with',
    ]);
  });

  it('[VER-66] paths and programs, of compensations and dynamic nodes, too', () => {
    const disk = (call: string, grants: string) =>
      problemTexts(`config: { capabilities: { ${grants} } }\nnodes: { a: { ${call} } }`).map(
        (one) => one.split(':')[0],
      );
    const all = 'files: { read: [data/**], write: [out/*.txt] }, shell: [git]';
    const good = 'with: { from: data/in/a.csv, to: out/b.txt, run: { program: git } }';
    expect(disk(`action: disk, ${good}`, all)).toEqual([]);
    expect(disk(`action: disk, ${good.replace('data/in', 'secret')}`, all)).toEqual([
      'CAPABILITY_DENIED nodes.a.with.from',
    ]);
    expect(disk(`action: disk, ${good.replace('out/b', 'out/x/b')}`, all)).toEqual([
      'CAPABILITY_DENIED nodes.a.with.to',
    ]);
    expect(disk(`dynamic: { action: disk, ${good.replace('git', 'rm')} }`, all)).toEqual([
      'CAPABILITY_DENIED nodes.a.dynamic.with.run',
    ]);
    expect(disk('action: do, compensate: { action: web, with: { url: "https://x.example/" } }', all)).toEqual([
      'CAPABILITY_DENIED nodes.a.compensate.with.url',
    ]);
  });

  it('[VER-67] no problem is reported if the grant may cover it', () => {
    expect(web('https://api.example.com/', 'network: ["*.example.com"]')).toEqual([]);
    expect(web('https://api.example.com/', 'network: ["*"]')).toEqual([]);
    expect(web('https://{{ $input.host }}/', 'network: [api.example.com]')).toEqual([]);
    expect(web('https://api.example.com{{ $input.port }}/', 'network: [other.example.com]')).toEqual([]);
    expect(web('https://api.example.com/', '', ', capabilities: { network: [api.example.com] }')).toEqual([]);
    expect(web('https://api.example.com/', '', ', enabled: false')).toEqual([]);
    const disk = (from: string, read: string) =>
      codes(`config: { capabilities: { files: { read: [${read}], write: ["*"] }, shell: ["*"] } }
nodes: { a: { action: disk, with: { from: "${from}", to: out/x } } }`);
    expect(disk('data/x', '/srv/project/data/**')).toEqual([]);
    expect(disk('../data/x', 'data/**')).toEqual([]);
    expect(disk('data/{{ $input.name }}', 'other/**')).toEqual([]);
  });
});
