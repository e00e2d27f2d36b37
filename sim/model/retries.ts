/**
 * How often a node is tried again, by LANGUAGE.md: rules with a count each, and a separate budget for lost attempts.
 */
import { type ErrorFact, matchesText } from './meaning.ts';

export interface Rule {
  readonly attempts?: number;
  readonly lost?: number;
  readonly on?: readonly string[];
}

/** Errors that a repeat cannot fix. */
const HOPELESS = /^(EXPRESSION_|CAPABILITY_DENIED|INVALID_)/;
/** Limits of a node that leave no time for another attempt. */
const WHOLE: readonly string[] = ['queued', 'total'];
const DEFAULT_LOST = 10;

export class Retries {
  private readonly rules: readonly Rule[];
  private readonly counts = new Map<Rule, number>();
  private lost = 0;

  constructor(retry: unknown) {
    this.rules = retry === undefined ? [] : ([retry].flat() as Rule[]);
  }

  /**
   * Returns whether another attempt follows one that ended in this error. Limits of nodes inside are errors like any
   * other.
   */
  afterError(error: ErrorFact, path: string): boolean {
    const { limit = 'attempt' } = (error.details ?? {}) as { limit?: string };
    const isOwnLimit = error.code === 'TIMEOUT' && (error.node ?? path) === path && WHOLE.includes(limit);
    if (HOPELESS.test(error.code) || isOwnLimit) return false;
    const rule = this.rules.find(({ on }) => on === undefined || on.some((one) => fitsCodeOrKind(one, error)));
    if (rule === undefined) return false;
    const count = (this.counts.get(rule) ?? 0) + 1;
    this.counts.set(rule, count);
    return count < (rule.attempts ?? 1);
  }

  /**
   * Returns whether another attempt follows one that a crash or a lost lease cut off, which is no error of the node.
   */
  afterLoss(): boolean {
    const allowed = this.rules.find(({ lost }) => lost !== undefined)?.lost ?? DEFAULT_LOST;
    return ++this.lost <= allowed;
  }
}

function fitsCodeOrKind(wanted: string, { code, kind }: ErrorFact): boolean {
  return matchesText(wanted, code) || wanted === kind;
}
