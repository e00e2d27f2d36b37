/** The entry point: runs the program and turns thrown values into a message and an exit code. */
import { writeSync } from 'node:fs';
import { EXIT } from './exit-code.ts';
import { exitedFailure, type Failure, failureDocument, failureOf, uncaughtFailureOf } from './failure.ts';
import type { Context, Services } from './services.ts';
import { concealed } from './terminal/concealed.ts';
import { type Io, processIo, watchStreams } from './terminal/io.ts';
import { farewell, guardExit, leave } from './terminal/leave.ts';
import { printable } from './terminal/width.ts';
import { errorLines } from './views/error.ts';

export async function main(argv: readonly string[]): Promise<void> {
  watchStreams();
  if (argv.includes('--no-color')) process.env.NO_COLOR = '1';
  const io = processIo();
  // Unhandled rejections arrive here, too, except those of actions, which the sandbox contains.
  process.on('uncaughtException', (error) => leaveAtOnce(io, argv, error));
  // Completion prints no errors.
  if (argv[0] !== '__complete') {
    guardExit((resumeCommand) => {
      process.exitCode = tell(atExit(io), argv, exitedFailure(resumeCommand));
    });
  }
  process.exitCode = await runCommandLine({ io, services: lazyServices(io), program: programName(io.env) }, argv);
  farewell();
  // A timer or socket that an action left open must not keep a finished command alive.
  setTimeout(() => process.stdout.write('', () => process.exit()), LEFT_OPEN_MS).unref();
}

const LEFT_OPEN_MS = 200;

/** Never rejects: prints errors and resolves to the exit code. */
export async function runCommandLine(context: Context, argv: readonly string[]): Promise<number> {
  if (argv[0] === '__complete') {
    const { completeWords } = await import('./completion/complete.ts');
    return await completeWords(context, argv.slice(1));
  }
  try {
    const { runProgram } = await import('./program.ts');
    return await runProgram(context, argv);
  } catch (error) {
    if (isCommanderError(error)) {
      if (error.exitCode === 0) return EXIT.completed;
      const { usageFailure } = await import('./program.ts');
      const usage = { code: 'USAGE', ...usageFailure(error, context.program, argv) };
      return tell(context.io, argv, { ...usage, exitCode: EXIT.invalid, preface: [], details: undefined });
    }
    return tell(context.io, argv, failureOf(error, isDebugging(context.io, argv)));
  }
}

function isCommanderError(error: unknown): error is import('commander').CommanderError {
  return (
    error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.')
  );
}

function tell(io: Io, argv: readonly string[], failure: Failure): number {
  for (const line of [...failure.preface, ...errorLines(failure, io.err.colors)]) io.err.write(`${concealed(line)}\n`);
  if (argv.includes('--json')) {
    io.out.write(`${printable(concealed(JSON.stringify(failureDocument(failure), null, 2)))}\n`);
  }
  return failure.exitCode;
}

/** Writes synchronously: asynchronous writes are lost while the process exits. */
function atExit(io: Io): Io {
  const written = (fd: number, text: string): void => {
    try {
      writeSync(fd, text);
    } catch {
      // The reader has closed the pipe.
    }
  };
  return {
    ...io,
    out: { ...io.out, write: (text) => written(1, text) },
    err: { ...io.err, write: (text) => written(2, text) },
  };
}

function leaveAtOnce(io: Io, argv: readonly string[], error: unknown): void {
  leave(tell(io, argv, uncaughtFailureOf(error, isDebugging(io, argv))));
}

function isDebugging(io: Io, argv: readonly string[]): boolean {
  return argv.includes('--debug') || (io.env.NEBULA_DEBUG !== undefined && io.env.NEBULA_DEBUG !== '');
}

/** Variables of npm mean `npx nebula` or `npm start`, where `nebula` itself may not be on the path. */
function programName(env: Io['env']): string {
  return env.npm_command === undefined && env.npm_execpath === undefined ? 'nebula' : 'npx nebula';
}

/** Loads the composition root when a command first uses a service. */
function lazyServices(io: Io): Services {
  const real = async (): Promise<Services> => (await import('./compose/services.ts')).composeServices(io);
  return {
    openProject: async (options) => (await real()).openProject(options),
    actions: async (project) => (await real()).actions(project),
    checks: async (project) => (await real()).checks(project),
    sandbox: async (project) => (await real()).sandbox(project),
    rotateKey: async (project) => (await real()).rotateKey(project),
    backups: {
      verify: async (...given) => (await real()).backups.verify(...given),
      restore: async (...given) => (await real()).backups.restore(...given),
    },
    openApi: async (project, purpose, how) => (await real()).openApi(project, purpose, how),
    openServer: async (project, options) => (await real()).openServer(project, options),
    engineHolder: async (project) => (await real()).engineHolder(project),
  };
}
