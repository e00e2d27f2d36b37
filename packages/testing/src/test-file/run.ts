/** Runs the tests of a `*.test.yaml` file. */
import path from 'node:path';
import type { SourceRange, WorkflowDefinition } from '@nebula/core';
import type { Coverage } from '../coverage.ts';
import { everyCrashPoint } from '../every-crash-point.ts';
import { loadWorkflow, loadWorkflows } from '../source.ts';
import type { TestRun } from '../test-run.ts';
import { type TestOptions, testWorkflow } from '../test-workflow.ts';
import { type Difference, differencesOf } from './expectation.ts';
import type { Step, TestCase, TestFile } from './read.ts';

export interface TestFileOptions extends Pick<TestOptions, 'config' | 'actions' | 'projectDir'> {
  /** The folder of the file; paths of workflows are relative to it. */
  readonly dir: string;
  readonly coverage: Coverage;
  /** Workflows that the tested workflow runs and the test file does not name. */
  readonly others?: (file: string, definition: WorkflowDefinition) => Promise<readonly WorkflowDefinition[]>;
}

/** When a test has not passed, exactly one of `differences` and `failure` is set. */
export interface TestResult {
  readonly name: string;
  readonly range: SourceRange | undefined;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  /** The test could not run, or was aborted. */
  readonly failure?: {
    readonly code?: string;
    readonly message: string;
    readonly hint?: string;
    readonly range?: SourceRange;
  };
  /** The path of the run, to explain a difference. */
  readonly path: readonly string[];
  /** Number of survived crashes, if the test requests them. */
  readonly crashes?: number;
}

/** Rejects when a workflow cannot be read. */
export async function runTestFile(file: TestFile, options: TestFileOptions): Promise<TestResult[]> {
  const { dir } = options;
  const source = path.resolve(dir, file.workflow);
  const { definition, uses } = await loadWorkflow(source);
  const named = [...uses, ...(await loadWorkflows(file.workflows.map((name) => path.resolve(dir, name))))];
  const beside = (await options.others?.(source, definition)) ?? [];
  const workflows = [...named, ...beside.filter(({ id }) => !named.some((one) => one.id === id))];
  const results: TestResult[] = [];
  const versions = file.versions.map((name) => path.resolve(dir, name));
  for (const test of file.tests) results.push(await runTest(test, definition, { ...options, workflows, versions }));
  return results;
}

async function runTest(
  test: TestCase,
  workflow: object,
  {
    config,
    actions,
    projectDir,
    workflows,
    versions,
    coverage,
  }: TestFileOptions & Pick<TestOptions, 'workflows' | 'versions'>,
): Promise<TestResult> {
  const { name, range, input, mocks, real, credentials, until } = test;
  const shared: TestOptions = {
    input,
    mocks,
    real,
    credentials,
    ...(until !== undefined && { until }),
    ...(config && { config }),
    ...(actions && { actions }),
    ...(projectDir !== undefined && { projectDir }),
    ...(workflows && { workflows }),
    ...(versions && { versions }),
  };
  const about = { name, range };
  let run: TestRun | undefined;
  let step: Step | undefined;
  try {
    run = await testWorkflow(workflow, { ...shared, coverage });
    for (step of test.steps) {
      const differences = await act(run, step);
      if (differences.length > 0) return { ...about, passed: false, differences, path: run.path };
    }
    step = undefined;
    const differences = differencesOf(run, test.expect, true);
    if (differences.length > 0 || !test.crashes) {
      return { ...about, passed: differences.length === 0, differences, path: run.path };
    }
    const { crashes } = await everyCrashPoint(workflow, { ...shared, steps: (one) => actAll(one, test.steps) });
    return { ...about, passed: true, differences: [], path: run.path, crashes };
  } catch (error) {
    const { code, message, hint } = error as Error & { code?: string; hint?: string };
    const failure = {
      message,
      ...(code && { code }),
      ...(hint && { hint }),
      ...(step?.range && { range: step.range }),
    };
    return { ...about, passed: false, differences: [], failure, path: run?.path ?? [] };
  }
}

async function actAll(run: TestRun, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await act(run, step);
}

/** Returns the deviations from the step's expectations. */
async function act(whole: TestRun, step: Step): Promise<Difference[]> {
  const run = step.in.reduce((one, node) => one.child(node), whole);
  switch (step.do) {
    case 'advance':
      await run.advance(step.duration);
      return [];
    case 'signal':
    case 'publish':
      await run[step.do](step.name, step.payload, step.key);
      return [];
    case 'approve':
    case 'reject': {
      const { node, by, comment, form } = step;
      await run[step.do](node, { ...(by && { by }), ...(comment && { comment }), ...(form !== undefined && { form }) });
      return [];
    }
    case 'callback':
      await run.callback(step.node, step.payload);
      return [];
    case 'cancel':
      await run.cancel(step.options);
      return [];
    case 'replay':
      await run.replay(step.node, step.input);
      return [];
    case 'pause':
      await run.pause(step.reason);
      return [];
    case 'migrate':
      await run.migrate(step.options);
      return [];
    case 'resume':
    case 'retry':
    case 'crash':
    case 'migrateBack':
      await run[step.do]();
      return [];
    case 'settle':
      await run.settle(step.node, step.settlement);
      return [];
    case 'expect':
      return differencesOf(run, step.expect, false);
  }
}
