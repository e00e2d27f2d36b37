/**
 * A run in the memory of this process.
 *
 *  M1 A run is always in exactly one mode, and `enter` is the only way to change it:
 *
 *       new ──▶ drafting ──▶ idle ◀──▶ drafting
 *                             ▲
 *                             ▼
 *                          reading
 *
 *  M2 A stimulus is decided on in mode `new`, `idle` or `drafting`; in mode `reading` it stays in the mailbox.
 *  M3 A run that is `new`, or drafts its first frame, is not in the store.
 */

import type { ExecutionId, Plan } from '@nebula/core';
import { type Attempt, newTurn, type RunState, type Stimulus, type Turn } from '@nebula/core/run';
import type { Delivery, Random } from '@nebula/ports';
import type { Meter, WorkflowFigures } from '../observe/metrics.ts';
import type { NewBlobs, Values } from '../storage/values.ts';

export type RunMode =
  /** The store does not know the run: its first frame creates it. */
  | { readonly name: 'new' }
  /** Between two frames. */
  | { readonly name: 'idle' }
  /** A frame is being decided on or written. */
  | Draft
  /** The journal or values of the run are being read, or the run waits after a failed write. */
  | { readonly name: 'reading'; readonly what: 'journal' | 'values' | 'graph' | 'pause' };

const NEW: RunMode = { name: 'new' };
const IDLE: RunMode = { name: 'idle' };

const ALLOWED: Readonly<Record<RunMode['name'], readonly RunMode['name'][]>> = {
  new: ['drafting'],
  idle: ['drafting', 'reading'],
  drafting: ['new', 'idle'],
  reading: ['reading', 'idle'],
};

export class LiveRun {
  readonly executionId: ExecutionId;
  readonly project: string;
  state: RunState;
  private current: RunMode;
  /** Stimuli that are not decided on yet. */
  mailbox: Stimulus[] = [];
  /** The inbox messages of these stimuli, deleted from the store with the frame that journals them. */
  messages: TakenMessage[] = [];
  /** Every inbox message taken since the run was loaded: a late read of the inbox may return it again. */
  readonly receivedMessages = new Set<string>();
  /**
   * Permits requested since the run was read: with 10,000 nodes in line, every grant would request all of them again.
   */
  readonly requestedPermits = new Set<string>();
  /** The wake time in the store; undefined if it is not known. */
  storedWakeAt: number | null | undefined = undefined;
  /** The run was claimed: its wake time must be written even if it becomes later. */
  isClaimed = false;
  /** The number of claims of the run. */
  claims = 0;
  /** Starts of children that are under way, and checks whether all of them exist. */
  childrenInDoubt = 0;
  /** The run whose message started this one, until its first frame is stored. */
  origin: ExecutionId | undefined;
  /** Levels of the graph that were done at the last frame. */
  levelsDone: number;
  /** Time of the last frame: the clock may jump back, journals do not. */
  lastAt = 0;
  /** How many times in a row the store refused a frame of the run, or could not read the run. */
  refusals = 0;
  /** Journal written since the last snapshot, and the size of that snapshot. */
  journalBytes = 0;
  snapshotBytes = 0;
  /** The frame of a stored snapshot, until the journal records it. */
  checkpoint: number | null = null;
  /** Called once, when the first frame is durable or has failed. */
  readonly onCreated: ((error?: unknown) => void)[] = [];

  private figures: WorkflowFigures | undefined;

  constructor(state: RunState, mode: 'new' | 'idle', project: string) {
    this.executionId = state.executionId;
    this.project = project;
    this.state = state;
    this.levelsDone = state.root.level;
    this.current = mode === 'new' ? NEW : IDLE;
  }

  /** A migration changes it. */
  get plan(): Plan {
    return this.state.plan;
  }

  /** The figures of its workflow. */
  figuresIn(meter: Meter): WorkflowFigures {
    this.figures ??= meter.of(this.project, this.plan.workflowId);
    return this.figures;
  }

