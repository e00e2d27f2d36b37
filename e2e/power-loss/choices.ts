/**
 * Chooses what a power cut leaves of the pending changes. The same numbers always give the same choice, so a failing
 * state can be rebuilt from its record.
 */
import { chanceFrom } from '../kill-plan.ts';
import { type Choice, type DiskNode, type Kept, type Pending, sectorsOf } from './disk.ts';

/** Files that promise nothing: locks, the note of the engine's process, and the index of the log, which is rebuilt. */
const UNIMPORTANT = /(^|\/)(engine\.(lock|json)|secrets\.lock)(-journal)?$|-shm$/;

export function isImportant(path: string): boolean {
  return !UNIMPORTANT.test(path);
}

/** The first two states of a cut: a disk that has lost everything unsynced, and one that has lost nothing. */
const EVERYTHING_LOST = 0;
const NOTHING_LOST = 1;

const SECTORS_PER_PAGE = 8;

type Chance = () => number;

export interface StateNumber {
  readonly seed: number;
  /** The cut is after this many operations of the record. */
  readonly cut: number;
  readonly state: number;
}

/** The changes that make a difference between states. */
export function importantChanges(pending: readonly Pending[]): Pending[] {
  return pending.filter(({ node, change }) => change.kind === 'names' || isImportant(node.path));
}

export function choiceOf(pending: readonly Pending[], number: StateNumber): Choice {
  const chance = chanceFrom(mixed(number));
  const kept = new Map<Pending, Kept>();
  for (const change of pending) kept.set(change, chance() < 0.5 ? 'all' : 'none');
  const important = importantChanges(pending);
  if (number.state <= NOTHING_LOST) {
    for (const change of important) kept.set(change, number.state === EVERYTHING_LOST ? 'none' : 'all');
    return { kept, grown: new Set() };
  }
  draw(important, kept, chance);
  return { kept, grown: chance() < 0.25 ? grownFiles(important, chance) : new Set() };
}

function draw(important: readonly Pending[], kept: Map<Pending, Kept>, chance: Chance): void {
  const count = important.length;
  const at = Math.floor(chance() * count);
  const way = Math.floor(chance() * 5);
  const share = [0.1, 0.5, 0.9][Math.floor(chance() * 3)] as number;
  for (const [index, pending] of important.entries()) {
    switch (way) {
      // In order, and torn where the power failed.
      case 0:
        kept.set(pending, index < at ? 'all' : index === at ? torn(pending, share, chance) : 'none');
        break;
      // One change is missing or torn, later ones are there.
      case 1:
        kept.set(pending, index === at ? torn(pending, share, chance) : 'all');
        break;
      // One change is there, earlier ones are not.
      case 2:
        kept.set(pending, index === at ? 'all' : 'none');
        break;
      // Any changes, each whole.
      case 3:
        kept.set(pending, chance() < share ? 'all' : 'none');
        break;
      // Any sectors of any changes.
      default:
        kept.set(pending, torn(pending, share, chance));
    }
  }
}

/** A write with a part of its sectors: a beginning, some pages, or any; another change is there or not. */
function torn({ change }: Pending, share: number, chance: Chance): Kept {
  if (change.kind !== 'write') return chance() < share ? 'all' : 'none';
  const sectors = sectorsOf(change);
  const mask = new Uint8Array(sectors);
  const way = Math.floor(chance() * 3);
  const beginning = Math.floor(chance() * (sectors + 1));
  let isPageKept = 0;
  for (let sector = 0; sector < sectors; sector++) {
    if (sector % SECTORS_PER_PAGE === 0) isPageKept = chance() < share ? 1 : 0;
    mask[sector] = way === 0 ? Number(sector < beginning) : way === 1 ? isPageKept : Number(chance() < share);
  }
  return mask;
}

function grownFiles(important: readonly Pending[], chance: Chance): Set<DiskNode> {
  const files = new Set(important.filter(({ change }) => change.kind === 'write').map(({ node }) => node));
  return new Set([...files].filter(() => chance() < 0.5));
}

function mixed({ seed, cut, state }: StateNumber): number {
  let value = seed >>> 0;
  for (const part of [cut, state]) value = Math.imul(value ^ (part + 0x9e3779b9), 0x85ebca6b) >>> 0;
  return (value ^ (value >>> 13)) >>> 0;
}
