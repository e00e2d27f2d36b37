/**
 * The state of one validation: position, problems and remaining budget.
 *
 *  1. A trail serves one validation; its budget only shrinks. Applying a schema to a value is one step, and work
 *     proportional to data is charged in proportion.
 *  2. The budget grows with the value and not with the schema: a schema that visits every value over and over is
 *     stopped, a large value is not.
 *  3. Valid data causes no allocations, except for a large value that is checked in pieces.
 *  4. A check that is divided into pieces ends a piece in a loop over members or items: the rest of the loop becomes a
 *     task (`later`), and so do the rests of the loops around it. A piece that cannot end has `maxSteps` at most. Schemas
 *     that are only tried (`anyOf`, `not` …) do not end a piece (`held`); for a large value they are a task of their own.
 */
import { SCHEMA_LIMITS } from '../limits.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import { type Json, type JsonObject, partsOf } from '../value.ts';

export interface SchemaProblem {
  readonly path: DocumentPath;
  readonly message: string;
  /** The schema knows no member of this name. */
  readonly isUnknown?: true;
}

/** The base URI of a schema without an id. */
export const ROOT_RESOURCE = 'schema:/';

export type Check = (value: Json, trail: Trail) => void;

/** The check of a schema that accepts everything. */
export const pass: Check = () => {};

/** Members and items evaluated by matching schemas; kept only for schemas with `unevaluated…`. */
export interface Seen {
  readonly members: Set<string>;
  readonly items: Set<number>;
  /** All items before this index are evaluated. */
  firstItems: number;
}

/** The rest of a check, with the place where it goes on. */
interface Task {
  /** Returns steps if the rest is divided further. */
  readonly run: () => Steps<void> | void;
  readonly path: DocumentPath;
  readonly resources: readonly string[] | undefined;
  readonly depth: number;
}

export interface Pieces {
  /** After so many steps a piece ends, as soon as a loop can be interrupted. */
  readonly steps: number;
  /** Values with no more inside are tried in one piece. */
  readonly largeValues: number;
}

export const PIECES: Pieces = { steps: SCHEMA_LIMITS.pieceSteps, largeValues: 1_000 };

const NEVER = Number.NEGATIVE_INFINITY;
/** Values with no more inside are counted whenever a schema asks. */
const COUNTED_AGAIN = 16;

/** The check was aborted; the value counts as invalid. */
export class TooCostly extends Error {}

export class Trail {
  readonly path: (string | number)[] = [];
  problems: SchemaProblem[] | undefined;
  /** Number of problems found, including unreported ones. */
  count = 0;
  seen: Seen | undefined;
  /** Number of schemas around that are only tried: no piece ends inside. */
  held = 0;
  #left: number = SCHEMA_LIMITS.maxSteps;
  /** The piece ends when less is left; never, if the check is not divided. */
  #pieceEnd: number;
  /** The check fails when less is left: the budget of the piece, or the whole budget, is spent. */
  #floor = 0;
  #pieceFloor: number;
  #tasks: Task[] | undefined;
  #isLarge: WeakMap<object, boolean> | undefined;
  #isExtended = false;
  #depth = 0;
  #resources: string[] | undefined;
  readonly #root: Json;
  readonly #pieces: Pieces | undefined;

  /** Without `pieces` the check is not divided. */
  constructor(root: Json, pieces?: Pieces) {
    this.#root = root;
    this.#pieces = pieces;
    this.#pieceEnd = pieces === undefined ? NEVER : SCHEMA_LIMITS.maxSteps - pieces.steps;
    this.#pieceFloor = pieces === undefined ? NEVER : 0;
  }

  report(path: DocumentPath, message: string): void {
    this.#add({ path: [...path], message });
  }

  /** Reports a member of the current value that the schema does not know. */
  reportUnknown(name: string, message = 'is not known'): void {
    this.#add({ path: [...this.path, name], message, isUnknown: true });
  }

