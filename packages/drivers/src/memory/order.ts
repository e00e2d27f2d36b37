/** As SQLite and others order text: by code points. JavaScript's own order puts 😀 before U+FFFD. */
export function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  // In the middle of a pair both have a low surrogate here: their order is that of the pairs.
  return (a.codePointAt(at) as number) - (b.codePointAt(at) as number);
}
