/** The steps of the tour, and the one that a run has reached. */
export const TOUR_WORKFLOW = 'order-fulfilment';
export const TOUR_NODE = 'charge';
export const DECLINED_CARD = 'declined';
export const GOOD_CARD = '4242 4242 4242 4242';

export const TOUR_STEPS = ['break', 'find', 'why', 'mend'] as const;
export type TourStep = (typeof TOUR_STEPS)[number] | 'done';

export interface TourFacts {
  /** A run of the tour was started. */
  readonly hasRun: boolean;
  /** The status of the run; undefined until it is known. */
  readonly runStatus: string | undefined;
  readonly nodeStatus: string | undefined;
  /** The failed node was shown. */
  readonly hasFound: boolean;
  readonly hasReadWhy: boolean;
  readonly hasReplayed: boolean;
}

/** `isWorking`: the step's action has to wait for the run. */
export function tourStep(facts: TourFacts): { readonly step: TourStep; readonly isWorking: boolean } {
  const isRunning = facts.runStatus === undefined || facts.runStatus === 'pending' || facts.runStatus === 'running';
  if (!facts.hasRun) return { step: 'break', isWorking: false };
  if (!facts.hasFound) return { step: 'find', isWorking: facts.nodeStatus !== 'failed' };
  if (!facts.hasReadWhy) return { step: 'why', isWorking: false };
  if (!facts.hasReplayed) return { step: 'mend', isWorking: isRunning };
  return { step: facts.nodeStatus === 'completed' ? 'done' : 'mend', isWorking: facts.nodeStatus !== 'completed' };
}
