import { spawn } from 'node:child_process';
import { copyFile, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secretsSuite } from '@nebula/ports/conformance';
import { describe, expect, test } from 'vitest';
import { sealedSecrets } from '../../src/secrets/index.ts';
import { temporaryFolder } from '../temporary.ts';

const clock = { now: () => 1_700_000_000_000 };
const KEY = Buffer.alloc(32, 7).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 8).toString('base64');

for (const [name, env] of [
  ['sealed, key in a file', {}],
  ['sealed, key in the environment', { NEBULA_SECRETS_KEY: KEY, NEBULA_SECRETS_NEXT_KEY: OTHER_KEY }],
] as const) {
  secretsSuite(name, async () => {
    const folder = await temporaryFolder();
    const open = () => sealedSecrets({ dataDir: join(folder.path, 'data'), clock, env });
    return { secrets: open(), reopen: async () => open(), close: folder.remove };
  });
}

type Env = Readonly<Record<string, string>>;

async function inFolder(
  work: (folder: { dir: string; open: (env?: Env) => ReturnType<typeof sealedSecrets> }) => Promise<void>,
) {
  const folder = await temporaryFolder();
  try {
    await work({ dir: folder.path, open: (env = {}) => sealedSecrets({ dataDir: folder.path, clock, env }) });
  } finally {
    await folder.remove();
  }
}

async function sealedJson(dir: string) {
  const text = await readFile(join(dir, 'secrets.json'), 'utf8');
  return JSON.parse(text) as { key: string; secrets: Record<string, { sealed: string; updatedAt: number }> };
}

describe('files in the folder', () => {
  // Windows has no such permissions.
  test.skipIf(process.platform === 'win32')(
    '[STO-122] are readable by their owner only, from the first secret on',
    () =>
      inFolder(async ({ dir, open }) => {
        await open().set('a', 'correct horse battery');
        for (const name of ['secrets.key', 'secrets.json']) {
          expect([name, (await stat(join(dir, name))).mode & 0o777]).toEqual([name, 0o600]);
        }
      }),
  );

  test('[SEC-8] reveals no value, nor that two are equal', () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'correct horse battery');
      await open().set('b', 'correct horse battery');
      for (const name of await readdir(dir)) {
        const bytes = await readFile(join(dir, name), 'latin1');
        expect(bytes).not.toContain('correct horse');
        expect(bytes).not.toContain(Buffer.from('correct horse battery').toString('base64').slice(0, 20));
      }
      const { a, b } = (await sealedJson(dir)).secrets;
      expect(a?.sealed).not.toBe(b?.sealed);
    }));

  test('[SEC-8] an entry under another name, changed or cut is refused, and the others are not', () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'value of a');
      await open().set('b', 'value of b');
      const good = await sealedJson(dir);
      const { a, b } = good.secrets as Record<'a' | 'b', { sealed: string; updatedAt: number }>;
      const bytes = Buffer.from(a.sealed, 'base64');
      bytes[14] = (bytes[14] as number) ^ 1;
      for (const sealed of [b.sealed, bytes.toString('base64'), a.sealed.slice(0, 12), '']) {
        const bad = { ...good, secrets: { a: { ...a, sealed }, b } };
        await writeFile(join(dir, 'secrets.json'), JSON.stringify(bad));
        await expect(open().get('a')).rejects.toMatchObject({ code: 'SECRETS_DAMAGED' });
        await expect(open().rotateKey?.()).rejects.toMatchObject({ code: 'SECRETS_DAMAGED' });
        expect(await open().get('b')).toBe('value of b');
      }
    }));

  test.each([
    ['', 'SECRETS_DAMAGED'],
    ['{"format":1', 'SECRETS_DAMAGED'],
    ['[]', 'SECRETS_DAMAGED'],
    ['{"format":1,"key":"x","secrets":{"a":{}}}', 'SECRETS_DAMAGED'],
    ['{"format":2}', 'SECRETS_TOO_NEW'],
  ])('[SEC-8] a file that holds %j is %s', (text, code) =>
    inFolder(async ({ dir, open }) => {
      await writeFile(join(dir, 'secrets.json'), text);
      const calls = [() => open().get('a'), () => open().set('a', 'a value'), () => open().list()];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({ code, hint: expect.any(String) });
      }
      expect(await readFile(join(dir, 'secrets.json'), 'utf8')).toBe(text);
    }),
  );

  test('[SEC-11] is for its owner only', () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'value of a');
      await open().rotateKey?.();
      for (const name of ['secrets.json', 'secrets.key']) {
        expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
      }
      expect((await readdir(dir)).sort()).toEqual(['secrets.json', 'secrets.key', 'secrets.lock']);
    }));
});

