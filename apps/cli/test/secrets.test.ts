import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { memorySecrets } from '@nebula/drivers/secrets';
import { afterEach, describe, expect, test } from 'vitest';
import { actionLines } from '../src/views/actions.ts';
import { play } from './support/fake-services.ts';
import { BIN, nebula, projectFolder } from './support/nebula-process.ts';
import { memoryIo } from './support/screen-text.ts';

const VALUE = 'sk_live_4eC39HqLyjWD';

describe('secrets', () => {
  test('[CLI-230] set takes the value from stdin, without its last line break, and does not repeat it', async () => {
    for (const [stdin, value] of [
      [VALUE, VALUE],
      [`${VALUE}\n`, VALUE],
      [`${VALUE}\r\n`, VALUE],
      [` ${VALUE}\n\n`, ` ${VALUE}\n`],
    ] as const) {
      const secrets = memorySecrets();
      const { exitCode, io } = await play(['secrets', 'set', 'stripe'], { secrets }, memoryIo({ stdin }));
      expect([exitCode, await secrets.get('stripe')]).toEqual([0, value]);
      expect(io.out.text()).toContain('stored stripe');
      expect(io.out.text() + io.err.text()).not.toContain(VALUE);
    }
  });

  test('[CLI-230] at a terminal the value is prompted for, hidden', async () => {
    const secrets = memorySecrets();
    const asked: unknown[] = [];
    const ask = async (...args: unknown[]) => {
      asked.push(args);
      return VALUE;
    };
    await play(['secrets', 'set', 'stripe', '--json'], { secrets }, { ...memoryIo(), ask });
    expect(asked).toEqual([['Value of stripe (not shown): ', { hidden: true }]]);
    expect(await secrets.get('stripe')).toBe(VALUE);
  });

  test('[CLI-230] it is no argument', async () => {
    const secrets = memorySecrets();
    const { exitCode, io } = await play(['secrets', 'set', 'stripe', VALUE], { secrets });
    expect(exitCode).toBe(2);
    expect(io.err.text()).toContain('too many arguments');
    expect(io.err.text()).not.toContain(VALUE);
    expect(await secrets.list()).toEqual([]);
  });

  test('[CLI-231] list shows names and times, and no value', async () => {
    const secrets = memorySecrets({ stripe: VALUE, 'db-password': 'hunter2!' }, () => 1_000_000 - 60_000);
    const { io } = await play(['secrets', 'list'], { secrets });
    expect(io.out.lines()).toEqual(['NAME         UPDATED', 'db-password  1m ago', 'stripe       1m ago']);
    const json = await play(['secrets', 'list', '--json'], { secrets });
    expect(JSON.parse(json.io.out.text())).toEqual({
      items: [
        { name: 'db-password', updatedAt: '1970-01-01T00:15:40.000Z' },
        { name: 'stripe', updatedAt: '1970-01-01T00:15:40.000Z' },
      ],
    });
    expect((await play(['secrets', 'list'])).io.out.text()).toContain('no secrets yet');
  });

  test('[CLI-232] rotate replaces a value that is there, or, with --key, the key', async () => {
    const secrets = { ...memorySecrets({ stripe: 'old value' }), rotateKey: async () => 3 };
    const stdin = memoryIo({ stdin: VALUE });
    expect((await play(['secrets', 'rotate', 'stripe'], { secrets }, stdin)).exitCode).toBe(0);
    expect(await secrets.get('stripe')).toBe(VALUE);
    const unknown = await play(['secrets', 'rotate', 'strip'], { secrets }, memoryIo({ stdin: VALUE }));
    expect(unknown.exitCode).toBe(2);
    expect(unknown.io.err.text()).toMatch(/SECRET_NOT_FOUND.*\n.*did you mean 'stripe'/);
    expect((await play(['secrets', 'rotate', '--key'], { secrets })).io.out.text()).toContain('3 secrets encrypted');
    for (const words of [[], ['stripe', '--key']]) {
      expect((await play(['secrets', 'rotate', ...words], { secrets })).io.err.text()).toContain('error USAGE');
    }
    const foreign = await play(['secrets', 'rotate', '--key'], { secrets: memorySecrets() });
    expect(foreign.io.err.text()).toContain('SECRETS_KEY_FOREIGN');
  });

  test('[CLI-233] delete forgets one', async () => {
    const secrets = memorySecrets({ stripe: VALUE });
    expect((await play(['secrets', 'delete', 'stripe'], { secrets })).exitCode).toBe(0);
    const again = await play(['secrets', 'delete', 'stripe', '--json'], { secrets });
    expect([again.exitCode, JSON.parse(again.io.out.text()).error.code]).toEqual([2, 'SECRET_NOT_FOUND']);
  });

  test.each([
    ['my key', VALUE],
    ['../x', VALUE],
    ['stripe', 'abc\n'],
    ['stripe', ''],
    ['stripe', Buffer.from([0xff, 0xfe, 1, 2, 3])],
  ])('[CLI-234] set %j with %j is SECRET_INVALID', async (name, stdin) => {
    const { exitCode, io } = await play(['secrets', 'set', name], {}, memoryIo({ stdin }));
    expect(exitCode).toBe(2);
    expect(io.err.text()).toMatch(/^error SECRET_INVALID: .*\nhint: .*\n$/);
  });

  test('[CLI-3] the words of secrets are completed, and names', async () => {
    const secrets = memorySecrets({ stripe: VALUE });
    const complete = async (...words: string[]) =>
      (await play(['__complete', '--', ...words], { secrets })).io.out.text();
    expect(await complete('sec')).toMatch(/^secrets\t/);
    expect(await complete('secrets', 'ro')).toMatch(/^rotate\t/);
    expect(await complete('secrets', 'delete', '')).toBe('stripe\t\n');
    expect((await play(['secrets'])).io.out.text()).toContain('rotate');
  });
});

