/** The short form of edges: `a -> b`, or a chain `a -> b -> c`. */
import type { TextProblem } from '../duration.ts';
import { ID_PATTERN } from './value-type.ts';

export interface EdgeTextPart {
  readonly id: string;
  /** Offset of the id in the text. */
  readonly offset: number;
}

const ID = new RegExp(ID_PATTERN);

/** Returns the ids along the chain, at least two. */
export function parseEdgeText(text: string): EdgeTextPart[] | TextProblem {
  const parts: EdgeTextPart[] = [];
  let offset = 0;
  for (const piece of text.split('->')) {
    const id = piece.trim();
    parts.push({ id, offset: offset + piece.indexOf(id) });
    offset += piece.length + 2;
  }
  if (parts.length >= 2 && parts.every(({ id }) => ID.test(id))) return parts;
  const shown = text.length > 60 ? `${text.slice(0, 57)}…` : text;
  return { message: `'${shown}' is not an edge`, hint: suggest(text) };
}

function suggest(text: string): string {
  const general = "write it as 'a -> b', or as { from: a, to: b }";
  if (text.length > 1_000) return general;
  const mended = text.replace(/\s*(?:→|=>|⇒|-{1,2}>|—>|–>|>)\s*/g, ' -> ').trim();
  return mended !== text && mended.includes('->') && Array.isArray(parseEdgeText(mended))
    ? `did you mean '${mended}'?`
    : general;
}
