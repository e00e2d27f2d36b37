/** Runs the program of a notification of the configuration, with the message as JSON on its input. */
import { NebulaError } from '@nebula/core';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { configuredId } from './configured.ts';
import type { Message } from './message.ts';

/** The variables that a program gets. Any other may be a secret of the server. */
const VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/**
 * Resolves when the program has ended with 0. Its arguments are those of the configuration of this process: no record
 * and no request contains them.
 */
export async function runCommand(
  { outgoing, configured }: Parts,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const { notificationId } = message;
  const [program, ...args] =
    configured?.list.find((one) => configuredId(one) === notificationId && one.command !== undefined)?.command ?? [];
  if (outgoing === undefined || configured === undefined || program === undefined) {
    throw new NebulaError('NEEDS_SERVER', 'This process has no configuration with this command.', {
      hint: 'The command runs in the server whose configuration has it.',
    });
  }
  const { timeoutMs, maxOutputBytes } = NOTIFICATION_LIMITS;
  const { exitCode, stdout, stderr } = await outgoing.run({
    program,
    args,
    cwd: configured.folder,
    env: Object.fromEntries(VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
    stdin: JSON.stringify(message),
    maxOutputBytes,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  if (stdout + stderr !== '' || exitCode !== 0) configured.onOutput?.(notificationId, exitCode, stdout + stderr);
  if (exitCode === 0) return;
  throw new NebulaError('NOTIFICATION_REFUSED', `The command ended with code ${exitCode}.`, { retryable: true });
}
