import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createClient } from '@nebula/client';
import { CONFIG_KEYS, defineConfig } from '@nebula/sdk';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Started, screenLines } from '../src/serve/report.ts';
import { visibleWidth } from '../src/terminal/width.ts';
import { nebula, projectFolder, type RunningProcess, startNebula } from './support/nebula-process.ts';
import { hasScript, PSEUDO_TERMINAL } from './support/pseudo-terminal.ts';
import { Served, say } from './support/served.ts';

const HELLO = `
id: hello
triggers:
  - webhook: { path: /hello, respond: result }
  - schedule: { cron: "0 2 * * *" }
nodes: { greet: { action: core.set@1, with: { value: hello } } }
output: "{{ $nodes.greet.output }}"
`;
const SLOW = `
id: slow
nodes:
  first: { action: core.set@1, with: { value: 1 } }
  nap: { action: core.sleep@1, needs: [first], with: { duration: 2500ms } }
  last: { action: core.log@1, needs: [nap], with: { message: slept } }
`;
const TIMEOUT = { timeout: 60_000 };

interface Line {
  readonly event: string;
  readonly url?: string;
  readonly [member: string]: unknown;
}

const linesOf = (running: RunningProcess): Line[] =>
  running
    .stdout()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

async function serve(cwd: string, ...args: string[]): Promise<RunningProcess & { url: string }> {
  const running = startNebula(['serve', ...(args.includes('--port') ? [] : ['--port', '0']), ...args], { cwd });
  await running.until('"server.started"');
  const url = linesOf(running).find(({ event }) => event === 'server.started')?.url as string;
  return { ...running, url };
}

const outside = (cwd: string) => ({ cwd, env: { XDG_CONFIG_HOME: path.join(cwd, 'user') } });

