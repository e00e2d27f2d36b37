import { ActionError, defineAction } from '@nebula/sdk';
import { SIZE_TYPE, sizeBytes } from './quantity.ts';

/** Maximum length of a failed program's output in the error. */
const MAX_TAIL_CHARS = 2_000;

export const shellRun = defineAction({
  id: 'shell.run',
  version: '1',
  title: 'Run a program',
  description:
    'Runs a program with arguments, without a shell, or a `command` line with `sh -c`. Needs the capability `shell` for the program (for a command: `sh`). An abort or a timeout ends the program and all its child processes.',
  category: 'system',
  icon: 'terminal',
  examples: [{ title: 'Show the last commit', with: { program: 'git', args: ['log', '--oneline', '-1'] } }],
  input: {
    type: 'object',
    properties: {
      program: {
        type: 'string',
        minLength: 1,
        title: 'Program',
        description: 'The name or path of the program.',
        examples: ['git'],
      },
      args: {
        type: 'array',
        items: { type: 'string' },
        title: 'Arguments',
        description: 'The arguments, passed unchanged.',
        default: [],
        examples: [['log', '--oneline', '-1']],
      },
      command: {
        type: 'string',
        minLength: 1,
        title: 'Command',
        description: 'A command line for `sh -c`, instead of a program. Never build it from untrusted values.',
        examples: ['ls | wc -l'],
      },
      cwd: {
        type: 'string',
        title: 'Folder',
        description: 'The working folder, inside the project folder.',
        examples: ['build'],
      },
      env: {
        type: 'object',
        additionalProperties: { type: 'string' },
        title: 'Environment',
        description:
          "Environment variables of the program. From the worker's environment it gets PATH and granted variables only.",
        default: {},
        examples: [{ CI: 'true' }],
      },
      stdin: { type: 'string', title: 'Standard input', description: 'The text on standard input.' },
      okExitCodes: {
        type: 'array',
        items: { type: 'integer', minimum: 0, maximum: 255 },
        title: 'Good exit codes',
        description: 'Any other exit code is an error `EXIT_<code>`. An empty list accepts every code.',
        default: [0],
        examples: [[0, 1], []],
      },
      maxOutputBytes: {
        ...SIZE_TYPE,
        title: 'Output limit',
        description: 'The maximum size kept of stdout and of stderr each; the program may write more.',
        default: '1MiB',
        examples: ['64KiB'],
      },
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      exitCode: { type: 'integer', title: 'Exit code' },
      stdout: { type: 'string', title: 'Standard output' },
      stderr: { type: 'string', title: 'Standard error' },
      truncated: {
        type: 'boolean',
        title: 'Truncated',
        description: 'True when output beyond the limit was dropped.',
      },
    },
    required: ['exitCode', 'stdout', 'stderr', 'truncated'],
  },
  effect: 'once',
  capabilities: ['shell', 'env'],
  reaches: { shell: ({ program, command }) => program ?? (command === undefined ? undefined : 'sh') },
  async run(ctx, input) {
    const { program, args } = commandOf(input);
    const { cwd, env, stdin, okExitCodes } = input;
    const result = await ctx.shell(program, args, {
      env,
      maxOutputBytes: sizeBytes(input.maxOutputBytes, 'maxOutputBytes'),
      ...(cwd !== undefined && { cwd }),
      ...(stdin !== undefined && { stdin }),
    });
    const { exitCode, stdout, stderr, truncated } = result;
    if (okExitCodes.length > 0 && !okExitCodes.includes(exitCode)) {
      const said = lastLine(stderr) || lastLine(stdout);
      throw new ActionError(`${program} ended with exit code ${exitCode}${said === '' ? '' : `: ${said}`}`, {
        code: `EXIT_${exitCode}`,
        details: { exitCode, stdout: tail(stdout), stderr: tail(stderr) },
      });
    }
    return { exitCode, stdout, stderr, truncated };
  },
});

interface CommandInput {
  readonly program?: string;
  readonly args: readonly string[];
  readonly command?: string;
}

function commandOf({ program, args, command }: CommandInput): {
  readonly program: string;
  readonly args: readonly string[];
} {
  if (program !== undefined && command === undefined) return { program, args };
  if (command !== undefined && program === undefined && args.length === 0)
    return { program: 'sh', args: ['-c', command] };
  throw new ActionError('set either `program` with `args`, or `command`', { code: 'INPUT_INVALID' });
}

function tail(text: string): string {
  return text.length <= MAX_TAIL_CHARS ? text : `…${text.slice(-MAX_TAIL_CHARS)}`;
}

function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf('\n') + 1).slice(0, 500);
}
