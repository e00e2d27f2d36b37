import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { nebulaHere } from './support/nebula-here.ts';
import { BIN, nebula, projectFolder, startNebula } from './support/nebula-process.ts';

const NOBODY = 65_534;

const HELLO = `
id: hello
nodes:
  greet: { action: core.set@1, with: { value: "Hello {{ $input.name }}" } }
  shout: { action: core.set@1, needs: [greet], with: { value: "{{ $nodes.greet.output.upper() }}" } }
  never: { action: core.noop@1, needs: [greet], when: $greet == 'nobody' }
output: { text: "{{ $nodes.shout.output }}" }
`;

const SLOW = `
id: slow
nodes:
  first: { action: core.set@1, with: { value: 1 } }
  second: { action: core.sleep@1, needs: [first], with: { duration: 1500ms } }
  third: { action: core.set@1, needs: [second], with: { value: 3 } }
`;

const FAILING = `
id: failing
nodes:
  boom: { action: core.fail@1, with: { message: "no \\x1b[2J stock", code: NO_STOCK } }
  after: { action: core.noop@1, needs: [boom] }
`;

describe('the program as a process', () => {
  test('[CLI-1] --version loads nothing and is quick', async () => {
    const spy = `data:text/javascript,import{registerHooks}from'node:module';registerHooks({resolve(s,c,n){console.error('LOADS '+s);return n(s,c)}})`;
    const env = { NODE_OPTIONS: '' };
    const { code, stdout, stderr } = await nebula(['--version'], { cwd: '/', env, nodeArgs: ['--import', spy] });
    expect([code, stdout]).toEqual([0, '0.1.0\n']);
    expect(stderr).not.toMatch(/LOADS (?!file:.*bin\/nebula\.js|node:)/);
    const fastest = async (args: readonly string[]): Promise<number> => {
      let best = Number.POSITIVE_INFINITY;
      for (let at = 0; at < 5; at++) {
        const started = performance.now();
        await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
        best = Math.min(best, performance.now() - started);
      }
      return best;
    };
    const bare = await fastest(['-e', '0']);
    // Measured: 30 ms, 25 of them Node's own. On a busy machine both grow.
    expect(await fastest([BIN, '--version'])).toBeLessThan(Math.max(120, 3 * bare));
  });

  test('[CLI-408] events and logs of a data folder are followed without a server', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    const run = async (): Promise<string> => {
      const { stdout } = await nebula(['run', 'hello.yaml', '--set', 'name=Ada', '--json'], { cwd });
      return (JSON.parse(stdout) as { executionId: string }).executionId;
    };
    const ended = await nebula(['executions', 'logs', '--follow', await run()], { cwd });
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const following = startNebula(['events', '--after', 'all'], { cwd });
    await following.until(/WorkflowCompleted/);
    const executionId = await run();
    await following.until(new RegExp(`${executionId}  WorkflowCompleted`));
    following.child.kill('SIGINT');
    expect((await following.ended).code).toBe(130);
  });

  test('[CLI-620] logs of a data folder that are followed end with their run', async () => {
    const before =
      '  before: { action: core.log@1, with: { message: one } }\n  hold: { needs: [before], wait: { signal: go } }\n';
    const after = '  after: { needs: [hold], action: core.log@1, with: { message: two } }\n';
    const cwd = projectFolder({ 'noisy.yaml': `id: noisy\nnodes:\n${before}${after}` });
    const { stdout } = await nebulaHere(['run', 'noisy.yaml', '--json'], { cwd });
    const { executionId } = JSON.parse(stdout) as { executionId: string };
    const following = startNebula(['executions', 'logs', '--follow', executionId], { cwd });
    await following.until('one');
    expect((await nebulaHere(['executions', 'signal', executionId, 'go'], { cwd })).code).toBe(0);
    expect((await nebulaHere(['resume', executionId], { cwd })).code).toBe(0);
    const followed = await following.ended;
    expect([followed.code, followed.stderr]).toEqual([0, '']);
    expect(followed.stdout).toMatch(/^.* info {2}before one\n.* info {2}after two\n$/);
  });

  test('[CLI-2] an old Node is reported', async () => {
    const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'})`;
    const { code, stdout, stderr } = await nebula(['run', 'x.yaml'], { cwd: '/', nodeArgs: ['--import', old] });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('error NODE_TOO_OLD: Nebula needs Node.js 22.18 or newer');
    expect(stderr).toContain('npx nebula');
  });

  test('[CLI-9] a reader that goes away is no error', async () => {
    const line = `'${process.execPath}' '${BIN}' schema | head -c 5; echo " \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line]);
    expect(stdout).toMatch(/^\{\n {2}".? 0\n$/);
    expect(stderr).toBe('');
  });

  test('[CLI-9] a run continues when its reader has gone', async () => {
    const cwd = projectFolder({ 'slow.yaml': SLOW });
    const line = `'${process.execPath}' '${BIN}' run slow.yaml | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line], { cwd });
    expect([stdout, stderr]).toEqual([expect.stringMatching(/run started.*\n0\n$/), '']);
    const { stdout: list } = await nebulaHere(['executions', 'list', '--json'], { cwd });
    expect(JSON.parse(list).items).toMatchObject([{ status: 'completed' }]);
  });

  // Only Linux has a disk that is always full.
  test.skipIf(!existsSync('/dev/full'))('[CLI-14] a full disk behind stdout', async () => {
    const cwd = projectFolder({ 'slow.yaml': SLOW });
    for (const words of ['schema', 'run slow.yaml', 'executions list']) {
      const line = `'${process.execPath}' '${BIN}' ${words} > /dev/full; echo "$?"`;
      const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line], { cwd });
      expect([words, stdout]).toEqual([words, '1\n']);
      expect(stderr).toMatch(/^error OUTPUT_FAILED: stdout cannot be written: ENOSPC.*\nhint: .*\n$/);
    }
    const { stdout: list } = await nebulaHere(['executions', 'list', '--json'], { cwd });
    expect(JSON.parse(list).items).toMatchObject([{ status: 'completed' }]);
  });

  test('[CLI-10] colours and cursor codes', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    const run = (env: Record<string, string>) => nebula(['run', 'hello.yaml', '--set', 'name=Ada'], { cwd, env });
    expect((await run({})).stdout).not.toContain('\x1b');
    const forced = (await run({ FORCE_COLOR: '1' })).stdout;
    expect(forced).toContain('\x1b[32m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: codes other than colours
    expect(forced).not.toMatch(/\x1b\[[^m]*[A-LN-Za-ln-z]/);
    expect((await run({ FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain('\x1b');
  });
});

describe('run', () => {
  test('[CLI-40, CLI-41] completes with its document', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    const { code, stdout, stderr } = await nebula(['run', 'hello.yaml', '--set', 'name=Ada', '--json'], { cwd });
    expect(code, stderr).toBe(0);
    const document = JSON.parse(stdout);
    expect(Object.keys(document).sort()).toEqual(
      [
        ...[
          'executionId',
          'workflowId',
          'version',
          'status',
          'trigger',
          'parent',
          'input',
          'variables',
          'output',
          'error',
        ],
        ...['startedAt', 'updatedAt', 'finishedAt', 'durationMs', 'seq', 'nodes', 'scopes'],
      ].sort(),
    );
    expect(document).toMatchObject({
      workflowId: 'hello',
      version: 1,
      status: 'completed',
      output: { text: 'HELLO ADA' },
      error: null,
    });
    expect(Object.keys(document.nodes)).toEqual(['greet', 'shout', 'never']);
    expect(document.nodes.never).toEqual({
      status: 'skipped',
      skipped: 'when',
      attempts: 0,
      input: null,
      output: null,
      error: null,
      queuedAt: null,
      startedAt: null,
      finishedAt: expect.any(String),
      durationMs: null,
    });
    expect(stderr).toBe('');
  });

  test('[CLI-49] plain lines when piped', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    const { code, stdout } = await nebula(['run', 'hello.yaml', '--input', '{"name": "Ada"}'], { cwd });
    expect(code).toBe(0);
    const lines = stdout.split('\n').map((line) =>
      line
        .replace(/^ +\d+\.\d\ds/, 'T')
        .replace(/\d+ms/, 'Nms')
        .replace(/exe_\w+/, 'ID'),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'T  ● run started  hello  ID',
        'T  ✓ greet completed in Nms',
        'T  ⊘ never skipped: its condition is false',
        'T  ✓ run completed',
      ]),
    );
    expect(stdout).toContain('{ "text": "HELLO ADA" }');
  });

  test('[CLI-40, CLI-11] a failure ends with 1 and says where, without control codes', async () => {
    const cwd = projectFolder({ 'failing.yaml': FAILING });
    const { code, stdout } = await nebula(['run', 'failing.yaml'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('error NO_STOCK at boom: no ␛[2J stock');
    expect(stdout).toMatch(/ nebula executions explain exe_\w+ boom\n/);
    expect(stdout).not.toContain('\x1b');
    const json = await nebulaHere(['run', 'failing.yaml', '--json'], { cwd });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout).error).toMatchObject({ code: 'NO_STOCK', kind: 'USER', node: 'boom' });
  });

  test('[CLI-46] a broken file is reported with all its problems, and nothing is started', async () => {
    const broken =
      'id: broken\nnodes:\n  a: { action: core.nop@1 }\n  b: { action: core.noop@1, neds: [a] }\n  c: { action: core.noop@1, needs: [d] }\n';
    const cwd = projectFolder({ 'broken.yaml': broken });
    const { code, stdout, stderr } = await nebula(['run', 'broken.yaml'], { cwd });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/broken\.yaml:4:\d+ +error UNKNOWN_KEY/);
    expect(stderr).toContain('error WORKFLOW_INVALID: broken.yaml has');
    expect(existsSync(path.join(cwd, '.nebula'))).toBe(false);
    const json = await nebulaHere(['run', 'broken.yaml', '--json'], { cwd });
    expect(JSON.parse(json.stdout).error).toMatchObject({
      code: 'WORKFLOW_INVALID',
      details: { problems: expect.arrayContaining([expect.objectContaining({ code: 'UNKNOWN_KEY', line: 4 })]) },
    });
  });

  test.each([
    ['a missing file', ['run', 'missing.yaml'], 'FILE_NOT_FOUND'],
    ['a folder', ['run', '.'], 'FILE_UNREADABLE'],
    ['a device', ['run', '/dev/zero'], 'FILE_UNREADABLE'],
    ['a file of many megabytes', ['run', 'large.yaml'], 'TOO_LARGE'],
    ['bad JSON', ['run', 'hello.yaml', '--input', '{a: 1}'], 'INPUT_INVALID'],
    ['an input that does not fit', ['run', 'typed.yaml', '--set', 'n=text'], 'INPUT_INVALID'],
  ])('[CLI-40] %s ends with 2', async (_name, argv, errorCode) => {
    const typed =
      'id: typed\ninput: { type: object, properties: { n: { type: number } } }\nnodes: { a: { action: core.noop@1 } }\n';
    const cwd = projectFolder({ 'hello.yaml': HELLO, 'typed.yaml': typed });
    writeFileSync(path.join(cwd, 'large.yaml'), '');
    truncateSync(path.join(cwd, 'large.yaml'), 3_000_000_000);
    const { code, stderr, stdout } = await nebulaHere(argv, { cwd });
    expect(stderr).toContain(`error ${errorCode}: `);
    expect([code, stdout]).toEqual([2, '']);
  });

  test('[CLI-20] the workflow or its input from stdin', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    const fromStdin = await nebula(['run', '-', '--set', 'name=Bo', '--json'], { cwd, stdin: HELLO });
    expect(JSON.parse(fromStdin.stdout).output).toEqual({ text: 'HELLO BO' });
    const input = await nebulaHere(['run', 'hello.yaml', '--input', '-', '--json'], { cwd, stdin: '{"name": "Cy"}' });
    expect(JSON.parse(input.stdout).output).toEqual({ text: 'HELLO CY' });
  });

  test('[CLI-23] stdin without an end', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    for (const words of ['run -', 'run hello.yaml --input -', 'eval 1 --data -']) {
      const line = `'${process.execPath}' '${BIN}' ${words} < /dev/zero; echo "$?"`;
      const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line], { cwd });
      expect([words, stdout, stderr]).toEqual([
        words,
        '2\n',
        expect.stringMatching(/^error TOO_LARGE: stdin .*64 MiB/),
      ]);
    }
  });

  test('[CLI-40] a timeout of the workflow ends with 3', async () => {
    const cwd = projectFolder({
      'late.yaml':
        'id: late\nconfig: { timeout: 100ms }\nnodes: { nap: { action: core.sleep@1, with: { duration: 20s } } }\n',
    });
    const { code, stdout } = await nebulaHere(['run', 'late.yaml', '--json'], { cwd });
    expect([code, JSON.parse(stdout).status]).toEqual([3, 'timed-out']);
  });
});

