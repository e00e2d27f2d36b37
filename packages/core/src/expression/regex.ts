/**
 * User-supplied regular expressions, in linear time (RE2), metered while they run.
 *
 * Linear applies to a single search: finding all matches can still be quadratic (17 s for `a*?[b]|a` on 30,000
 * letters). The text object therefore counts its reads and charges them to the budget.
 */
import type { RE2JS } from 're2js';
import { loadModule } from '../on-demand.ts';
import type { Allowance } from './allowance.ts';
import type { Budget } from './budget.ts';
import { type ExpressionError, limitError, valueError } from './expression-error.ts';

export const MAX_PATTERN_LENGTH = 1_000;
/** Program size in instructions; `a{1000}` has 1,002. */
const MAX_PROGRAM_SIZE = 10_000;
/** The limit of patterns in new definitions and schemas: compiling 5,000 takes 10 ms, and 40 ms the first time. */
const MAX_NEW_PROGRAM_SIZE = 5_000;
/** Reading one character costs at most one step per instruction; 50 steps take about a microsecond. */
const STEPS_PER_OPERATION = 1_000;
const CACHED_PATTERNS = 128;
/** Compiling 100 instructions costs about as much as 10 operations; charged even on a cache hit. */
const INSTRUCTIONS_PER_OPERATION = 10;

/** A match: its bounds and the text of its groups (null for a group that did not participate). */
interface Match {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | null)[];
}

export class Pattern {
  readonly source: string;
  readonly groupCount: number;
  readonly programSize: number;
  private readonly program: RE2JS;

  constructor(source: string, program: RE2JS) {
    this.source = source;
    this.program = program;
    this.groupCount = program.groupCount();
    this.programSize = program.programSize();
  }

  /** Whether the pattern occurs anywhere in the text. */
  test(budget: Budget, text: string): boolean {
    return this.program.test(this.metered(budget, text));
  }

  /** Whether the pattern matches the whole text. */
  testWhole(budget: Budget, text: string): boolean {
    return this.program.testExact(this.metered(budget, text));
  }

  *matches(budget: Budget, text: string): Generator<Match, void, undefined> {
    const matcher = this.program.matcher(this.metered(budget, text));
    while (matcher.find()) {
      // A search costs a little more than reading the text.
      budget.spendForElements(50);
      const groups: (string | null)[] = [];
      for (let group = 1; group <= this.groupCount; group++) groups.push(matcher.group(group));
      yield { start: matcher.start(), end: matcher.end(), groups };
    }
  }

  /** RE2 reads the text only through `charCodeAt` and `indexOf`, so a `String` object works like a string. */
  private metered(budget: Budget, text: string): string {
    const readsPerOperation = Math.max(1, Math.floor(STEPS_PER_OPERATION / this.programSize));
    return new MeteredText(text, budget, readsPerOperation) as unknown as string;
  }
}

class MeteredText extends String {
  private readonly text: string;
  private readonly budget: Budget;
  private readonly readsPerOperation: number;
  private reads = 0;

  constructor(text: string, budget: Budget, readsPerOperation: number) {
    super(text);
    this.text = text;
    this.budget = budget;
    this.readsPerOperation = readsPerOperation;
  }

  override charCodeAt(index: number): number {
    if (++this.reads >= this.readsPerOperation) {
      this.reads = 0;
      this.budget.spend(1);
    }
    return this.text.charCodeAt(index);
  }

  override indexOf(searched: string, from = 0): number {
    const index = this.text.indexOf(searched, from);
    this.budget.spendForCharacters((index < 0 ? this.text.length : index) - from);
    return index;
  }
}

/** Compiled patterns, least recently used first. */
const cache = new Map<string, Pattern>();

/** Compiles a pattern that is known only at evaluation. */
export function patternAtRun(budget: Budget, source: string): Pattern {
  const pattern = compilePattern(source);
  budget.spend(Math.ceil(pattern.programSize / INSTRUCTIONS_PER_OPERATION));
  return pattern;
}

/** Is told of every pattern before it is compiled, and may refuse it by throwing a limit error. */
type Charge = (source: string, instructions: number, isCached: boolean) => void;

let charge: Charge | undefined;

/** Runs `work`, and charges for the patterns that it compiles. */
function chargingFor<T>(own: Charge, work: () => T): T {
  const outer = charge;
  charge = (...pattern) => {
    outer?.(...pattern);
    own(...pattern);
  };
  try {
    return work();
  } finally {
    charge = outer;
  }
}

