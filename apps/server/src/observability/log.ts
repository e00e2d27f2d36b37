/** The server's log: one JSON object per line on stderr, or readable lines on a terminal. */
import { NebulaError } from '@nebula/core';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  /** Default: `warn`. */
  readonly level?: LogLevel;
  /** Removes secrets that were handed out in this process. */
  conceal?(text: string): string;
  readonly stream?: DestinationStream & { readonly isTTY?: boolean };
}

export type Log = Logger;

const REDACTED = '[redacted]';
/** Names of members that hold credentials, at any depth. */
const PRIVATE =
  /^(proxy-)?authorization$|^(set-)?cookie$|pass(word|phrase)|secret|(^|[-_])token$|Token$|api[-_]?key|csrf|^credentials?$/i;
const MAX_DEPTH = 6;
const MAX_TEXT_CHARS = 10_000;

export function createLog({ level = 'warn', conceal = (text) => text, stream = process.stderr }: LogOptions): Log {
  const destination = stream.isTTY === true ? { write: (line: string) => stream.write(readableLine(line)) } : stream;
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => cleaned(fields, conceal, 0) as Record<string, unknown>,
      },
      hooks: {
        logMethod(args, method) {
          method.apply(this, args.map((arg) => (typeof arg === 'string' ? conceal(arg) : arg)) as typeof args);
        },
      },
    },
    destination,
  );
}

/** An error as fields of a log line. Errors without a code are unexpected and keep their stack. */
export function errorFields(error: unknown): {
  readonly code: string;
  readonly error: string;
  readonly stack?: string | undefined;
} {
  if (error instanceof NebulaError) {
    const { code, message, hint, cause } = error;
    return {
      code,
      error: message,
      ...(hint !== undefined && { hint }),
      ...(cause instanceof Error && { cause: cause.message }),
    };
  }
  if (!(error instanceof Error)) return { code: 'INTERNAL', error: String(error) };
  const { code } = error as Error & { code?: unknown };
  return { code: typeof code === 'string' ? code : 'INTERNAL', error: error.message, stack: error.stack };
}

function cleaned(value: unknown, conceal: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return conceal(value).slice(0, MAX_TEXT_CHARS);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (value instanceof Error) return cleaned(errorFields(value), conceal, depth);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, conceal, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      PRIVATE.test(key) ? REDACTED : cleaned(member, conceal, depth + 1),
    ]),
  );
}

/** `12:30:01 error The store … code=STORE_BUSY`. Control characters are replaced, so no text can move the cursor. */
function readableLine(line: string): string {
  const { level, time, msg, pid: _, stack, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const words = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const text = [String(time).slice(11, 19), String(level).padEnd(5), String(msg ?? ''), ...words].join(' ');
  const more = typeof stack === 'string' ? `\n${stack}` : '';
  return `${printable(text + more)}\n`;
}

function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must not reach a terminal
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}
