/**
 * Detects that the database file was deleted or replaced. The process could still write to the old file, and everything
 * would be lost with the process: only the file's name tells.
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
