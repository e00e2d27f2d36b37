/**
 * Whether the database is still the file that was opened. One that was deleted, or that another was moved over, can be
 * written to for as long as the process lives, and all of it is lost then: nothing but the file's name tells.
 */
import { statSync } from 'node:fs';

export class FileWatch {
  readonly #path: string;
  readonly #identity: string | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#identity = identityOf(path);
  }

  /** 3 µs. */
  isGone(): boolean {
    return identityOf(this.#path) !== this.#identity;
  }
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
