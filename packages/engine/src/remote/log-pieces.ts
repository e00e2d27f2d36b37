import { MAX_LOG_MESSAGE_CHARS } from '@nebula/ports';

/** Divides a text at the ends of lines, and within a line only if it is too long. Joined, the pieces are the text. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > MAX_LOG_MESSAGE_CHARS) {
    const last = from + MAX_LOG_MESSAGE_CHARS - 1;
    const lineEnd = from + text.slice(from, last + 1).lastIndexOf('\n') + 1;
    // A pair of surrogates stays together.
    const isPair = text.codePointAt(last) !== text.charCodeAt(last);
    const to = lineEnd > from ? lineEnd : last + (isPair ? 0 : 1);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return [...pieces, text.slice(from)];
}
