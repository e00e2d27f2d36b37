/**
 * Runs actions in this process.
 *
 *  1 `run` and `verify` never reject: every error becomes an outcome.
 *  2 The action gets its own copy of the input, so that a retry sees the journalled one.
 *  3 An action that has resolved is completed or failed, never aborted: no finished work is lost.
 *  4 Only an error thrown after the abort is `aborted`; an error before the action starts is `failed`, abort or not.
 *
 * Suspension points: `parseInput`, the action, `parseOutput`; each only if it returns a promise. The checks of large
 * values, between slices.
 */
import { resolve } from 'node:path';
import type { Action, Json, Verification } from '@nebula/core';
import {
  type Clock,
  copyInSlices,
  type Foreign,
  type ForeignOutcome,
  type Invocation,
  type InvocationOutcome,
  isSliceOver,
  type Line,
  pause,
  type Sandbox,
} from '@nebula/ports';
import { realClock } from '../real/clock.ts';
import { HandedOut } from '../secrets/handed-out.ts';
import { Redactor } from '../secrets/redaction.ts';
import { Attempt, loggable } from './attempt.ts';
import { toAbortError, toRunError } from './failure.ts';
import type { Host } from './host.ts';
import { toJson } from './json-value.ts';
import { checkSchema } from './schema.ts';
import { inSpan } from './span-context.ts';
import { containRejections, runContained } from './unhandled-rejections.ts';

