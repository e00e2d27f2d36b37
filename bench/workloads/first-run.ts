/** W4: from the start of a process to its first completed run; memory idle and after W1. */
import { execFile, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { median, round } from '../measure.ts';
import { benchFolder } from '../session.ts';

const TIMES = 7;

interface Memory {
  readonly idleMb: number;
  readonly afterMb: number;
  readonly heapMb: number;
}

export async function w4(): Promise<Record<string, number>> {
  const folder = benchFolder();
  const file = path.join(folder, 'one.yaml');
  writeFileSync(file, 'id: one\nnodes: { a: { action: core.noop@1 } }\n');
  const cli = path.join(import.meta.dirname, '../../apps/cli/bin/nebula.js');
  const firstRun: number[] = [];
  const version: number[] = [];
  for (let at = 0; at < TIMES; at++) {
    firstRun.push(await timed([cli, 'run', file, '--json', '--data-dir', path.join(folder, `data-${at}`)]));
    version.push(await timed([cli, '--version']));
  }
  // With a compile cache, as the CLI has. The first start of all fills it, and keeps the stripper of types in memory.
  const cache = path.join(folder, 'compile-cache');
  const { idleMb: firstIdleMb } = await memoryOf(cache);
  const { idleMb, afterMb, heapMb } = await memoryOf(cache);
  rmSync(folder, { recursive: true, force: true });
  const times = { firstRunMs: round(median(firstRun)), versionMs: round(median(version)) };
  return { ...times, idleMb, firstIdleMb, afterMb, heapAfterMb: heapMb };
}

async function timed(args: readonly string[]): Promise<number> {
  const started = performance.now();
  await promisify(execFile)(process.execPath, args);
  return performance.now() - started;
}

/** In a process of its own, without the benchmark around it. */
async function memoryOf(compileCache: string): Promise<Memory> {
  const script = path.join(import.meta.dirname, 'memory-child.ts');
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
  const child = spawn(process.execPath, ['--expose-gc', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return JSON.parse(text) as Memory;
}
