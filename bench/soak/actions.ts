/** Actions that tell the ledger everything they do, on stdout: a pipe keeps what was written when its writer is killed. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Action, ActionContext, Json } from '@nebula/core';
import { ActionError } from '@nebula/sdk';
import type { Line } from './line.ts';

interface Work {
  readonly failures?: number;
  readonly hang?: boolean;
  readonly bytes?: number;
  readonly decline?: boolean;
}

const HANG_MS = 600_000;

/** Effects of `once` nodes are files in `effectsDir`, where `verify` finds them. */
export function soakActions(effectsDir: string, say: (line: Line) => void): Action[] {
  const tell = (
    what: 'begin' | 'done' | 'failed',
    { executionId, node, attempt, idempotencyKey: key }: ActionContext,
  ) => say({ what, executionId, node, attempt, key });

  const run = async (ctx: ActionContext, input: Json): Promise<Json> => {
    const work = (input ?? {}) as Work;
    tell('begin', ctx);
    await ctx.sleep(work.hang === true ? HANG_MS : 2);
    if (ctx.attempt <= (work.failures ?? 0) || work.decline === true) {
      tell('failed', ctx);
      throw new ActionError('not this time', { code: work.decline === true ? 'DECLINED' : 'BUSY' });
    }
    ctx.log.info('worked', { attempt: ctx.attempt });
    tell('done', ctx);
    return outputOf(work, ctx.idempotencyKey);
  };

  const fileOf = (key: string): string => path.join(effectsDir, key.replaceAll(':', '.'));
  return [
    { id: 'soak.work', version: '1', effect: 'idempotent', run },
    {
      id: 'soak.once',
      version: '1',
      effect: 'once',
      run: async (ctx) => {
        tell('begin', ctx);
        await ctx.sleep(2);
        // The effect, and at the same moment the word of it: `wx` fails if it were there already.
        writeFileSync(fileOf(ctx.idempotencyKey), '', { flag: 'wx' });
        tell('done', ctx);
        await ctx.sleep(1);
        return {};
      },
      verify: (ctx) => (existsSync(fileOf(ctx.idempotencyKey)) ? { happened: true, output: {} } : { happened: false }),
    },
  ];
}

/** Different for every run, so that no two runs share a large value. */
function outputOf({ bytes = 0 }: Work, key: string): Json {
  return bytes === 0 ? {} : { padding: key.padEnd(bytes, '.') };
}
