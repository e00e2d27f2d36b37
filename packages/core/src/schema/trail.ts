/**
 * The state of one validation: position, problems and remaining budget.
 *
 *  1. A trail serves one validation; its budget only shrinks. Applying a schema to a value is one step, and work
 *     proportional to data is charged in proportion.
 *  2. The budget grows with the value and not with the schema: a schema that visits every value over and over is
 *     stopped, a large value is not.
 *  3. Valid data causes no allocations.
 */
import { SCHEMA_LIMITS } from '../limits.ts';
import type { DocumentPath } from '../problem.ts';
import { type Json, partsOf } from '../value.ts';

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

/** The check was aborted; the value counts as invalid. */
export class TooCostly extends Error {}

export class Trail {
  readonly path: (string | number)[] = [];
  problems: SchemaProblem[] | undefined;
  /** Number of problems found, including unreported ones. */
  count = 0;
  seen: Seen | undefined;
  #left: number = SCHEMA_LIMITS.maxSteps;
  #isExtended = false;
  #depth = 0;
  #resources: string[] | undefined;
  readonly #root: Json;

  constructor(root: Json) {
    this.#root = root;
  }

  report(path: DocumentPath, message: string): void {
    this.#add({ path: [...path], message });
  }

  /** Reports a member of the current value that the schema does not know. */
  reportUnknown(name: string, message = 'is not known'): void {
    this.#add({ path: [...this.path, name], message, isUnknown: true });
  }

  #add(problem: SchemaProblem): void {
    this.count++;
    this.problems ??= [];
    if (this.problems.length < SCHEMA_LIMITS.maxProblems) this.problems.push(problem);
  }

  /** Drops problems found since then, for a branch that does not have to match. */
  rewind(count: number, told: number): void {
    this.count = count;
    if (this.problems !== undefined) this.problems.length = told;
  }

  get told(): number {
    return this.problems?.length ?? 0;
  }

  /** Resources entered through references, outermost first. */
  get resources(): string[] {
    this.#resources ??= [ROOT_RESOURCE];
    return this.#resources;
  }

  get stepsLeft(): number {
    return this.#left;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) this.#overspent();
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
    if (!this.#isExtended) {
      this.#isExtended = true;
      const allowed = SCHEMA_LIMITS.maxStepsPerValue * countValues(this.#root);
      this.#left += Math.max(0, allowed - SCHEMA_LIMITS.maxSteps);
      if (this.#left >= 0) return;
    }
    throw new TooCostly('exceeds the validation budget of its schema');
  }
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
  const { count, told } = trail;
  check(value, trail);
  if (trail.count === count) return true;
  trail.rewind(count, told);
  return false;
}
