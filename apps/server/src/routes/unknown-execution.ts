import { NebulaError } from '@nebula/core';

export function unknownExecution(executionId: string): NebulaError {
  return new NebulaError('UNKNOWN_EXECUTION', `There is no execution ${executionId}.`);
}
