import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { nebula, projectFolder, startNebula } from './support/nebula-process.ts';

const HELLO = `
id: hello
nodes: { greet: { action: core.set@1, with: { value: hello } } }
output: "{{ $nodes.greet.output }}"
`;

describe('a server in the background', { timeout: 60_000 }, () => {
  test('[CLI-540, CLI-541] listens when the command returns, and is stopped by `stop`', async () => {
    const cwd = projectFolder({ 'workflows/hello.yaml': HELLO });
    const began = await nebula(['serve', '--detach', '--port', '0', '--json'], { cwd });
    expect([began.code, began.stderr]).toEqual([0, '']);
    const { url, pid, logFile } = JSON.parse(began.stdout) as { url: string; pid: number; logFile: string };
    try {
      expect((await fetch(`${url}/health`)).status).toBe(200);
      expect(logFile).toBe(path.join(cwd, '.nebula/server.log'));
      expect(statSync(logFile).mode & 0o777).toBe(0o600);
      expect(readFileSync(logFile, 'utf8')).toContain('"server.started"');
      const run = await nebula(['start', 'hello', '--json'], { cwd });
      expect([run.code, JSON.parse(run.stdout).output]).toEqual([0, 'hello']);

      const second = await nebula(['serve', '--detach', '--port', '0'], { cwd });
      expect([second.code, second.stderr]).toEqual([
        2,
        expect.stringMatching(/^error STORE_LOCKED: the server did not start: a server is already running on/),
      ]);
      expect(second.stderr).toContain(`hint: use it (commands in this folder find it), stop it with \`nebula stop\``);
    } finally {
      const stopped = await nebula(['stop'], { cwd });
      expect([stopped.code, stopped.stdout]).toEqual([
        0,
        `✓ ${url} (process ${pid}) has stopped; unfinished runs continue at the next start\n`,
      ]);
    }
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    expect(readFileSync(logFile, 'utf8').trimEnd()).toMatch(/"server.stopped"\}$/);
  });

  test('[CLI-551] a server with a store of its own starts on a fresh folder, and is stopped', async () => {
    const drivers = new URL('../../../packages/drivers/src/memory/index.ts', import.meta.url).href;
    const cwd = projectFolder({
      'nebula.config.mjs': `import { memoryBlobs, memoryLogs, memoryRecords, memoryStore } from '${drivers}';
export default {
  drivers: { store: () => memoryStore(), blobs: () => memoryBlobs(), logs: () => memoryLogs(), records: (context) => memoryRecords(context) },
};
`,
    });
    const running = startNebula(['serve', '--port', '0'], { cwd });
    await running.until('"server.started"');
    expect(statSync(path.join(cwd, '.nebula/token')).mode & 0o777).toBe(0o600);
    const stopped = await nebula(['stop'], { cwd });
    expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    expect((await running.ended).code).toBe(0);
    expect((await nebula(['stop'], { cwd })).stderr).toContain('SERVER_NOT_RUNNING');
  });

  test('[CLI-552] a person answers an approval with a key of their own', async () => {
    const cwd = projectFolder({
      'workflows/ship.yaml': 'id: ship\nnodes:\n  ask: { wait: { approval: { title: Ship, who: [bob] } } }\n',
      'nebula.config.yaml': 'server: { preset: selfhost, port: 0 }\n',
    });
    const stdin = 'correct horse battery\n';
    for (const [user, ...more] of [
      ['ann', '--admin'],
      ['bob', '--role', 'default=operator'],
    ] as const) {
      await nebula(['users', 'add', user, ...more, '--password-stdin'], { cwd, stdin });
    }
    const { stdout } = await nebula(['serve', '--detach', '--json'], { cwd });
    const { url } = JSON.parse(stdout) as { url: string };
    try {
      const keyOf = async (user: string) => {
        const made = await nebula(['keys', 'create', 'cli', '--as', user, '--role', 'default=operator'], { cwd });
        return /nbk_\w+/.exec(made.stdout)?.[0] ?? made.stderr;
      };
      const as = async (user: string, ...args: string[]) =>
        nebula(args, { cwd, env: { NEBULA_SERVER: url, NEBULA_TOKEN: await keyOf(user) } });
      const executionId = (await as('ann', 'start', 'ship', '--no-wait')).stdout.trim();
      const refused = await as('ann', 'executions', 'approve', executionId, 'ask');
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('error NOT_ALLOWED')]);
      const approved = await as('bob', 'executions', 'approve', executionId, 'ask');
      expect([approved.code, approved.stdout]).toEqual([0, expect.stringContaining('ask is approved by bob')]);
    } finally {
      await nebula(['stop'], { cwd });
    }
  });

  test('[CLI-540] a start that fails has the reason, the hint and the exit code of the server', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const cwd = projectFolder({});
    const failed = await nebula(['serve', '--detach', '--port', String(port)], { cwd });
    taken.close();
    expect([failed.code, failed.stdout]).toEqual([2, '']);
    expect(failed.stderr).toMatch(
      new RegExp(`^error PORT_TAKEN: the server did not start: 127.0.0.1:${port} is already in use\nhint: use --port`),
    );
    writeFileSync(path.join(cwd, 'nebula.config.yaml'), 'server: { workflows: ["flows/*.yaml"] }\nactions: 1\n');
    const invalid = await nebula(['serve', '--detach', '--port', '0'], { cwd });
    expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining('error CONFIG_INVALID: ')]);
  });

  test('[CLI-541] without a server there is nothing to stop, whatever the notes say', async () => {
    const cwd = projectFolder({ 'workflows/hello.yaml': HELLO });
    const none = await nebula(['stop'], { cwd });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('error SERVER_NOT_RUNNING: no server is')]);
    // Notes of a server that was killed, whose process id now is that of another program.
    mkdirSync(path.join(cwd, '.nebula'));
    const { pid } = process;
    const host = hostname();
    writeFileSync(path.join(cwd, '.nebula/server.json'), JSON.stringify({ url: 'http://127.0.0.1:1', pid }));
    writeFileSync(path.join(cwd, '.nebula/engine.json'), JSON.stringify({ pid, host, startedAt: '' }));
    writeFileSync(path.join(cwd, '.nebula/engine.lock'), '');
    const stale = await nebula(['stop'], { cwd });
    expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining('error SERVER_NOT_RUNNING: no server is')]);
  });

  test('[CLI-541] an engine that is no server is not stopped', async () => {
    const slow = 'id: slow\nnodes: { nap: { action: core.sleep@1, with: { duration: 30s } } }\n';
    const cwd = projectFolder({ 'slow.yaml': slow });
    const running = startNebula(['run', 'slow.yaml'], { cwd });
    await running.until('nap');
    const refused = await nebula(['stop'], { cwd });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`error SERVER_NOT_RUNNING: process ${running.child.pid} uses`),
    ]);
    expect(running.child.exitCode).toBe(null);
    running.child.kill('SIGINT');
    await running.ended;
  });
});
