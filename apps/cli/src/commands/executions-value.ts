import { NebulaError } from '@nebula/core';
import { withApi } from '../api.ts';
import { requested } from '../runs.ts';
import type { CommandOptions, Context } from '../services.ts';

const SHA256 = /^[0-9a-f]{64}$/;

/** Prints a large value as it is stored. */
export async function execute(
  context: Context,
  [executionId = '', sha256 = '']: readonly string[],
  options: CommandOptions,
): Promise<number> {
  if (!SHA256.test(sha256)) {
    throw new NebulaError('USAGE', 'a large value is named by 64 hexadecimal digits', {
      hint: 'documents show a large value as { "blob": NAME }',
    });
  }
  return await withApi(context, options, 'look', async ({ api }, project) => {
    const bytes = await requested(project, executionId, api.blob(executionId, sha256));
    context.io.out.write(new TextDecoder().decode(bytes));
    return 0;
  });
}
