/** Actions that take a few milliseconds and leave a trace of everything they do. */
import { createHash } from 'node:crypto';
import type { Action, ActionContext, Json } from '@nebula/core';
import { ActionError } from '@nebula/sdk';
import type { EffectLine, EffectLog } from './effect-log.ts';

interface Work {
  readonly value: string;
  /** So many characters more, to make the output large. */
  readonly padding?: number;
  /** The first attempt fails, as a busy service would. */
  readonly failFirst?: boolean;
  readonly decline?: boolean;
}

export function effectActions(log: EffectLog, life: number, onLine: (what: EffectLine['what']) => void): Action[] {
  const write = (what: EffectLine['what'], { executionId, node, attempt, idempotencyKey }: ActionContext): void => {
    log.append({ what, executionId, node, attempt, key: idempotencyKey, life });
    onLine(what);
  };

  const run = async (ctx: ActionContext, input: Json): Promise<Json> => {
    const work = input as unknown as Work;
    write('begin', ctx);
    await ctx.sleep(millisecondsOf(ctx.idempotencyKey));
    if (work.failFirst === true && ctx.attempt === 1) {
      write('failed', ctx);
      throw new ActionError('come again', { code: 'BUSY' });
    }
    if (work.decline === true) {
      write('failed', ctx);
      throw new ActionError('no', { code: 'DECLINED' });
    }
    write('done', ctx);
    // Between the effect and the answer there is time to die in, too.
    await ctx.sleep(1);
    return outputOf(work);
  };

  return [
    { id: 'effect.repeat', version: '1', effect: 'idempotent', run },
    {
      id: 'effect.once',
      version: '1',
      effect: 'once',
      run,
      verify: (ctx, input) =>
        log.has('done', ctx.idempotencyKey)
          ? { happened: true, output: outputOf(input as unknown as Work) }
          : { happened: false },
    },
  ];
}

function outputOf({ value, padding = 0 }: Work): Json {
  return padding === 0 ? { value } : { value, padding: '·'.repeat(padding) };
}

/** 1 to 4, always the same for the same key. */
function millisecondsOf(key: string): number {
  return 1 + (createHash('sha256').update(key).digest()[0]! % 4);
}
