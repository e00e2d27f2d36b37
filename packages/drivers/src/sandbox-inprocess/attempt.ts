/**
 * One attempt, as the action sees it. Made for each invocation, so it holds three fields and nothing else: doors and
 * loggers come into being when they are asked for, as functions that may be taken apart (`const { log, fetch } = ctx`).
 *
 *  1 A door opens only while the attempt lives: not once its signal is aborted, not once its outcome is out.
 *  2 Doors are loaded by the first attempt that goes through them: most runs start no program and open no file.
 *  3 Progress and heartbeats of an attempt that has ended are dropped; its log lines are kept, since they help.
 */
import { type ActionContext, type ActionLogger, type Json, NebulaError } from '@nebula/core';
import type { Clock, Invocation, LogLevel } from '@nebula/ports';
import { readEnv } from './doors/env.ts';
import { capped, stackOf, toRunError } from './failure.ts';
import type { Host } from './host.ts';
import { toJson } from './json-value.ts';
import { SANDBOX_LIMITS } from './limits.ts';
import { outside, type StrayListener } from './strays.ts';

export class Attempt implements ActionContext, StrayListener {
  readonly #host: Host;
  readonly #invocation: Invocation;
  #ended = false;

  constructor(host: Host, invocation: Invocation) {
    this.#host = host;
    this.#invocation = invocation;
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
      outside(() => this.#invocation.onProgress(bounded, message));
    };
  }

  get heartbeat(): ActionContext['heartbeat'] {
    return () => {
      if (!this.#ended) outside(() => this.#invocation.onHeartbeat());
    };
  }

  get now(): ActionContext['now'] {
    return () => this.#host.clock.now();
  }

  get sleep(): ActionContext['sleep'] {
    return async (ms) => {
      this.#door();
      await sleep(this.#host.clock, ms, this.signal);
    };
  }

  get fetch(): ActionContext['fetch'] {
    return async (url, init) => {
      const invocation = this.#door();
      const { fetchGranted } = await import('./doors/fetch.ts');
      return fetchGranted(this.#host, invocation, url, init);
    };
  }

  get files(): ActionContext['files'] {
    return {
      read: async (path, options) => {
        const invocation = this.#door();
        const { readGranted } = await import('./doors/files.ts');
        return readGranted(this.#host, invocation, path, options);
      },
      write: async (path, data, options) => {
        const invocation = this.#door();
        const { writeGranted } = await import('./doors/files.ts');
        return writeGranted(this.#host, invocation, path, data, options);
      },
    };
  }

  get shell(): ActionContext['shell'] {
    return async (program, args, options) => {
      const invocation = this.#door();
      const { runProgram } = await import('./doors/shell.ts');
      return runProgram(this.#host, invocation, program, args, options);
    };
  }

  get env(): ActionContext['env'] {
    return (name) => readEnv(this.#host, this.#door(), name);
  }

  /** Called with the outcome. */
  end(): void {
    this.#ended = true;
  }

  onStray(reason: unknown): void {
    const { code, message } = toRunError(reason, this.node);
    this.#log('error', `a promise that the action did not await was rejected: ${message}`, { code });
  }

  /** For those who debug the action; the journal keeps the message only. */
  logStack(thrown: unknown): void {
    const stack = stackOf(thrown);
    if (stack !== undefined) this.#log('debug', stack, undefined);
  }

  #log(level: LogLevel, message: unknown, fields: unknown): void {
    const text = capped(typeof message === 'string' ? message : String(message), SANDBOX_LIMITS.maxLogMessageChars);
    const kept = fields === undefined ? undefined : loggable(fields);
    outside(() => this.#invocation.onLog(level, text, kept));
  }

  #door(): Invocation {
    this.signal.throwIfAborted();
    if (this.#ended) {
      throw new NebulaError('ATTEMPT_ENDED', `${this.#invocation.action.id} went on after its outcome was out`, {
        hint: 'Await everything that the action starts before it returns',
      });
    }
    return this.#invocation;
  }
}

/** A log line is never worth an error. */
function loggable(fields: unknown): Record<string, Json> {
  try {
    const json = toJson(fields, 'fields');
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Record<string, Json>;
    return { value: json };
  } catch (error) {
    return { unloggable: error instanceof Error ? error.message : 'fields' };
  }
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
