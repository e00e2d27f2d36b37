/**
 * The cost limit of one evaluation. Invariants:
 *  1. Each evaluation has one budget, which only shrinks and is never reset.
 *  2. Work proportional to the size of data is charged in proportion, before or while it is done.
 *  3. The clock, if any, is read once per CLOCK_INTERVAL operations; the time limit counts from the first look.
 */
import { EXPRESSION_LIMITS, type ExpressionLimits } from '../limits.ts';
import { type Json, partsOf } from '../value.ts';
import { type ExpressionError, limitError, valueError } from './expression-error.ts';

const CLOCK_INTERVAL_OPERATIONS = 256;
/**
 * Prices of work on data. One operation takes 2.5 to 5 µs, and a whole budget 25 to 50 ms, which nothing can interrupt. An
 * evaluated syntax node takes 20 ns.
 */
const ELEMENTS_PER_OPERATION = 100;
const CHARACTERS_PER_OPERATION = 1_000;
/** Values that are hashed, converted to text or created: 150 ns each. */
const VALUES_PER_OPERATION = 15;
/** Members of objects that are read, written or sorted by name: 500 ns each. */
const MEMBERS_PER_OPERATION = 4;
/** UTF-8 needs at most three bytes per UTF-16 unit, so shorter text needs no counting. */
const MAX_BYTES_PER_UNIT = 3;
/** JSON.stringify and recursive walks stay far from a stack overflow at this depth. */
export const MAX_VALUE_DEPTH = 1_000;
const RESULT_WEIGHT_PER_LIST_LIMIT = 10;
const CHARACTERS_PER_WEIGHT = 64;
const COST_ON_DATA = 100;
const UTF8 = new TextEncoder();

export class Budget {
  readonly limits: ExpressionLimits;
  private readonly now: (() => number) | undefined;
  private deadline: number | undefined;
  private granted: number;
  private left: number;
  /** `check` runs when `left` falls below this value: one comparison serves both the limit and the clock. */
  private checkpoint: number;
  private resultWeight = 0;
  /** Work on data that does not yet add up to a whole operation. */
  private elementsOwed = 0;
  private charactersOwed = 0;
  private operationsOnData = 0;
  private maxOperationsOnData = Number.POSITIVE_INFINITY;

  constructor(limits: ExpressionLimits, now: (() => number) | undefined) {
    this.limits = limits;
    this.now = now;
    this.granted = limits.maxOperations;
    this.left = this.granted;
    this.checkpoint = Math.max(0, this.left - CLOCK_INTERVAL_OPERATIONS);
  }

  /** Operations not yet spent. */
  get operationsLeft(): number {
    return Math.max(0, this.left);
  }

  /** The cost so far, in evaluated syntax nodes: an operation on data counts as a hundred of them. */
  get cost(): number {
    return this.granted - this.left + (COST_ON_DATA - 1) * this.operationsOnData;
  }

  /** Limits the cost to what other evaluations have left of a shared budget. */
  limitCost(left: number): this {
    this.granted = Math.min(this.granted, Math.max(0, left));
    this.left = this.granted;
    this.checkpoint = Math.max(0, this.left - CLOCK_INTERVAL_OPERATIONS);
    this.maxOperationsOnData = left / COST_ON_DATA;
    return this;
  }

  spend(operations: number): void {
    this.left -= operations;
    if (this.left < this.checkpoint) this.check();
  }

  spendForElements(count: number): void {
    this.elementsOwed += count;
    if (this.elementsOwed < ELEMENTS_PER_OPERATION) return;
    const operations = Math.floor(this.elementsOwed / ELEMENTS_PER_OPERATION);
    this.elementsOwed -= operations * ELEMENTS_PER_OPERATION;
    this.spendOnData(operations);
  }

  spendForValues(count: number): void {
    this.spendForElements((count * ELEMENTS_PER_OPERATION) / VALUES_PER_OPERATION);
  }

  spendForMembers(count: number): void {
    this.spendForElements((count * ELEMENTS_PER_OPERATION) / MEMBERS_PER_OPERATION);
  }

  /** `weight`: how much more a character costs than in a native loop. */
  spendForCharacters(length: number, weight = 1): void {
    const count = length * weight;
    this.charactersOwed += count;
    if (this.charactersOwed < CHARACTERS_PER_OPERATION) return;
    const operations = Math.floor(this.charactersOwed / CHARACTERS_PER_OPERATION);
    this.charactersOwed -= operations * CHARACTERS_PER_OPERATION;
    this.spendOnData(operations);
  }

  /** Call before building a list of this length. */
  allowList(length: number): void {
    const { maxArrayLength: limit } = this.limits;
    if (length > limit) throw limitError(`a list of ${length} elements exceeds the limit of ${limit}`);
  }

