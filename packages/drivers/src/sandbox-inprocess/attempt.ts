/**
 * One attempt, as the action sees it. Made for each invocation, so it holds four fields and nothing else: host
 * functions and loggers are made when they are first read, and work when they are destructured (`const { log, fetch } = ctx`).
 *
 *  1 A host function works only while the attempt is open: not after its signal is aborted or its outcome is reported.
 *  2 A host function is loaded by the first attempt that uses it, or by `loadHostApi`: most runs start no program and
 *    open no file.
 *  3 The value of a credential, of this attempt or (if it is long) of any other in the process, is redacted in
 *    everything that leaves the attempt: output, error, logs, progress.
 *  4 Progress and heartbeats of an attempt that has ended are dropped; its log lines are kept, since they help.
 */
import {
  type Action,
  type ActionContext,
  type ActionLogger,
  type Json,
  NebulaError,
  type RunError,
} from '@nebula/core';
import { type Clock, type Invocation, type Line, type LogLevel, STACK_FIELD } from '@nebula/ports';
import type { Redactor } from '../secrets/redaction.ts';
import { capped, toAbortError, toRunError, withoutSecrets } from './failure.ts';
import type { Host } from './host.ts';
import { readEnv } from './host-api/env.ts';
import { toJson } from './json-value.ts';
import { SANDBOX_LIMITS } from './limits.ts';
import { stackOf } from './stack.ts';
import { type RejectionListener, runUncontained } from './unhandled-rejections.ts';

export class Attempt implements ActionContext, RejectionListener {
  readonly #host: Host;
  readonly #invocation: Invocation;
  #ended = false;
  /** Set once the attempt was given a credential, or if it has texts to conceal. */
  #ownRedactor: Redactor | undefined;

  constructor(host: Host, invocation: Invocation) {
    this.#host = host;
    this.#invocation = invocation;
    const { conceal, secrets } = invocation;
    if (conceal === undefined && secrets === undefined) return;
    this.#ownRedactor = host.handedOut.forAttempt(conceal);
    for (const secret of secrets ?? []) this.#ownRedactor.add(secret);
  }

  get executionId(): string {
    return this.#invocation.executionId;
  }
  get workflowId(): string {
    return this.#invocation.workflowId;
  }
  get node(): string {
    return this.#invocation.node;
  }
  get attempt(): number {
    return this.#invocation.attempt;
  }
  get idempotencyKey(): string {
    return this.#invocation.idempotencyKey;
  }
  get signal(): AbortSignal {
    return this.#invocation.signal;
  }