describe('keys', () => {
  test('[SEC-9] another key, no key, or an invalid key is reported and changes nothing', () =>
    inFolder(async ({ dir, open }) => {
      await open({ NEBULA_SECRETS_KEY: KEY }).set('a', 'value of a');
      const before = await readFile(join(dir, 'secrets.json'), 'utf8');
      for (const [env, code] of [
        [{ NEBULA_SECRETS_KEY: OTHER_KEY }, 'SECRETS_KEY_WRONG'],
        [{}, 'SECRETS_KEY_MISSING'],
        [{ NEBULA_SECRETS_KEY: 'my password' }, 'SECRETS_KEY_INVALID'],
        [{ NEBULA_SECRETS_KEY: Buffer.alloc(31).toString('base64') }, 'SECRETS_KEY_INVALID'],
      ] as const) {
        const secrets = open(env);
        const writes = [() => secrets.set('b', 'a value'), () => secrets.delete('a'), () => secrets.rotateKey?.()];
        for (const call of [() => secrets.get('a'), ...writes]) {
          await expect(call()).rejects.toMatchObject({ name: 'NebulaError', code, hint: expect.any(String) });
        }
      }
      expect(await readFile(join(dir, 'secrets.json'), 'utf8')).toBe(before);
      expect(await open({ NEBULA_SECRETS_KEY: KEY }).get('a')).toBe('value of a');
    }));

  test('[SEC-9] a lost or damaged key file is reported', () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'value of a');
      await rename(join(dir, 'secrets.key'), join(dir, 'kept'));
      await expect(open().get('a')).rejects.toMatchObject({ code: 'SECRETS_KEY_MISSING' });
      await writeFile(join(dir, 'secrets.key'), 'x');
      await expect(open().get('a')).rejects.toMatchObject({ code: 'SECRETS_KEY_INVALID' });
      await copyFile(join(dir, 'kept'), join(dir, 'secrets.key'));
      expect(await open().get('a')).toBe('value of a');
    }));

  test('[SEC-7] the old key opens nothing after a change', () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'value of a');
      const old = (await readFile(join(dir, 'secrets.key'), 'utf8')).trim();
      await open().rotateKey?.();
      await rm(join(dir, 'secrets.key'));
      await expect(open({ NEBULA_SECRETS_KEY: old }).get('a')).rejects.toMatchObject({ code: 'SECRETS_KEY_WRONG' });
    }));

  test('[SEC-7] keys in the environment are changed with the next one beside the present one', () =>
    inFolder(async ({ dir, open }) => {
      const both = { NEBULA_SECRETS_KEY: KEY, NEBULA_SECRETS_NEXT_KEY: OTHER_KEY };
      await open({ NEBULA_SECRETS_KEY: KEY }).set('a', 'value of a');
      await expect(open({ NEBULA_SECRETS_KEY: KEY }).rotateKey?.()).rejects.toMatchObject({
        code: 'SECRETS_KEY_MISSING',
        hint: expect.stringContaining('NEBULA_SECRETS_NEXT_KEY'),
      });
      expect(await open(both).get('a')).toBe('value of a');
      expect(await open(both).rotateKey?.()).toBe(1);
      expect(await open(both).rotateKey?.()).toBe(1);
      for (const env of [both, { NEBULA_SECRETS_KEY: OTHER_KEY }]) expect(await open(env).get('a')).toBe('value of a');
      expect(await readdir(dir)).not.toContain('secrets.key');
    }));

  test('[SEC-18] keys may be in files that the environment names', () =>
    inFolder(async ({ dir, open }) => {
      const [file, next] = [join(dir, 'mounted'), join(dir, 'mounted-next')];
      await writeFile(file, `${KEY}\n`);
      await writeFile(next, OTHER_KEY);
      const env = { NEBULA_SECRETS_KEY_FILE: file };
      await open(env).set('a', 'value of a');
      expect(await open({ NEBULA_SECRETS_KEY: KEY }).get('a')).toBe('value of a');
      expect(await readdir(dir)).not.toContain('secrets.key');
      expect(await open({ ...env, NEBULA_SECRETS_NEXT_KEY_FILE: next }).rotateKey?.()).toBe(1);
      expect(await open({ NEBULA_SECRETS_KEY_FILE: next }).get('a')).toBe('value of a');
      await expect(open({ NEBULA_SECRETS_KEY_FILE: join(dir, 'nowhere') }).get('a')).rejects.toMatchObject({
        code: 'SECRETS_KEY_MISSING',
        message: expect.stringContaining('NEBULA_SECRETS_KEY_FILE'),
      });
      expect((await readdir(dir)).sort()).toContain('mounted');
    }));

  test('[SEC-7] a key from the environment takes the place of the file', () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'value of a');
      const moved = open({ NEBULA_SECRETS_KEY: KEY });
      expect(await moved.get('a')).toBe('value of a');
      await moved.rotateKey?.();
      expect(await readdir(dir)).not.toContain('secrets.key');
      expect(await moved.get('a')).toBe('value of a');
    }));
});

