/** Records what a program does to the files of a folder: compiles `record.c`, runs the program with it, reads its log. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One record, in the order of the calls. Paths are relative to the recorded folder, which is `''`. */
export type Operation =
  | { readonly kind: 'write'; readonly inode: number; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly inode: number; readonly length: number }
  | { readonly kind: 'sync-begin'; readonly inode: number; readonly sync: number }
  | { readonly kind: 'sync-end'; readonly sync: number }
  /** A sync that a sabotage leaves out. */
  | { readonly kind: 'sync-lost' }
  | { readonly kind: 'create'; readonly inode: number; readonly path: string }
  | { readonly kind: 'mkdir'; readonly inode: number; readonly path: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string }
  | { readonly kind: 'rmdir'; readonly path: string }
  | { readonly kind: 'mark'; readonly text: string };

/** The numbers of `record.c`. */
const KINDS = [
  'none',
  'write',
  'truncate',
  'sync-begin',
  'sync-end',
  'create',
  'mkdir',
  'rename',
  'unlink',
  'rmdir',
  'mark',
  'unknown',
] as const;

const HEADER_BYTES = 32;

/** Undefined if recording is possible here; otherwise the reason why not. */
export function whyNoRecording(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the record is made on Linux, x64';
  if (spawnSync('cc', ['--version']).status !== 0) return 'there is no C compiler (cc)';
  return undefined;
}

export interface RecordedProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** The folder whose files are recorded. It exists, and is empty. */
  readonly folder: string;
  /** Gets the compiled recorder and the log. */
  readonly scratch: string;
}

export interface Recording {
  readonly operations: readonly Operation[];
  readonly log: string;
}

/** Runs a program; what it writes to the file named by `POWER_MARKS` becomes marks. Rejects if the program fails. */
export async function recordProgram({ file, args, folder, scratch }: RecordedProgram): Promise<Recording> {
  mkdirSync(scratch, { recursive: true });
  const log = path.join(scratch, 'operations.log');
  const env = {
    ...process.env,
    LD_PRELOAD: compiledRecorder(scratch),
    POWER_FOLDER: folder,
    POWER_MARKS: path.join(scratch, 'marks'),
    POWER_LOG: log,
    // Writes by io_uring do not pass through the C library.
    UV_USE_IO_URING: '0',
  };
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | string | null>((resolve) => {
    child.on('close', (status, signal) => resolve(status ?? signal));
  });
  if (code !== 0) throw new Error(`The recorded program ended with ${code}: ${stderr}`);
  return { operations: readOperations(log, folder), log };
}

function compiledRecorder(scratch: string): string {
  const library = path.join(scratch, 'record.so');
  if (existsSync(library)) return library;
  const source = path.join(import.meta.dirname, 'record.c');
  const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O2', '-shared', '-fPIC'];
  const built = spawnSync('cc', [...flags, '-o', library, source, '-ldl', '-lpthread'], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`record.c does not compile:\n${built.stderr}`);
  return library;
}

export function readOperations(log: string, folder: string): readonly Operation[] {
  const bytes = readFileSync(log);
  const operations: Operation[] = [];
  const relative = (name: string): string => path.relative(folder, name);
  for (let at = 0; at < bytes.length; ) {
    const kind = KINDS[bytes.readUInt32LE(at)] ?? 'unknown';
    const textLength = bytes.readUInt32LE(at + 4);
    const inode = Number(bytes.readBigUInt64LE(at + 8));
    const offset = Number(bytes.readBigUInt64LE(at + 16));
    const dataLength = Number(bytes.readBigUInt64LE(at + 24));
    const text = bytes.toString('utf8', at + HEADER_BYTES, at + HEADER_BYTES + textLength);
    const data = bytes.subarray(at + HEADER_BYTES + textLength, at + HEADER_BYTES + textLength + dataLength);
    at += HEADER_BYTES + textLength + dataLength;
    const [from = '', to = ''] = text.split('\0');
    switch (kind) {
      case 'write':
        operations.push({ kind, inode, offset, data });
        break;
      case 'truncate':
        operations.push({ kind, inode, length: offset });
        break;
      case 'sync-begin':
        operations.push({ kind, inode, sync: offset });
        break;
      case 'sync-end':
        operations.push({ kind, sync: offset });
        break;
      case 'create':
      case 'mkdir':
        operations.push({ kind, inode, path: relative(text) });
        break;
      case 'rename':
        operations.push({ kind, from: relative(from), to: relative(to) });
        break;
      case 'unlink':
      case 'rmdir':
        operations.push({ kind, path: relative(text) });
        break;
      case 'mark':
        operations.push({ kind, text: data.toString('utf8') });
        break;
      default:
        throw new Error(`The recorded program called ${text}, which the record cannot express.`);
    }
  }
  return operations;
}
