import { spawnSync } from 'node:child_process';

/** Whether this machine has Python 3. */
export function hasPython(): boolean {
  return spawnSync('python3', ['--version']).status === 0;
}
