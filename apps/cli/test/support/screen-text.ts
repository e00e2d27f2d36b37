/** An output that remembers what was written to it, and the world of a command around it. */
import picocolors from 'picocolors';
import type { Io, Output } from '../../src/terminal/io.ts';

export interface MemoryOutput extends Output {
  text(): string;
  lines(): string[];
  resize(columns: number, rows: number): void;
}

export function memoryOutput(
  options: { live?: boolean; colours?: boolean; columns?: number; rows?: number } = {},
): MemoryOutput {
  let text = '';
  let [columns, rows] = [options.columns ?? 80, options.rows ?? 24];
  const listeners = new Set<() => void>();
  return {
    write: (more) => {
      text += more;
    },
    live: options.live ?? false,
    colors: picocolors.createColors(options.colours ?? false),
    columns: () => columns,
    rows: () => rows,
    onResize(callback) {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    text: () => text,
    lines: () => text.replace(/\n$/, '').split('\n'),
    resize(newColumns, newRows) {
      [columns, rows] = [newColumns, newRows];
      for (const listener of listeners) listener();
    },
  };
}

export interface MemoryIo extends Io {
  readonly out: MemoryOutput;
  readonly err: MemoryOutput;
}

export function memoryIo(
  options: Partial<Pick<Io, 'cwd' | 'env' | 'now'>> & {
    stdin?: string | Uint8Array;
    /** The answer of the user at the terminal. */
    answer?: string;
    out?: MemoryOutput;
    err?: MemoryOutput;
  } = {},
): MemoryIo {
  return {
    out: options.out ?? memoryOutput(),
    err: options.err ?? memoryOutput(),
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    now: options.now ?? (() => 1_000_000),
    readStdin: async () => Buffer.from(options.stdin ?? ''),
    user: () => 'ann',
    ask: options.answer === undefined ? undefined : async () => options.answer as string,
  };
}