describe('a change of the key that is broken off', () => {
  test('[SEC-10] before everything is sealed leaves the old key', () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'value of a');
      await writeFile(join(dir, 'secrets.key.new'), `${OTHER_KEY}\n`);
      expect(await open().get('a')).toBe('value of a');
      await open().set('b', 'value of b');
      expect(await open().rotateKey?.()).toBe(2);
      expect(await open().get('a')).toBe('value of a');
    }));

  test('[SEC-10] after everything is sealed is ended by the next writer, before it makes another key', () =>
    inFolder(async ({ dir, open }) => {
      const afterSealing = async () => {
        await copyFile(join(dir, 'secrets.key'), join(dir, 'old'));
        await open().rotateKey?.();
        await rename(join(dir, 'secrets.key'), join(dir, 'secrets.key.new'));
        await rename(join(dir, 'old'), join(dir, 'secrets.key'));
      };
      await open().set('a', 'value of a');
      await afterSealing();
      expect(await open().get('a')).toBe('value of a');
      await open().set('b', 'value of b');
      expect(await readdir(dir)).not.toContain('secrets.key.new');
      await afterSealing();
      expect(await open().rotateKey?.()).toBe(2);
      expect(await open().get('a')).toBe('value of a');
      expect(await open().get('b')).toBe('value of b');
    }));

  test('[SEC-10] by a kill at any time loses nothing', { timeout: 60_000 }, () =>
    inFolder(async ({ dir, open }) => {
      await open().set('a', 'value of a');
      for (let kill = 0; kill < 6; kill++) {
        await killWhileRotating(dir, 1 + (kill % 3));
        expect(await open().get('a')).toBe('value of a');
      }
      expect(await open().rotateKey?.()).toBe(1);
      expect(await open().get('a')).toBe('value of a');
      expect((await readdir(dir)).sort()).toEqual(['secrets.json', 'secrets.key', 'secrets.lock']);
    }),
  );

  test('[SEC-6] readers beside a change of the key always find their value', () =>
    inFolder(async ({ open }) => {
      const writer = open();
      await writer.set('a', 'value of a');
      let isOver = false;
      const reading = Promise.all(
        [open(), open()].map(async (reader) => {
          while (!isOver) expect(await reader.get('a')).toBe('value of a');
        }),
      );
      for (let round = 0; round < 10; round++) await writer.rotateKey?.();
      isOver = true;
      await reading;
    }));
});

/** A process that changes the key over and over, killed when it has done so that many times. */
async function killWhileRotating(dataDir: string, times: number): Promise<void> {
  const module = new URL('../../src/secrets/index.ts', import.meta.url).href;
  const script = `
    const { sealedSecrets } = await import(${JSON.stringify(module)});
    const secrets = sealedSecrets({ dataDir: ${JSON.stringify(dataDir)}, clock: Date, env: {} });
    for (;;) {
      await secrets.rotateKey();
      process.stdout.write('.');
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let done = 0;
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (dots: Buffer) => {
      done += dots.length;
      if (done >= times) resolve();
    });
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await ended;
}
