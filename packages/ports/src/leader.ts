/**
 * Leader election: one of many processes fires schedules, for example.
 *
 *  L1 At most one candidate of a name leads at a time, as far as it can know. Work that must not be done twice is fenced
 *     besides, by revisions or ids.
 *  L2 While candidates campaign, one of them leads, or soon will.
 */
export interface Campaign {
  readonly isLeader: boolean;
  /**
   * Ends the candidacy, and the leadership with it. `onChange` is not called afterwards. A second call has no effect.
   */
  resign(): Promise<void>;
}

export interface Leader {
  /**
   * Calls `onChange`, which must not throw, on every change of `isLeader`, first after `campaign` has returned. Losing
   * the leadership is a normal outcome: the campaign continues until it resigns.
   */
  campaign(name: string, onChange: (isLeader: boolean) => void): Campaign;
}
