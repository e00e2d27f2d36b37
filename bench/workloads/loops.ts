/** W8: one forEach of 1,000, 10,000 and 100,000 items, 50 at a time. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { round } from '../measure.ts';

const SIZES = [1_000, 10_000, 100_000];

export async function w8(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const perItem: number[] = [];
  for (const size of SIZES) {
    const { ms, peakMb } = await inChild(size);
    figures[`ms${size}`] = round(ms);
    figures[`peakMb${size}`] = peakMb;
    perItem.push(ms / size);
  }
  figures.growth = round((perItem.at(-1) as number) / (perItem.at(-2) as number), 2);
  return figures;
}

/** A process per size, so that each has its own peak. */
async function inChild(size: number): Promise<{ readonly ms: number; readonly peakMb: number }> {
  const script = path.join(import.meta.dirname, 'loops-child.ts');
  const child = spawn(process.execPath, [script, String(size)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return JSON.parse(text) as { ms: number; peakMb: number };
}
