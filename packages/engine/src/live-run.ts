/** A run that is in this process's memory, between two frames or in the middle of one. */
import type { Attempt, Plan, RunState, Stimulus, Turn } from '@nebula/core';
import type { Delivery } from '@nebula/ports';

export interface LiveRun {
  readonly executionId: string;
  readonly project: string;
  readonly plan: Plan;
  state: RunState;
  /** What happened to it and has not been decided on. */
  mailbox: Stimulus[];
  /** Inbox messages among these: deleted from the store with the frame that journals them. */
  messages: TakenMessage[];
  /** Every inbox message that was taken up since the run was loaded: a late reading of the inbox may show it again. */
  readonly heard: Set<string>;
  /** Places that were asked for since it was read: with 10,000 nodes in line, every grant would else ask for them all. */
  readonly asked: Set<string>;
  /** The frame in the making, with all that went into it: needed again if the store refuses it. */
  draft: Draft | null;
  /** The first frame creates the execution. */
  isNew: boolean;
  /** Being read from the store, or waiting for blobs: not to be decided on. */
  isBusy: boolean;
  /** The wake time that the store has; undefined when it is not known. */
  storedWakeAt: number | null | undefined;
  /** It was claimed: its wake time must be written even if it becomes later. */
  isClaimed: boolean;
  /** How often it was claimed. */
  claims: number;
  /** Levels of the graph that were done at the last frame. */
  levelsDone: number;
  /** Time of the last frame: the clock may jump back, journals do not. */
  lastAt: number;
  /** How often in a row the store did not take its frame, or could not be read. */
  refusals: number;
  /** Journal written since the last snapshot, and the size of that one. */
  journalBytes: number;
  snapshotBytes: number;
  /** The frame of a snapshot that has been stored, until the journal says so. */
  checkpoint: number | null;
  /** Those who wait for the first frame to be durable. */
  readonly onCreated: ((error?: unknown) => void)[];
}

/** A message from the inbox, and the mail that it became; undefined where nobody understands it. */
export interface TakenMessage {
  readonly messageId: string;
  readonly stimulus: Stimulus | undefined;
}

export interface Draft {
  readonly turn: Turn;
  readonly stimuli: Stimulus[];
  readonly messages: TakenMessage[];
  /** Mail among these that another run must get: its messages stay in the inbox. */
  readonly late: Set<Stimulus>;
  /** Claims that the draft knew of. */
  readonly claims: number;
  /** Outcomes among these of attempts that are not open. */
  readonly refused: Set<Stimulus>;
  /** `claim`: for a worker outside. */
  readonly starting: { readonly attempt: Attempt; readonly delivery: Delivery; readonly claim?: Claim | undefined }[];
}

/** A task for a worker outside, on its way through a turn. */
export interface Claim {
  /** The name of its lease in the journal. */
  readonly worker: string;
  /** Its frame is durable. */
  given(granted: GrantedAttempt): void;
  /** It comes to nothing. */
  refused(): void;
}

/** An attempt whose frame is durable. */
export interface GrantedAttempt {
  readonly run: LiveRun;
  readonly attempt: Attempt;
  readonly at: number;
}

export function newLiveRun(state: RunState, isNew: boolean, project: string): LiveRun {
  return {
    executionId: state.executionId,
    project,
    plan: state.plan,
    state,
    mailbox: [],
    messages: [],
    heard: new Set(),
    asked: new Set(),
    draft: null,
    isNew,
    isBusy: false,
    storedWakeAt: undefined,
    isClaimed: false,
    claims: 0,
    levelsDone: state.root.level,
    lastAt: 0,
    refusals: 0,
    journalBytes: 0,
    snapshotBytes: 0,
    checkpoint: null,
    onCreated: [],
  };
}