const PROJECT = {
  'nebula.config.mjs': `
    import { defineAction, defineConfig } from '@nebula/sdk';
    export default defineConfig({ actions: [
      defineAction({ id: 'my.print', version: '1', effect: 'pure', run() { console.log('printed'); process.stdout.write('raw'); return 1; } }),
      defineAction({ id: 'my.nap', version: '1', effect: 'pure', async run(ctx) { console.log('napping'); await ctx.sleep(60000); } }),
      defineAction({ id: 'my.stubborn', version: '1', effect: 'idempotent', async run() { console.log('stubborn'); await new Promise((resolve) => setTimeout(resolve, 60000)); return 1; } }),
      defineAction({ id: 'my.pay', version: '1', effect: 'once', async run(ctx) { ctx.log.info('paying'); await new Promise((resolve) => setTimeout(resolve, 60000)); return 1; } }),
      defineAction({ id: 'my.stray', version: '1', effect: 'pure', async run(ctx) { setTimeout(() => { throw new Error('stray'); }, 10); await ctx.sleep(5000); } }),
      defineAction({ id: 'my.exit', version: '1', effect: 'pure', run() { process.exit(0); } }),
    ] });`,
  'exit.yaml': 'id: exit\nnodes: { a: { action: my.exit@1 } }\n',
  'print.yaml': 'id: print\nnodes: { a: { action: my.print@1 } }\n',
  'nap.yaml': 'id: nap\nnodes: { a: { action: my.nap@1 } }\n',
  'stubborn.yaml': 'id: stubborn\nnodes: { a: { action: my.stubborn@1 } }\n',
  'pay.yaml': 'id: pay\nnodes: { charge: { action: my.pay@1 } }\n',
  'stray.yaml': 'id: stray\nnodes: { a: { action: my.stray@1 } }\n',
};

