import { didYouMean, NebulaError } from '@nebula/core';
import { SCRIPTS } from '../completion/scripts.ts';
import type { Command } from '../services.ts';

export const execute: Command = async ({ io }, [shell = '']) => {
  const script = SCRIPTS[shell];
  if (script === undefined) {
    const known = Object.keys(SCRIPTS);
    const guess = didYouMean(shell, known);
    const hint = guess === undefined ? `one of ${known.join(', ')}` : `did you mean ${guess}?`;
    throw new NebulaError('USAGE', `there is no completion for ${shell}`, { hint });
  }
  io.out.write(script);
  return 0;
};
