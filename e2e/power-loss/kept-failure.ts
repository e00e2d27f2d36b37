/** A failing state, kept in a folder with the record that it was rebuilt from. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkOne, type Exploration, type Failure } from './exploration.ts';
import { readRecord } from './recorded-engine.ts';
import type { Sabotage } from './workload-options.ts';

interface Kept {
  readonly seed: number;
  readonly cut: number;
  readonly state: number;
  readonly failures: readonly string[];
  /** The folder that the paths in the record begin with. */
  readonly recordedFolder: string;
  readonly sabotage?: Sabotage;
}

export function keepFailure(
  folder: string,
  { seed, cut, state, failures, files }: Failure,
  record: { readonly log: string; readonly recordedFolder: string; readonly sabotage?: Sabotage | undefined },
): void {
  const { log, recordedFolder, sabotage } = record;
  mkdirSync(folder, { recursive: true });
  copyFileSync(log, path.join(folder, 'operations.log'));
  for (const [file, image] of files) {
    const target = path.join(folder, 'state', file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, image.bytes());
  }
  const kept: Kept = { seed, cut, state, failures, recordedFolder, ...(sabotage !== undefined && { sabotage }) };
  writeFileSync(path.join(folder, 'failure.json'), `${JSON.stringify(kept, null, 2)}\n`);
}

/** Rebuilds the state from the record, and checks it again. */
export async function checkKept(folder: string, scratch: string): Promise<Exploration> {
  const kept = JSON.parse(readFileSync(path.join(folder, 'failure.json'), 'utf8')) as Kept;
  const record = await readRecord(path.join(folder, 'operations.log'), kept.recordedFolder, kept.sabotage, scratch);
  return checkOne({ ...record, scratch }, kept);
}
