/**
 * SHA-256, SHA-1 and HMAC for expressions, which are evaluated synchronously, also in browsers, where the host's digests
 * are asynchronous. About 100 MB/s; larger data belongs into an action.
 */
import { hmac as keyed } from '@noble/hashes/hmac.js';
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';

export { bytesToHex as hexOf, utf8ToBytes as utf8 } from '@noble/hashes/utils.js';

const ALGORITHMS = { sha256, sha1 };

export type Algorithm = keyof typeof ALGORITHMS;

export function digest(algorithm: Algorithm, bytes: Uint8Array): Uint8Array {
  return ALGORITHMS[algorithm](bytes);
}

export function hmac(algorithm: Algorithm, key: Uint8Array, message: Uint8Array): Uint8Array {
  return keyed(ALGORITHMS[algorithm], key, message);
}
