import type { Clock } from '@nebula/ports';

/** What the attempts of one sandbox share. */
export interface Host {
  /** Absolute. */
  readonly projectDir: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly env: Readonly<Record<string, string | undefined>>;
}
