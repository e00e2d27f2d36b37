/** Input and output of a command. Passed in, so that commands can be tested without a process. */
import { userInfo } from 'node:os';
import picocolors from 'picocolors';
import { EXIT } from '../exit-code.ts';
import { leave } from './leave.ts';

export type Colors = ReturnType<typeof picocolors.createColors>;

export interface Output {
  write(text: string): void;
  /** A terminal on which the cursor may be moved. */
  readonly live: boolean;
  readonly colors: Colors;
  columns(): number;
  rows(): number;
  onResize(callback: () => void): () => void;
}

/** The properties of an output that views depend on. */
export interface View {
  readonly colors: Colors;
  readonly width: number;
}

/** Lines are cut on a terminal only. */
export function readingWidth(output: Output): number {
  return output.live ? output.columns() : Number.POSITIVE_INFINITY;
}

export interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  now(): number;
  readStdin(): Promise<Uint8Array>;
  /** The name of the user. */
  user(): string;
  /** Asks the user; undefined when stdin or stderr is not a terminal. */
  readonly ask: ((question: string, options?: { readonly hidden?: boolean }) => Promise<string>) | undefined;
}

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * NO_COLOR wins over FORCE_COLOR; a dumb terminal has no colours; otherwise a terminal has colours and a pipe has none.
 */
export function wantsColours(env: Environment, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '')
    return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

export function processIo(): Io {
  return {
    out: streamOutput(process.stdout, process.env),
    err: streamOutput(process.stderr, process.env),
    env: withoutKeys(process.env),
    cwd: process.cwd(),
    now: () => Date.now(),
    readStdin,
    user: () => userName(process.env),
    ask: process.stdin.isTTY === true && process.stderr.isTTY === true ? askTerminal : undefined,
  };
}

/**
 * A copy of the environment. The keys of secrets, and the token of the scraper, are deleted from `process.env`, so neither an action nor a program that
 * it starts can read them there.
 */
function withoutKeys(env: NodeJS.ProcessEnv): Environment {
  const given = { ...env };
  for (const name of KEY_VARIABLES) delete env[name];
  return given;
}

export const KEY_VARIABLES: readonly string[] = [
  'NEBULA_SECRETS_KEY',
  'NEBULA_SECRETS_NEXT_KEY',
  'NEBULA_METRICS_TOKEN',
];

/** `userInfo` throws for a user without an entry in the password file, e.g. in a container. */
function userName(env: Environment): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? env.USERNAME ?? 'unknown';
  }
}

/** `hidden`: input is not echoed. Rejects with `INTERRUPTED` on Ctrl-C and Ctrl-D. */
async function askTerminal(question: string, { hidden = false } = {}): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const { Writable } = await import('node:stream');
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden ? nowhere : process.stderr, terminal: true });
  const leaving = new AbortController();
  for (const event of ['SIGINT', 'close'] as const) lines.once(event, () => leaving.abort());
  if (hidden) process.stderr.write(question);
  try {
    return await lines.question(question, { signal: leaving.signal });
  } catch (error) {
    throw leaving.signal.aborted ? interrupted() : error;
  } finally {
    lines.close();
    if (hidden) process.stderr.write('\n');
  }
}

function interrupted(): Error {
  const words = { code: 'INTERRUPTED', hint: 'nothing was changed', exitCode: EXIT.interrupted };
  return Object.assign(new Error('the question was not answered'), words);
}

function streamOutput(stream: NodeJS.WriteStream, env: Environment): Output {
  const isTerminal = stream.isTTY === true;
  // Bound now, before `captureForeignOutput` replaces `write`: our own text is not captured.
  const write = stream.write.bind(stream);
  return {
    write: (text) => {
      write(text);
    },
    live: isTerminal && env.TERM !== 'dumb',
    colors: picocolors.createColors(wantsColours(env, isTerminal)),
    columns: () => stream.columns || Number(env.COLUMNS) || DEFAULT_COLUMNS,
    rows: () => stream.rows || DEFAULT_ROWS,
    onResize(callback) {
      stream.on('resize', callback);
      return () => stream.off('resize', callback);
    },
  };
}

async function readStdin(): Promise<Uint8Array> {
  const { DEFINITION_LIMITS, formatSize, NebulaError } = await import('@nebula/core');
  const limit = DEFINITION_LIMITS.maxSourceBytes;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit)
      throw new NebulaError('TOO_LARGE', `stdin has more than ${formatSize(limit)}, which is the limit`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

let needed = 0;

/** Until the returned function is called, a closed pipe does not end the process: a run must survive it. */
export function outliveReaders(): () => void {
  needed++;
  return () => {
    needed--;
  };
}

/**
 * A closed reader (`nebula … | head`, a closed terminal) ends the command without an error. Any other error of stdout is
 * reported once nothing runs any more; an error of stderr cannot be reported.
 */
export function watchStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (needed > 0) return;
      const isReaderGone = error.code === 'EPIPE' || (error.code === 'EIO' && stream.isTTY);
      if (isReaderGone) leave(process.exitCode ?? 0);
      if (stream === process.stdout) throw outputFailure(error);
    });
  }
}

function outputFailure(error: Error): Error {
  const words = { code: 'OUTPUT_FAILED', hint: 'the output is incomplete', exitCode: EXIT.failed };
  return Object.assign(new Error(`stdout cannot be written: ${error.message}`, { cause: error }), words);
}
