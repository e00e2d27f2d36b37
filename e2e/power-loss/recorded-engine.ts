/** Records of the programs beside this file, and what their commits are. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Disk } from './disk.ts';
import { type Operation, readOperations, recordProgram } from './recording.ts';
import { type Reference, referenceOf } from './reference.ts';
import type { Sabotage, WorkloadOptions } from './workload-options.ts';

const REBUILT_BY_SQLITE = /-shm$/;

export interface Recorded {
  readonly operations: readonly Operation[];
  readonly reference: Reference;
  /** The log of the record, to keep it, and the folder that its paths begin with. */
  readonly log: string;
  readonly folder: string;
}

/** The engine of `workload.ts`. */
export async function recordEngine(options: WorkloadOptions, scratch: string): Promise<Recorded> {
  const recorded = await recordBeside('workload.ts', JSON.stringify(options), scratch);
  return { ...recorded, operations: withSabotage(recorded.operations, options.sabotage) };
}

export async function recordBeside(program: string, argument: string, scratch: string): Promise<Recorded> {
  const folder = path.join(scratch, 'disk');
  mkdirSync(folder, { recursive: true });
  const file = path.join(import.meta.dirname, program);
  const { operations, log } = await recordProgram({ file, args: [folder, argument], folder, scratch });
  expectWholeRecord(operations, folder);
  return { operations, reference: await referenceOf(operations, path.join(scratch, 'reference')), log, folder };
}

/** A record that was kept. */
export async function readRecord(log: string, folder: string, sabotage: Sabotage | undefined, scratch: string) {
  const operations = withSabotage(readOperations(log, folder), sabotage);
  return { operations, reference: await referenceOf(operations, path.join(scratch, 'reference')) };
}

/** The record has every write: played to its end, it gives the files that are really there. */
function expectWholeRecord(operations: readonly Operation[], folder: string): void {
  const disk = new Disk();
  for (const operation of operations) disk.apply(operation);
  const kept = new Map(disk.pending().map((pending) => [pending, 'all' as const]));
  const files = disk.files({ kept, grown: new Set() });
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  for (const file of new Set([...files.keys(), ...found])) {
    if (REBUILT_BY_SQLITE.test(file)) continue;
    const content = files.get(file)?.bytes();
    const isSame =
      content !== undefined && found.includes(file) && content.equals(readFileSync(path.join(folder, file)));
    if (!isSame) throw new Error(`The record differs from the disk: ${file}`);
  }
}

/** Leaves syncs out of the record, as if the product had not made them. Its commits stay the same. */
export function withSabotage(operations: readonly Operation[], sabotage: Sabotage | undefined): readonly Operation[] {
  switch (sabotage) {
    case 'folder-syncs-lost':
      return withoutSyncs(operations, (_, isFolder) => isFolder);
    case 'blob-folder-syncs-lost':
      return withoutSyncs(operations, (name, isFolder) => isFolder && /\/blobs(\/|$)/.test(name));
    case 'blob-syncs-lost':
      return withoutSyncs(operations, (name, isFolder) => !isFolder && name.includes('/blobs/'));
    case 'secret-syncs-lost':
      return withoutSyncs(operations, (name) => name.includes('/secrets.json'));
    case 'sync-off':
    case 'sync-normal':
    case 'early-acknowledgement':
    case undefined:
      return operations;
    default:
      return sabotage satisfies never;
  }
}

function withoutSyncs(
  operations: readonly Operation[],
  isLost: (name: string, isFolder: boolean) => boolean,
): readonly Operation[] {
  const names = new Map<number, { readonly name: string; readonly isFolder: boolean }>();
  const lost = new Set<number>();
  return operations.map((operation) => {
    if (operation.kind === 'create' || operation.kind === 'mkdir') {
      names.set(operation.inode, { name: operation.path, isFolder: operation.kind === 'mkdir' });
    }
    if (operation.kind === 'sync-begin') {
      const { name, isFolder } = names.get(operation.inode) ?? { name: '', isFolder: true };
      if (isLost(name, isFolder)) lost.add(operation.sync);
    }
    const isSync = operation.kind === 'sync-begin' || operation.kind === 'sync-end';
    return isSync && lost.has(operation.sync) ? { kind: 'sync-lost' } : operation;
  });
}
