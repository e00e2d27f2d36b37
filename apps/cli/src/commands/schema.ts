import { workflowJsonSchema } from '@nebula/core';
import type { Command } from '../services.ts';
import { jsonDocument } from '../views/json.ts';

export const execute: Command = async ({ io }) => {
  io.out.write(jsonDocument(workflowJsonSchema()));
  return 0;
};
