/** Counts followers, in total and per caller. */
import { NebulaError } from '@nebula/core';
import type { EventStream } from '../http/handler.ts';
import type { Principal } from '../identity/principal.ts';
import { LIVE_LIMITS } from '../limits.ts';

type FollowerLimits = { readonly [K in 'maxFollowers' | 'maxFollowersPerCaller']: number };

export class Followers {
  readonly #limits: FollowerLimits;
  readonly #byCaller = new Map<string, number>();
  #count = 0;

  constructor(limits: FollowerLimits = LIVE_LIMITS) {
    this.#limits = limits;
  }

  /** Counts one follower until the stream ends. Throws `TOO_MANY_FOLLOWERS`. */
  count({ kind, name }: Principal, stream: EventStream): EventStream {
    const caller = `${kind} ${name}`;
    const own = this.#byCaller.get(caller) ?? 0;
    if (this.#count >= this.#limits.maxFollowers || own >= this.#limits.maxFollowersPerCaller) {
      throw new NebulaError('TOO_MANY_FOLLOWERS', 'Too many streams are open.', {
        hint: 'Close some, or follow several runs over one WebSocket.',
      });
    }
    this.#count++;
    this.#byCaller.set(caller, own + 1);
    const leave = (): void => {
      this.#count--;
      const left = (this.#byCaller.get(caller) ?? 1) - 1;
      if (left > 0) this.#byCaller.set(caller, left);
      else this.#byCaller.delete(caller);
    };
    return counted(stream, leave);
  }
}

/** Releases a stream that is cancelled before its first read, too. */
function counted(stream: EventStream, leave: () => void): EventStream {
  return {
    [Symbol.asyncIterator]() {
      const inner = stream[Symbol.asyncIterator]();
      let isOver = false;
      const over = (): void => {
        if (!isOver) leave();
        isOver = true;
      };
      return {
        async next() {
          try {
            const result = await inner.next();
            if (result.done) over();
            return result;
          } catch (error) {
            over();
            throw error;
          }
        },
        async return() {
          over();
          await inner.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
