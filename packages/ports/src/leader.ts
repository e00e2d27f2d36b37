/**
 * Who of many may do what only one should: fire schedules, for example.
 *
 *  L1 Of all who campaign under a name at most one leads at a time, as far as it can know; work that must not be done
 *     twice is fenced besides, by revisions or ids.
 *  L2 While somebody campaigns, somebody leads, or soon will.
 */
export interface Campaign {
  readonly isLeader: boolean;
  /** Gives the place up, or the wish for it. Nothing is told afterwards. May be called twice. */
  resign(): Promise<void>;
}

export interface Leader {
  /**
   * `onChange` is told of every change of `isLeader`, the first time after `campaign` has returned; it does not throw.
   * Losing the place is a normal outcome: the campaign goes on until it resigns.
   */
  campaign(name: string, onChange: (isLeader: boolean) => void): Campaign;
}