export interface InProcessSandboxOptions {
  /** The folder that paths of files and programs are relative to. */
  readonly projectDir: string;
  /** The folder of runs and secrets: no grant reaches it. */
  readonly dataDir?: string;
  /** Further files that no grant reaches: returns the reason for an absolute path and an access. */
  readonly reserved?: (path: string, access: 'read' | 'write') => string | undefined;
  readonly clock?: Clock;
  readonly fetch?: typeof fetch;
  /** The source of `env` grants; by default the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export function createInProcessSandbox(options: InProcessSandboxOptions): Sandbox {
  containRejections();
  return new InProcessSandbox({
    projectDir: resolve(options.projectDir),
    ...(options.dataDir !== undefined && { dataDir: resolve(options.dataDir) }),
    ...(options.reserved !== undefined && { reserved: options.reserved }),
    handedOut: new HandedOut(),
    clock: options.clock ?? realClock,
    fetch: options.fetch ?? ((target, init) => globalThis.fetch(target, init)),
    env: options.env ?? process.env,
  });
}

class InProcessSandbox implements Sandbox {
  readonly admit: Sandbox['admit'];
  readonly admitLine = admitLine;
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.admit = (foreign, outcome) => admit(foreign, outcome, host.clock);
  }

  async run(invocation: Invocation): Promise<InvocationOutcome> {
    const { action, signal } = invocation;
    if (signal.aborted) return neverStarted(invocation);
    const attempt = new Attempt(this.#host, invocation);
    let stage: 'input' | 'run' | 'output' = 'input';
    const { clock } = this.#host;
    let begunAt = clock.now();
    try {
      let input = takeInput(invocation, clock);
      // Without code of the action, an input that is taken at once is small: no look at the clock is needed.
      const mayBeLong = isThenable(input) || action.parseInput !== undefined;
      if (isThenable(input)) input = await input;
      if (mayBeLong && isSliceOver(clock, begunAt)) {
        await pause(clock, 'turn');
        begunAt = clock.now();
      }
      if (signal.aborted) return neverStarted(invocation);
      stage = 'run';
      let result: unknown = called(invocation, attempt, callRun, input as Json);
      if (isThenable(result)) {
        result = await result;
        begunAt = clock.now();
      }
      stage = 'output';
      const given = giveOutput(action, result, clock);
      const own = (isThenable(given) ? await given : given) as Json;
      if (!isSliceOver(clock, begunAt)) return { status: 'completed', output: attempt.cleaned(own) };
      // A large output is redacted in its own turn of the event loop.
      await pause(clock, 'turn');
      return { status: 'completed', output: attempt.cleaned(own) };
    } catch (thrown) {
      attempt.logStack(thrown);
      const aborted = stage === 'run' && signal.aborted;
      return aborted
        ? { status: 'aborted', error: attempt.aborted(thrown) }
        : { status: 'failed', error: attempt.failure(thrown) };
    } finally {
      attempt.end();
    }
  }

  async verify(invocation: Invocation): Promise<Verification> {
    const { action } = invocation;
    if (action.verify === undefined) return { happened: 'unknown' };
    const attempt = new Attempt(this.#host, invocation);
    try {
      const input = await takeInput(invocation, this.#host.clock);
      const verdict: unknown = await called(invocation, attempt, callVerify, input as Json);
      const { happened, output } = (verdict ?? {}) as { happened?: unknown; output?: unknown };
      if (happened === false) return { happened: false };
      if (happened === true) {
        const given = (await giveOutput(action, output, this.#host.clock)) as Json;
        return { happened: true, output: attempt.cleaned(given) };
      }
      if (happened !== 'unknown') attempt.log.warn(`verify of ${action.id} did not say whether it happened`);
    } catch (thrown) {
      attempt.logStack(thrown);
      attempt.log.warn(`verify of ${action.id} failed: ${attempt.failure(thrown).message}`);
    } finally {
      attempt.end();
    }
    return { happened: 'unknown' };
  }
}

/** Checks an outcome of another process. */
function admit(
  foreign: Foreign,
  outcome: ForeignOutcome,
  clock: Clock,
): InvocationOutcome | Promise<InvocationOutcome> {
  const { action, node } = foreign;
  const redactor = redactorOf(foreign);
  const completed = (output: Json): InvocationOutcome => ({ status: 'completed', output: redactor.json(output) });
  const failed = (thrown: unknown): InvocationOutcome => ({
    status: 'failed',
    error: toRunError(thrown, node, redactor),
  });
  try {
    if (outcome.status === 'failed') {
      const { code, kind, message, details } = outcome.error;
      throw Object.assign(new Error(message), { name: 'ActionError', code, kind, details });
    }
    const output = admitOutput(action, outcome.output, clock);
    return isThenable(output) ? (output as Promise<Json>).then(completed).catch(failed) : completed(output as Json);
  } catch (thrown) {
    return failed(thrown);
  }
}

function admitLine(foreign: Foreign, { message, fields }: Line): Line {
  let redactor = redactors.get(foreign);
  if (redactor === undefined) {
    redactor = redactorOf(foreign);
    redactors.set(foreign, redactor);
  }
  return loggable(redactor, message, fields);
}

/** One redactor for all lines of a request: making one costs more than a hundred lines. */
const redactors = new WeakMap<Foreign, Redactor>();

function redactorOf({ secrets, conceal }: Foreign): Redactor {
  const redactor = new Redactor(undefined, conceal);
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

/** If the run is traced, the action runs inside the span of its attempt. */
function called({ action, traceparent }: Invocation, attempt: Attempt, call: typeof callRun, input: Json): unknown {
  if (traceparent === undefined) return runContained(attempt, call, action, attempt, input);
  return inSpan(traceparent, () => runContained(attempt, call, action, attempt, input));
}

function callRun(action: Action, attempt: Attempt, input: Json): unknown {
  return action.run(attempt, input);
}

function callVerify(action: Action, attempt: Attempt, input: Json): unknown {
  return action.verify?.(attempt, input);
}

/**
 * Copies, fills in defaults, checks and converts the input. Returns a promise only if the conversion is asynchronous, or
 * the input is large.
 */
function takeInput({ action, input }: Invocation, clock: Clock): unknown {
  const own = copyInSlices(input, clock);
  return own instanceof Promise ? own.then((copy) => accepted(action, copy, clock)) : accepted(action, own, clock);
}

function accepted(action: Action, own: Json, clock: Clock): unknown {
  const parse = (value: Json): unknown => (action.parseInput === undefined ? value : action.parseInput(value));
  if (action.input === undefined || action.describeOnly?.includes('input')) return parse(own);
  const rest = checkSchema('input', action.input, own, labelOf(action), clock);
  return rest === undefined ? parse(own) : rest.then(() => parse(own));
}

/** Converts the output, makes it JSON and checks it. Returns a promise if the conversion does, or the output is large. */
function giveOutput(action: Action, result: unknown, clock: Clock): unknown {
  const admitted = (value: unknown): Json | Promise<Json> => admitOutput(action, value, clock);
  if (action.parseOutput === undefined) return admitted(result);
  const parsed: unknown = action.parseOutput(result as Json);
  return isThenable(parsed) ? parsed.then(admitted) : admitted(parsed);
}

/** Copies an output and checks it: a large one in turns of the event loop of their own. */
function admitOutput(action: Action, given: unknown, clock: Clock): Json | Promise<Json> {
  if (action.output === undefined || action.describeOnly?.includes('output')) return toJson(given, 'output');
  const begunAt = clock.now();
  const output = toJson(given, 'output');
  return isSliceOver(clock, begunAt)
    ? pause(clock, 'turn').then(() => checkOutput(action, output, clock))
    : checkOutput(action, output, clock);
}

function checkOutput(action: Action, output: Json, clock: Clock): Json | Promise<Json> {
  if (action.output === undefined) return output;
  const rest = checkSchema('output', action.output, output, labelOf(action), clock);
  return rest === undefined ? output : rest.then(() => output);
}

function labelOf(action: Action): string {
  return `${action.id}@${action.version}`;
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** `started: false` tells the engine that the action had no effect. */
function neverStarted(invocation: Invocation): InvocationOutcome {
  const error = toAbortError(invocation.signal.reason, invocation);
  return { status: 'aborted', error: { ...error, details: { started: false } } };
}
