/**
 * Detects that the database file was deleted or replaced. The process could still write to the old file, but everything
 * would be lost when it ends: only the name of the file shows it.
 */
import { statSync } from 'node:fs';

export class FileWatch {
  readonly #path: string;
  readonly #identity: string | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#identity = identityOf(path);
  }

  /** Takes 3 µs. */
  isGone(): boolean {
    return identityOf(this.#path) !== this.#identity;
  }
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
