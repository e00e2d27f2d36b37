/** The contract of secrets, by the rules of SPEC.md. */

import { type Secrets, secretsIn } from '@nebula/ports';
import { describe, expect, test as vitestTest } from 'vitest';

export interface SecretsSubject {
  readonly secrets: Secrets;
  /** Opens the same data again, as another process would. */
  readonly reopen?: () => Promise<Secrets>;
  readonly close: () => Promise<void>;
}

type SecretsTest = (title: string, body: (subject: SecretsSubject) => Promise<void>) => void;

/** The suite for drivers that can be written to. */
export function secretsSuite(name: string, open: () => Promise<SecretsSubject>): void {
  const secretsTest: SecretsTest = (title, body) =>
    vitestTest(title, async () => {
      const subject = await open();
      try {
        await body(subject);
      } finally {
        await subject.close();
      }
    });
  describe(`secrets contract: ${name}`, () => secretsTests(secretsTest));
}

const VALUES = ['hunter2!', ' with blanks ', 'größer 😀 "quoted" \\ \u0000', 'line\nline\n', 'x'.repeat(65_536)];

function secretsTests(test: SecretsTest): void {
  test('[SEC-1] a value is returned unchanged, also after the data is opened again', async (subject) => {
    for (const [at, value] of VALUES.entries()) await subject.secrets.set(`name-${at}`, value);
    const again = (await subject.reopen?.()) ?? subject.secrets;
    for (const [at, value] of VALUES.entries()) expect(await again.get(`name-${at}`)).toBe(value);
    expect(await again.get('unknown')).toBeUndefined();
    expect(await again.get('__proto__')).toBeUndefined();
  });

  test('[SEC-2] setting replaces, rotating replaces only an existing value', async ({ secrets }) => {
    await secrets.set('a', 'first value');
    await secrets.set('a', 'second value');
    expect(await secrets.get('a')).toBe('second value');
    expect(await secrets.rotate('a', 'third value')).toBe(true);
    expect(await secrets.get('a')).toBe('third value');
    expect(await secrets.rotate('b', 'whatever')).toBe(false);
    expect(await secrets.get('b')).toBeUndefined();
  });

  test('[SEC-17] projects have secrets of their own, under the same names', async (subject) => {
    const { secrets } = subject;
    await secrets.set('api', 'of the default');
    await secretsIn(secrets, 'alpha').set('api', 'of alpha only');
    await secretsIn(secrets, 'alpha').set('other', 'of alpha, too');
    const again = (await subject.reopen?.()) ?? secrets;
    const [alpha, beta, standard] = ['alpha', 'beta', 'default'].map((project) => secretsIn(again, project));
    expect(await alpha?.get('api')).toBe('of alpha only');
    expect(await beta?.get('api')).toBeUndefined();
    expect(await standard?.get('api')).toBe('of the default');
    for (const view of [alpha, beta, standard]) {
      for (const name of ['alpha/api', '../alpha/api', '/api']) {
        expect(await view?.get(name)).toBeUndefined();
        await expect(view?.set(name, 'a secret value')).rejects.toMatchObject({ code: 'SECRET_INVALID' });
        await expect(view?.delete(name)).rejects.toMatchObject({ code: 'SECRET_INVALID' });
      }
    }
    const names = async (view: typeof alpha) => (await view?.list())?.map(({ name }) => name);
    expect(await Promise.all([alpha, beta, standard].map(names))).toEqual([['api', 'other'], [], ['api']]);
    expect(await alpha?.delete('api')).toBe(true);
    expect(await standard?.get('api')).toBe('of the default');
  });

  test('[SEC-3] a deleted secret is gone', async ({ secrets, reopen }) => {
    await secrets.set('a', 'first value');
    await secrets.set('b', 'other value');
    expect(await secrets.delete('a')).toBe(true);
    expect(await secrets.delete('a')).toBe(false);
    expect(await secrets.get('a')).toBeUndefined();
    expect(await ((await reopen?.()) ?? secrets).get('b')).toBe('other value');
  });

  test('[SEC-4] the list has names and times, in order of names, and no value', async ({ secrets }) => {
    for (const name of ['b', 'a', 'C', '__proto__']) await secrets.set(name, 'a secret value');
    const list = await secrets.list();
    expect(list.map(({ name }) => name)).toEqual(['C', '__proto__', 'a', 'b']);
    for (const one of list) expect(Object.keys(one).sort()).toEqual(['name', 'updatedAt']);
    expect(JSON.stringify(list)).not.toContain('a secret value');
  });

  test('[SEC-5] an invalid name or value is refused, without revealing the value', async (subject) => {
    const { secrets } = subject;
    const refused = (name: string, value: string) =>
      expect(secrets.set(name, value)).rejects.toMatchObject({ code: 'SECRET_INVALID' });
    for (const name of ['', 'a b', '../a', '/a', 'a/', 'a/b/c', 'ä', 'x'.repeat(129), 'a\n'])
      await refused(name, 'a secret value');
    for (const value of ['', 'abc', '   abc   ', '\n\n\n\n\n', 'x'.repeat(65_537), 'half \ud800']) {
      await refused('a', value);
      await expect(secrets.rotate('a', value)).rejects.toMatchObject({ code: 'SECRET_INVALID' });
    }
    const error = await secrets.set('a', 'qqq').catch((caught: unknown) => caught as Error);
    expect(`${String(error)}${JSON.stringify(error)}`).not.toContain('qqq');
    expect(await secrets.list()).toEqual([]);
  });

  test('[SEC-6] writes that come at the same time are all kept', async ({ secrets, reopen }) => {
    const other = (await reopen?.()) ?? secrets;
    const names = Array.from({ length: 20 }, (_, at) => `name-${at}`);
    await Promise.all(names.map((name, at) => (at % 2 === 0 ? secrets : other).set(name, `value of ${name}`)));
    for (const name of names) expect(await other.get(name)).toBe(`value of ${name}`);
  });

  test('[SEC-7] a new key changes no value', async ({ secrets, reopen }) => {
    if (secrets.rotateKey === undefined) return;
    await secrets.set('a', 'first value');
    await secrets.set('b', 'other value');
    expect(await secrets.rotateKey()).toBe(2);
    for (const one of [secrets, (await reopen?.()) ?? secrets]) {
      expect(await one.get('a')).toBe('first value');
      expect(await one.get('b')).toBe('other value');
    }
  });
}
