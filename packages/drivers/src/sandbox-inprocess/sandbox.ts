/**
 * Runs actions in this process.
 *
 *  1 `run` and `verify` never reject: every error becomes an outcome.
 *  2 The action gets its own copy of the input, so that a retry sees the journalled one.
 *  3 An action that has resolved is completed or failed, never aborted: no finished work is lost.
 *  4 Only an error thrown after the abort is `aborted`; an error before the action starts is `failed`, abort or not.
 *
 * Suspension points: `parseInput`, the action, `parseOutput`; each only if it returns a promise.
 */
import { resolve } from 'node:path';
import type { Action, Json, Verification } from '@nebula/core';
import type { Clock, Foreign, Invocation, InvocationOutcome, Sandbox } from '@nebula/ports';
import { realClock } from '../real/clock.ts';
import { HandedOut } from '../secrets/handed-out.ts';
import { Redactor } from '../secrets/redaction.ts';
import { Attempt, loggable } from './attempt.ts';
import { toAbortError, toRunError } from './failure.ts';
import type { Host } from './host.ts';
import { copyJson, toJson } from './json-value.ts';
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
  readonly admit = BORDER.admit;
  readonly admitLine = BORDER.admitLine;
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  async run(invocation: Invocation): Promise<InvocationOutcome> {
    const { action, signal } = invocation;
    if (signal.aborted) return neverStarted(invocation);
    const attempt = new Attempt(this.#host, invocation);
    let stage: 'input' | 'run' | 'output' = 'input';
    const { clock } = this.#host;
    let begunAt = clock.now();
    try {
      let input = takeInput(invocation);
      if (isThenable(input)) input = await input;
      if (isLong(clock, begunAt)) await nextTurn(clock);
      if (signal.aborted) return neverStarted(invocation);
      stage = 'run';
      let result: unknown = called(invocation, attempt, callRun, input as Json);
      if (isThenable(result)) result = await result;
      stage = 'output';
      begunAt = clock.now();
      const given = giveOutput(action, result);
      const output = attempt.cleaned((isThenable(given) ? await given : given) as Json);
      if (isLong(clock, begunAt)) await nextTurn(clock);
      return { status: 'completed', output };
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
      const input = await takeInput(invocation);
      const verdict: unknown = await called(invocation, attempt, callVerify, input as Json);
      const { happened, output } = (verdict ?? {}) as { happened?: unknown; output?: unknown };
      if (happened === false) return { happened: false };
      if (happened === true) {
        const given = (await giveOutput(action, output)) as Json;
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

/** Checks for outcomes and log lines of other processes. */
const BORDER: Pick<Sandbox, 'admit' | 'admitLine'> = {
  admit(foreign, told) {
    const { action, node } = foreign;
    const redactor = redactorOf(foreign);
    try {
      if (told.status === 'failed') {
        const { code, kind, message, details } = told.error;
        throw Object.assign(new Error(message), { name: 'ActionError', code, kind, details });
      }
      return { status: 'completed', output: redactor.json(admitOutput(action, told.output)) };
    } catch (thrown) {
      return { status: 'failed', error: toRunError(thrown, node, redactor) };
    }
  },

  admitLine(foreign, { message, fields }) {
    let redactor = redactors.get(foreign);
    if (redactor === undefined) {
      redactor = redactorOf(foreign);
      redactors.set(foreign, redactor);
    }
    return loggable(redactor, message, fields);
  },
};

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
 * Copies, fills in defaults, checks and converts the input. Returns a promise only if the conversion is asynchronous.
 */
function takeInput({ action, input }: Invocation): unknown {
  const own = copyJson(input);
  if (action.input !== undefined && !action.describeOnly?.includes('input')) {
    checkSchema('input', action.input, own, labelOf(action));
  }
  return action.parseInput === undefined ? own : action.parseInput(own);
}

/** Converts the output, makes it JSON and checks it. Returns a promise only if the conversion is asynchronous. */
function giveOutput(action: Action, result: unknown): unknown {
  if (action.parseOutput === undefined) return admitOutput(action, result);
  const parsed: unknown = action.parseOutput(result as Json);
  return isThenable(parsed) ? parsed.then((value) => admitOutput(action, value)) : admitOutput(action, parsed);
}

function admitOutput(action: Action, value: unknown): Json {
  const output = toJson(value, 'output');
  if (action.output !== undefined && !action.describeOnly?.includes('output')) {
    checkSchema('output', action.output, output, labelOf(action));
  }
  return output;
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

/** The copy of a large value takes 20 ms, and so do its checks: the event loop runs in between. */
const SLICE_MS = 10;

function isLong(clock: Clock, begunAt: number): boolean {
  return Math.abs(clock.now() - begunAt) >= SLICE_MS;
}

/** Twice: `soon` of a callback of a socket comes before timers and other sockets. */
function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.soon(() => clock.soon(resolve)));
}
