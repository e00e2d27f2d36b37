/**
 * The table of commands: arguments, options, help and code of each. Help, completion, the parser and the
 * reference are made from this table; the code of a command is loaded only when it is run.
 */
import { CHANGE_COMMANDS } from './table/change.ts';
import { LOOK_COMMANDS } from './table/look.ts';
import { MORE_COMMANDS } from './table/more.ts';
import { RUN_COMMANDS } from './table/run.ts';
import { SECRETS_COMMANDS } from './table/secrets.ts';
import { SERVER_COMMANDS } from './table/server.ts';
import type { CommandSpec } from './table/spec.ts';
import { WORKER_COMMANDS } from './table/worker.ts';
import { WRITE_COMMANDS } from './table/write.ts';

/** In the order in which they are listed. */
export const COMMANDS: readonly CommandSpec[] = [
  ...RUN_COMMANDS,
  ...WORKER_COMMANDS,
  ...WRITE_COMMANDS,
  ...LOOK_COMMANDS,
  ...CHANGE_COMMANDS,
  ...SERVER_COMMANDS,
  ...SECRETS_COMMANDS,
  ...MORE_COMMANDS,
];
