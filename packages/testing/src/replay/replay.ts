/** Replays a recorded journal against another version of its workflow. Nothing is executed. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Action,
  allSteps,
  compilePlan,
  createCatalog,
  NebulaError,
  type Plan,
  type WorkflowDefinition,
} from '@nebula/core';
import { type ReplayResult, replaySteps } from '@nebula/core/run';
import type { NebulaConfig } from '@nebula/sdk';
import { actionsUsed } from '../actions-used.ts';
import type { Frame } from '../chronicle.ts';
import { invalidWorkflow, loadWorkflow, loadWorkflows, type WorkflowSource } from '../source.ts';

export interface ReplayOptions {
  readonly config?: Pick<NebulaConfig, 'actions' | 'retryPolicies' | 'capabilities'>;
  readonly actions?: readonly Action[];
  readonly workflows?: readonly WorkflowSource[];
}

/** Frames, a file written by `nebula executions journal --json`, or the content of such a file. */
export type JournalSource = readonly Frame[] | { readonly frames: readonly unknown[] } | string | URL;

export async function replay(
  journal: JournalSource,
  source: WorkflowSource,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  const frames = framesOf(journal);
  const { definition, uses } = await loadWorkflow(source);
  const workflows = [...uses, ...(await loadWorkflows(options.workflows ?? []))];
  return allSteps(replaySteps(planOf(definition, workflows, options), frames));
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