  get log(): ActionLogger {
    const at = (level: LogLevel) => (message: string, fields?: Record<string, Json>) =>
      this.#log(level, message, fields);
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  get progress(): ActionContext['progress'] {
    return (fraction, message) => {
      if (this.#ended) return;
      const bounded = Math.min(1, Math.max(0, Number(fraction) || 0));
      const excerpt = message === undefined ? undefined : this.#excerpt(String(message));
      runUncontained(() => this.#invocation.onProgress(bounded, excerpt));
    };
  }

  get heartbeat(): ActionContext['heartbeat'] {
    return () => {
      if (!this.#ended) runUncontained(() => this.#invocation.onHeartbeat());
    };
  }

  get now(): ActionContext['now'] {
    return () => this.#host.clock.now();
  }

  get sleep(): ActionContext['sleep'] {
    return async (ms) => {
      this.#openInvocation();
      await sleep(this.#host.clock, ms, this.signal);
    };
  }

  get fetch(): ActionContext['fetch'] {
    return async (url, init) => {
      const invocation = this.#openInvocation();
      const { fetchGranted } = await import('./host-api/fetch.ts');
      return fetchGranted(this.#host, invocation, url, init, (text) => this.#redactor?.finds(text) ?? false);
    };
  }

  get files(): ActionContext['files'] {
    return {
      read: async (path, options) => {
        const invocation = this.#openInvocation();
        const { readGranted } = await import('./host-api/files.ts');
        return readGranted(this.#host, invocation, path, options);
      },
      write: async (path, data, options) => {
        const invocation = this.#openInvocation();
        const { writeGranted } = await import('./host-api/files.ts');
        return writeGranted(this.#host, invocation, path, data, options);
      },
    };
  }

  get shell(): ActionContext['shell'] {
    return async (program, args, options) => {
      const invocation = this.#openInvocation();
      const { runProgram } = await import('./host-api/shell.ts');
      const result = await runProgram(this.#host, invocation, program, args, options);
      if (!result.truncated) return result;
      return { ...result, stdout: this.#excerpt(result.stdout), stderr: this.#excerpt(result.stderr) };
    };
  }

  get env(): ActionContext['env'] {
    return (name) => readEnv(this.#host, this.#openInvocation(), name);
  }

  get credential(): ActionContext['credential'] {
    return async (alias) => {
      const { action, credential } = this.#openInvocation();
      if (action.credentials?.includes(alias) === false) throw undeclared(action, alias);
      const value = await credential(alias);
      this.#ownRedactor ??= this.#host.handedOut.forAttempt();
      this.#ownRedactor.add(value);
      this.#host.handedOut.add(value);
      return value;
    };
  }

  get #redactor(): Redactor | undefined {
    return this.#ownRedactor ?? this.#host.handedOut.redactor;
  }

  /** Ends the attempt; called with the outcome. */
  end(): void {
    this.#ended = true;
  }

  /** The output with credentials redacted. */
  cleaned(output: Json): Json {
    return this.#redactor?.json(output) ?? output;
  }

  failure(thrown: unknown): RunError {
    return toRunError(thrown, this.node, this.#redactor);
  }

  aborted(thrown: unknown): RunError {
    return toAbortError(thrown, this.#invocation, this.#redactor);
  }

  onUnhandledRejection(reason: unknown): void {
    const { code, message } = this.failure(reason);
    this.#log('error', `a promise that the action did not await was rejected: ${message}`, { code });
  }

  /** Logs the stack for people who debug the action; the journal keeps only the message. */
  logStack(thrown: unknown): void {
    const stack = stackOf(thrown, this.#host.projectDir, (text) => this.#excerpt(text));
    if (stack !== undefined) this.#log('debug', stack, { [STACK_FIELD]: true });
  }

  #log(level: LogLevel, message: unknown, fields: unknown): void {
    const line = loggable(this.#redactor, message, fields);
    const text = capped(line.message, SANDBOX_LIMITS.maxLogMessageChars);
    runUncontained(() => this.#invocation.onLog(level, text, line.fields));
  }

  #excerpt(text: string): string {
    return this.#redactor?.excerpt(text) ?? text;
  }

  #openInvocation(): Invocation {
    this.signal.throwIfAborted();
    if (this.#ended) {
      throw new NebulaError('ATTEMPT_ENDED', `${this.#invocation.action.id} continued after its outcome was reported`, {
        hint: 'Await everything that the action starts before it returns',
      });
    }
    return this.#invocation;
  }
}

/** A server loads the host functions before it listens: `fetch` alone blocks the event loop for 50 to 90 ms while it is loaded. */
export async function loadHostApi(): Promise<void> {
  await import('./host-api/fetch.ts');
  await import('./host-api/files.ts');
  await import('./host-api/shell.ts');
}

/** A log line within its limits, with credentials redacted. */
export function loggable(redactor: Redactor | undefined, message: unknown, fields: unknown): Line {
  const said = typeof message === 'string' ? message : String(message);
  return {
    message: redactor?.excerpt(said) ?? said,
    ...(fields !== undefined && { fields: loggableFields(fields, redactor) }),
  };
}

/** Never throws: a log line is not worth an error. */
function loggableFields(fields: unknown, redactor: Redactor | undefined): Record<string, Json> {
  try {
    const json = withoutSecrets(toJson(fields, 'fields'), redactor);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, Json>;
    return { value: json };
  } catch (error) {
    const why = error instanceof Error ? error.message : 'fields';
    return { unloggable: redactor?.excerpt(why) ?? why };
  }
}

function undeclared({ id }: Action, alias: string): NebulaError {
  return new NebulaError('CREDENTIAL_NOT_DECLARED', `${id} asks for '${alias}', which it does not declare`, {
    hint: `Add it to the action's definition: credentials: ['${alias}']`,
  });
}

function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (!(ms >= 0)) throw new NebulaError('SLEEP_INVALID', `cannot sleep for ${ms} ms`);
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.timer(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