test('[CLI-85] an action is shown with the credentials that it asks for', () => {
  const texts = {
    id: 'pay.charge',
    version: '1',
    title: null,
    description: null,
    category: null,
    icon: null,
    docs: null,
    examples: [],
    input: null,
    output: null,
  };
  const action = { ...texts, effect: 'once', runs: 'server', project: null } as const;
  const lines = actionLines(
    { ...action, credentials: ['api', 'bank'], capabilities: [] },
    { colors: memoryIo().out.colors, width: 80 },
  );
  expect(lines).toContain('asks    for api, bank (credentials)');
});

describe('secrets of a real project', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });
  const folder = (files: Readonly<Record<string, string>> = {}): string => {
    const dir = projectFolder(files);
    folders.push(dir);
    return dir;
  };

  test('[CLI-234] a wrong key is reported without a stack, and nothing is lost', async () => {
    const cwd = folder();
    await nebula(['secrets', 'set', 'stripe'], { cwd, stdin: VALUE });
    expect(readdirSync(path.join(cwd, '.nebula')).sort()).toEqual(['secrets.json', 'secrets.key', 'secrets.lock']);
    expect(statSync(path.join(cwd, '.nebula/secrets.key')).mode & 0o777).toBe(0o600);
    const key = readFileSync(path.join(cwd, '.nebula/secrets.key'), 'utf8');
    rmSync(path.join(cwd, '.nebula/secrets.key'));
    for (const [env, code] of [
      [{}, 'SECRETS_KEY_MISSING'],
      [{ NEBULA_SECRETS_KEY: 'nonsense' }, 'SECRETS_KEY_INVALID'],
      [{ NEBULA_SECRETS_KEY: Buffer.alloc(32).toString('base64') }, 'SECRETS_KEY_WRONG'],
    ] as const) {
      const { code: exitCode, stderr } = await nebula(['secrets', 'rotate', 'stripe'], {
        cwd,
        env,
        stdin: 'new value',
      });
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(new RegExp(`^error ${code}: .*\nhint: .*\n$`));
    }
    const kept = await nebula(['secrets', 'rotate', 'stripe'], { cwd, env: { NEBULA_SECRETS_KEY: key }, stdin: VALUE });
    expect(kept.code).toBe(0);
  });

  /** A program of util-linux that provides a terminal. */
  const script = '/usr/bin/script';
  const hasScript = spawnSync(script, ['--version']).stdout?.includes('util-linux') === true;
  const atTerminal = (cwd: string, typed: string): Promise<string> => {
    const child = spawn(script, ['-qec', `${process.execPath} ${BIN} secrets set stripe`, '/dev/null'], { cwd });
    let screen = '';
    child.stdout.on('data', (chunk) => {
      if (!screen.includes('not shown') && `${screen}${chunk}`.includes('not shown')) child.stdin.write(typed);
      screen += chunk;
    });
    return new Promise((resolve) => child.once('close', (code) => resolve(`${screen}exit ${code}`)));
  };

  // Not every machine has `script`.
  test.skipIf(!hasScript)('[CLI-230] a value typed at a terminal is not echoed', async () => {
    const cwd = folder();
    const screen = await atTerminal(cwd, `${VALUE}\r`);
    expect(screen).toContain('stored stripe');
    expect(screen).not.toContain(VALUE.slice(0, 4));
    expect((await nebula(['secrets', 'list'], { cwd })).stdout).toContain('stripe');
  });

  // Not every machine has `script`.
  test.skipIf(!hasScript)('[CLI-230] Ctrl-C at the question changes nothing', async () => {
    const cwd = folder();
    const screen = await atTerminal(cwd, 'sk_\u0003');
    expect(screen).toContain('INTERRUPTED');
    expect(screen).toContain('exit 130');
    expect((await nebula(['secrets', 'list'], { cwd })).stdout).toContain('no secrets yet');
  });
});
