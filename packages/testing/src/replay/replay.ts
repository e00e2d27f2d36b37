/**
 * Replays a recorded journal against another version of its workflow: frame by frame, with the same stimuli, until a
 * decision differs. Nothing is executed.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Action,
  compilePlan,
  createCatalog,
  type Entry,
  type Json,
  NebulaError,
  type Plan,
  type WorkflowDefinition,
} from '@nebula/core';
import {
  countFrame,
  decide,
  foldFrames,
  newRunState,
  newTurn,
  nextReady,
  type RunState,
  seal,
  startAttempt,
} from '@nebula/core/run';
import type { NebulaConfig } from '@nebula/sdk';
import { actionsUsed, withoutIterations } from '../actions-used.ts';
import type { Frame } from '../chronicle.ts';
import { invalidWorkflow, loadWorkflow, loadWorkflows, type WorkflowSource } from '../source.ts';
import { causesOf, journalled, Unclear } from './causes.ts';
import { compareFrames, type Difference } from './differences.ts';

export interface ReplayOptions {
  readonly config?: Pick<NebulaConfig, 'actions' | 'retryPolicies' | 'capabilities'>;
  readonly actions?: readonly Action[];
  readonly workflows?: readonly WorkflowSource[];
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

/** Frames, a file written by `nebula executions journal --json`, or the content of such a file. */
export type JournalSource = readonly Frame[] | { readonly frames: readonly unknown[] } | string | URL;

const MANY = 1_000_000;

export async function replay(
  journal: JournalSource,
  source: WorkflowSource,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  const frames = beforeMigration(framesOf(journal));
  const { definition, uses } = await loadWorkflow(source);
  const workflows = [...uses, ...(await loadWorkflows(options.workflows ?? []))];
  const plan = planOf(definition, workflows, options);
  const paths = pathsOf(plan);
  let state = newRunState(plan, 'exe_replay');
  let unclear = 0;
  for (const [at, frame] of frames.entries()) {
    const missing = missingNode(frame, paths);
    if (missing !== undefined) return diverged(frame, missing);
    const judged = judge(plan, state, frame);
    if (judged.difference !== undefined) return diverged(frame, judged.difference);
    if (!judged.isClear) unclear++;
    state = judged.isExact ? judged.state : foldFrames(newRunState(plan, 'exe_replay'), frames.slice(0, at + 1));
  }
  return { same: true, frames: frames.length, unclear };
}

/** Frames after a migration were decided by another version than those before it. */
function beforeMigration(frames: readonly Frame[]): readonly Frame[] {
  const at = frames.findIndex(({ entries }) => entries.some(({ type }) => type === 'run.migrated'));
  return at < 0 ? frames : frames.slice(0, at);
}

interface Judgement {
  readonly difference?: Difference | undefined;
  readonly isClear: boolean;
  /** The decision equals the recorded one exactly, and the state has followed it. */
  readonly isExact: boolean;
  readonly state: RunState;
}

function judge(plan: Plan, state: RunState, frame: Frame): Judgement {
  let now: readonly Entry[];
  try {
    now = decideAgain(state, frame);
  } catch (error) {
    if (!(error instanceof Unclear)) throw error;
    return { isClear: false, isExact: false, state };
  }
  const difference = compareFrames(frame.entries, now, plan);
  const isExact = JSON.stringify(now) === JSON.stringify(frame.entries);
  if (isExact) countFrame(state, frame.seq);
  return { difference, isClear: true, isExact, state };
}

function decideAgain(state: RunState, { at, entries }: Frame): readonly Entry[] {
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

function diverged(frame: Frame, difference: Difference): ReplayResult {
  const { seq, at, entries } = frame;
  const text = `frame ${seq}: ${difference.text}`;
  return { same: false, divergence: { ...difference, text, frame: seq, at, entries } };
}

function missingNode({ entries }: Frame, paths: Paths): Difference | undefined {
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

function planOf(
  definition: WorkflowDefinition,
  workflows: readonly WorkflowDefinition[],
  options: ReplayOptions,
): Plan {
  const { retryPolicies, capabilities } = options.config ?? {};
  const known = [...(options.actions ?? []), ...(options.config?.actions ?? [])];
  const ids = new Set(known.map(({ id }) => id));
  const others = new Map<string, Action>();
  for (const { id, version = '1' } of [definition, ...workflows].flatMap(actionsUsed)) {
    if (!ids.has(id)) others.set(`${id}@${version}`, { id, version, effect: 'idempotent', run: () => null });
  }
  const { plan, problems } = compilePlan(
    definition,
    createCatalog([...known, ...others.values()], retryPolicies, capabilities),
    {
      workflows: (id) => workflows.find((one) => one.id === id),
      knownWorkflows: workflows.map(({ id }) => id),
    },
  );
  if (plan === undefined) throw invalidWorkflow(problems);
  return plan;
}

function framesOf(journal: JournalSource): readonly Frame[] {
  const given = typeof journal === 'string' || journal instanceof URL ? readJournal(journal) : journal;
  const frames = (Array.isArray(given) ? given : (given as { frames?: unknown }).frames) as
    | readonly Frame[]
    | undefined;
  const isRight =
    Array.isArray(frames) &&
    frames.every((frame: Partial<Frame>) => typeof frame?.seq === 'number' && Array.isArray(frame.entries));
  if (!isRight || frames.length === 0) {
    throw new NebulaError('JOURNAL_INVALID', 'this is not a journal of a run', {
      hint: 'Create one with `nebula executions journal ID --json`',
    });
  }
  return frames;
}

function readJournal(source: string | URL): unknown {
  const file = typeof source === 'string' ? source : fileURLToPath(source);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw new NebulaError('FILE_UNREADABLE', `${file} cannot be read as a journal: ${(error as Error).message}`);
  }
}