describe('a project', () => {
  test('[CLI-33, CLI-47] actions of the project run without an installation, and their output stays out of the document', async () => {
    const cwd = projectFolder(PROJECT);
    const { code, stdout, stderr } = await nebula(['run', 'print.yaml', '--json'], { cwd });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).output).toEqual({ a: 1 });
    expect(stderr).toBe('printed\nraw\n');
  });

  test('[CLI-7] code of the project that throws outside of any await', async () => {
    const cwd = projectFolder(PROJECT);
    const { code, stderr } = await nebula(['run', 'stray.yaml'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain('error UNCAUGHT: code of this project threw an exception outside of any attempt: stray');
    expect(stderr).toContain('nebula.config.mjs');
  });

  test('[CLI-13] code of the project that ends the process', async () => {
    const cwd = projectFolder(PROJECT);
    const exited = /^error EXITED: code of this project ended the process before the run ended\nhint: /m;
    const run = await nebula(['run', 'exit.yaml'], { cwd });
    expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(exited)]);
    const id = /nebula resume (exe_\w+)/.exec(run.stderr)?.[1] as string;
    const resumed = await nebula(['resume', id, '--json'], { cwd });
    expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringMatching(exited)]);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ error: { code: 'EXITED', hint: expect.stringContaining(id) } });
    const config = projectFolder({ 'nebula.config.mjs': 'process.exit(0);', 'hello.yaml': HELLO });
    const unloaded = await nebula(['run', 'hello.yaml'], { cwd: config });
    expect([unloaded.code, unloaded.stderr]).toEqual([1, expect.stringMatching(exited)]);
  });

  test('[CLI-44] a second Ctrl-C ends at once', async () => {
    const cwd = projectFolder(PROJECT);
    const run = startNebula(['run', 'stubborn.yaml'], { cwd });
    await run.until('stubborn\n');
    run.child.kill('SIGINT');
    await run.until('Interrupted');
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run.ended;
    // A command that hands back prints how to continue.
    expect([code, stdout + stderr]).toEqual([130, expect.not.stringContaining('nebula resume')]);
  });

  test('[CLI-42, CLI-48] an effect that must happen once parks after a kill, until a person settles it', async () => {
    const cwd = projectFolder(PROJECT);
    const run = startNebula(['run', 'pay.yaml'], { cwd });
    await run.until('paying');
    run.child.kill('SIGKILL');
    await run.ended;
    const id = /exe_\w+/.exec(run.stdout())?.[0] as string;
    const parked = await nebula(['resume', id], { cwd });
    expect(parked.code, parked.stdout + parked.stderr).toBe(4);
    expect(parked.stdout).toContain(`nebula executions settle ${id} charge --happened --output JSON`);
    const settled = await nebula(['executions', 'settle', id, 'charge', '--happened', '--output', '{"id": "ch_1"}'], {
      cwd,
    });
    expect(settled.code, settled.stderr).toBe(0);
    const done = await nebulaHere(['resume', id, '--json'], { cwd });
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ status: 'completed', output: { charge: { id: 'ch_1' } } });
  });
});

