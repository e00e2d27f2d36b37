import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/command-table.ts';
import { play } from './support/fake-services.ts';
import { projectFolder } from './support/nebula-process.ts';
import { memoryIo, memoryOutput } from './support/screen-text.ts';
import { say } from './support/served.ts';

describe('the program', () => {
  test('[CLI-3] a bare nebula names every command', async () => {
    const { exitCode, io } = await play([]);
    expect(exitCode).toBe(0);
    for (const { name, summary } of COMMANDS)
      expect(io.out.text()).toMatch(new RegExp(`  ${name} +${summary.slice(0, 10)}`));
    for (const group of ['Run', 'Write', 'Look at runs', 'Change runs']) expect(io.out.lines()).toContain(group);
    expect(io.err.text()).toBe('');
  });

  test.each(COMMANDS)('[CLI-4] $name has help with examples and all its options', async (spec) => {
    const { exitCode, io } = await play([...spec.name.split(' '), '--help']);
    expect(exitCode).toBe(0);
    const text = io.out.text();
    expect(text).toContain('Examples:');
    expect(spec.examples.length).toBeGreaterThan(0);
    for (const [words] of spec.examples) expect(text).toContain(`nebula ${words}`);
    for (const { flags } of spec.options) expect(text).toContain(/--[\w-]+/.exec(flags)?.[0]);
    for (const [words] of spec.examples) expect(words.startsWith(spec.name)).toBe(true);
  });

  test('[CLI-549] help ahead of a command is help of the command', async () => {
    const behind = await play(['executions', 'list', '--help']);
    for (const flag of ['-h', '--help']) {
      const ahead = await play([flag, 'executions', 'list']);
      expect([ahead.exitCode, ahead.io.out.text()]).toEqual([0, behind.io.out.text()]);
    }
    expect((await play(['-h'])).io.out.text()).toContain('Commands:');
  });

  test('[CLI-4] executions alone lists its commands', async () => {
    const { exitCode, io } = await play(['executions']);
    expect(exitCode).toBe(0);
    expect(io.out.text()).toContain('timeline');
  });

  test.each([
    ['an unknown command', ['rnu'], /error USAGE: unknown command 'rnu'/, /hint: did you mean run\?/],
    ['an unknown subcommand', ['executions', 'lst'], /unknown command 'lst'/, /did you mean list\?/],
    ['an unknown option', ['run', 'x.yaml', '--jsn'], /unknown option '--jsn'/, /did you mean --json\?/],
    ['a missing argument', ['run'], /missing required argument 'file'/, /hint: /],
    ['too many arguments', ['schema', 'x', 'y'], /too many arguments/, /hint: /],
    ['a bad choice', ['graph', 'x.yaml', '-f', 'png'], /png.* is invalid/, /terminal, mermaid, dot/],
    ['an unknown option without a command', ['--foo'], /unknown option '--foo'/, /lists the commands/],
    [
      'a bad choice among several',
      ['executions', 'list', '--status', 'failed', '--status', 'bad'],
      /bad.* is invalid/,
      /completed/,
    ],
  ])('[CLI-5] %s', async (_name, argv, message, hint) => {
    const { exitCode, io } = await play(argv);
    expect(exitCode).toBe(2);
    expect(io.err.text()).toMatch(message);
    expect(io.err.text()).toMatch(hint);
    expect(io.out.text()).toBe('');
  });

  test('[CLI-6] the stack is shown only with --debug', async () => {
    const argv = ['executions', 'show', 'exe_9'];
    const plain = await play(argv);
    expect(plain.io.err.text()).toMatch(/^error UNKNOWN_EXECUTION: there is no run exe_9 in .*\nhint: .*\n$/);
    const flagged = await play([...argv, '--debug']);
    expect(flagged.io.err.text()).toMatch(/\n\s+at .*location\.ts/);
    const inEnvironment = await play(argv, {}, memoryIo({ env: { NEBULA_DEBUG: '1' } }));
    expect(inEnvironment.io.err.text()).toMatch(/\n\s+at /);
  });

  test('[CLI-5] help for an unknown command is the error of that command', async () => {
    for (const word of ['nope', 'rnu']) {
      const helped = await play(['help', word]);
      const plain = await play([word]);
      expect([helped.exitCode, helped.io.err.text()]).toEqual([2, plain.io.err.text()]);
      expect(helped.io.err.text()).toContain(`error USAGE: unknown command '${word}'`);
    }
    expect((await play(['help', 'run'])).io.out.text()).toContain('Usage: nebula run');
  });

  test('[CLI-7] an unexpected error is reported as a bug', async () => {
    const script = {
      onOpenProject: () => {
        throw new TypeError('x is not a function');
      },
    };
    const { exitCode, io } = await play(['executions', 'list'], script);
    expect(exitCode).toBe(70);
    expect(io.err.text()).toContain('error INTERNAL: this is a bug in Nebula: x is not a function');
    expect(io.err.text()).toContain('NEBULA_DEBUG=1');
  });

  test('[CLI-8] an error is a document, too', async () => {
    for (const argv of [
      ['executions', 'show', 'exe_9', '--json'],
      ['rnu', '--json'],
    ]) {
      const { io } = await play(argv);
      const document = JSON.parse(io.out.text());
      expect(Object.keys(document)).toEqual(['error']);
      expect(document.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    }
  });
});

describe('40 columns', () => {
  test('[CLI-222] the overview and the help of every command break between words', async () => {
    const narrow = async (...words: string[]) => {
      const io = memoryIo({ out: memoryOutput({ live: true, columns: 40, rows: 30 }) });
      expect((await play(words, {}, io)).exitCode).toBe(0);
      return io.out.lines();
    };
    for (const words of [[], ...COMMANDS.map(({ name }) => [...name.split(' '), '--help'])]) {
      // Commands to be copied are left whole, and so are the signatures of options.
      const prose = (await narrow(...words)).filter((line) => !/^ *(nebula |-|Usage:)/.test(line));
      expect(
        prose.filter((line) => line.length > 40),
        words.join(' '),
      ).toEqual([]);
    }
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) => (await play(['__complete', '--', ...words])).io.out.lines();
  const words = (lines: string[]) => lines.map((line) => line.split('\t')[0]);

  test('[CLI-12] commands, options, choices and files', async () => {
    expect(words(await complete('r'))).toEqual(['run', 'resume', 'restore']);
    expect(words(await complete('backup', 'verify', '--j'))).toEqual(['--json']);
    expect(words(await complete('backup', '--w'))).toEqual(['--with-key']);
    expect(words(await complete('executions', 'c'))).toEqual(['count', 'callback', 'cancel']);
    expect(words(await complete('run', 'x.yaml', '--i'))).toEqual(['--input', '--idempotency-key']);
    expect(words(await complete('graph', 'x.yaml', '--format', ''))).toEqual(['terminal', 'mermaid', 'dot']);
    expect(await complete('run', '')).toEqual([':files']);
    expect(await complete('run', 'x', '--data-dir', '')).toEqual([':files']);
    expect(words(await complete('completion', 'z'))).toEqual(['zsh']);
    expect(await complete('nonsense', 'x')).toEqual(['']);
  });

  test('[CLI-12] ids of runs', async () => {
    const row = {
      workflowId: 'order',
      version: 1,
      createdAt: 0,
      finishedAt: null,
      wakeAt: null,
      owner: null,
      expiresAt: null,
      project: 'default',
    };
    const rows = [{ ...row, executionId: 'exe_a', status: 'running' as const }];
    const { io } = await play(['__complete', '--', 'executions', 'show', ''], { rows });
    expect(io.out.text()).toBe('exe_a\torder, running\n');
  });

  test('[CLI-12] workflows and contexts', async () => {
    const cwd = projectFolder({
      'order.yaml': 'id: order\nnodes: {}\n',
      'user/nebula/contexts.json': JSON.stringify({ current: null, contexts: { work: { url: 'http://w:1' } } }),
    });
    const env = { XDG_CONFIG_HOME: path.join(cwd, 'user') };
    await say(cwd, ['workflows', 'register', 'order.yaml'], { env });
    const offered = async (...typed: string[]) => (await say(cwd, ['__complete', '--', ...typed], { env })).out;
    expect(await offered('start', '')).toBe('order\t\n');
    expect(await offered('workflows', 'diff', 'o')).toBe('order\t\n');
    expect(await offered('workflows', 'diff', 'order', '')).toBe('');
    expect(await offered('executions', 'list', '--workflow', '')).toBe('order\t\n');
    expect(await offered('context', 'use', '')).toBe('work\thttp://w:1\nlocal\tthe data folder\n');
    expect(await offered('context', 'remove', '')).toBe('work\thttp://w:1\n');
    expect(await offered('executions', 'list', '--context', 'w')).toBe('work\thttp://w:1\n');
  });

  test('[CLI-12] a failure offers nothing and says nothing', async () => {
    const script = {
      onOpenProject: () => {
        throw new Error('broken');
      },
    };
    const { exitCode, io } = await play(['__complete', '--', 'resume', ''], script);
    expect([exitCode, io.out.text(), io.err.text()]).toEqual([0, '', '']);
  });

  test.each(['bash', 'zsh', 'fish'])('[CLI-12] a script for %s', async (shell) => {
    const { exitCode, io } = await play(['completion', shell]);
    expect(exitCode).toBe(0);
    expect(io.out.text()).toContain('__complete');
  });

  test('[CLI-5] an unknown shell', async () => {
    const { exitCode, io } = await play(['completion', 'bsh']);
    expect(exitCode).toBe(2);
    expect(io.err.text()).toContain('did you mean bash?');
  });
});
