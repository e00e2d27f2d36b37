/** Notifications of the configuration: commands, and what the API may do with them. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../src/notifications/message.ts';
import { type Booted, type BootOptions, boot, memoryKeeping } from './support/boot.ts';

const open = new Set<Booted>();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nebula-command-'));
});
afterEach(async () => {
  for (const booted of open) await booted.close();
  open.clear();
  rmSync(folder, { recursive: true });
});

async function booting(options: BootOptions): Promise<Booted> {
  const booted = await boot(options);
  open.add(booted);
  return booted;
}

/** A program that runs this code. */
const node = (code: string, ...args: string[]) => [process.execPath, '-e', code, ...args];
const test = ({ client }: Booted, notificationId: string) =>
  client.call('testNotification', { params: { notificationId } });
const ids = async ({ client }: Booted) =>
  (await client.call('listNotifications')).items.map(({ notificationId }) => notificationId);

describe('notifications of the configuration', () => {
  it('[SRV-881] a command gets the message as JSON, its arguments as they are, and no secret of the server', async () => {
    const file = path.join(folder, 'told.json');
    const code = `let text = ''; process.stdin.on('data', (piece) => { text += piece; }).on('end', () => {
      const seen = { message: JSON.parse(text), args: process.argv.slice(1), env: process.env };
      require('node:fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(seen));
    });`;
    process.env.NEBULA_PLANTED = 'a secret of the server';
    try {
      const command = node(code, '$(touch x)', '; rm -rf /');
      const booted = await booting({ notifications: [{ id: 'desk', command, gather: '1s' }] });
      const nodes = { charge: { action: 'core.fail@1', with: { code: 'DECLINED', message: 'no money' } } };
      await booted.client.call('registerWorkflow', { body: { definition: { id: 'order', nodes } } });
      const { executionId } = await booted.client.call('startExecution', { body: { workflowId: 'order' } });
      await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { timeout: 20_000 }).toBe(true);
      const seen = JSON.parse(readFileSync(file, 'utf8'));
      expect(seen.message).toMatchObject({ notificationId: 'config_desk', first: [{ executionId, code: 'DECLINED' }] });
      expect(seen.args).toEqual(['$(touch x)', '; rm -rf /']);
      expect(Object.keys(seen.env)).toContain('PATH');
      expect(JSON.stringify(seen.env)).not.toContain('a secret of the server');
      const stored = JSON.stringify(await booted.keeping.records.list('notification', { limit: 10 }));
      expect(stored).not.toContain('touch x');
    } finally {
      delete process.env.NEBULA_PLANTED;
    }
  });

  it('[SRV-882] a command that fails is tried again; its output is bounded and logged', async () => {
    const lines: string[] = [];
    const failing = node(`process.stdout.write('told '.repeat(10000)); process.exitCode = 3;`);
    const booted = await booting({
      notifications: [
        { id: 'desk', command: failing },
        { id: 'absent', command: ['./no-such-program'] },
      ],
      log: { level: 'info', stream: { write: (line: string) => void lines.push(line) } },
    });
    const refused = { delivered: false, error: 'NOTIFICATION_REFUSED: The command ended with code 3.' };
    expect(await test(booted, 'config_desk')).toEqual(refused);
    expect((await test(booted, 'config_absent')).error).toContain('PROGRAM_NOT_FOUND');
    const logged = lines.find((line) => line.includes('the command of a notification has ended'));
    const { notification, exitCode, output } = JSON.parse(logged ?? '{}');
    expect([notification, exitCode]).toEqual(['config_desk', 3]);
    expect(output.length).toBeLessThanOrEqual(16_384);
    expect(output).toContain('told told');
  });

  it('[SRV-882] a command that does not end in time is ended', { timeout: 60_000 }, async () => {
    const file = path.join(folder, 'pid');
    const code = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => 0, 1000);`;
    const booted = await booting({ notifications: [{ id: 'desk', command: node(code) }] });
    const error = 'The receiver did not answer in time.';
    expect(await test(booted, 'config_desk')).toEqual({ delivered: false, error });
    const isAlive = (): boolean => {
      try {
        return process.kill(Number(readFileSync(file, 'utf8')), 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isAlive).toBe(false);
  });

  it('[SRV-883] the API shows, tests and does not change them; those that are gone from the file are gone', async () => {
    const keeping = memoryKeeping();
    const url = 'https://hooks.example.com/x';
    const first = await booting({
      keeping,
      notifications: [
        { id: 'a', url },
        { id: 'b', command: ['true', 'secretly'] },
      ],
    });
    const { client } = first;
    expect(await ids(first)).toEqual(['config_a', 'config_b']);
    expect((await client.call('listNotifications')).items[1]).toMatchObject({
      url: 'command:true',
      project: 'default',
    });
    expect(await test(first, 'config_b')).toEqual({ delivered: true, error: null });
    for (const notificationId of ['config_a', 'config_b', 'config_new']) {
      const refused = { code: 'NOT_ALLOWED', message: expect.stringContaining('comes from the configuration') };
      const params = { notificationId };
      await expect(client.call('putNotification', { params, body: { url } })).rejects.toMatchObject(refused);
      if (notificationId === 'config_new') continue;
      await expect(client.call('deleteNotification', { params })).rejects.toMatchObject(refused);
    }
    await client.call('putNotification', { params: { notificationId: 'mine' }, body: { url } });
    open.delete(first);
    await first.close();
    expect(await ids(await booting({ keeping, notifications: [{ id: 'a', url }] }))).toEqual(['config_a', 'mine']);
  });

  it('[SRV-884] a mistake in the configuration ends the start with its place', async () => {
    for (const wrong of [{ url: 'ftp://example.com' }, { url: 'smtp://localhost/?to=x' }, { url: 'command:rm' }]) {
      const refused = { code: 'CONFIG_INVALID', message: expect.stringMatching(/^notifications: 'ops': url: /) };
      await expect(boot({ notifications: [{ id: 'ops', ...wrong }] })).rejects.toMatchObject(refused);
    }
    const url = 'https://hooks.example.com/x';
    const brief = boot({ notifications: [{ id: 'ops', url, stuckAfter: '1s' }] });
    await expect(brief).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('stuckAfter'),
    });
  });

  it('[SRV-885] a message links to the run if the server has a public URL, and names the place of an error', async () => {
    const messages: Message[] = [];
    const receiver = createServer((request, response) => {
      void request.toArray().then((pieces) => {
        messages.push(JSON.parse(Buffer.concat(pieces).toString()) as Message);
        response.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://localhost:${(receiver.address() as AddressInfo).port}/`;
      const booted = await booting({
        notifications: [{ id: 'ops', url, gather: '1s' }],
        publicUrl: 'https://flows.example.com/',
      });
      const nodes = { sum: { action: 'core.set', with: { value: '{{ $input.missing.deep }}' } } };
      await booted.client.call('registerWorkflow', { body: { definition: { id: 'sums', nodes } } });
      const { executionId } = await booted.client.call('startExecution', { body: { workflowId: 'sums' } });
      await expect.poll(() => messages.length, { timeout: 20_000 }).toBe(1);
      const link = `https://flows.example.com/api/v1/executions/${executionId}`;
      expect(messages[0]?.first).toMatchObject([{ executionId, link, place: 'sums: nodes.sum.with.value' }]);
      expect(messages[0]?.text).toContain(link);
      expect(messages[0]?.text).toContain('  at sums: nodes.sum.with.value');
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });
});
