/** Runs a workflow in memory, with mocks and virtual time. */
import type { Json, TestOptions as TestRunOptions } from '@nebula/core';
import type { NebulaConfig, Workflow } from '@nebula/sdk';
import { Coverage, processCoverage } from './coverage.ts';
import type { Mock } from './mock.ts';
import { loadWorkflow, loadWorkflows, type WorkflowSource } from './source.ts';
import { TestRun } from './test-run.ts';
import { World } from './world.ts';

/** Types declared by a workflow of the builder; for other sources they are unknown. */
export type InputFor<W> = W extends Workflow<infer Input, unknown> ? Input : Json;
export type OutputFor<W> = W extends Workflow<unknown, infer Output> ? Output : Json;

export interface TestOptions<Input = Json> {
  readonly input?: Input;
  /** Keyed by action (`payment.charge`, `payment.charge@2`) or node (`charge`, `items/pack`, `~undo/charge`). */
  readonly mocks?: Readonly<Record<string, Mock>>;
  /** The project's configuration, with the schemas and effects of its actions. */
  readonly config?: Pick<NebulaConfig, 'actions' | 'retryPolicies' | 'capabilities' | 'expressionLimits'>;
  /** Additional actions, such as the built-in ones. */
  readonly actions?: NonNullable<NebulaConfig['actions']>;
  /** Other workflows that this one runs, inline or as children. */
  readonly workflows?: readonly WorkflowSource[];
  /** Later versions of the workflow, for `run.migrate`: the first of them is version 2. */
  readonly versions?: readonly WorkflowSource[];
  /** Values of secrets by name, for actions that run for real. Other secrets do not exist. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Ids of actions that may run for real although they are not pure. */
  readonly real?: readonly string[];
  /**
   * Stops as soon as this node has started; by default, time advances until the run ends or waits for an external
   * event.
   */
  readonly until?: string;
  /** Starts a test run of a part of the workflow: `until` a node, or `only` one, with pinned results of others. */
  readonly test?: TestRunOptions;
  /** Counts the nodes and edges that ran. */
  readonly coverage?: Coverage;
  /** Base of relative paths of real actions; default: the current folder. */
  readonly projectDir?: string;
}

export async function testWorkflow<W extends WorkflowSource>(
  source: W,
  options: TestOptions<InputFor<W>> = {},
): Promise<TestRun<OutputFor<W>>> {
  return begin(await worldOf(source, options), options);
}

/** Starts the run, and advances time as far as the test requests. */
export async function begin<Output>(
  world: World,
  { input = {}, until }: Pick<TestOptions<unknown>, 'input' | 'until'>,
): Promise<TestRun<Output>> {
  await world.start(input as Json);
  const run = new TestRun<Output>(world);
  if (until === undefined) await world.runUntilQuiescent();
  else {
    await world.runUntilQuiescent(() => true);
    await run.until(until);
  }
  return run;
}

export async function worldOf(source: WorkflowSource, options: Omit<TestOptions, 'input'>): Promise<World> {
  const { mocks = {}, config = {}, actions = [], workflows = [], versions = [], real = [], credentials = {} } = options;
  const { projectDir = process.cwd() } = options;
  const { definition, uses } = await loadWorkflow(source);
  const later = await Promise.all(versions.map(loadWorkflow));
  return new World({
    definition,
    workflows: [...uses, ...later.flatMap((one) => one.uses), ...(await loadWorkflows(workflows))],
    versions: later.map((one) => one.definition),
    mocks,
    real,
    credentials,
    config: { ...config, actions: [...actions, ...(config.actions ?? [])] },
    coverage: options.coverage ?? processCoverage() ?? new Coverage(),
    projectDir,
    test: options.test,
  });
}
