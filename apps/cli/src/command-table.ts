/**
 * The table of commands: arguments, options, help and code of each. Help, completion, the parser and the
 * reference are made from this table; the code of a command is loaded only when it is run.
 */
import { CHANGE_COMMANDS, LOOK_COMMANDS } from './table/executions.ts';
import { RUN_COMMANDS } from './table/run.ts';
import { SERVER_COMMANDS } from './table/server.ts';
import type { CommandSpec } from './table/spec.ts';
import { WORKFLOW_COMMANDS } from './table/workflows.ts';
import { MORE_COMMANDS, WRITE_COMMANDS } from './table/write.ts';

/** Commands in the order in which they are listed. */
export const COMMANDS: readonly CommandSpec[] = [
  ...RUN_COMMANDS,
  ...WRITE_COMMANDS,
  ...LOOK_COMMANDS,
  ...CHANGE_COMMANDS,
  ...WORKFLOW_COMMANDS,
  ...SERVER_COMMANDS,
  ...MORE_COMMANDS,
];