  get mode(): RunMode['name'] {
    return this.current.name;
  }

  /** The frame in the making; null in every other mode. */
  get draft(): Draft | null {
    return this.current.name === 'drafting' ? this.current : null;
  }

  /** The turn of the run is suspended: the run takes no mail and starts nothing until the turn continues. */
  get isSuspended(): boolean {
    return this.draft?.turn.isSuspended === true;
  }

  /** The state is that of the journal: no draft has changed it, and no dropped draft has to be undone. */
  get isDurable(): boolean {
    return this.current.name === 'idle';
  }

  /** The store does not know the run yet. */
  get isNew(): boolean {
    return this.current.name === 'new' || (this.current.name === 'drafting' && this.current.isFirst);
  }

  /** The draft of this turn, begun if there is none. */
  draftAt(now: number, { values, random }: { readonly values: Values; readonly random: Random }): Draft {
    if (this.current.name === 'drafting') return this.current;
    const blobs: NewBlobs = [];
    const draft: Draft = {
      name: 'drafting',
      isFirst: this.current.name === 'new',
      begunAt: now,
      turn: newTurn(
        this.state,
        Math.max(now, this.lastAt),
        values.lookup,
        () => random.id('exe'),
        (value) => values.store(value, blobs),
      ),
      blobs,
      stimuli: [],
      decided: 0,
      messages: [],
      late: [],
      refused: [],
      starting: [],
      claims: this.claims,
    };
    this.enter(draft);
    return draft;
  }

  /** The draft is durable, or changed nothing. */
  draftDone(): void {
    this.enter(IDLE);
  }

  /** Drops the draft: the store did not accept it, or it could not be decided. */
  draftUndone(): Draft | null {
    const { draft } = this;
    if (draft !== null) this.enter(draft.isFirst ? NEW : IDLE);
    return draft;
  }

  /** Suspends decisions until `ready`. */
  read(what: Extract<RunMode, { name: 'reading' }>['what']): void {
    this.enter({ name: 'reading', what });
  }

  ready(): void {
    this.enter(IDLE);
  }

  private enter(mode: RunMode): void {
    const { name } = this.current;
    if (!ALLOWED[name].includes(mode.name)) throw new Error(`${this.executionId}: ${name} cannot become ${mode.name}`);
    this.current = mode;
  }
}

/** A message from the inbox and its stimulus; undefined if this version does not understand the message. */
export interface TakenMessage {
  readonly messageId: string;
  readonly stimulus: Stimulus | undefined;
}

/** A frame in the making, with its stimuli, which are decided on again if the store refuses the frame. */
export interface Draft {
  readonly name: 'drafting';
  /** The frame creates the execution. */
  readonly isFirst: boolean;
  /** The time by the clock of this process. That of the frame is later if the clock has jumped back. */
  readonly begunAt: number;
  readonly turn: Turn;
  /** Large values of the turn, to be stored before its frame. */
  readonly blobs: NewBlobs;
  readonly stimuli: Stimulus[];
  /** The number of stimuli that have been decided on. */
  decided: number;
  readonly messages: TakenMessage[];
  /** Stimuli that belong to another run: their messages stay in the inbox. */
  readonly late: Stimulus[];
  /** The number of claims when the draft began. */
  readonly claims: number;
  /** Outcomes of attempts that are not open. */
  readonly refused: Stimulus[];
  /** Attempts to begin once the frame is durable. `claim`: by a remote worker. */
  readonly starting: { readonly attempt: Attempt; readonly delivery: Delivery; readonly claim?: Claim | undefined }[];
}

/** A task for a remote worker, on its way through a turn. */
export interface Claim {
  /** The name of its lease in the journal. */
  readonly worker: string;
  /** The frame that starts the attempt is durable. */
  granted(granted: GrantedAttempt): void;
  /** The attempt is not started. */
  refused(): void;
}

/** An attempt whose frame is durable. */
export interface GrantedAttempt {
  readonly run: LiveRun;
  readonly attempt: Attempt;
  readonly at: number;
}
