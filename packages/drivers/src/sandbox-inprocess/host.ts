import type { Clock } from '@nebula/ports';
import type { HandedOut } from '../secrets/handed-out.ts';

/** Shared by all attempts of one sandbox. */
export interface Host {
  /** Absolute. */
  readonly projectDir: string;
  /** Absolute. No grant reaches it. */
  readonly dataDir?: string;
  /** Says of an absolute path why no grant reaches it; undefined when one may. */
  readonly reserved?: (path: string) => string | undefined;
  /** Credentials that attempts of this process were given. */
  readonly handedOut: HandedOut;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly env: Readonly<Record<string, string | undefined>>;
}
