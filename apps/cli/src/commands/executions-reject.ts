import type { CommandOptions, Context } from '../services.ts';
import { answer } from './executions-approve.ts';

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  return answer(context, args, options, false);
}
