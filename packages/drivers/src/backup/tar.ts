/**
 * Writes and reads tar archives, as far as backups use the format: regular files, with a pax header before a file whose
 * name or size does not fit. A backup is a tar so that it can be streamed, and opened without Nebula. Node has no tar;
 * these are the few lines that are needed, with every length checked.
 */
import { NebulaError } from '@nebula/core';

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
const MAX_OCTAL_BYTES = 8 ** 11 - 1;
/** The longest name is `blobs/`, 255 characters, `/` and 64 digits. */
const MAX_PAX_BYTES = 4096;
/** Written as the time of each file, so that equal content gives equal bytes. */
const NO_TIME = 0;

export const END_OF_TAR = new Uint8Array(2 * BLOCK_BYTES);

/** The blocks before the content of a file. */
export function tarHeader(name: string, bytes: number): Uint8Array {
  const fits = Buffer.byteLength(name) <= MAX_NAME_BYTES && bytes <= MAX_OCTAL_BYTES;
  if (fits) return header(name, bytes, '0');
  const records = Buffer.from(paxRecord('path', name) + paxRecord('size', String(bytes)));
  const pax = [header('pax', records.length, 'x'), records, tarPadding(records.length)];
  return Buffer.concat([...pax, header('long', Math.min(bytes, MAX_OCTAL_BYTES), '0')]);
}

/** The zeros after the content of a file. */
export function tarPadding(bytes: number): Uint8Array {
  return new Uint8Array((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (String(length).length + Buffer.byteLength(rest) !== length) {
    length = String(length).length + Buffer.byteLength(rest);
  }
  return `${length}${rest}`;
}

function header(name: string, bytes: number, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number): void => {
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  };
  block.write(name, 0, 'utf8');
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(NO_TIME, 136, 12);
  block.write(type, 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  octal(checksumOf(block), 148, 7);
  block.write(' ', 155, 'latin1');
  return block;
}

/** The sum of all bytes, with spaces in the place of the sum. */
function checksumOf(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < BLOCK_BYTES; at++) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}

export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
  /** Must be read to its end before the next entry is taken. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Throws `BACKUP_INVALID` for anything that `tarHeader` does not write, and `BACKUP_INCOMPLETE` where the bytes end early. */
export async function* tarEntries(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const reader = new ByteReader(source);
  for (let isFirst = true; ; isFirst = false) {
    const block = await reader.take(BLOCK_BYTES).catch((error: unknown) => {
      throw isFirst ? notATar() : error;
    });
    const first = parsed(block);
    if (first === undefined) return await expectEnd(reader);
    const pax = first.type === 'x' ? await readPax(reader, first.bytes) : undefined;
    const head = pax === undefined ? first : parsed(await reader.take(BLOCK_BYTES));
    if (head === undefined || head.type !== '0') throw notATar();
    const { name, bytes } = pax ?? head;
    let left = bytes;
    const content = async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const piece = await reader.some(left);
        left -= piece.length;
        yield piece;
      }
    };
    yield { name, bytes, content: content() };
    if (left > 0) throw new Error('invariant broken: the content of an entry is read before the next one');
    await reader.take(tarPadding(bytes).length);
  }
}

interface Head {
  readonly name: string;
  readonly bytes: number;
  readonly type: string;
}

/** Undefined: a block of zeros, the end of the archive. */
function parsed(block: Buffer): Head | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  const field = (at: number, length: number): string => block.toString('utf8', at, at + length).split('\0')[0] ?? '';
  const octal = (at: number, length: number): number => {
    const text = field(at, length).trim();
    return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
  };
  const bytes = octal(124, 12);
  if (field(257, 6) !== 'ustar' || octal(148, 8) !== checksumOf(block) || Number.isNaN(bytes)) throw notATar();
  return { name: field(0, MAX_NAME_BYTES), bytes, type: String.fromCharCode(block[156] ?? 0) };
}

async function readPax(reader: ByteReader, bytes: number): Promise<{ readonly name: string; readonly bytes: number }> {
  if (bytes > MAX_PAX_BYTES) throw notATar();
  const text = (await reader.take(bytes)).toString('utf8');
  await reader.take(tarPadding(bytes).length);
  const match = /^\d+ path=([^\n]+)\n\d+ size=(\d{1,15})\n$/.exec(text);
  if (match === null) throw notATar();
  return { name: match[1] as string, bytes: Number(match[2]) };
}

/** The second block of zeros, and nothing after it. */
async function expectEnd(reader: ByteReader): Promise<void> {
  const block = await reader.take(BLOCK_BYTES);
  if (block.some((byte) => byte !== 0) || !(await reader.isAtEnd())) throw notATar();
}

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#source.next();
      if (done === true) return true;
      this.#rest = value;
    }
    return false;
  }

  /** At least one byte, and at most `limit`. */
  async some(limit: number): Promise<Uint8Array> {
    if (await this.isAtEnd()) throw cutOff();
    const piece = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async take(bytes: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for (let left = bytes; left > 0; ) {
      const piece = await this.some(left);
      left -= piece.length;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}

function notATar(): NebulaError {
  return new NebulaError('BACKUP_INVALID', 'The file is not a backup of Nebula, or is damaged.', {
    hint: 'Give a file that `nebula backup` has written, as it was written.',
  });
}

export function cutOff(): NebulaError {
  return new NebulaError(
    'BACKUP_INCOMPLETE',
    'The backup ends too early: it was interrupted, or the file was cut off.',
    {
      hint: 'Use another backup. This one cannot be restored.',
    },
  );
}