describe('interruption', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '[CLI-43] %s hands back, and the printed command resumes',
    async (signal) => {
      const cwd = projectFolder({ 'slow.yaml': SLOW });
      const run = startNebula(['run', 'slow.yaml', '--data-dir', 'my data'], { cwd });
      await run.until('second started');
      run.child.kill(signal);
      const { code, stdout } = await run.ended;
      expect(code).toBe(130);
      const command = stdout.trim().split('\n').at(-1)?.trim() ?? '';
      expect(command).toMatch(/^nebula resume exe_\w+ --data-dir '.*my data'$/);
      const words = command
        .replaceAll("'", '')
        .split(/ (?!data)/)
        .slice(1);
      const resumed = await nebula([...words, '--json'], { cwd });
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(JSON.parse(resumed.stdout)).toMatchObject({
        status: 'completed',
        nodes: { first: { attempts: 1 }, third: { status: 'completed' } },
      });
    },
  );

  test('[CLI-8] interrupted with --json there is still one document', async () => {
    const cwd = projectFolder(PROJECT);
    const run = startNebula(['run', 'nap.yaml', '--json'], { cwd });
    await run.until('napping\n');
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(JSON.parse(stdout).status).toBe('running');
    expect(stderr).toContain('nebula resume exe_');
  });

  test('[CLI-48, CLI-45] killed without warning, resume completes it and repeats nothing that was done', async () => {
    const cwd = projectFolder({ 'slow.yaml': SLOW });
    const run = startNebula(['run', 'slow.yaml'], { cwd });
    await run.until('second started');
    run.child.kill('SIGKILL');
    await run.ended;
    const { code, stdout, stderr } = await nebula(['resume', '--json'], { cwd });
    expect(code, stderr).toBe(0);
    const [document] = JSON.parse(stdout).items;
    expect(document).toMatchObject({
      status: 'completed',
      nodes: { first: { attempts: 1 }, second: { status: 'completed' } },
    });
  });

  test('[CLI-36, CLI-66] beside a running engine: looking and cancelling work, a second engine is refused', async () => {
    const cwd = projectFolder({
      'nap.yaml': 'id: nap\nnodes: { nap: { action: core.sleep@1, with: { duration: 60s } } }\n',
    });
    const run = startNebula(['run', 'nap.yaml'], { cwd });
    await run.until('nap started');
    const id = /exe_\w+/.exec(run.stdout())?.[0] as string;
    const second = await nebula(['run', 'nap.yaml'], { cwd });
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/error STORE_LOCKED: .*\nhint: /);
    for (const verb of ['show', 'timeline', 'journal', 'logs', 'explain']) {
      const { code, stderr } = await nebulaHere(['executions', verb, id], { cwd });
      expect([verb, code, stderr]).toEqual([verb, 0, '']);
    }
    const cancelled = await nebulaHere(['executions', 'cancel', id, '--json'], { cwd });
    expect(JSON.parse(cancelled.stdout)).toEqual({ executionId: id, requested: true, status: 'cancelled' });
    expect((await run.ended).code).toBe(3);
  });
});

