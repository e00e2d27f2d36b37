import { matchesName } from '@nebula/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { grants } from '../../src/sandbox-inprocess/grant.ts';
import { hostOf, isInside, matchesHost, matchesPath, mayConnect } from '../../src/sandbox-inprocess/pattern.ts';

const host = (pattern: string, url: string) => matchesHost(pattern, hostOf(new URL(url)));
const path = (pattern: string, target: string) => matchesPath(pattern, target, '/project');

describe('hosts', () => {
  test.each([
    ['api.example.com', 'https://api.example.com/x'],
    ['api.example.com', 'http://API.EXAMPLE.COM:8080'],
    ['API.Example.com', 'https://api.example.com'],
    ['api.example.com', 'https://api.example.com./'],
    ['api.example.com.', 'https://api.example.com/'],
    ['*.example.com', 'https://a.b.example.com'],
    ['*', 'http://anything:1'],
    ['*:8080', 'http://anything:8080'],
    ['localhost:8080', 'http://localhost:8080'],
    ['example.com:443', 'https://example.com'],
    ['example.com:80', 'http://example.com'],
    ['example.com:*', 'http://example.com:1234'],
    ['münchen.example', 'https://xn--mnchen-3ya.example'],
    ['[::1]:80', 'http://[::1]/'],
    ['::1', 'http://[0:0:0:0:0:0:0:1]:99/'],
    ['127.0.0.1', 'http://0x7f.1/'],
    ['127.0.0.1', 'http://2130706433/'],
  ])('[SBX-22] %s covers %s', (pattern, url) => expect(host(pattern, url)).toBe(true));

  test.each([
    ['example.com', 'https://api.example.com'],
    ['example.com', 'https://example.com.evil.org'],
    ['example.com', 'https://evilexample.com'],
    ['example.com', 'https://example.com@evil.org'],
    ['*.example.com', 'https://example.com'],
    ['*.example.com', 'https://evilexample.com'],
    ['*.0.0.1', 'http://127.0.0.1'],
    ['localhost:8080', 'http://localhost:8081'],
    ['example.com:443', 'http://example.com'],
    ['127.0.0.1', 'http://localhost'],
    ['[::1]:80', 'http://[::1]:81/'],
  ])('[SBX-22] %s does not cover %s', (pattern, url) => expect(host(pattern, url)).toBe(false));

  test.each([
    'api-*.example.com',
    'https://example.com',
    'example.com/path',
    '',
    'a b',
    'x:99999',
    'x:http',
    '*.*.com',
    'user@x',
  ])('[SBX-22] %j is an error, and not a grant that never holds', (pattern) =>
    expect(() => host(pattern, 'http://example.com')).toThrow(/cannot be understood/),
  );
});

describe('addresses', () => {
  test.each([
    ['10.0.0.0/8', 'http://10.1.2.3'],
    ['10.0.0.0/8:8080', 'http://10.1.2.3:8080'],
    ['fc00::/7', 'http://[fd00::1]'],
    ['[fc00::]/7:443', 'https://[fd00::1]'],
    ['127.0.0.0/8', 'http://[::ffff:127.0.0.1]/'],
    ['*', 'http://93.184.215.14'],
    ['*', 'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]'],
    ['*', 'http://[64:ff9b::5db8:d70e]'],
    ['10.0.0.0/8', 'http://[64:ff9b::a00:1]'],
    ['10.0.0.0/8', 'http://[2002:a00:1::]'],
    ['localhost', 'http://localhost'],
  ])('[SBX-41] %s covers %s', (pattern, url) => expect(host(pattern, url)).toBe(true));

  test.each([
    'http://localhost',
    'http://a.localhost',
    'http://127.0.0.1',
    'http://0.0.0.0',
    'http://10.0.0.1',
    'http://172.16.0.1',
    'http://192.168.1.1',
    'http://100.64.0.1',
    'http://169.254.169.254',
    'http://224.0.0.1',
    'http://255.255.255.255',
    'http://[::]',
    'http://[::1]',
    'http://[fe80::1]',
    'http://[fd00::1]',
    'http://[::ffff:10.0.0.1]',
    'http://[64:ff9b::a00:1]',
    'http://[2002:a00:1::]',
    'http://[2001:0:a00:1::]',
    'http://[fec0::1]',
    'http://[::10.0.0.1]',
    'http://[::ffff:0:10.0.0.1]',
    'http://[64:ff9b:1::a00:1]',
    'http://[100::1]',
  ])('[SBX-41] [SBX-51] the wildcard does not cover %s', (url) => expect(host('*', url)).toBe(false));

  const lead = (entries: readonly string[], name: string, address: string) =>
    mayConnect(entries, { name, port: '80' }, address);

  test.each([
    [['*'], 'example.com', '93.184.215.14'],
    [['10.0.0.0/8'], 'db.internal', '10.0.0.7'],
    [['10.0.0.7'], 'db.internal', '10.0.0.7'],
    [['[fd00::]/8'], 'db.internal', 'fd00::7'],
    [['localhost'], 'localhost', '127.0.0.1'],
    [['localhost:80'], 'localhost', '::1'],
  ])('[SBX-41] with %j %s may lead to %s', (entries, name, address) => expect(lead(entries, name, address)).toBe(true));

  test.each([
    [['*'], 'rebound.example.com', '127.0.0.1'],
    [['rebound.example.com'], 'rebound.example.com', '10.0.0.7'],
    [['*.example.com'], 'rebound.example.com', '169.254.169.254'],
    [['*'], 'rebound.example.com', '::ffff:127.0.0.1'],
    [['localhost'], 'rebound.example.com', '127.0.0.1'],
    [['localhost'], 'localhost', '10.0.0.7'],
    [['10.0.0.0/8:443'], 'db.internal', '10.0.0.7'],
    [[], 'example.com', 'fe80::1'],
  ])('[SBX-41] with %j %s may not lead to %s', (entries, name, address) =>
    expect(lead(entries, name, address)).toBe(false),
  );

  test.each(['10.0.0.0/33', '10.0.0/8', 'example.com/8', '/8'])('[SBX-41] %j is no range', (pattern) =>
    expect(() => host(pattern, 'http://10.0.0.1')).toThrow(/cannot be understood/),
  );
});

