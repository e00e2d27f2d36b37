/** Problems of definitions, expressions and inputs: location, message and hint. */

/** A range in a source text; `line` and `column` count from 1, `offset` from 0. */
export interface SourceRange {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly column: number;
}

/** Path of keys into a document, e.g. `['nodes', 'fetch', 'retry', 'attempts']`. */
export type DocumentPath = readonly (string | number)[];

export interface Problem {
  readonly severity: 'error' | 'warning';
  /** Stable, upper case, e.g. `UNKNOWN_KEY`. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path: DocumentPath;
  readonly range?: SourceRange;
}

/** A problem as commands and the API show it. */
export type ProblemDocument = {
  readonly severity: Problem['severity'];
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path: (string | number)[];
  readonly line?: number;
  readonly column?: number;
};

export function problemDocument({ severity, code, message, hint, path, range }: Problem): ProblemDocument {
  return {
    severity,
    code,
    message,
    ...(hint !== undefined && { hint }),
    path: [...path],
    ...(range !== undefined && { line: range.line, column: range.column }),
  };
}

/** Shortens user text for messages. */
export function clipped(text: string, most = 60): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** The candidate closest to a misspelt `word`, or `undefined` when none is close enough. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const budget = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = budget + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance with adjacent swaps as one edit; stops at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let rowBest = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(cost);
      rowBest = Math.min(rowBest, cost);
    }
    if (rowBest >= limit) return limit;
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
