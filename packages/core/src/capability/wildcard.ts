/** Wildcard matching without regular expressions, so that no pattern can make matching slow. */

/** `*` matches any number of characters. */
export function matchesName(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  return matchesSequence(
    pattern.length,
    name.length,
    (at) => pattern[at] === '*',
    (at, index) => pattern[at] === name[index],
  );
}

/** `**` matches any number of segments; at the end it may match none, so that `dir/**` covers `dir`. */
export function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  return matchesSequence(
    pattern.length,
    path.length,
    (at) => pattern[at] === '**',
    // The path may itself be a pattern: `**` stands for more than one segment.
    (at, index) => path[index] !== '**' && matchesName(pattern[at] as string, path[index] as string),
  );
}

/**
 * Backtracks to the last star only: O(pattern × text) in the worst case, never exponential. `matches` compares an item
 * of the pattern with an item of the text.
 */
export function matchesSequence(
  patternLength: number,
  length: number,
  isStar: (at: number) => boolean,
  matches: (at: number, index: number) => boolean,
): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let resume = 0;
  while (index < length) {
    if (at < patternLength && isStar(at)) {
      star = at++;
      resume = index;
    } else if (at < patternLength && matches(at, index)) {
      at++;
      index++;
    } else if (star !== -1) {
      at = star + 1;
      index = ++resume;
    } else {
      return false;
    }
  }
  while (at < patternLength && isStar(at)) at++;
  return at === patternLength;
}
