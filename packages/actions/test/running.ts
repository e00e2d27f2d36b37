/** Runs built-in actions as an engine would: in the in-process sandbox, on a temporary project folder. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Action, Json } from '@nebula/core';
import { type VirtualClock, virtualClock } from '@nebula/drivers/memory';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import type { Invocation, InvocationOutcome } from '@nebula/ports';

export interface Project {
  /** The clock of `ctx.sleep`. */
  readonly clock: VirtualClock;
  readonly dir: string;
  readonly logs: [level: string, message: string, fields: unknown][];
  readonly progress: number[];
  run(action: Action, input: Json, rest?: Partial<Invocation>): Promise<InvocationOutcome>;
  /** The output; fails the test when there is none. */
  output(action: Action, input: Json, rest?: Partial<Invocation>): Promise<Json>;
  /** The error; fails the test when there is none. */
  error(action: Action, input: Json, rest?: Partial<Invocation>): ReturnType<typeof failed>;
  close(): Promise<void>;
}

export async function openProject(): Promise<Project> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'nebula-actions-')));
  const clock = virtualClock(1_700_000_000_000);
  const sandbox = createInProcessSandbox({ projectDir: dir, clock });
  const logs: Project['logs'] = [];
  const progress: number[] = [];
  const run = (action: Action, input: Json, rest?: Partial<Invocation>) =>
    sandbox.run({
      action,
      input,
      granted: {
        network: ['*', '127.0.0.0/8', '[::1]', 'localhost'],
        files: { read: ['*'], write: ['*'] },
        shell: ['*'],
        env: ['*'],
      },
      executionId: 'exe_1',
      workflowId: 'flow',
      node: 'node',
      attempt: 1,
      idempotencyKey: 'exe_1:node:1',
      signal: new AbortController().signal,
      credential: (alias) => Promise.reject(new Error(`no credential ${alias}`)),
      onLog: (level, message, fields) => logs.push([level, message, fields]),
      onProgress: (fraction) => progress.push(fraction),
      onHeartbeat: () => {},
      ...rest,
    });
  return {
    clock,
    dir,
    logs,
    progress,
    run,
    output: async (...args) => {
      const outcome = await run(...args);
      if (outcome.status !== 'completed') throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
      return outcome.output;
    },
    error: async (...args) => failed(await run(...args)),
    close: () => rm(dir, { recursive: true }),
  };
}

async function failed(outcome: InvocationOutcome) {
  if (outcome.status === 'completed') throw new Error(`completed with ${JSON.stringify(outcome.output)}`);
  return outcome.error;
}
