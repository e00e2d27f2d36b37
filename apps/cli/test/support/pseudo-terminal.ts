import { execFileSync } from 'node:child_process';

/** Makes a pseudo terminal, where it is the one of util-linux. */
export const PSEUDO_TERMINAL = 'script';

export function hasScript(): boolean {
  try {
    return execFileSync(PSEUDO_TERMINAL, ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}
