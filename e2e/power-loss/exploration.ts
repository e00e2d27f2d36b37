/** Goes through states that a power cut can leave of a record, and checks each distinct one. */
import path from 'node:path';
import { type Bounds, StateCheck } from './check.ts';
import { choiceOf, importantChanges, type StateNumber } from './choices.ts';
import { continueState } from './continuation.ts';
import { Disk } from './disk.ts';
import type { Image } from './image.ts';
import type { Mark } from './marks.ts';
import { Promises } from './promises.ts';
import { RebuiltFolder, stateHash } from './rebuilt.ts';
import type { Operation } from './recording.ts';
import type { Reference } from './reference.ts';

export interface Failure extends StateNumber {
  readonly failures: readonly string[];
  readonly files: ReadonlyMap<string, Image>;
}

export interface ExplorationOptions {
  readonly operations: readonly Operation[];
  readonly reference: Reference;
  /** A folder for the files of states, best in memory. */
  readonly scratch: string;
  readonly seed: number;
  /** How many distinct states to check. */
  readonly states: number;
  /** Every so many states an engine continues one to the end of its runs. */
  readonly continueEvery: number;
  /** Every so many states are opened by a store; the others by SQLite alone. */
  readonly storeEvery: number;
  readonly stopAtFailures?: number;
  /** Called for each distinct state. */
  readonly onState?: (hash: string) => void;
}

export interface Exploration {
  readonly distinct: number;
  readonly rebuilt: number;
  readonly continued: number;
  readonly failures: readonly Failure[];
}

/** States of one cut in one pass over the record. */
const STATES_PER_CUT = 4;
/** A record without enough distinct states ends the search for more. */
const MAX_PASSES = 200;

export async function explore(options: ExplorationOptions): Promise<Exploration> {
  const { operations, states, stopAtFailures = 1 } = options;
  const explorer = new Explorer(options);
  const share = Math.min(1, (states * 1.5) / (operations.length * STATES_PER_CUT));
  for (let pass = 0; pass < MAX_PASSES && !explorer.isDone; pass++) {
    const walk = new Walk(operations);
    let due = 0;
    for (let cut = 0; cut <= operations.length && !explorer.isDone; cut++) {
      if (cut > 0) walk.next();
      due += share;
      if (due < 1) continue;
      due--;
      const count = Math.min(STATES_PER_CUT, 2 ** importantChanges(walk.disk.pending()).length);
      for (let index = 0; index < count && !explorer.isDone; index++) {
        await explorer.state(walk, pass * STATES_PER_CUT + index);
        if (explorer.failures.length >= stopAtFailures) return explorer;
      }
    }
  }
  return explorer;
}

/** Rebuilds one state of a record and checks it; the state of a failure, again. */
export async function checkOne(
  options: Pick<ExplorationOptions, 'operations' | 'reference' | 'scratch'>,
  { seed, cut, state }: StateNumber,
): Promise<Exploration> {
  const explorer = new Explorer({ ...options, seed, states: 1, continueEvery: 1, storeEvery: 1 });
  const walk = new Walk(options.operations);
  while (walk.cut < cut) walk.next();
  await explorer.state(walk, state);
  return explorer;
}

/** A disk and the promises, after a number of operations. */
class Walk {
  readonly disk = new Disk();
  readonly promises = new Promises();
  cut = 0;
  readonly #operations: readonly Operation[];

  constructor(operations: readonly Operation[]) {
    this.#operations = operations;
  }

  next(): void {
    const operation = this.#operations[this.cut++] as Operation;
    this.disk.apply(operation);
    if (operation.kind === 'mark') this.promises.apply(JSON.parse(operation.text) as Mark);
  }
}

class Explorer implements Exploration {
  rebuilt = 0;
  continued = 0;
  readonly failures: Failure[] = [];
  readonly #options: ExplorationOptions;
  readonly #check: StateCheck;
  #boundsOf: Bounds & { facts: number; cut: number } = { promised: -1, complete: -1, facts: 0, cut: 0 };

  constructor(options: ExplorationOptions) {
    this.#options = options;
    this.#check = new StateCheck(
      new RebuiltFolder(path.join(options.scratch, 'state')),
      options.reference,
      options.storeEvery,
    );
  }

  get distinct(): number {
    return this.#check.distinct;
  }

  get isDone(): boolean {
    return this.distinct >= this.#options.states;
  }

  async state({ disk, promises, cut }: Walk, state: number): Promise<void> {
    const { seed, continueEvery, onState } = this.#options;
    const number: StateNumber = { seed, cut, state };
    const files = disk.files(choiceOf(disk.pending(), number));
    this.rebuilt++;
    const hash = stateHash(files);
    const isNew = !this.#check.has(hash);
    if (isNew) onState?.(hash);
    const failures = await this.#check.check(files, hash, promises, this.#bounds(promises, cut));
    if (isNew && failures.length === 0 && this.distinct % continueEvery === 0) {
      failures.push(...(await this.#continue(files, promises)));
    }
    if (failures.length > 0) this.failures.push({ ...number, failures, files });
  }

  async #continue(files: ReadonlyMap<string, Image>, promises: Promises): Promise<string[]> {
    this.continued++;
    const rebuilt = new RebuiltFolder(path.join(this.#options.scratch, 'continued'));
    rebuilt.write(files);
    try {
      return await continueState(rebuilt.folder, promises);
    } catch (error) {
      return [`an engine cannot continue: ${(error as Error).stack}`];
    } finally {
      rebuilt.clear();
    }
  }

  /** Grows with the cut; a new pass begins from nothing. */
  #bounds({ facts }: Promises, cut: number): Bounds {
    const { factCommit, completeAt } = this.#options.reference;
    const known = cut < this.#boundsOf.cut ? { promised: -1, complete: -1, facts: 0 } : this.#boundsOf;
    let { promised, complete } = known;
    for (const fact of facts.slice(known.facts)) promised = Math.max(promised, factCommit.get(fact) ?? Infinity);
    while ((completeAt[complete + 1] ?? Infinity) <= cut) complete++;
    this.#boundsOf = { promised, complete, facts: facts.length, cut };
    return { promised, complete };
  }
}
