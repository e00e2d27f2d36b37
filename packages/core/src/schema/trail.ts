/**
 * One check of one value: where it stands, what it has found, and what it may still cost.
 *
 *  1 A trail lives for one check; its budget only shrinks. Every schema that is applied to a value is a step, and
 *    work in proportion to data is paid in proportion.
 *  2 The budget grows with the value and not with the schema: a schema that works on every value again and again is
 *    stopped, a large value is not.
 *  3 Nothing is built for data that fits.
 */
import { SCHEMA_LIMITS } from '../limits.ts';
import type { DocumentPath } from '../problem.ts';
import type { Json } from '../value.ts';

export interface SchemaProblem {
  readonly path: DocumentPath;
  readonly message: string;
}

/** The base of a schema without an id. */
export const ROOT_RESOURCE = 'schema:/';

export type Check = (value: Json, trail: Trail) => void;

/** The check of a schema that takes everything. */
export const pass: Check = () => {};

/** Members and items evaluated by schemas that fit; kept for schemas with `unevaluated…` only. */
export interface Seen {
  readonly members: Set<string>;
  readonly items: Set<number>;
  /** Items before this one. */
  firstItems: number;
}

/** The check was given up; the value counts as one that does not fit. */
export class TooCostly extends Error {}

export class Trail {
  readonly path: (string | number)[] = [];
  problems: SchemaProblem[] | undefined;
  /** Problems found, told or not. */
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
    this.count++;
    this.problems ??= [];
    if (this.problems.length < SCHEMA_LIMITS.maxProblems) this.problems.push({ path: [...path], message });
  }

  /** Forgets what was found since: a branch that need not fit. */
  rewind(count: number, told: number): void {
    this.count = count;
    if (this.problems !== undefined) this.problems.length = told;
  }

  get told(): number {
    return this.problems?.length ?? 0;
  }

  /** Those that were entered by references, the outermost first. */
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
      throw new TooCostly(
        `needs more than ${SCHEMA_LIMITS.maxReferenceDepth} references inside each other to be checked`,
      );
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
    throw new TooCostly('takes more steps to be checked than its schema may cost');
  }
}

/** Lists and objects count as one, and so does everything in them. */
export function countValues(root: Json): number {
  let count = 0;
  const open: Json[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    count++;
    if (typeof value !== 'object' || value === null) continue;
    for (const inner of Array.isArray(value) ? value : Object.values(value)) {
      if (typeof inner === 'object' && inner !== null) open.push(inner as Json);
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

/** Whether the value fits. What was found is forgotten, and so is what was looked at if it does not. */
export function fits(check: Check, value: Json, trail: Trail): boolean {
  const { count, told } = trail;
  check(value, trail);
  if (trail.count === count) return true;
  trail.rewind(count, told);
  return false;
}
