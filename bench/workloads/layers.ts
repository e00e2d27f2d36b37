/** W5: one DAG of 1,000, 10,000 and 100,000 nodes: layers 100 wide, each node needs two of the layer before. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { round } from '../measure.ts';

const SIZES = [1_000, 10_000, 100_000];

interface Measured {
  readonly compileMs: number;
  readonly runMs: number;
  readonly peakMb: number;
}

export async function w5(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  const perNode: number[] = [];
  for (const size of SIZES) {
    const { compileMs, runMs, peakMb } = await inChild(size);
    figures[`ms${size}`] = round(compileMs + runMs);
    figures[`runMs${size}`] = round(runMs);
    figures[`peakMb${size}`] = peakMb;
    perNode.push((compileMs + runMs) / size);
  }
  figures.growth = round((perNode.at(-1) as number) / (perNode.at(-2) as number), 2);
  return figures;
}

/** A process per size, so that each has its own peak. */
async function inChild(size: number): Promise<Measured> {
  const script = path.join(import.meta.dirname, 'layers-child.ts');
  const child = spawn(process.execPath, [script, String(size)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return JSON.parse(text) as Measured;
}