/** Runs `work`, whose patterns count for the allowance, each once: cached or not, so that the cache decides nothing. */
export function chargingPatterns<T>(allowance: Allowance, work: () => T): T {
  const charged = new Set<string>();
  return chargingFor((source, instructions) => {
    if (charged.has(source)) return;
    charged.add(source);
    if (allowance.isLimited) refuseLarge(instructions);
    allowance.take(instructions);
  }, work);
}

/** Runs `work`, whose patterns must be within the limit of new ones. */
export function withSmallPatterns<T>(work: () => T): T {
  return chargingFor((_, instructions) => refuseLarge(instructions), work);
}

function refuseLarge(instructions: number): void {
  if (instructions > MAX_NEW_PROGRAM_SIZE) throw tooLarge();
}

/**
 * Runs `work`, and returns undefined if the patterns that it compiles have more than `maxInstructions` in total. Cached
 * patterns are free: called again, `work` gets further.
 */
export function withFewPatterns<T>(maxInstructions: number, work: () => T): T | undefined {
  let left = maxInstructions;
  const spend: Charge = (_, instructions, isCached) => {
    if (!isCached) left -= instructions;
    if (left < 0) throw limitError('the patterns are too large');
  };
  try {
    const made = chargingFor(spend, work);
    return left < 0 ? undefined : made;
  } catch (error) {
    if (left < 0) return undefined;
    throw error;
  }
}

/** Throws a coded error without a position when the pattern is invalid. */
export function compilePattern(source: string): Pattern {
  const known = cache.get(source);
  if (known !== undefined) {
    charge?.(source, estimatedSize(source), true);
    cache.delete(source);
    cache.set(source, known);
    return known;
  }
  const size = acceptableSize(source);
  charge?.(source, size, false);
  const pattern = new Pattern(source, compileProgram(source));
  cache.set(source, pattern);
  const [oldest] = cache.keys();
  if (oldest !== undefined && cache.size > CACHED_PATTERNS) cache.delete(oldest);
  return pattern;
}

/** The estimated size of a pattern within the limits. */
function acceptableSize(source: string): number {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw limitError(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  const size = estimatedSize(source);
  if (size > MAX_PROGRAM_SIZE) throw tooLarge();
  return size;
}

function tooLarge(): ExpressionError {
  return limitError('the pattern is too large', 'nested counted repetitions multiply; use * or + instead');
}

function compileProgram(source: string): RE2JS {
  const { RE2JS } = loadModule<typeof import('re2js')>('re2js');
  try {
    return RE2JS.compile(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
    throw valueError(
      `${JSON.stringify(source)} is not a valid pattern: ${reason}`,
      'patterns have RE2 syntax: no look-around and no back-references',
    );
  }
}

/**
 * An upper estimate of the program size, from counted repetitions, before RE2 unrolls them: `(a{100}){100}` is rejected
 * without spending half a second on it.
 */
function estimatedSize(source: string): number {
  const groups = [0];
  let last = 0;
  for (let index = 0; index < source.length; index++) {
    const char = source.charAt(index);
    let size = 1;
    if (char === '\\') {
      index += source[index + 1] === 'p' || source[index + 1] === 'P' ? skipClassName(source, index + 2) : 1;
    } else if (char === '[') {
      index = classEnd(source, index);
    } else if (char === '(') {
      groups.push(0);
      continue;
    } else if (char === ')') {
      size = (groups.length > 1 ? (groups.pop() ?? 0) : 0) + 2;
    } else if (char === '{') {
      const counts = /^\{(\d+)(?:,(\d*))?\}/.exec(source.slice(index, index + 12));
      if (counts !== null) {
        const times = Math.max(Number(counts[1]), Number(counts[2] || 0));
        size = last * Math.max(0, times - 1);
        index += counts[0].length - 1;
        last += size;
        groups[groups.length - 1] = (groups.at(-1) ?? 0) + size;
        continue;
      }
    }
    last = size;
    groups[groups.length - 1] = (groups.at(-1) ?? 0) + size;
  }
  return groups.reduce((total, size) => total + size, 0);
}

function skipClassName(source: string, offset: number): number {
  const close = source[offset] === '{' ? source.indexOf('}', offset) : offset;
  return (close < 0 ? source.length : close) - offset + 2;
}

function classEnd(source: string, offset: number): number {
  let index = offset + 1;
  if (source[index] === '^') index++;
  if (source[index] === ']') index++;
  while (index < source.length && source[index] !== ']') index += source[index] === '\\' ? 2 : 1;
  return index;
}
