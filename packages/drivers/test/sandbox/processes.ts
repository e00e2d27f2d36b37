import { readFile } from 'node:fs/promises';

/** A zombie that nobody has reaped yet is dead too. */
export async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return status !== '' && !/\) [ZX]/.test(status);
}

export async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 20) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`timed out before ${what}`);
}
