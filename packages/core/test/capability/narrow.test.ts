/** The intersection of two grants, proved against the matching of patterns. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWithin, joinCapabilities } from '../../src/capability/narrow.ts';
import {
  CAPABILITY_LISTS,
  type Capabilities,
  type CapabilityList,
  entriesOf,
  matchesName,
  matchesSegments,
  narrow,
  overCeiling,
  patternsOf,
} from '../../src/index.ts';
import { narrowCeiling } from '../../src/run.ts';

const HOSTS = ['a.com', 'x.a.com', 'y.x.a.com', 'b.com', 'localhost', '10.0.0.7', '8.8.8.8'].flatMap((name) =>
  ['80', '443'].map((port) => ({ name, port })),
);
const LOCAL = ['localhost', '10.0.0.7'];
const NAMES = ['git', 'gi', 'g', 'node', 'nodejs', 'AWS_KEY', 'AWS_'];
const PATHS = ['data', 'data/a.csv', 'data/in/a.csv', 'a.csv', 'out/b.txt', '/etc/passwd', '/etc', '/'];

function matchesHost(pattern: string, { name, port }: (typeof HOSTS)[number]): boolean {
  const [host = '', wanted] = pattern.toLowerCase().split(':');
  if (wanted !== undefined && wanted !== port) return false;
  if (host === '*') return !LOCAL.includes(name);
  if (host === '10.0.0.0/8') return name.startsWith('10.');
  if (host === '0.0.0.0/0') return /^[\d.]+$/.test(name);
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) : host === name;
}

function matchesPath(pattern: string, path: string): boolean {
  const isAbsolute = path.startsWith('/');
  if (pattern === '*') return !isAbsolute;
  const open = pattern.endsWith('/') ? `${pattern}**` : pattern;
  const segments = (text: string): string[] => (text.startsWith('/') ? text : `/project/${text}`).split('/').slice(1);
  return matchesSegments(segments(open), path === '/' ? [] : segments(path));
}

/** All resources of the small world above that are granted. */
function reach(capabilities: Capabilities): Set<string> {
  const found = new Set<string>();
  const add = <Thing>(
    list: CapabilityList,
    things: readonly Thing[],
    matches: (pattern: string, thing: Thing) => boolean,
  ) => {
    for (const thing of things) {
      const isGranted = entriesOf(capabilities, list).some((entry) =>
        patternsOf(entry).every((one) => matches(one, thing)),
      );
      if (isGranted) found.add(`${list} ${JSON.stringify(thing)}`);
    }
  };
  add('network', HOSTS, matchesHost);
  add('files.read', PATHS, matchesPath);
  add('files.write', PATHS, matchesPath);
  add('shell', NAMES, matchesName);
  add('env', NAMES, matchesName);
  return found;
}

const hosts = fc.constantFrom(
  '*',
  '*:80',
  'a.com',
  'A.com',
  'a.com:443',
  '*.a.com',
  '*.x.a.com',
  '*.com:80',
  'x.a.com',
  'localhost',
  '10.0.0.7',
  '10.0.0.0/8',
  '0.0.0.0/0:80',
  '8.8.8.8:443',
);
const paths = fc.constantFrom(
  '*',
  '**',
  'data/**',
  'data/',
  'data/*',
  '*.csv',
  '**/*.csv',
  'data/a.csv',
  '/**',
  '/etc/**',
  '/etc/passwd',
  'data/**/a.csv',
);
const names = fc.constantFrom('*', 'g*', '*t', 'git', 'node*', '*de', 'n*e', 'AWS_*', 'AWS_KEY', 'g');
const few = (entries: fc.Arbitrary<string>) => fc.uniqueArray(entries, { maxLength: 4 });
const grants: fc.Arbitrary<Capabilities> = fc.record({
  network: few(hosts),
  files: fc.record({ read: few(paths), write: few(paths) }),
  shell: few(names),
  env: few(names),
});

const common = (a: Set<string>, b: Set<string>): Set<string> => new Set([...a].filter((one) => b.has(one)));

