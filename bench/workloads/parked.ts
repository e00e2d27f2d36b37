/** W10: 100,000 runs that wait for a signal: what each costs, and how fast a signal or a timer wakes one. */
import { spawn } from 'node:child_process';
import path from 'node:path';

export async function w10(): Promise<Record<string, number>> {
  const script = path.join(import.meta.dirname, 'parked-child.ts');
  const child = spawn(process.execPath, ['--expose-gc', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return JSON.parse(text) as Record<string, number>;
}
