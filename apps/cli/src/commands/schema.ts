import { workflowJsonSchema } from '@nebula/core';
import type { Context } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export async function execute({ io }: Context): Promise<number> {
  io.out.write(jsonDocument(workflowJsonSchema()));
  return 0;
}
