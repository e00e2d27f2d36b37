import type { Clock } from '@nebula/ports';
import type { HandedOut } from '../secrets/handed-out.ts';

/** The data that all attempts of one sandbox share. */
export interface Host {
  /** An absolute path. */
  readonly projectDir: string;
  /** An absolute path. No grant reaches it. */
  readonly dataDir?: string;
  /** Returns why no grant gives this access to an absolute path; undefined if one may. */
  readonly reserved?: (path: string, access: 'read' | 'write') => string | undefined;
  /** Credentials that were given to attempts of this process. */
  readonly handedOut: HandedOut;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly env: Readonly<Record<string, string | undefined>>;
}