describe('a server process', TIMEOUT, () => {
  test('[CLI-240, CLI-241, CLI-252, CLI-409] prints its state, serves, and stops', async () => {
    const cwd = projectFolder({
      'workflows/hello.yaml': HELLO,
      // The nap outlasts the command that starts it, also on a busy machine.
      'workflows/deep/slow.yaml': SLOW.replace('2500ms', '6s'),
      'workflows/x.test.yaml': 'no',
    });
    const server = await serve(cwd);
    expect(linesOf(server)).toMatchObject([
      { event: 'workflow.registered', level: 'info', workflowId: 'slow', version: 1 },
      { event: 'workflow.registered', workflowId: 'hello' },
      {
        event: 'server.started',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        preset: 'desktop',
        version: '0.1.0',
      },
    ]);
    const token = path.join(cwd, '.nebula/token');
    expect(statSync(token).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(token, 'utf8').trim(), 'base64url')).toHaveLength(32);
    expect(JSON.parse(readFileSync(path.join(cwd, '.nebula/server.json'), 'utf8'))).toEqual({
      url: server.url,
      pid: server.child.pid,
      startedAt: expect.stringMatching(/Z$/),
      options: '--port 0',
    });
    expect(await (await fetch(`${server.url}/hooks/hello`, { method: 'POST' })).json()).toBe('hello');
    expect((await fetch(`${server.url}/api/docs`)).status).toBe(200);
    const started = await nebula(['start', 'hello', '--json'], outside(cwd));
    expect([started.code, JSON.parse(started.stdout).output]).toEqual([0, 'hello']);
    const workers = await say(cwd, ['workers', 'list']);
    expect([workers.code, workers.out]).toEqual([0, expect.stringContaining('no workers')]);
    const left = await say(cwd, ['start', 'slow', '--no-wait']);
    await server.until(/"run\.finished".*"hello"/);
    server.child.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(linesOf(server).slice(-2)).toMatchObject([{ event: 'server.stopping' }, { event: 'server.stopped' }]);
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
    const refused = await say(cwd, ['workers', 'list']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('error NEEDS_SERVER')]);
    const again = await serve(cwd);
    await again.until(new RegExp(`"run\\.finished".*${left.out.trim()}.*"completed"`));
    // The token survives a restart.
    expect(readFileSync(token, 'utf8').trim()).toHaveLength(43);
    again.child.kill('SIGINT');
    expect((await again.ended).code).toBe(0);
  });

  test('[CLI-550, CLI-600] code that changes under a server is reported, by the server and by `run`', async () => {
    const action = (text: string) =>
      `export const say = { id: 'own.say', version: '1', effect: 'pure', run: () => '${text}' };\n`;
    const cwd = projectFolder({
      'nebula.config.mjs': "import { say } from './actions/say.mjs';\nexport default { actions: [say] };\n",
      'actions/say.mjs': action('old'),
      'say.yaml': 'id: say\nnodes: { a: { action: own.say@1 } }\noutput: "{{ $nodes.a.output }}"\n',
    });
    const server = await serve(cwd);
    const before = await nebula(['run', 'say.yaml', '--json'], outside(cwd));
    expect([before.stderr, JSON.parse(before.stdout).output]).toEqual(['', 'old']);
    writeFileSync(path.join(cwd, 'actions/say.mjs'), action('new'));
    await server.until(
      /"config\.changed".*actions\/say\.mjs has changed; the server runs the old code until it is restarted/,
    );
    const after = await nebula(['run', 'say.yaml', '--json'], outside(cwd));
    expect(JSON.parse(after.stdout).output).toBe('old');
    expect(after.stderr).toMatch(
      /^warning: actions\/say\.mjs has changed since the server started; it runs the old code\.\nhint: restart it: nebula stop && nebula serve --detach --port 0\n$/,
    );
    server.child.kill('SIGTERM');
    await server.ended;
  });

  test('[CLI-623] a folder that is missing deactivates nothing; one that is back is watched', async () => {
    const cwd = projectFolder({
      'workflows/hello.yaml': HELLO,
      'workflows/other.yaml': HELLO.replaceAll('hello', 'other'),
    });
    const [folder, away] = ['workflows', 'elsewhere'].map((name) => path.join(cwd, name)) as [string, string];
    const versions = async () => {
      const { items } = JSON.parse((await say(cwd, ['workflows', 'list', '--json'])).out) as { items: Line[] };
      return Object.fromEntries(items.map(({ workflowId, activeVersion }) => [workflowId, activeVersion]));
    };
    const server = await serve(cwd);
    renameSync(folder, away);
    await server.until(/"workflow\.folder-missing","folder":"workflows","workflowIds":\["hello","other"\]/);
    expect(await versions()).toEqual({ hello: 1, other: 1 });
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'hello.yaml'), HELLO.replace('0 2', '0 3'));
    await server.until(/"workflow\.registered".*"hello","version":2/);
    await server.until(/"workflow\.file-gone".*"other","deactivated":true/);
    writeFileSync(path.join(folder, 'new.yaml'), HELLO.replaceAll('hello', 'new'));
    await server.until(/"workflow\.registered".*"new","version":1/);
    server.child.kill('SIGTERM');
    await server.ended;
    rmSync(folder, { recursive: true });
    const again = await serve(cwd);
    expect(linesOf(again).filter(({ event }) => event.startsWith('workflow.'))).toMatchObject([
      { event: 'workflow.folder-missing', folder: 'workflows', workflowIds: ['hello', 'new'] },
    ]);
    expect(await versions()).toEqual({ hello: 2, new: 1, other: null });
    again.child.kill('SIGTERM');
    await again.ended;
  });

  test('[CLI-546] the workflow of a removed file is deactivated, also if it was removed while no server ran', async () => {
    const flows = ['kept', 'first', 'later', 'moved', 'chosen'].map((id) => [
      `workflows/${id}.yaml`,
      HELLO.replaceAll('hello', id),
    ]);
    const cwd = projectFolder({ ...Object.fromEntries(flows), 'other.yaml': HELLO.replaceAll('hello', 'other') });
    const versions = async () => {
      const { items } = JSON.parse((await say(cwd, ['workflows', 'list', '--json'])).out) as { items: Line[] };
      return Object.fromEntries(items.map(({ workflowId, activeVersion }) => [workflowId, activeVersion]));
    };
    const server = await serve(cwd);
    await say(cwd, ['workflows', 'register', 'other.yaml']);
    rmSync(path.join(cwd, 'other.yaml'));
    renameSync(path.join(cwd, 'workflows/moved.yaml'), path.join(cwd, 'workflows/elsewhere.yaml'));
    await server.until(/"workflow\.file-gone".*"moved","deactivated":false/);
    rmSync(path.join(cwd, 'workflows/first.yaml'));
    await server.until(/"workflow\.file-gone".*"first","deactivated":true/);
    expect(await versions()).toEqual({ chosen: 1, first: null, kept: 1, later: 1, moved: 1, other: 1 });
    writeFileSync(path.join(cwd, 'workflows/chosen.yaml'), HELLO.replaceAll('hello', 'chosen').replace('0 2', '0 3'));
    await server.until(/"workflow\.registered".*"chosen","version":2/);
    await say(cwd, ['workflows', 'activate', 'chosen', '1']);
    server.child.kill('SIGTERM');
    await server.ended;
    for (const id of ['later', 'chosen']) rmSync(path.join(cwd, `workflows/${id}.yaml`));
    const again = await serve(cwd);
    expect(linesOf(again).filter(({ event }) => event === 'workflow.file-gone')).toMatchObject([
      { workflowId: 'chosen', deactivated: false },
      { workflowId: 'later', deactivated: true },
    ]);
    expect(await versions()).toEqual({ chosen: 1, first: null, kept: 1, later: null, moved: 1, other: 1 });
    again.child.kill('SIGTERM');
    await again.ended;
  });

  test('[CLI-475] workflows in TypeScript are registered, and again when they change; parts of them are not', async () => {
    const flow = (text: string) =>
      `import { note } from './parts.ts';\nexport default { id: 'typed', nodes: { a: { action: 'core.set@1', with: { value: note + '${text}' } } }, output: '{{ $a }}' };\n`;
    const cwd = projectFolder({
      'workflows/typed.ts': flow('one'),
      'workflows/parts.ts': "export const note: string = 'it is ';\n",
      'workflows/types.d.ts': 'export type A = 1;\n',
      'package.json': '{ "type": "module" }',
    });
    const server = await serve(cwd);
    expect(linesOf(server).slice(0, -1)).toMatchObject([
      { event: 'workflow.registered', workflowId: 'typed', version: 1 },
    ]);
    writeFileSync(path.join(cwd, 'workflows/typed.ts'), flow('two'));
    await server.until(/"workflow\.registered".*"typed".*"version":2/);
    const { out } = await say(cwd, ['start', 'typed', '--json']);
    expect(JSON.parse(out).output).toBe('it is two');
    server.child.kill('SIGTERM');
    expect((await server.ended).stderr).toBe('');
  });

  test('[CLI-460] reports what a new version of a file is granted, once', async () => {
    const who = 'id: who\ntriggers: [{ file: { path: inbox/*.csv } }]\nconfig: { capabilities: { shell: [id, ls] } }\n';
    const cwd = projectFolder({
      'workflows/who.yaml': `${who}nodes: { a: { action: core.noop } }\n`,
      'workflows/plain.yaml': 'id: plain\nnodes: { a: { action: core.noop } }\n',
      'nebula.config.yaml': 'projects: { default: { ceiling: { shell: [id], files: { read: [inbox/**] } } } }\n',
    });
    const registered = async () => {
      const server = await serve(cwd);
      const lines = linesOf(server).filter(({ event }) => event === 'workflow.registered');
      server.child.kill('SIGTERM');
      await server.ended;
      return lines.map(({ workflowId, granted, notGranted }) => [workflowId, granted, notGranted]);
    };
    expect(await registered()).toEqual([
      ['plain', undefined, undefined],
      ['who', { shell: ['id'], files: { read: ['inbox/*.csv'], write: [] } }, ['shell ls']],
    ]);
    expect(await registered()).toEqual([
      ['plain', undefined, undefined],
      ['who', undefined, undefined],
    ]);
  });

  test('[CLI-461] tells no run of the data folder, the configuration and workflow files', async () => {
    const spy = "id: spy\ntriggers: [{ file: { path: '**' } }, { file: { path: .nebula/* } }]\n";
    const cwd = projectFolder({
      'workflows/spy.yaml': `${spy}nodes: { a: { action: core.set@1, with: { value: '{{ $input.path }}' } } }\noutput: '{{ $a }}'\n`,
      'nebula.config.yaml': '{}\n',
      'inbox/plain.txt': 'x',
    });
    const server = await serve(cwd);
    await server.until('"run.finished"');
    // Two more looks, which come every second.
    writeFileSync(path.join(cwd, 'inbox/last.txt'), 'x');
    const seenFiles = async () => {
      const runs = linesOf(server).filter(({ event }) => event === 'run.finished');
      const shown = await Promise.all(
        runs.map(({ executionId }) => say(cwd, ['executions', 'show', String(executionId), '--json'])),
      );
      return shown.map(({ out }) => (JSON.parse(out) as { output: string }).output);
    };
    await expect.poll(seenFiles, { timeout: 30_000 }).toContain('inbox/last.txt');
    // A plain file that the test puts there, which is no configuration of ours.
    expect((await seenFiles()).filter((file) => file !== 'package.json').toSorted()).toEqual([
      'inbox/last.txt',
      'inbox/plain.txt',
    ]);
    server.child.kill('SIGTERM');
    await server.ended;
  });

  test('[CLI-278] loads no library after it has begun to listen', async () => {
    const cwd = projectFolder({});
    const tell = `import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } });`;
    const running = startNebula(['serve', '--port', '0'], {
      cwd,
      env: { NODE_OPTIONS: '' },
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(tell)}`],
    });
    await running.until('"server.started"');
    const libraries = (): string[] => running.stderr().match(/(?<=\/node_modules\/).+/g) ?? [];
    const before = libraries();
    for (const library of ['undici', 'yaml', 're2js', 'ajv-formats']) {
      expect(before).toContainEqual(expect.stringMatching(new RegExp(`^${library}/`)));
    }
    const url = linesOf(running).find(({ event }) => event === 'server.started')?.url as string;
    const token = readFileSync(path.join(cwd, '.nebula/token'), 'utf8').trim();
    const client = createClient({ url, token });
    // Beyond plain YAML, with a pattern and a format; the run uses every function of the host API.
    const source = `
id: all
input: { type: object, properties: { a: { type: string, pattern: "^a+$" }, b: { type: string, format: email } } }
config: { capabilities: { network: ["127.0.0.1:*"], files: { read: ["*"], write: ["*"] }, shell: ["true"] } }
nodes:
  ask: { action: http.request@1, with: &where { url: "${url}/health" } }
  write: { action: file.write@1, with: { path: x, content: y } }
  read: { action: file.read@1, needs: [write], with: { path: x } }
  program: { action: shell.run@1, with: { program: "true" } }
`;
    const { valid, problems } = await client.call('validateWorkflow', { body: { source } });
    expect(valid, JSON.stringify(problems)).toBe(true);
    await client.call('registerWorkflow', { body: { source } });
    const body = { workflowId: 'all', input: { a: 'aa', b: 'a@b.c' } };
    const { status, error } = await client.call('startExecution', { body, query: { wait: '30s' } });
    expect(status, JSON.stringify(error)).toBe('completed');
    running.child.kill('SIGTERM');
    await running.ended;
    expect(libraries().slice(before.length)).toEqual([]);
  });

  test('[CLI-241, CLI-253] after a kill and a restart runs continue, and their watchers see the end', async () => {
    const cwd = projectFolder({ 'workflows/slow.yaml': SLOW });
    const server = await serve(cwd);
    const port = new URL(server.url).port;
    const watching = startNebula(['start', 'slow'], outside(cwd));
    await watching.until('nap started');
    server.child.kill('SIGKILL');
    await server.ended;
    const again = await serve(cwd, '--port', port);
    const { code, stdout, stderr } = await watching.ended;
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('does not respond');
    expect(stdout).toMatch(/first completed[\s\S]*nap started, attempt 2[\s\S]*last completed/);
    expect(stdout.match(/first completed/g)).toHaveLength(1);
    again.child.kill('SIGTERM');
    await again.ended;
  });

  test('[CLI-254] Ctrl-C ends the watching, not the run', async () => {
    const cwd = projectFolder({ 'workflows/slow.yaml': SLOW });
    const server = await serve(cwd);
    const watching = startNebula(['start', 'slow'], outside(cwd));
    await watching.until('nap started');
    watching.child.kill('SIGINT');
    const { code, stdout } = await watching.ended;
    expect([code, stdout]).toEqual([130, expect.stringContaining(`it continues at ${server.url}`)]);
    await server.until(/"run\.finished".*"completed"/);
    server.child.kill('SIGTERM');
    await server.ended;
  });

  test('[CLI-242] ports, addresses and folders that cannot be had', async () => {
    const cwd = projectFolder({});
    const server = await serve(cwd);
    const second = await nebula(['serve', '--port', '0'], outside(cwd));
    expect([second.code, second.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^error STORE_LOCKED: a server is already running on .*: http:\/\/127\.0\.0\.1:\d+, process \d+\nhint: .*nebula stop/,
      ),
    ]);
    const other = projectFolder({});
    const taken = await nebula(['serve', '--port', new URL(server.url).port], outside(other));
    expect([taken.code, taken.stdout, taken.stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/^error PORT_TAKEN: .*\nhint: use --port \d+/),
    ]);
    const nowhere = await nebula(['serve', '--host', '203.0.113.7', '--port', '0'], outside(other));
    expect([nowhere.code, nowhere.stderr]).toEqual([
      2,
      expect.stringMatching(/^error CANNOT_LISTEN: .*\nhint: use 127\.0\.0\.1/),
    ]);
    const unwritable = await nebula(['serve', '--data-dir', '/proc/nebula'], outside(other));
    expect([unwritable.code, unwritable.stderr]).toEqual([2, expect.stringContaining('error DATA_DIR_UNWRITABLE')]);
    expect((await say(other, ['serve', '--port', '99999'])).err).toContain('error USAGE');
    server.child.kill('SIGTERM');
    await server.ended;
  });

  test('[CLI-243, CLI-247] workflows and configuration that change under it', async () => {
    const config = (more: string) => `server:\n  workflows: [flows/*.yaml]\n${more}`;
    const cwd = projectFolder({ 'flows/hello.yaml': HELLO, 'nebula.config.yaml': config('') });
    const server = await serve(cwd);
    const write = (name: string, text: string) => writeFileSync(path.join(cwd, name), text);
    const active = async () => JSON.parse((await say(cwd, ['workflows', 'list', '--json'])).out).items;
    write('flows/hello.yaml', HELLO.replace('core.set@1', 'core.sett@1'));
    await server.until(
      /"workflow\.broken".*hello\.yaml.*core\.sett.*"hint":"did you mean.*core\.set.*"line":\d+,"column":\d+/,
    );
    expect(await active()).toMatchObject([{ workflowId: 'hello', activeVersion: 1 }]);
    write('flows/hello.yaml', HELLO.replace('value: hello', 'value: hi'));
    await server.until(/"workflow\.registered".*"version":2/);
    expect(await (await fetch(`${server.url}/hooks/hello`, { method: 'POST' })).json()).toBe('hi');
    write('flows/slow.yaml', SLOW);
    await server.until(/"workflow\.registered".*"slow"/);
    rmSync(path.join(cwd, 'flows/slow.yaml'));
    await server.until(/"workflow\.file-gone".*"slow"/);
    expect(await active()).toMatchObject([{ activeVersion: 2 }, { workflowId: 'slow', activeVersion: null }]);
    write('nebula.config.yaml', config('  logLevel: debug\nconcurrency: 2\n'));
    await server.until(/the log level is debug/);
    await server.until(/restart the server to apply concurrency/);
    await fetch(`${server.url}/api/v1/info`);
    await server.until(/"request".*"getInfo"/);
    write('nebula.config.yaml', 'server:\n  prot: 1\n');
    await server.until(/"trouble".*CONFIG_INVALID.*did you mean 'port'/);
    await server.until(/keeps the previous one/);
    write('more.yaml', SLOW.replace('id: slow', 'id: other'));
    write('nebula.config.yaml', 'server:\n  workflows: [flows/*.yaml, more.yaml]\n');
    await server.until(/"workflow\.registered".*"other"/);
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  test('[CLI-275, CLI-276] a file that names an action of a worker is served when one has announced it', async () => {
    const far = 'id: far\nnodes: { a: { action: far.shout@1, timeout: { queued: 10ms } } }\n';
    const cwd = projectFolder({ 'workflows/far.yaml': far });
    const server = await serve(cwd);
    await server.until(/"workflow\.broken".*far\.shout/);
    const token = readFileSync(path.join(cwd, '.nebula/token'), 'utf8').trim();
    const client = createClient({ url: server.url, token });
    await client.call('registerWorker', { body: { workerId: 'w', actions: [{ id: 'far.shout', version: '1' }] } });
    await server.until(/"workflow\.registered".*"far"/);
    const elsewhere = projectFolder({ 'far.yaml': far });
    const there = ['--server', server.url, '--token', token];
    expect((await say(elsewhere, ['validate', 'far.yaml'])).code).toBe(2);
    expect((await say(elsewhere, ['validate', 'far.yaml', ...there])).code).toBe(0);
    expect((await say(elsewhere, ['actions', 'far.shout', ...there])).code).toBe(0);
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    expect((await say(cwd, ['actions', 'far.shout'])).out).toContain('far.shout@1');
    expect((await say(cwd, ['validate', 'workflows/far.yaml'])).code).toBe(0);
    expect((await say(cwd, ['run', 'workflows/far.yaml'])).out).toContain('error TIMEOUT at a');
  });

  test('[CLI-271] a configuration that comes and goes', async () => {
    const cwd = projectFolder({ 'package.json': '{}', 'flows/hello.yaml': HELLO });
    const server = await serve(cwd);
    const file = path.join(cwd, 'nebula.config.yaml');
    writeFileSync(file, 'server: { workflows: [flows/*.yaml], logLevel: debug }\nconcurrency: 2\n');
    await server.until(/nebula\.config\.yaml: the log level is debug/);
    await server.until(/restart the server to apply concurrency/);
    await server.until(/"workflow\.registered".*"hello"/);
    rmSync(file);
    await server.until(/the configuration: the log level is info/);
    await server.until(/the configuration was removed/);
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  // A pseudo terminal is made by `script` of util-linux.
  test.skipIf(!hasScript())('[CLI-240] on a terminal it is a screen, and a line per run', async () => {
    const cwd = projectFolder({ 'workflows/hello.yaml': HELLO });
    const bin = new URL('../bin/nebula.js', import.meta.url).pathname;
    const { spawn } = await import('node:child_process');
    const command = `stty cols 80; exec '${process.execPath}' '${bin}' serve --port 0`;
    const child = spawn(PSEUDO_TERMINAL, ['-qfec', command, '/dev/null'], {
      cwd,
      env: { ...process.env, TERM: 'xterm', NO_COLOR: '1' },
    });
    let screen = '';
    child.stdout.on('data', (chunk) => {
      screen += chunk;
    });
    await expect.poll(() => screen, { timeout: 20_000 }).toContain('Ctrl-C stops it');
    expect(screen).toMatch(/◆ Nebula 0\.1\.0 {2}desktop/);
    expect(screen).toMatch(/server +http:\/\/127\.0\.0\.1:\d+/);
    expect(screen).toMatch(/token +\.nebula\/token/);
    expect(screen).toMatch(/✓ hello v1 {2}POST \/hooks\/hello/);
    expect(screen).toMatch(/0 2 \* \* \*, next .* \(in /);
    const { url, pid } = JSON.parse(readFileSync(path.join(cwd, '.nebula/server.json'), 'utf8'));
    await fetch(`${url}/hooks/hello`, { method: 'POST' });
    await expect
      .poll(() => screen, { timeout: 10_000 })
      .toMatch(/\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d) {2}✓ hello v1 {2}completed {2}\d+ms {2}exe_/);
    process.kill(pid, 'SIGTERM');
    await expect.poll(() => screen, { timeout: 10_000 }).toContain('stopped; nothing finished is lost');
  });
});

describe('the screen', () => {
  const facts: Started = {
    url: 'http://127.0.0.1:7777',
    version: '0.1.0',
    preset: 'desktop',
    tokenFile: '/p/.nebula/token',
    studio: 'http://127.0.0.1:7777/#code=a-code',
    dataDir: '/p/.nebula',
    isOpen: false,
    hasUsers: true,
    news: [
      {
        kind: 'registered',
        file: 'a.yaml',
        isNew: true,
        workflow: {
          workflowId: 'nightly-report',
          version: 3,
          needsInput: false,
          triggers: [
            { trigger: { schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin' } }, nextFireAt: 86_400_000 },
            { trigger: { event: { name: 'order-\u001b[2Jplaced' } }, nextFireAt: null },
            { trigger: { interval: { every: '5m' } }, nextFireAt: 300_000 },
            { trigger: { file: { path: 'inbox/*.csv' } }, nextFireAt: null },
          ],
          grants: { granted: { shell: ['id'] }, over: ['env HOME'] },
        },
      },
      { kind: 'broken', file: 'b.yaml', message: 'no', report: ['b.yaml:1:1  error X'], problems: [] },
    ],
  };
  const draw = (width: number, more: Partial<Started> = {}) =>
    screenLines(
      { ...facts, ...more },
      { colors: picocolors.createColors(false), width, program: 'nebula', now: 0, shown: (file) => file },
    );

  test.each([40, 80])('[CLI-222, CLI-240] fits into %d columns', (width) => {
    for (const line of draw(width, { isOpen: true, hasUsers: false })) {
      if (!/nebula |http:|error X/.test(line)) expect(visibleWidth(line), line).toBeLessThanOrEqual(width);
    }
  });

  test('[CLI-240, CLI-277, CLI-460, CLI-760] prints the Studio, triggers, broken files, and notices', () => {
    const text = draw(80).join('\n');
    expect(text).toMatch(/0 2 \* \* \* Europe\/Berlin, next/);
    expect(text).toContain('signal order-␛[2Jplaced');
    expect(text).toContain('files in inbox/*.csv');
    expect(text).toContain('nightly-report is granted on this machine: shell id\n');
    expect(text).toContain('over the ceiling of the project, and not granted: env HOME\n');
    expect(text).toContain('✗ b.yaml is broken');
    expect(text).not.toContain('!');
    expect(draw(80, { isOpen: true }).join('\n')).toContain('the token gives full access to it');
    expect(draw(80, { hasUsers: false, tokenFile: undefined }).join('\n')).toMatch(
      /no user can sign in yet[\s\S]*users add NAME --admin/,
    );
    expect(draw(80)[2]).toBe('  Studio   http://127.0.0.1:7777/#code=a-code');
    expect(draw(80, { studio: undefined }).join('\n')).not.toContain('Studio');
    const known = draw(80, { tokenFile: undefined }).join('\n');
    expect(known).toMatch(/keys create cli --as NAME[\s\S]*context add here --server http:[\s\S]*--token-stdin/);
    expect(known).not.toContain('nebula start');
    expect(draw(80, { news: [] }).join('\n')).toContain('no workflow files here');
  });
});

describe('presets, names and the configuration', () => {
  test('[CLI-244] a preset without drivers is refused', async () => {
    const cwd = projectFolder({});
    const cloud = await say(cwd, ['serve', '--preset', 'cloud']);
    expect([cloud.code, cloud.err]).toEqual([
      2,
      expect.stringMatching(/^error PRESET_NOT_BUILT: .*postgres.*\nhint: use desktop or selfhost/),
    ]);
    for (const [key, value] of [
      ['database', 'postgres://ann:secret@db/x'],
      ['queue', 'redis://q'],
    ] as const) {
      writeFileSync(path.join(cwd, 'nebula.config.yaml'), `server: { preset: selfhost, ${key}: "${value}" }\n`);
      const { code, err } = await say(cwd, ['serve']);
      expect([code, err]).toEqual([2, expect.stringContaining(`the ${key} ${value.split(':')[0]} has no driver`)]);
      expect(err).not.toContain('secret');
    }
  });

  test('[CLI-245] names under which a server on loopback answers', async () => {
    const served = await Served.open({ 'nebula.config.yaml': 'server: { hosts: [flows.example.com] }\n' });
    const { port } = new URL(served.url);
    const statusAs = async (host: string): Promise<number> => {
      const { request } = await import('node:http');
      return await new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/api/v1/info', headers: { host } };
        request(options, (response) => resolve(response.resume().statusCode as number))
          .on('error', reject)
          .end();
      });
    };
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'flows.example.com'])
      expect(await statusAs(`${name}:${port}`), name).toBe(200);
    for (const name of ['evil.example.com', 'localhost.evil.example'])
      expect(await statusAs(`${name}:${port}`), name).toBe(403);
    await served.close();
  });

  test('[CLI-580] notifications of the configuration are listed as such, tested, and not changed', async () => {
    const config = 'notifications: [{ id: desk, command: [cat] }, { id: ops, url: "https://hooks.example.com/x" }]\n';
    const served = await Served.open({ 'nebula.config.yaml': config });
    const listed = await served.nebula(['notifications', 'list']);
    expect(listed.out).toMatch(/config_desk \(configuration\) .*command:cat/);
    expect(listed.out).toMatch(/config_ops \(configuration\) .*https:\/\/hooks\.example\.com/);
    expect(await served.nebula(['notifications', 'test', 'config_desk'])).toMatchObject({ code: 0 });
    for (const argv of [
      ['set', 'config_ops', '--off'],
      ['remove', 'config_desk'],
    ]) {
      const { code, err } = await served.nebula(['notifications', ...argv]);
      expect([code, err]).toEqual([
        expect.any(Number),
        expect.stringMatching(/NOT_ALLOWED: .*configuration of the server/),
      ]);
      expect(code).not.toBe(0);
    }
    await served.close();
  });

  test('[CLI-246] YAML takes the same keys, but no code', async () => {
    const examples = Object.entries(CONFIG_KEYS).filter(
      ([key, { isCode }]) => isCode === undefined && !key.startsWith('drivers'),
    );
    for (const [key, { example }] of examples) expect(() => defineConfig(parse(example)), key).not.toThrow();
    const cwd = projectFolder({
      'nebula.config.yaml': 'dataDir: var\nconcurrency: 2\n',
      'a.yaml': SLOW.replace('2500ms', '1ms'),
    });
    expect((await say(cwd, ['run', 'a.yaml'])).code).toBe(0);
    expect(statSync(path.join(cwd, 'var/nebula.db')).isFile()).toBe(true);
    for (const [text, words] of [
      ['concurency: 3', "did you mean 'concurrency'?"],
      ['server: { port: "80" }', 'a whole number from 0 to 65535'],
      ['actions: []', 'nebula.config.ts'],
      ['drivers: {}', 'nebula.config.ts'],
      ['a: [', 'docs/reference/config.md'],
      ['- 1', 'Write defineConfig'],
    ] as const) {
      writeFileSync(path.join(cwd, 'nebula.config.yaml'), text);
      const { code, err } = await say(cwd, ['run', 'a.yaml']);
      expect([code, err.toLowerCase()], text).toEqual([2, expect.stringContaining(words.toLowerCase())]);
      expect(err, text).toMatch(/^error CONFIG_INVALID: .*nebula\.config\.yaml/);
    }
  });

  test('[CLI-253] something else that answers is no server', async () => {
    const odd = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
    await new Promise((resolve) => odd.once('listening', resolve));
    const { port } = odd.address() as AddressInfo;
    const { code, err } = await say(projectFolder({}), ['executions', 'list', '--server', `127.0.0.1:${port}`]);
    expect([code, err]).toEqual([2, expect.stringMatching(/^error NOT_A_SERVER: /)]);
    odd.close();
  });
});
