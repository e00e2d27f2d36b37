/**
 * SHA-256, SHA-1 and HMAC for expressions, which are evaluated synchronously, also in browsers, where the host's digests
 * are asynchronous. About 100 MB/s; larger data belongs into an action.
 */
import type { CHash } from '@noble/hashes/utils.js';
import { loadModule } from './on-demand.ts';

export type Algorithm = 'sha256' | 'sha1';

export function digest(algorithm: Algorithm, bytes: Uint8Array): Uint8Array {
  return hashOf(algorithm)(bytes);
}

export function hmac(algorithm: Algorithm, key: Uint8Array, message: Uint8Array): Uint8Array {
  return loadModule<typeof import('@noble/hashes/hmac.js')>('@noble/hashes/hmac.js').hmac(
    hashOf(algorithm),
    key,
    message,
  );
}

function hashOf(algorithm: Algorithm): CHash {
  return algorithm === 'sha1'
    ? loadModule<typeof import('@noble/hashes/legacy.js')>('@noble/hashes/legacy.js').sha1
    : loadModule<typeof import('@noble/hashes/sha2.js')>('@noble/hashes/sha2.js').sha256;
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