describe('data folders', () => {
  test('[CLI-35] looking where there is nothing creates nothing', async () => {
    const cwd = projectFolder({});
    for (const words of [['executions', 'list'], ['executions', 'show', 'exe_1'], ['resume']]) {
      const { code, stderr } = await nebulaHere([...words, '--data-dir', 'none'], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^error DATA_DIR_MISSING: .*\nhint: /)]);
      expect(existsSync(path.join(cwd, 'none'))).toBe(false);
    }
  });

  test('[CLI-37] a path that cannot be a folder', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO, file: '' });
    for (const dataDir of ['file', 'file/inside']) {
      const { code, stderr } = await nebulaHere(['run', 'hello.yaml', '--set', 'name=x', '--data-dir', dataDir], {
        cwd,
      });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^error DATA_DIR_\w+: .*\nhint: /)]);
    }
  });

  // Only root can act as another user.
  test.skipIf(process.getuid?.() !== 0)(
    '[CLI-38, CLI-87] where the user may only read',
    { timeout: 60_000 },
    async () => {
      const cwd = projectFolder({ 'hello.yaml': HELLO });
      const run = await nebula(['run', 'hello.yaml', '--set', 'name=x', '--json'], { cwd });
      const { executionId } = JSON.parse(run.stdout);
      await promisify(execFile)('chmod', ['-R', 'a+rX,go-w', cwd]);
      // Compiled code is kept for each user: without a folder of their own every command compiles anew.
      const compiled = projectFolder({});
      chmodSync(compiled, 0o777);
      const asNobody = (args: readonly string[]) =>
        nebula(args, { cwd, uid: NOBODY, env: { NODE_COMPILE_CACHE: compiled } });
      const list = await asNobody(['executions', 'list', '--json']);
      expect([list.code, list.stderr]).toEqual([0, '']);
      expect(JSON.parse(list.stdout).items).toMatchObject([{ executionId }]);
      for (const verb of ['show', 'timeline', 'journal', 'logs', 'explain']) {
        const { code, stderr } = await asNobody(['executions', verb, executionId]);
        expect([verb, code, stderr]).toEqual([verb, 0, '']);
      }
      for (const words of [['executions', 'delete', executionId], ['resume']]) {
        const refused = await asNobody(words);
        expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/^error (DATA_DIR|STORE)_\w+: /)]);
      }
      const init = await asNobody(['init', 'p']);
      expect([init.code, init.stderr]).toEqual([2, expect.stringMatching(/^error INIT_FAILED: .*permission denied\n/)]);
    },
  );

  test('[CLI-37] a database that is none', async () => {
    const cwd = projectFolder({ 'hello.yaml': HELLO });
    mkdirSync(path.join(cwd, 'd'));
    await nebulaHere(['run', 'hello.yaml', '--set', 'name=x', '--data-dir', 'd'], { cwd });
    for (const name of ['nebula.db', 'nebula.sqlite']) {
      if (existsSync(path.join(cwd, 'd', name))) writeFileSync(path.join(cwd, 'd', name), 'x'.repeat(10_000));
    }
    const { code, stderr } = await nebulaHere(['executions', 'list', '--data-dir', 'd'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error STORE_\w+: .*\nhint: /)]);
  });
});

describe('retry', () => {
  test('[CLI-67] begins again at the failed node, once the reason is gone', async () => {
    const flow = `
id: retry
config: { capabilities: { files: { read: ["*"] } } }
nodes:
  first: { action: core.set@1, with: { value: 1 } }
  read: { action: file.read@1, needs: [first], with: { path: gate.txt } }
  last: { action: core.set@1, needs: [read], with: { value: done } }
`;
    const cwd = projectFolder({ 'retry.yaml': flow });
    const failed = await nebulaHere(['run', 'retry.yaml', '--json'], { cwd });
    expect(failed.code, failed.stderr).toBe(1);
    const { executionId } = JSON.parse(failed.stdout);
    writeFileSync(path.join(cwd, 'gate.txt'), 'open');
    const { code, stdout, stderr } = await nebulaHere(['executions', 'retry', executionId, '--json'], { cwd });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      executionId,
      status: 'completed',
      nodes: { first: { attempts: 1 }, read: { attempts: 2 } },
    });
  });
});
