/** Leases of workers: one for each engine process, and one for each attempt that a remote worker holds. */

export interface WorkerLease {
  readonly worker: string;
  readonly expiresAt: number;
}

export interface Workers {
  /** Creates or extends leases. A call of its own, never combined with `reapWorkers`, so that nothing slow delays it. */
  heartbeat(leases: readonly WorkerLease[]): Promise<void>;
  /** The subset of these workers whose lease is valid at `now`. */
  liveWorkers(workers: readonly string[], now: number): Promise<ReadonlySet<string>>;
  /**
   * Deletes workers whose lease has passed, never `except`, and makes all unfinished executions that they owned due at
   * `wakeAt`. Returns the number of deleted workers. With `processes`, workers whose name begins so are deleted whatever
   * their lease says, and every owner but `except` counts as dead: for an engine that is alone on the store.
   */
  reapWorkers(now: number, except: string, wakeAt: number, processes?: string): Promise<number>;
}
