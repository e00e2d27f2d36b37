/**
 * SHA-256, SHA-1 and HMAC in plain JavaScript. Expressions are evaluated synchronously, also in browsers, which have
 * asynchronous digests only. About 100 MB/s; hash larger data in an action.
 */
export type Algorithm = 'sha256' | 'sha1';

const BLOCK_BYTES = 64;
const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The differences between the two algorithms: initial hash, message schedule and compression. */
interface Rounds {
  readonly start: Int32Array;
  readonly count: number;
  /** Computes word `t` (16 or more) of the message schedule from the words before it. */
  word(words: Int32Array, t: number): number;
  compress(hash: Int32Array, words: Int32Array): void;
}

export function digest(algorithm: Algorithm, bytes: Uint8Array): Uint8Array {
  const { start, count, word, compress } = algorithm === 'sha256' ? SHA_256 : SHA_1;
  const view = padded(bytes);
  const hash = Int32Array.from(start);
  const words = new Int32Array(count);
  for (let offset = 0; offset < view.byteLength; offset += BLOCK_BYTES) {
    for (let t = 0; t < 16; t++) words[t] = view.getInt32(offset + t * 4);
    for (let t = 16; t < count; t++) words[t] = word(words, t);
    compress(hash, words);
  }
  return bytesOf(hash);
}

/** RFC 2104. */
export function hmac(algorithm: Algorithm, key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? digest(algorithm, key) : key);
  const inner = joined(
    block.map((byte) => byte ^ 0x36),
    message,
  );
  return digest(
    algorithm,
    joined(
      block.map((byte) => byte ^ 0x5c),
      digest(algorithm, inner),
    ),
  );
}

export function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** The message, a 1 bit, zeros, and the length in bits. */
function padded(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES;
  const buffer = new Uint8Array(length);
  buffer.set(bytes);
  buffer[bytes.length] = 0x80;
  const view = new DataView(buffer.buffer);
  view.setUint32(length - 8, Math.floor((bytes.length * 8) / 2 ** 32));
  view.setUint32(length - 4, (bytes.length * 8) >>> 0);
  return view;
}

function bytesOf(words: Int32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, index) => {
    view.setInt32(index * 4, word);
  });
  return new Uint8Array(view.buffer);
}

/**
 * The first 32 bits of the fractional parts of the cube roots (constants) and square roots (initial hash) of the first
 * primes.
 */
const PRIMES = primes(64);
const CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START_256 = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

function right(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function add(hash: Int32Array, words: readonly number[]): void {
  for (let index = 0; index < words.length; index++) hash[index] = (hash[index] as number) + (words[index] as number);
}

function compress256(hash: Int32Array, words: Int32Array): void {
  // Not destructured: an iterator per block would cost more than the block.
  let a = hash[0] as number;
  let b = hash[1] as number;
  let c = hash[2] as number;
  let d = hash[3] as number;
  let e = hash[4] as number;
  let f = hash[5] as number;
  let g = hash[6] as number;
  let h = hash[7] as number;
  for (let t = 0; t < 64; t++) {
    const s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + (CONSTANTS[t] as number) + (words[t] as number)) | 0;
    const s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + s0 + majority) | 0;
  }
  add(hash, [a, b, c, d, e, f, g, h]);
}

const START_1 = Int32Array.from([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
const CONSTANTS_1 = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6] as const;

function compress1(hash: Int32Array, words: Int32Array): void {
  let a = hash[0] as number;
  let b = hash[1] as number;
  let c = hash[2] as number;
  let d = hash[3] as number;
  let e = hash[4] as number;
  for (let t = 0; t < 80; t++) {
    const part = Math.floor(t / 20);
    const mixed = part === 0 ? (b & c) | (~b & d) : part === 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
    const next = (right(a, 27) + mixed + e + (CONSTANTS_1[part] as number) + (words[t] as number)) | 0;
    e = d;
    d = c;
    c = right(b, 2);
    b = a;
    a = next;
  }
  add(hash, [a, b, c, d, e]);
}

const SHA_256: Rounds = { start: START_256, count: 64, word: word256, compress: compress256 };
const SHA_1: Rounds = { start: START_1, count: 80, word: word1, compress: compress1 };

function word256(words: Int32Array, t: number): number {
  const w2 = words[t - 2] as number;
  const w15 = words[t - 15] as number;
  const s1 = right(w2, 17) ^ right(w2, 19) ^ (w2 >>> 10);
  const s0 = right(w15, 7) ^ right(w15, 18) ^ (w15 >>> 3);
  return s1 + (words[t - 7] as number) + s0 + (words[t - 16] as number);
}

function word1(words: Int32Array, t: number): number {
  const mixed =
    (words[t - 3] as number) ^ (words[t - 8] as number) ^ (words[t - 14] as number) ^ (words[t - 16] as number);
  return right(mixed, 31);
}