  /** Call before building text of at least this many UTF-16 units. */
  allowText(length: number): void {
    if (length > this.limits.maxStringBytes) throw tooMuchText(this.limits.maxStringBytes);
  }

  /** Returns a list after charging for it and checking the limit. */
  list(value: readonly Json[]): readonly Json[] {
    this.allowList(value.length);
    this.spendForElements(value.length);
    return value;
  }

  /** Returns text after charging for it and checking the limit. */
  text(value: string): string {
    if (value.length * MAX_BYTES_PER_UNIT > this.limits.maxStringBytes) this.measure(value);
    this.spendForCharacters(value.length);
    return value;
  }

  /**
   * Weighs a result that an expression has built. Parts are shared, not copied, so a short expression can create a
   * value that is small in memory and endless as text; the weight is that of the text.
   */
  weigh(value: Json): void {
    this.resultWeight += weightOf(value, 0, this.maxWeight - this.resultWeight);
  }

  /** Rejects a value that is not JSON, nests too deep or is larger than a result may be. */
  inspect(value: Json): void {
    this.spendForElements(weightOf(value, 0, this.maxWeight));
  }

  private get maxWeight(): number {
    return RESULT_WEIGHT_PER_LIST_LIMIT * this.limits.maxArrayLength;
  }

  private measure(value: string): void {
    this.allowText(value.length);
    const { length: bytes } = UTF8.encode(value);
    if (bytes > this.limits.maxStringBytes) throw tooMuchText(this.limits.maxStringBytes);
  }

  private spendOnData(operations: number): void {
    this.operationsOnData += operations;
    this.spend(operations);
    if (this.operationsOnData > this.maxOperationsOnData) throw tooMuchTogether();
  }

  private check(): void {
    if (this.left < 0) {
      if (this.granted < this.limits.maxOperations) throw tooMuchTogether();
      throw limitError(
        `the expression takes more than ${this.limits.maxOperations} operations`,
        'do the work in an action, or raise the limit maxOperations',
      );
    }
    if (this.now !== undefined) {
      const at = this.now();
      this.deadline ??= at + this.limits.maxEvaluationMs;
      if (at > this.deadline) throw limitError(`the expression takes longer than ${this.limits.maxEvaluationMs} ms`);
    }
    this.checkpoint = Math.max(0, this.left - CLOCK_INTERVAL_OPERATIONS);
  }
}

/**
 * The budgets of the expressions that are evaluated in one step of a run, which nothing interrupts: the edges of a node, or
 * what it begins with. Together they cost at most as much as one evaluation that works on data.
 */
export class StepBudget {
  private readonly create: () => Budget;
  private last: Budget | undefined;
  private spent = 0;

  constructor(create: () => Budget) {
    this.create = create;
  }

  /** The next step begins. */
  renew(): void {
    this.last = undefined;
    this.spent = 0;
  }

  /** The budget of one evaluation. */
  next(): Budget {
    this.spent += this.last?.cost ?? 0;
    this.last = this.create();
    return this.last.limitCost(stepCost(this.last.limits) - this.spent);
  }
}

/** The limit of the cost of one step: the cost of one evaluation that works on data. */
export function stepCost({ maxOperations }: ExpressionLimits): number {
  return COST_ON_DATA * maxOperations;
}

export function createBudget(limits: ExpressionLimits = EXPRESSION_LIMITS, now?: () => number): Budget {
  return new Budget(limits, now);
}

function weightOf(value: Json, depth: number, allowed: number): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / CHARACTERS_PER_WEIGHT);
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw valueError('the result contains a number that is not finite, which JSON does not support');
    return 1;
  }
  if (value === null || typeof value === 'boolean') return 1;
  if (typeof value !== 'object') throw valueError(`the result contains a ${typeof value}, which is not JSON`);
  if (depth >= MAX_VALUE_DEPTH) throw limitError(`the result nests deeper than ${MAX_VALUE_DEPTH} levels`);
  const parts = partsOf(value);
  let weight = 1;
  for (let index = 0; index < parts.length; index++) {
    weight += weightOf(parts[index] ?? null, depth + 1, allowed - weight);
    if (weight > allowed) throw limitError('the result is too large', 'reduce it in the expression, or use an action');
  }
  return weight;
}

function tooMuchTogether(): ExpressionError {
  return limitError(
    'the expressions of this node take too long together',
    'do the work in an action, or divide it between several nodes',
  );
}

function tooMuchText(limit: number): ExpressionError {
  return limitError(`a string exceeds the limit of ${limit} bytes`);
}
