/** Keeps functions from changing unsigned callback URLs: a changed one could not be signed any more. */
import { type CallbackToken, callbackTokens, MAX_TOKEN_CHARS, UNSIGNED } from '../../callback-url.ts';
import { type ExpressionError, valueError } from '../expression-error.ts';

/** Throws if the text, which is to be encoded, has such a URL. */
export function keepCallbacks(text: string): void {
  if (text.includes(UNSIGNED) && callbackTokens(text, 'unsigned').length > 0) throw changed();
}

/** Throws if a cut at this position would divide the token of such a URL. */
export function keepCallbackAt(text: string, cut: number): void {
  if (cut === 0 || cut === text.length) return;
  const from = Math.max(0, cut - MAX_TOKEN_CHARS);
  const near = text.slice(from, cut + MAX_TOKEN_CHARS);
  if (!near.includes(UNSIGNED)) return;
  const isCut = ({ start, end }: CallbackToken): boolean => from + start < cut && cut < from + end;
  if (callbackTokens(near, 'unsigned').some(isCut)) throw changed();
}

function changed(): ExpressionError {
  return valueError(
    'a callback URL cannot be encoded or cut in an expression',
    'pass it whole: it is signed when an action is given it, and the action may then encode it',
  );
}
