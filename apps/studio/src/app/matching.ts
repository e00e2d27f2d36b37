/** Finds items by typed letters: a part of the text counts more than letters in order. */
export function matching<T>(items: readonly T[], typed: string, textOf: (item: T) => string): T[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return [...items];
  return items
    .map((item, index) => ({ item, index, rank: rankOf(textOf(item).toLowerCase(), wanted) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank || one.index - other.index)
    .map(({ item }) => item);
}

/** 0: no match. The beginning of a word counts most. */
function rankOf(text: string, wanted: string): number {
  const at = text.indexOf(wanted);
  if (at === 0) return 4;
  if (at > 0) return /\W/.test(text[at - 1] ?? '') ? 3 : 2;
  return hasInOrder(text, wanted) ? 1 : 0;
}

function hasInOrder(text: string, wanted: string): boolean {
  let from = 0;
  for (const letter of wanted) {
    if (letter === ' ') continue;
    const at = text.indexOf(letter, from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}
