/**
 * The memory of bodies that are being received.
 *
 *  1 Bytes count when they arrive: a declared length reserves nothing.
 *  2 The first `freeBytes` of every body do not count, so small requests are never refused for others. The number of
 *    connections bounds them.
 *  3 A caller holds at most half of what the others leave, so no number of callers leaves nothing to the next one.
 */
import { Readable } from 'node:stream';
import { NebulaError } from '@nebula/core';

export class BodyMemory {
  readonly #maxBytes: number;
  readonly #byCaller = new Map<string, number>();
  #takenBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns false, and takes nothing, if the caller would hold too much. */
  take(caller: string, bytes: number): boolean {
    const own = this.#byCaller.get(caller) ?? 0;
    const others = this.#takenBytes - own;
    if (own + bytes > Math.ceil((this.#maxBytes - others) / 2)) return false;
    this.#byCaller.set(caller, own + bytes);
    this.#takenBytes += bytes;
    return true;
  }

  release(caller: string, bytes: number): void {
    const left = (this.#byCaller.get(caller) ?? 0) - bytes;
    if (left > 0) this.#byCaller.set(caller, left);
    else this.#byCaller.delete(caller);
    this.#takenBytes -= bytes;
  }
}

export interface BodyRoom {
  readonly memory: BodyMemory;
  readonly caller: string;
  readonly freeBytes: number;
  readonly maxBytes: number;
}

const FIRST_BYTES = 4_096;

/**
 * Gathers a body into one buffer and hands it on when it is complete: a body that arrives byte by byte would otherwise
 * hold an object of 200 bytes for each of them.
 */
export class GatheredBody extends Readable {
  readonly #source: Readable;
  readonly #room: BodyRoom;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  #counted = 0;
  #isReading = false;

  constructor(source: Readable, room: BodyRoom) {
    super();
    this.#source = source;
    this.#room = room;
  }

  /** The memory is free, and no longer counts. */
  release(): void {
    const { memory, caller } = this.#room;
    memory.release(caller, this.#counted);
    this.#counted = 0;
    this.#bytes = Buffer.alloc(0);
  }

  override _read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#source.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // The listener for errors stays: a connection may break after the refusal.
    this.#source.off('data', this.#onData).off('end', this.#onEnd);
    done(error);
  }

  readonly #onError = (error: Error): void => void this.destroy(error);

  readonly #onEnd = (): void => {
    this.push(this.#bytes.subarray(0, this.#length));
    this.push(null);
  };

  readonly #onData = (chunk: Buffer): void => {
    const { memory, caller, freeBytes, maxBytes } = this.#room;
    const length = this.#length + chunk.length;
    if (length > maxBytes) return void this.destroy(tooLarge());
    const more = Math.max(0, length - freeBytes) - this.#counted;
    if (more > 0 && !memory.take(caller, more)) return void this.destroy(tooBusy());
    this.#counted += more;
    this.#grow(length);
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  };

  #grow(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.min(this.#room.maxBytes, Math.max(length, 2 * this.#bytes.length)));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

export function tooLarge(): NebulaError {
  return new NebulaError('TOO_LARGE', 'The body is larger than this server accepts.', {
    hint: 'Raise `server.bodyLimit` in the configuration, or pass the data as a file or a link.',
  });
}

function tooBusy(): NebulaError {
  return new NebulaError('BUSY', 'Too many large requests are in progress.', { hint: 'Try again.', retryable: true });
}
