import type { Clock } from '@nebula/ports';

/** What the attempts of one sandbox share. */
export interface Host {
  /** Absolute. */
  readonly projectDir: string;
  /** Absolute. Files of secrets in it are reached by no grant. */
  readonly dataDir?: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly env: Readonly<Record<string, string | undefined>>;
}
