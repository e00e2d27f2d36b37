/** A key, its id and its use: AES-256-GCM with a fresh nonce for each value. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { NebulaError } from '@nebula/core';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_TEXT = /^[A-Za-z0-9+/_-]{43}=?$/;

export class SealingKey {
  /** Identifies the key without revealing anything about it. */
  readonly id: string;
  readonly #bytes: Uint8Array;

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.id = createHmac('sha256', bytes).update('nebula secrets key').digest('hex').slice(0, 16);
  }

  /** `place` names the source of the text, for the error. */
  static parse(text: string, source: string): SealingKey {
    const trimmed = text.trim();
    if (KEY_TEXT.test(trimmed)) return new SealingKey(Buffer.from(trimmed, 'base64'));
    throw new NebulaError('SECRETS_KEY_INVALID', `${source} holds no key`, {
      hint: `A key is ${KEY_BYTES} bytes in base64: openssl rand -base64 ${KEY_BYTES}`,
    });
  }

  /** A new key as text, for the key file. */
  static newText(): string {
    return `${randomBytes(KEY_BYTES).toString('base64')}\n`;
  }

  /** The name is sealed with the value, so that no secret can be given the value of another. */
  seal(name: string, value: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#bytes, nonce).setAAD(Buffer.from(name));
    const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64');
  }

  /** Returns undefined if the text was not sealed by this key for this name, or was changed since. */
  open(name: string, text: string): string | undefined {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#bytes, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch {
      return undefined;
    }
  }
}