describe('narrowing', () => {
  it('[SEC-14] the intersection of two grants is exactly what both grant', () => {
    fc.assert(
      fc.property(grants, grants, (a, b) => {
        expect([...reach(narrow(a, b))].sort()).toEqual([...common(reach(a), reach(b))].sort());
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 2_000) },
    );
  });

  it('[SEC-14] it does not matter in which order grants are narrowed', () => {
    fc.assert(
      fc.property(grants, grants, grants, (a, b, c) => {
        expect(reach(narrow(narrow(a, b), c))).toEqual(reach(narrow(a, narrow(b, c))));
        expect(reach(narrow(a, b))).toEqual(reach(narrow(b, a)));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 1_000) },
    );
  });

  it('[SEC-14] a grant within a ceiling is not narrowed by it', () => {
    fc.assert(
      fc.property(grants, grants, (a, b) => {
        const narrowed = narrow(a, b);
        expect(reach(narrow(narrowed, b))).toEqual(reach(narrowed));
        if (isWithin(a, b)) expect(reach(narrowed)).toEqual(reach(a));
      }),
    );
  });

  it('[SEC-14] lists stay as short and as readable as they were written', () => {
    const ceiling = { network: ['*.example.com'], files: { read: ['data/**'] }, shell: ['git', 'node'] };
    const ask = {
      network: ['api.example.com', 'evil.com'],
      files: { read: ['data/in.csv', '/etc/passwd'] },
      shell: ['*'],
    };
    const both = { network: ['api.example.com'], files: { read: ['data/in.csv'], write: [] }, shell: ['git', 'node'] };
    // A relative path may lead anywhere: only the project folder decides.
    expect(narrow(ask, ceiling)).toEqual({
      ...both,
      files: { read: ['data/in.csv', '/etc/passwd ∩ data/**'], write: [] },
    });
    expect(narrow(ask, {})).toEqual({});
    expect(narrow(ask, 'all')).toBe(ask);
    expect(narrowCeiling('all', ceiling)).toBe(ceiling);
  });

  it('[SEC-14] a ceiling of all hosts grants neither this machine nor private addresses', () => {
    expect(narrow({ network: ['api.example.com'] }, { network: ['*'] })).toEqual({ network: ['api.example.com'] });
    for (const entry of ['127.0.0.1', 'localhost', 'x.localhost:80', '10.0.0.0/8', '[::1]']) {
      const [narrowed = ''] = narrow({ network: [entry] }, { network: ['*'] }).network ?? [];
      expect(patternsOf(narrowed)).toEqual(['*', entry]);
      expect(isWithin({ network: [entry] }, { network: ['*'] })).toBe(false);
    }
    expect(isWithin({ network: ['10.1.2.3:5432'] }, { network: ['10.0.0.0/8'] })).toBe(true);
    expect(isWithin({ network: ['010.1.2.3'] }, { network: ['10.0.0.0/8'] })).toBe(false);
  });

  it.each([
    ['network', '0x7f.1', '*.1'],
    ['network', '[::1]', '*.com'],
    ['files.read', 'data/../../etc/passwd', 'data/**'],
    ['files.read', './data', '*'],
    ['files.read', 'a/**', 'a/*'],
    ['files.write', '..', '*'],
    ['shell', 'git ∩ node', 'sh'],
  ] as const)('[SEC-14] %s: %s beside %s is decided when the resource is opened', (list, ask, ceiling) => {
    const both = (entry: string): Capabilities =>
      list === 'files.read'
        ? { files: { read: [entry] } }
        : list === 'files.write'
          ? { files: { write: [entry] } }
          : { [list]: [entry] };
    const [entry] = entriesOf(narrow(both(ask), both(ceiling)), list);
    if (entry !== undefined) expect(patternsOf(entry)).toContain(ceiling);
    expect(isWithin(both(ask), both(ceiling))).toBe(false);
  });

  it('[SEC-15] says which entries are over a ceiling', () => {
    const ceiling = { network: ['*'], shell: ['git'] };
    const ask = { network: ['api.example.com'], shell: ['git', '*'], files: { write: ['out/**'] } };
    expect(overCeiling(ask, ceiling)).toEqual([
      { list: 'files.write', entry: 'out/**' },
      { list: 'shell', entry: '*' },
    ]);
    expect(overCeiling(ask, 'all')).toEqual([]);
    expect(isWithin({ shell: ['git'] }, ceiling)).toBe(true);
  });

  it('[SEC-14] hostile lists grant less, not more, and do not block the event loop', () => {
    const many = (letter: string): string[] => Array.from({ length: 500 }, (_, index) => `${letter}*${index}`);
    const long = (letter: string): string[] => [`${`${letter}*`.repeat(200_000)}c`, letter.repeat(400_000)];
    const since = process.cpuUsage().user;
    const narrowed = narrow({ shell: many('a'), env: long('a') }, { shell: many('*b'), env: long('a').reverse() });
    expect(process.cpuUsage().user - since).toBeLessThan(500_000);
    expect(narrowed.shell?.length).toBeLessThanOrEqual(200);
    expect(narrowed.env ?? []).toEqual([]);
  });

  it('[SEC-14] grants that are joined name each entry once', () => {
    expect(CAPABILITY_LISTS).toHaveLength(5);
    expect(joinCapabilities({ shell: ['a'] }, { shell: ['a', 'b'] })).toEqual({ shell: ['a', 'b'] });
  });
});
