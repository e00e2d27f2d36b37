import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StudioManifest } from '@nebula/server/studio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStudio } from '../src/compose/studio.ts';
import { BIN, projectFolder, startNebula } from './support/nebula-process.ts';
import { hasScript, PSEUDO_TERMINAL } from './support/pseudo-terminal.ts';
import { Served, say } from './support/served.ts';

let served: Served;

beforeAll(async () => {
  served = await Served.open({});
});

afterAll(() => served.close());

/** Whether the address signs a browser in. */
async function signsIn(address: string): Promise<boolean> {
  const [url, code] = address.split('#code=') as [string, string];
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ code });
  return (await fetch(`${url}api/v1/sign-in`, { method: 'POST', headers, body })).ok;
}

describe('nebula studio', () => {
  test('[CLI-761] prints an address that signs one browser in', async () => {
    const { code, out } = await say(served.cwd, ['studio']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{32}\n$/)]);
    expect([await signsIn(out.trim()), await signsIn(out.trim())]).toEqual([true, false]);
    const document = JSON.parse((await say(served.cwd, ['studio', '--json'])).out);
    expect(await signsIn(document.url)).toBe(true);
    expect(Date.parse(document.expiresAt)).toBeGreaterThan(Date.now());
    const elsewhere = await served.nebula([
      'studio',
      '--token',
      readFileSync(path.join(served.cwd, '.nebula/token'), 'utf8').trim(),
    ]);
    expect(await signsIn(elsewhere.out.trim())).toBe(true);
  });

  test('[CLI-761] at a server with users, prints the address alone', async () => {
    const selfhost = await Served.open({}, { preset: 'selfhost' });
    try {
      expect((await say(selfhost.cwd, ['studio'])).out).toBe(`${selfhost.url}/\n`);
    } finally {
      await selfhost.close();
    }
  });

  test('[CLI-761] without a server, says how to start one', async () => {
    const { code, err } = await say(projectFolder({}), ['studio']);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^error SERVER_NOT_RUNNING: no server .*\nhint: start one with/),
    ]);
  });

  // `xdg-open` is of Linux desktops.
  test.skipIf(process.platform !== 'linux')(
    '[CLI-762] opens a file that only the user can read, on a desktop',
    async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'opener-'));
      const given = path.join(folder, 'given');
      // Stands for the program of the desktop.
      writeFileSync(
        path.join(folder, 'xdg-open'),
        `#!/bin/sh\nprintf '%s\\n' "$@" > ${given}.part && mv ${given}.part ${given}\n`,
      );
      chmodSync(path.join(folder, 'xdg-open'), 0o755);
      const outer = process.env.PATH;
      process.env.PATH = `${folder}:${outer}`;
      try {
        const onDesktop = { columns: 100, env: { DISPLAY: ':0' } };
        for (const [argv, env] of [
          [['studio', '--no-browser'], {}],
          [['studio', '--json'], {}],
          [['studio'], { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }],
          [['studio'], { DISPLAY: '' }],
        ] as const) {
          const { out } = await say(served.cwd, argv, { ...onDesktop, env: { ...onDesktop.env, ...env } });
          expect(out).toContain('#code=');
          expect(out).not.toContain('opened in your browser');
        }
        const { out } = await say(served.cwd, ['studio'], onDesktop);
        expect(out).toContain('opened in your browser');
        await expect.poll(() => existsSync(given)).toBe(true);
        const file = readFileSync(given, 'utf8').trim();
        expect(file).toBe(path.join(served.cwd, '.nebula/studio.html'));
        expect(statSync(file).mode & 0o777).toBe(0o600);
        const [address = ''] = /http:\S+#code=[\w-]+/.exec(out) ?? [];
        expect(readFileSync(file, 'utf8')).toContain(`url=${address}`);
      } finally {
        process.env.PATH = outer;
      }
    },
  );
});

describe('nebula serve', () => {
  test('[CLI-760] JSON lines have the address of the Studio without a code', async () => {
    const running = startNebula(['serve', '--port', '0'], { cwd: projectFolder({}) });
    await running.until('"server.started"');
    expect(running.stdout()).toMatch(/"studio":"http:\/\/127\.0\.0\.1:\d+\/"/);
    expect(running.stdout()).not.toContain('code=');
    running.child.kill('SIGTERM');
    await running.ended;
  });

  // Needs `script` of util-linux, which makes a pseudo terminal.
  test.skipIf(!hasScript())(
    '[CLI-760] a terminal shows an address with a code, and the next one when it was used',
    async () => {
      const command = `stty cols 120; exec ${process.execPath} ${BIN} serve --port 0`;
      const env = { ...process.env, NEBULA_STUDIO_DIR: tmpdir(), NO_COLOR: '1', FORCE_COLOR: undefined };
      const child = spawn(PSEUDO_TERMINAL, ['-qec', command, '/dev/null'], {
        cwd: projectFolder({}),
        env,
        stdio: 'pipe',
      });
      let screen = '';
      child.stdout.on('data', (data) => (screen += data));
      const addresses = (): string[] => screen.match(/http:\S+#code=[\w-]+/g) ?? [];
      await expect.poll(() => screen, { timeout: 20_000 }).toContain('Ctrl-C stops it');
      const [first = ''] = addresses();
      expect(await signsIn(first)).toBe(true);
      await expect.poll(() => addresses().length, { timeout: 10_000 }).toBe(2);
      expect(await signsIn(addresses()[1] ?? '')).toBe(true);
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin.write('\x03');
      await ended;
    },
  );
});

describe('the Studio of a server', () => {
  test('[CLI-763] is built by a process of its own when a browser asks, while the server answers', {
    timeout: 60_000,
  }, async () => {
    const headers = { accept: 'text/html' };
    const state = async () =>
      (await fetch(`${served.url}/`, { method: 'HEAD', headers })).headers.get('x-nebula-studio');
    expect(['building', 'ready']).toContain(await state());
    expect((await fetch(`${served.url}/health`)).status).toBe(200);
    await expect.poll(state, { timeout: 60_000 }).toBe('ready');
    const page = await (await fetch(`${served.url}/r/exe_1`, { headers })).text();
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
    const answer = await fetch(served.url + script);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  });

  test('[CLI-764] is the folder that is named, with each new build', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'built-'));
    const studio = openStudio({ NEBULA_STUDIO_DIR: folder }, (error) => expect.unreachable(error.message));
    expect(await studio?.state()).toEqual({ status: 'building' });
    const write = (page: string, atMs: number): void => {
      mkdirSync(folder, { recursive: true });
      const manifest: StudioManifest = { format: 1, page, files: {}, first: [] };
      writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
      utimesSync(path.join(folder, 'manifest.json'), atMs / 1_000, atMs / 1_000);
    };
    const shown = async (): Promise<string | undefined> => {
      const state = await studio?.state();
      return state?.status === 'ready' ? state.studio.page('n') : state?.status;
    };
    write('one __NONCE__', 1_000_000);
    expect(await shown()).toBe('one n');
    write('two __NONCE__', 2_000_000);
    expect(await shown()).toBe('two n');
  });

  test('[CLI-763] that cannot be read is reported, and the server works without it', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'built-'));
    writeFileSync(path.join(folder, 'manifest.json'), 'no JSON');
    const reported: string[] = [];
    const studio = openStudio({ NEBULA_STUDIO_DIR: folder }, ({ message }) => reported.push(message));
    expect(await studio?.settled()).toEqual({ status: 'failed' });
    expect(reported).toHaveLength(1);
  });
});
