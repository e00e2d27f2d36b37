/** A set of JSON values by type and value: scalars directly, lists and objects by their canonical text. */
import type { Json } from '../../value.ts';
import type { Budget } from '../budget.ts';
import { identityText } from '../json-text.ts';

export class DistinctValues {
  private readonly budget: Budget;
  private readonly scalars = new Set<Json>();
  private readonly structures = new Set<string>();

  constructor(budget: Budget, values: readonly Json[] = []) {
    this.budget = budget;
    for (const value of values) this.add(value);
  }

  has(value: Json): boolean {
    this.budget.spendForValues(1);
    if (typeof value === 'object' && value !== null) return this.structures.has(identityText(this.budget, value));
    if (typeof value === 'string') this.budget.spendForCharacters(value.length);
    return this.scalars.has(value);
  }

  /** Returns false when the set already contains the value. */
  add(value: Json): boolean {
    this.budget.spendForValues(1);
    if (typeof value === 'object' && value !== null) {
      return grow(this.structures, identityText(this.budget, value));
    }
    if (typeof value === 'string') this.budget.spendForCharacters(value.length);
    return grow(this.scalars, value);
  }
}

function grow<T>(set: Set<T>, value: T): boolean {
  const before = set.size;
  return set.add(value).size > before;
}