describe('paths', () => {
  test.each([
    ['data/a.txt', '/project/data/a.txt'],
    ['./data/a.txt', '/project/data/a.txt'],
    ['data/**', '/project/data/a/b/c'],
    ['data/**', '/project/data'],
    ['data/', '/project/data/a'],
    ['data/*.csv', '/project/data/x.csv'],
    ['**/x.csv', '/project/a/b/x.csv'],
    ['**/x.csv', '/project/x.csv'],
    ['a/**/z', '/project/a/b/c/z'],
    ['*', '/project/deep/er'],
    ['**', '/project/deep/er'],
    ['/srv/in/**', '/srv/in/a'],
    ['../shared/*', '/shared/a'],
    ['report-*-final.txt', '/project/report-2026-final.txt'],
  ])('[SBX-24] %s covers %s', (pattern, target) => expect(path(pattern, target)).toBe(true));

  test.each([
    ['data', '/project/data/a'],
    ['data/**', '/project/database'],
    ['data/*', '/project/data/a/b'],
    ['data/*.csv', '/project/data/x.csv.exe'],
    ['*', '/projects/a'],
    ['*', '/etc/passwd'],
    ['**', '/etc/passwd'],
    ['/srv/in/**', '/srv/input'],
    ['*.txt', '/project/a/b.txt'],
  ])('[SBX-24] %s does not cover %s', (pattern, target) => expect(path(pattern, target)).toBe(false));

  test('[SBX-24] inside is inside, and not beside', () => {
    expect(isInside('/a/b', '/a')).toBe(true);
    expect(isInside('/a', '/a')).toBe(true);
    expect(isInside('/ab', '/a')).toBe(false);
    expect(isInside('/x', '/')).toBe(true);
  });
});

describe('names', () => {
  test('[SBX-29] stars in names match as regular expressions would', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        expect(matchesName(pattern, name)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name));
      }),
      { numRuns: 2_000 },
    );
  });

  test('[SBX-29] a pattern of many stars is not slow', () => {
    const started = process.cpuUsage().user;
    expect(matchesName(`${'a*'.repeat(200)}b`, 'a'.repeat(5_000))).toBe(false);
    expect(process.cpuUsage().user - started).toBeLessThan(20_000_000);
  });

  test('[SEC-16] an entry of several patterns grants only resources that all of them match', () => {
    const isGranted = (path: string): boolean =>
      grants(['data/** ∩ **/*.csv', 'a.txt'], (pattern) => matchesPath(pattern, path, '/project'));
    expect(
      ['/project/data/in/a.csv', '/project/a.txt', '/project/data/a.txt', '/project/b.csv'].map(isGranted),
    ).toEqual([true, true, false, false]);
  });

  test('[SEC-16] an entry that was narrowed by all hosts leads to no private address', () => {
    const evil = { name: 'evil.com', port: '80' };
    expect(mayConnect(['* ∩ 10.0.0.7'], evil, '10.0.0.7')).toBe(false);
    expect(mayConnect(['10.0.0.0/8 ∩ 10.0.0.7'], evil, '10.0.0.7')).toBe(true);
    expect(mayConnect(['* ∩ localhost'], { name: 'localhost', port: '80' }, '127.0.0.1')).toBe(false);
  });
});