  #add(problem: SchemaProblem): void {
    this.spend(1);
    this.count++;
    this.problems ??= [];
    if (this.problems.length < SCHEMA_LIMITS.maxProblems) this.problems.push(problem);
  }

  /** Drops problems found since then, for a branch that does not have to match. */
  rewind(count: number, problemCount: number): void {
    this.count = count;
    if (this.problems !== undefined) this.problems.length = problemCount;
  }

  get problemCount(): number {
    return this.problems?.length ?? 0;
  }

  /** Resources entered through references, outermost first. */
  get resources(): string[] {
    this.#resources ??= [ROOT_RESOURCE];
    return this.#resources;
  }

  get stepsLeft(): number {
    return this.#left - this.#floor;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < this.#floor) this.#overspent();
  }

  /** The piece is over: a loop leaves its rest for later. */
  get isDue(): boolean {
    return this.#left < this.#pieceEnd && this.held === 0;
  }

  /** Whether the value is to be checked in pieces: the check is divided, no schema is only tried, the value is large. */
  divides(value: Json): boolean {
    if (this.#pieces === undefined || this.held > 0 || typeof value !== 'object' || value === null) return false;
    const known = this.#isLarge?.get(value);
    if (known !== undefined) return known;
    const count = countUpTo(value, this.#pieces.largeValues);
    const isLarge = count > this.#pieces.largeValues;
    // Other schemas may ask again, and counting is not paid for.
    if (count > COUNTED_AGAIN) {
      this.#isLarge ??= new WeakMap();
      this.#isLarge.set(value, isLarge);
    }
    return isLarge;
  }

  /** Adds a task to a check that is divided. */
  later(run: Task['run']): void {
    const task = { run, path: [...this.path], resources: this.#resources && [...this.#resources], depth: this.#depth };
    this.#tasks ??= [];
    this.#tasks.push(task);
  }

  get isOver(): boolean {
    return this.#tasks === undefined || this.#tasks.length === 0;
  }

  /** Carries out the tasks. Tasks that a task adds come before the others. */
  *rest(): Steps<void> {
    const open: Task[] = [];
    for (;;) {
      for (const task of this.#tasks?.splice(0).reverse() ?? []) open.push(task);
      const task = open.pop();
      if (task === undefined) return;
      yield;
      this.#moveTo(task);
      this.#beginPiece();
      const steps = task.run();
      if (steps) yield* steps;
    }
  }

  /** Applies a check and carries out its tasks, inside a task. */
  *whole(check: Check, value: Json): Steps<void> {
    const { path, depth, resources } = { path: [...this.path], depth: this.#depth, resources: this.#resources };
    const others = this.#tasks;
    this.#tasks = undefined;
    this.#beginPiece();
    check(value, this);
    yield* this.rest();
    this.#tasks = others;
    this.#moveTo({ path, depth, resources: resources && [...resources] });
  }

  /** Ends a piece inside a task that goes through items by itself. */
  *pause(): Steps<void> {
    if (!this.isDue) return;
    yield;
    this.#beginPiece();
  }

  #moveTo({ path, resources, depth }: Omit<Task, 'run'>): void {
    this.path.splice(0, this.path.length, ...path);
    this.#resources = resources && [...resources];
    this.#depth = depth;
  }

  #beginPiece(): void {
    this.#pieceEnd = this.#left - (this.#pieces?.steps ?? 0);
    this.#pieceFloor = this.#left - SCHEMA_LIMITS.maxSteps;
    this.#floor = Math.max(0, this.#pieceFloor);
  }

  enter(): void {
    if (++this.#depth > SCHEMA_LIMITS.maxReferenceDepth) {
      throw new TooCostly(`needs more than ${SCHEMA_LIMITS.maxReferenceDepth} nested references to be checked`);
    }
  }

  leave(): void {
    this.#depth--;
  }

  #overspent(): void {
    if (!this.#isExtended && this.#left < 0) {
      this.#isExtended = true;
      const { maxSteps, maxStepsPerValue, maxStepsAtOnce } = SCHEMA_LIMITS;
      const allowed = maxStepsPerValue * countValues(this.#root);
      const more = Math.max(0, (this.#pieces !== undefined ? allowed : Math.min(allowed, maxStepsAtOnce)) - maxSteps);
      this.#left += more;
      this.#pieceEnd += more;
      this.#pieceFloor += more;
      this.#floor = Math.max(0, this.#pieceFloor);
      if (this.#left >= this.#floor) return;
    }
    throw new TooCostly('exceeds the validation budget: simplify the schema, or use a smaller value');
  }
}

/** The number of values inside; some number above `most` if there are more. */
function countUpTo(root: readonly Json[] | JsonObject, most: number): number {
  let count = 0;
  const open: Json[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const parts = partsOf(value);
    count += parts.length;
    if (count > most) break;
    for (const inner of parts) open.push(inner);
  }
  return count;
}

/** Lists and objects count as one, plus everything inside. */
export function countValues(root: Json): number {
  let count = 0;
  const open: Json[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    count++;
    if (typeof value !== 'object' || value === null) continue;
    for (const inner of partsOf(value)) {
      if (typeof inner === 'object' && inner !== null) open.push(inner);
      else count++;
    }
  }
  return count;
}

/** Checks a member or an item. */
export function inside(check: Check, value: Json, key: string | number, trail: Trail): void {
  const { seen } = trail;
  trail.seen = undefined;
  trail.path.push(key);
  check(value, trail);
  trail.path.pop();
  trail.seen = seen;
}

/** Whether the value is valid. Drops the problems found and, if the value is invalid, what was evaluated. */
export function fits(check: Check, value: Json, trail: Trail): boolean {
  const { count, problemCount } = trail;
  trail.held++;
  check(value, trail);
  trail.held--;
  if (trail.count === count) return true;
  trail.rewind(count, problemCount);
  return false;
}
