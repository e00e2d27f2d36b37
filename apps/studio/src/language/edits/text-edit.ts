/** Changes of a text, and a draft that collects several of them. */

/** Replaces the characters from `from` to `to` (exclusive) by `insert`. Offsets are UTF-16 units of the text before. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** `edits` are in order and do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = '';
  let at = 0;
  for (const { from, to, insert } of edits) {
    result += text.slice(at, from) + insert;
    at = to;
  }
  return result + text.slice(at);
}

/** The edits that lead back: applied to the changed text, they give `text`. */
export function invertEdits(text: string, edits: readonly TextEdit[]): TextEdit[] {
  let shift = 0;
  return edits.map(({ from, to, insert }) => {
    const start = from + shift;
    shift += insert.length - (to - from);
    return { from: start, to: start + insert.length, insert: text.slice(from, to) };
  });
}

/** A part of the original text, or inserted text. */
type Piece = { readonly from: number; readonly to: number } | string;

/**
 * A text that is changed in steps, each of which sees the result of the one before. `edits` are those of all steps, in
 * offsets of the original text.
 */
export class TextDraft {
  readonly original: string;
  #text: string;
  #pieces: Piece[];

  constructor(text: string) {
    this.original = text;
    this.#text = text;
    this.#pieces = [{ from: 0, to: text.length }];
  }

  get text(): string {
    return this.#text;
  }

  /** `edits` refer to `text`; they may come in any order, and must not overlap. */
  apply(edits: readonly TextEdit[]): void {
    if (edits.length === 0) return;
    const ordered = edits.toSorted((a, b) => a.from - b.from || a.to - b.to);
    const pieces: Piece[] = [];
    let at = 0;
    for (const { from, to, insert } of ordered) {
      if (from < at) throw new Error('Two edits of one step overlap.');
      this.#copy(at, from, pieces);
      if (insert !== '') pieces.push(insert);
      at = to;
    }
    this.#copy(at, this.#text.length, pieces);
    this.#text = applyEdits(this.#text, ordered);
    this.#pieces = pieces;
  }

  /** The smallest edits of the original text that this list of pieces allows. */
  edits(): TextEdit[] {
    const edits: TextEdit[] = [];
    let at = 0;
    let insert = '';
    const close = (next: number): void => {
      const edit = trimmed(this.original, { from: at, to: next, insert });
      if (edit !== undefined) edits.push(edit);
    };
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') insert += piece;
      else {
        close(piece.from);
        insert = '';
        at = piece.to;
      }
    }
    close(this.original.length);
    return edits;
  }

  /** Adds the pieces of the current text from `from` to `to`. */
  #copy(from: number, to: number, into: Piece[]): void {
    let start = 0;
    for (const piece of this.#pieces) {
      const length = typeof piece === 'string' ? piece.length : piece.to - piece.from;
      const first = Math.max(from - start, 0);
      const last = Math.min(to - start, length);
      if (first < last) {
        into.push(
          typeof piece === 'string' ? piece.slice(first, last) : { from: piece.from + first, to: piece.from + last },
        );
      }
      start += length;
      if (start >= to) return;
    }
  }
}

/** Without the characters at both ends that stay the same; undefined if nothing is left. */
function trimmed(text: string, { from, to, insert }: TextEdit): TextEdit | undefined {
  let start = from;
  let end = to;
  let first = 0;
  let last = insert.length;
  while (start < end && first < last && text.charCodeAt(start) === insert.charCodeAt(first)) {
    start++;
    first++;
  }
  while (start < end && first < last && text.charCodeAt(end - 1) === insert.charCodeAt(last - 1)) {
    end--;
    last--;
  }
  return start === end && first === last ? undefined : { from: start, to: end, insert: insert.slice(first, last) };
}
