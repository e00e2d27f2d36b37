import { describe, expect, it } from 'vitest';
import { callbackTokens, replaceTokens } from '../../src/callback-url.ts';
import { evaluate, failure, scopeOf } from './sample-scope.ts';

const ADDRESS = btoa('["exe_1","reply",0]').replace(/=+$/, '');
const UNSIGNED = `unsigned-${'m'.repeat(34)}`;
const SIGNATURE = 's'.repeat(43);
const url = (proof: string) => `https://flows.example.com/callbacks/${ADDRESS}.${proof}`;

describe('callback URLs in texts', () => {
  const addresses = (text: string, kind: 'signed' | 'unsigned') =>
    callbackTokens(text, kind).map(({ address, proof }) => `${address}.${proof}`);

  it('[EXP-113] are found whatever is around them', () => {
    for (const [kind, proof] of [
      ['unsigned', UNSIGNED],
      ['signed', SIGNATURE],
    ] as const) {
      const one = url(proof);
      const token = `${ADDRESS}.${proof}`;
      const texts = [
        one,
        `<${one}>`,
        `see ${one}. Or ${one}, please`,
        encodeURIComponent(one),
        encodeURIComponent(encodeURIComponent(one)),
        JSON.stringify({ one }),
        one.replaceAll('/', '\\/'),
        one.replaceAll('/', '\\u002f'),
        `${one}/`,
        `${one}?a=1`,
        `${one}_and-more`,
        token,
      ];
      for (const text of texts) expect(new Set(addresses(text, kind)), text).toEqual(new Set([token]));
      const other = kind === 'signed' ? 'unsigned' : 'signed';
      expect(addresses(one, other)).toEqual([]);
    }
    for (const text of [url(SIGNATURE.slice(1)), `x.${SIGNATURE}`, `${ADDRESS}.`, '', '....']) {
      expect(addresses(text, 'signed'), text).toEqual([]);
    }
  });

  it('[EXP-113] are replaced in place', () => {
    const text = `a ${url(UNSIGNED)} b ${url(UNSIGNED)} c`;
    expect(replaceTokens(text, 'unsigned', () => SIGNATURE)).toBe(text.replaceAll(UNSIGNED, SIGNATURE));
    expect(replaceTokens(text, 'unsigned', () => undefined)).toBe(text);
    let count = 0;
    const first = replaceTokens(text, 'unsigned', () => (count++ === 0 ? SIGNATURE : undefined));
    expect(first).toBe(text.replace(UNSIGNED, SIGNATURE));
  });

  it('[EXP-113] are looked for in linear time', () => {
    const million = 1_000_000;
    const texts = [
      'Wy'.repeat(million / 2),
      `Wy${'.'.repeat(million)}`,
      `.${SIGNATURE}`.repeat(million / 44),
      `Wy${'x'.repeat(43)}.`.repeat(million / 46),
    ];
    for (const text of texts) {
      const begun = process.cpuUsage();
      for (const kind of ['signed', 'unsigned'] as const) callbackTokens(text, kind);
      expect(process.cpuUsage(begun).user / 1_000, text.slice(0, 20)).toBeLessThan(1_000);
    }
  });
});

describe('callback URLs in expressions', () => {
  const scope = scopeOf({ url: url(UNSIGNED), text: `call ${url(UNSIGNED)} now`, other: 'int.unsigned-long' });
  const change = 'a callback URL cannot be encoded or cut in an expression';

  it.each([
    '$input.url.toBase64()',
    '$input.text.upper()',
    '$input.text.lower()',
    '$input.url.slug()',
    '$input.url.camelCase()',
    '$input.url.snakeCase()',
    '$input.url.kebabCase()',
    'hash($input.url)',
    "hmac($input, 'key')",
    '$input.url.slice(0, -1)',
    '$input.url.slice(-20)',
    '$input.text.truncate(70)',
  ])('[EXP-113] %s is refused', (source) => {
    expect(failure(source, scope).message).toContain(change);
  });

  it.each([
    ['$input.url.urlEncode()', encodeURIComponent(url(UNSIGNED))],
    ["$input.url.replace('https', 'http')", url(UNSIGNED).replace('https', 'http')],
    ['$input.text.slice(5, -4)', url(UNSIGNED)],
    ["$input.url.split('/').last()", `${ADDRESS}.${UNSIGNED}`],
    ['$input.other.upper()', 'INT.UNSIGNED-LONG'],
    ['$input.other.slice(0, 6)', 'int.un'],
    ['$input.url.length', url(SIGNATURE).length],
  ])('[EXP-113] %s keeps it whole', (source, result) => {
    expect(evaluate(source, scope)).toEqual(result);
  });
});
