/** Checks requests against the state of a run before they are sent to its inbox. */
import {
  type AwaitedEvent,
  compileSchema,
  describeProblems,
  didYouMean,
  type ExecutionId,
  givenProblem,
  type Json,
  NebulaError,
  type NodePath,
} from '@nebula/core';
import { isFinished, type NodeState, nodeAt, pathOf, type RunState, refuseReplay, statusOf } from '@nebula/core/run';
import { type Clock, checkInSlices } from '@nebula/ports';
import type { AnswerRequest } from '../api.ts';

/** An output that a person gives must fit the schema of the action. */
export async function checkSettledOutput(state: RunState, path: NodePath, output: Json, clock: Clock): Promise<void> {
  const work = nodeAt(state, path)?.plan.work;
  const action = work !== undefined && 'action' in work ? work.action : undefined;
  if (action?.output === undefined || action.describeOnly?.includes('output')) return;
  const problems = await checkInSlices(compileSchema(action.output), output, clock);
  if (problems === undefined) return;
  throw new NebulaError(
    'OUTPUT_INVALID',
    `The output does not fit ${action.id}: ${describeProblems(problems, 'it')}.`,
    {
      hint: `\`nebula actions ${action.id}\` shows its output schema.`,
    },
  );
}

/** The wait of a node. Throws `NOT_WAITING`: an answer or a call to another node would be lost. */
export function waitOf<K extends AwaitedEvent['kind']>(
  state: RunState,
  path: NodePath,
  kind: K,
  what: string,
): { readonly wait: Extract<AwaitedEvent, { kind: K }>; readonly plan: NodeState['plan'] } {
  const node = nodeAt(state, path);
  if (node === undefined) throw unknownNode(state, path);
  const { phase, plan } = node;
  const wait = phase.status === 'listening' ? phase.waits.find((one) => one.kind === kind) : undefined;
  if (wait !== undefined) return { wait: wait as Extract<AwaitedEvent, { kind: K }>, plan };
  throw new NebulaError('NOT_WAITING', `'${path}' does not wait for ${what}.`, {
    hint: `It is ${statusOf(phase)}; \`nebula executions explain ${state.executionId} ${path}\` says why.`,
  });
}

/** Throws now, not when an engine reads the answer, if `by` may not answer or the form does not fit. */
export async function checkAnswer(
  state: RunState,
  path: NodePath,
  { by, approved, form = null }: AnswerRequest,
  clock: Clock,
): Promise<void> {
  const { wait, plan } = waitOf(state, path, 'approval', 'an approval');
  if (wait.who !== undefined && !wait.who.includes(by)) {
    throw new NebulaError('NOT_ALLOWED', `${by} may not answer for '${path}'.`, {
      hint: `Those who may: ${wait.who.join(', ')}.`,
    });
  }
  const waits = plan.work.kind === 'wait' ? plan.work.waits : [];
  const own = waits.find(({ name, kind }) => kind === 'approval' && name === wait.name);
  const check = approved && own?.kind === 'approval' ? own.check : undefined;
  const problems = check && (await checkInSlices(check, form, clock));
  if (problems === undefined) return;
  throw new NebulaError('FORM_INVALID', `The form does not fit: ${describeProblems(problems, 'it')}.`, {
    hint: 'Fill in what its schema asks for.',
  });
}

/** Throws now if no run accepts the value: it would be lost, or change, on its way through the inbox. */
export function checkGiven(value: Json | undefined, what: string): void {
  const problem = value === undefined ? undefined : givenProblem(value, what);
  if (problem === undefined) return;
  throw new NebulaError('INPUT_INVALID', `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`);
}

export function checkReplay(state: RunState, node: NodePath, input: Json | undefined): void {
  const {
    executionId,
    phase: { status },
  } = state;
  checkGiven(input, 'the input');
  const refusal = refuseReplay(state, node, input);
  if (refusal !== undefined) throw refusal;
  if (nodeAt(state, node) === undefined) throw unknownNode(state, node);
  if (isFinished(status)) return;
  throw new NebulaError('STILL_RUNNING', `Execution ${executionId} is ${status}.`, {
    hint: `Replay it when it has ended, or cancel it first: \`nebula executions cancel ${executionId}\`.`,
  });
}

export function unknownNode(state: RunState, path: NodePath): NebulaError {
  const paths = [...state.scopes.values()].flatMap(({ nodes }) => nodes.map(pathOf));
  const near = didYouMean(path, paths);
  return new NebulaError('UNKNOWN_NODE', `Execution ${state.executionId} has no node '${path}'.`, {
    hint: near === undefined ? `Its nodes: ${paths.slice(0, 12).join(', ')}` : `did you mean '${near}'?`,
  });
}

/** The definition of a test run belongs to that run alone. */
export function isTestRun(executionId: ExecutionId): NebulaError {
  return new NebulaError('TEST_RUN', `${executionId} is a test run.`, {
    hint: 'Start another test run, or start a registered version.',
  });
}
