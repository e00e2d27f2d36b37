/**
 * Replays a recorded journal against another version of its workflow: frame by frame, with the same stimuli, until a
 * decision differs. Nothing is executed.
 */
import type { ExecutionId } from '../ids.ts';
import type { Plan } from '../plan/plan.ts';
import { decide } from '../run/decide/decide.ts';
import { newTurn } from '../run/decide/turn.ts';
import { nextReady, seal, startAttempt } from '../run/dispatch/dispatch.ts';
import { countFrame, foldFrames } from '../run/evolve/evolve.ts';
import type { Entry } from '../run/journal/entry.ts';
import { newRunState } from '../run/state/new-state.ts';
import type { RunState } from '../run/state/state.ts';
import type { Steps } from '../steps.ts';
import type { Json } from '../value.ts';
import { causesOf, journalled, Unclear } from './causes.ts';
import { compareFrames, type Difference } from './differences.ts';

export interface ReplayFrame {
  readonly seq: number;
  readonly at: number;
  readonly entries: readonly Entry[];
}

/** The point at which the new version decides differently. */
export interface Divergence extends Difference {
  /** Number of the frame. */
  readonly frame: number;
  /** Time at which the frame was written. */
  readonly at: number;
  /** Entries of the frame. */
  readonly entries: readonly Entry[];
}

export type ReplayResult =
  | {
      readonly same: true;
      readonly frames: number;
      /** Number of frames whose stimuli the journal does not determine; they were accepted without a check. */
      readonly unclear: number;
    }
  | { readonly same: false; readonly divergence: Divergence };

const MANY = 1_000_000;

/** One step for each frame. Throws if the journal cannot be folded with the plan. */
export function* replaySteps(
  plan: Plan,
  journal: readonly ReplayFrame[],
  executionId: ExecutionId = 'exe_replay',
): Steps<ReplayResult> {
  const frames = decidedOn(beforeMigration(journal));
  const paths = pathsOf(plan);
  let state = newRunState(plan, executionId);
  let unclear = 0;
  for (const [at, frame] of frames.entries()) {
    yield;
    const missing = missingNode(frame, paths);
    if (missing !== undefined) return diverged(frame, missing);
    const judged = judge(plan, state, frame);
    if (judged.difference !== undefined) return diverged(frame, judged.difference);
    if (!judged.isClear) unclear++;
    // The decision has changed the state, so the recorded one is folded from the beginning.
    if (!judged.isExact) state = yield* folded(plan, executionId, frames.slice(0, at + 1));
  }
  return { same: true, frames: frames.length, unclear };
}

/** The engine notes its snapshots in the journal: no version decides on them. */
function decidedOn(frames: readonly ReplayFrame[]): readonly ReplayFrame[] {
  const isNote = ({ type }: Entry): boolean => type === 'run.checkpointed';
  return frames.map((frame) =>
    frame.entries.some(isNote) ? { ...frame, entries: frame.entries.filter((entry) => !isNote(entry)) } : frame,
  );
}

function* folded(plan: Plan, executionId: ExecutionId, frames: readonly ReplayFrame[]): Steps<RunState> {
  const state = newRunState(plan, executionId);
  for (const frame of frames) {
    foldFrames(state, [frame]);
    yield;
  }
  return state;
}

/** Frames after a migration were decided by another version than those before it. */
function beforeMigration(frames: readonly ReplayFrame[]): readonly ReplayFrame[] {
  const at = frames.findIndex(({ entries }) => entries.some(({ type }) => type === 'run.migrated'));
  return at < 0 ? frames : frames.slice(0, at);
}

interface Judgement {
  readonly difference?: Difference | undefined;
  readonly isClear: boolean;
  /** The decision equals the recorded one exactly, and the state has followed it. */
  readonly isExact: boolean;
}

function judge(plan: Plan, state: RunState, frame: ReplayFrame): Judgement {
  let now: readonly Entry[];
  try {
    now = decideAgain(state, frame);
  } catch (error) {
    if (!(error instanceof Unclear)) throw error;
    return { isClear: false, isExact: false };
  }
  const difference = compareFrames(frame.entries, now, plan);
  const isExact = JSON.stringify(now) === JSON.stringify(frame.entries);
  if (isExact) countFrame(state, frame.seq);
  return { difference, isClear: true, isExact };
}

function decideAgain(state: RunState, { at, entries }: ReplayFrame): readonly Entry[] {
  const children = entries.flatMap((entry) => (entry.type === 'child.requested' ? [entry.executionId] : []));
  const turn = newTurn(
    state,
    at,
    (blob) => journalled({ blob }),
    () => children.shift() ?? 'exe_child',
  );
  for (const cause of causesOf(state, entries)) decide(turn, cause);
  const ready = new Map<string, number>();
  for (const entry of entries) {
    if (entry.type !== 'node.started' && entry.type !== 'node.gated' && entry.type !== 'node.failed') continue;
    for (const { node, attempt } of nextReady(state, MANY)) ready.set(node, attempt);
    // The parameters of a node are resolved when its attempt begins, which may fail it.
    if (entry.type === 'node.failed' && !ready.has(entry.node)) continue;
    const { attempt, worker } =
      entry.type === 'node.started' ? entry : { attempt: ready.get(entry.node) ?? 1, worker: 'wrk_replay' };
    ready.delete(entry.node);
    startAttempt(turn, entry.node, attempt, worker);
  }
  seal(turn);
  return JSON.parse(JSON.stringify(turn.entries)) as Entry[];
}

function diverged(frame: ReplayFrame, difference: Difference): ReplayResult {
  const { seq, at, entries } = frame;
  const text = `frame ${seq}: ${difference.text}`;
  return { same: false, divergence: { ...difference, text, frame: seq, at, entries } };
}

function missingNode({ entries }: ReplayFrame, paths: Paths): Difference | undefined {
  for (const entry of entries) {
    const nodes = 'nodes' in entry ? (entry.nodes ?? []) : 'node' in entry ? [entry.node] : [];
    for (const node of nodes) {
      const path = withoutIterations(node);
      if (paths.fixed.has(path) || path.includes('~undo') || paths.open.some((open) => path.startsWith(open))) continue;
      const recorded = JSON.parse(JSON.stringify(entry)) as Json;
      return { kind: 'node-missing', node, recorded, now: null, text: `'${node}' is not in the new version` };
    }
  }
  return undefined;
}

/** `items/3/pack` → `items/pack`; `~undo/items:3:pack` → `~undo/items:pack`. Numeric ids count as iterations. */
export function withoutIterations(path: string): string {
  return path.replaceAll(/\/\d+(?=\/|$)/g, '').replaceAll(/:\d+(?=:|$)/g, '');
}

interface Paths {
  readonly fixed: ReadonlySet<string>;
  /** Paths below which nodes of returned graphs occur. */
  readonly open: readonly string[];
}

function pathsOf(plan: Plan): Paths {
  const fixed = new Set<string>();
  const open: string[] = [];
  const visit = ({ nodes }: Plan['root'], prefix: string): void => {
    for (const { id, work } of nodes) {
      const path = `${prefix}${id}`;
      fixed.add(path);
      if (work.kind === 'dynamic') open.push(`${path}/`);
      else if (work.kind === 'inline') visit(work.workflow.root, `${path}/`);
      else if ('body' in work) visit(work.body, `${path}/`);
    }
  };
  visit(plan.root, '');
  return { fixed, open };
}
